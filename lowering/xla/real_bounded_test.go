package xla_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/xlajax"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

// bounded adds a program of bounded sizes, to be run with one size of each symbol.
func (r *real) bounded(what string, p *xla.Program, in []*array.Array, sizes map[string]int, want []*array.Array) {
	r.add(p, realRun{what, filled(p, in, sizes), func(got []*array.Array) string {
		return fxtest.CloseArrays(want, cutTo(r.t, p, got, sizes))
	}})
}

// TestXLAComputesBoundedSizes: one program for all sizes up to a bound, of a network and of every operator.
func TestXLAComputesBoundedSizes(t *testing.T) {
	x := xlajax.Start(t)
	r := &real{t: t}
	m := parsedModule(t, open)
	p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 8})
	require.NoError(t, err)
	g := &op.Gen{}
	for n := 1; n <= 8; n++ {
		q, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
		require.NoError(t, err)
		in := []*array.Array{g.Normal(n, 4), g.Normal(6, 4), g.Normal(6)}
		r.bounded("open", p, in, map[string]int{"N": n}, evaluate(t, q, in))
	}
	require.Equal(t, 8, r.check(x))
}

// TestXLAComputesBoundedNetworks is TestBoundedNetworks by XLA, of networks with one open size: with two, XLA
// compiles no product whose rows have both and to which something is added. Target then makes a program for each
// size.
func TestXLAComputesBoundedNetworks(t *testing.T) {
	x := xlajax.Start(t)
	r, refused := &real{t: t}, map[string]string{}
	boundedNetworks(t, func(model *models.Model, m *graph.Module, p *xla.Program, below []int) {
		if len(model.Dims) > 1 {
			refused[model.Name] = p.String()
			return
		}
		q, err := xla.Emit(m, lowering.Options{Shapes: model.Dims})
		require.NoError(t, err)
		in, want := interpretedModel(t, model, m, q, below)
		r.bounded(model.Name, p, arguments(p, m, in), model.Dims, want)
	})
	require.GreaterOrEqual(t, r.check(x), 5)
	require.Contains(t, refused, "gpt2")
	for name, text := range refused {
		out, err := x.Run(xlajax.Job{Text: text})
		require.NoError(t, err)
		require.ErrorContains(t, out[0].Err, "Dynamic input unexpectedly found for unsupported instruction", "%s: XLA compiles it now: take it into the others", name)
	}
}

// TestXLAComputesBoundedSamples: of every operator that can have a program for all sizes up to a bound.
func TestXLAComputesBoundedSamples(t *testing.T) {
	x := xlajax.Start(t)
	for k, o := range triedOps() {
		if o.ByValue || !fxtest.IsNightly() && k%share != 0 {
			continue
		}
		t.Run(o.Key(), func(t *testing.T) {
			r := &real{t: t}
			for _, s := range o.Samples()[:min(2, len(o.Samples()))] {
				for _, c := range openings(o, s) {
					m := c.module()
					if m == nil {
						continue
					}
					p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": c.size})
					if err != nil {
						continue
					}
					for n := 1; n <= c.size; n++ {
						q, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
						if err != nil {
							continue
						}
						in := normal(c.inputs(n))
						r.bounded(s.Name, p, in, map[string]int{"N": n}, evaluate(t, q, in))
					}
				}
			}
			r.check(x)
		})
	}
}

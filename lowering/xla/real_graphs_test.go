package xla_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/xlajax"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// TestXLAComputesNetworks: XLA computes of networks what their fixtures have, of all of them nightly.
func TestXLAComputesNetworks(t *testing.T) {
	x := xlajax.Start(t)
	ran := 0
	for _, model := range models.All() {
		module := model.New()
		if flopsOf(traceModel(t, model, module), model.Dims) > evaluated && !fxtest.IsNightly() {
			continue
		}
		t.Run(model.Name, func(t *testing.T) {
			p, args, ref := fixtureProgram(t, model, module)
			out, err := x.Run(xlajax.Job{Text: p.String(), Runs: [][]*array.Array{args}})
			require.NoError(t, err)
			require.NoError(t, out[0].Err)
			ref.Check(t, out[0].Runs[0])
			ran++
		})
	}
	require.GreaterOrEqual(t, ran, 2)
}

// graph adds a graph, for sizes, to be run with inputs that are drawn.
func (r *real) graph(m *graph.Module, sizes map[string]int, seed uint64) {
	r.t.Helper()
	p, err := xla.Emit(m, lowering.Options{Shapes: sizes})
	require.NoError(r.t, err, "%s", m.Graph)
	in, err := passes.Inputs(m.Graph, sizes, seed)
	require.NoError(r.t, err)
	in = normal(in)
	for _, p := range m.Params() {
		if p.Value != nil {
			q := *p
			q.Value = normal([]*array.Array{p.Value})[0]
			m.SetParam(q)
		}
	}
	operands := slices.Clone(in)
	for _, p := range m.Params() {
		operands = append(operands, p.Value)
	}
	run := func(operands []*array.Array) ([]*array.Array, error) {
		for k, p := range m.Params() {
			q := *p
			q.Value = operands[len(in)+k]
			m.SetParam(q)
		}
		return (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, operands[:len(in)])
	}
	want, err := run(operands)
	require.NoError(r.t, err)
	r.add(p, realRun{m.Graph.String(), arguments(p, m, in), func(got []*array.Array) string {
		if d := fxtest.CloseWide(m.Graph, want, got); d == "" {
			return ""
		}
		return fxtest.CloseWide(m.Graph, want, fxtest.Settled(want, got, operands, run))
	}})
}

// TestXLAComputesGraphs: graphs over all operators, and those with branches and loops.
func TestXLAComputesGraphs(t *testing.T) {
	x := xlajax.Start(t)
	count := 12
	if fxtest.IsNightly() {
		count = 400
	}
	wide := fxtest.WideGraph(func(n *graph.Node) bool { ok, _ := xla.Supports(n); return ok })
	r := &real{t: t}
	for _, draw := range []func(t *rapid.T) *graph.Module{wide, fxtest.RandomControl} {
		graphs := rapid.Custom(draw)
		for k := range count {
			m := graphs.Example(k)
			sizes := map[string]int{}
			for _, s := range m.Graph.Symbols() {
				if s.Node.Opcode() == graph.Placeholder {
					sizes[s.Name] = 1 + k%fxtest.MaxN
				}
			}
			r.graph(m, sizes, uint64(k))
		}
	}
	require.Equal(t, 2*count, r.check(x))
}

// TestXLAComputesControlFlow: both branches, loops of any number of rounds and of none.
func TestXLAComputesControlFlow(t *testing.T) {
	x := xlajax.Start(t)
	m, err := graph.Parse([]byte(flow), "flow.fx")
	require.NoError(t, err)
	var g op.Gen
	m.Param("w").Value = g.Normal(4, 4)
	r := &real{t: t}
	for _, n := range []int{3, 1, 0} {
		p, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
		require.NoError(t, err)
		for _, limit := range []float32{100, 2, -100} {
			in := []*array.Array{g.Uniform(0.1, 1, n, 4), array.Scalar(limit)}
			want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
			require.NoError(t, err)
			r.add(p, realRun{"flow", arguments(p, m, in), func(got []*array.Array) string { return fxtest.CloseArrays(want, got) }})
		}
	}
	require.Equal(t, 9, r.check(x))
}

// TestXLATakesDonatedArguments: XLA makes results in the memory of arguments that are given up, and of no others.
func TestXLATakesDonatedArguments(t *testing.T) {
	x := xlajax.Start(t)
	m := parsedModule(t, "graph g(%x: f32[64,4], %y: f32[64,4], %z: f32[4]) {\n  %s = call_function[add](%x, %y) : f32[64,4]\n  %m = call_function[mul](%s, %z) : f32[64,4]\n  return %m\n}\n")
	in, err := passes.Inputs(m.Graph, nil, 1)
	require.NoError(t, err)
	want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
	require.NoError(t, err)
	for _, donate := range [][]int{nil, {0}, {1}} {
		p, err := xla.Emit(m, lowering.Options{Donate: donate})
		require.NoError(t, err)
		out, err := x.Run(xlajax.Job{Text: p.String(), Runs: [][]*array.Array{in, in}})
		require.NoError(t, err)
		require.NoError(t, out[0].Err)
		for k, got := range out[0].Runs {
			fxtest.Close(t, "donated", want, got)
			require.ElementsMatch(t, donate, out[0].Taken[k])
		}
	}
}

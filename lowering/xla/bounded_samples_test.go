package xla_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// opened is a call of a sample with the symbol N for an axis of its first operand, and for that
// axis of others of the same size; nil where the operator does not take that.
func opened(o *op.Op, s op.Sample, axis int) *graph.Module {
	if len(s.In) == 0 || s.In[0] == nil || s.In[0].Rank() <= axis {
		return nil
	}
	m := oneCall(o, s.Attrs, s.In)
	text := strings.Builder{}
	text.WriteString("gofx 1\ngraph one(")
	size := s.In[0].Shape()[axis]
	for i, n := range m.Graph.Inputs() {
		t := n.Type()
		if t.Rank() > axis && t.Dim(axis).Is(size) {
			t = t.WithDims(t.Dims().With(axis, shape.Sym("N")))
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString("%" + n.Name() + ": " + t.String())
	}
	_, body, _ := strings.Cut(m.Graph.String(), ") {\n")
	text.WriteString(") {\n  symbol N = dim(%" + m.Graph.Inputs()[0].Name() + ", " + string(rune('0'+axis)) + ")\n")
	for _, line := range strings.SplitAfter(body, "\n") { // the parser finds the results' types
		if at := strings.LastIndex(line, " : "); at > 0 && strings.Contains(line, " = call_function[") {
			line = line[:at] + "\n"
		}
		text.WriteString(line)
	}
	m, err := graph.Parse([]byte(text.String()), "sample.fx")
	if err != nil {
		return nil
	}
	return m
}

// TestBoundedSamples: what is left open of calls, however they are expanded, computes for every
// size what the program for that size does.
func TestBoundedSamples(t *testing.T) {
	open := 0
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.ByValue || o.Name == "squeeze" { // which takes an axis of size 1 away
			continue
		}
		samples, axes := o.Samples(), 4
		if !fxtest.IsNightly() {
			samples, axes = samples[:min(len(samples), 1)], 1
		}
		for _, s := range samples {
			for axis := range axes {
				m := opened(o, s, axis)
				if m == nil {
					continue
				}
				p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 8})
				if err != nil {
					continue
				}
				open++
				for _, n := range []int{1, 2, 5, 8} {
					q, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
					if err != nil {
						continue // the call does not take this size
					}
					g := &op.Gen{}
					var in []*array.Array
					for _, a := range q.Inputs {
						x := g.Int(2, a.Dims...)
						if a.DType.IsFloat() {
							x = g.Normal(a.Dims...)
						}
						in = append(in, array.Cast(x, a.DType))
					}
					require.Empty(t, fxtest.CloseArrays(evaluate(t, q, in), evaluate(t, p, in)), "%s, %s, axis %d, size %d", o.Key(), s.Name, axis, n)
				}
			}
		}
	}
	t.Log(open, "left open")
	require.Greater(t, open, 100)
}

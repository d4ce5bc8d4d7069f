package xla_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// opened is a call with a size left open, of a sample.
type opened struct {
	op      *op.Op
	sample  op.Sample
	size    int // what the sample has for the symbol
	operand int // whose axis it is; -1: of all axes that are as large
	axis    int
}

// symbol reports whether a size of an operand is the symbol.
func (c opened) symbol(operand, axis, size int) bool {
	return size == c.size && (c.operand < 0 || c.operand == operand && c.axis == axis)
}

// inputs are the sample's, of which the symbol has another size.
func (c opened) inputs(n int) (in []*array.Array) {
	for i, a := range c.sample.In {
		if a == nil {
			continue
		}
		for d, size := range a.Shape() {
			if c.symbol(i, d, size) {
				a = array.Slice(a, d, 0, n, 1)
			}
		}
		in = append(in, array.Contiguous(a))
	}
	return in
}

// openings are the ways to leave sizes of a sample open.
func openings(o *op.Op, s op.Sample) (list []opened) {
	for i, a := range s.In {
		if a == nil {
			continue
		}
		for d, n := range a.Shape() {
			all := opened{o, s, n, -1, -1}
			known := slices.ContainsFunc(list, func(c opened) bool { return c.size == n && c.operand < 0 })
			if n > 1 && !known {
				list = append(list, all)
			}
			if n > 1 {
				list = append(list, opened{o, s, n, i, d})
			}
		}
	}
	return list
}

// TestBoundedSamples: a call of any operator whose sizes can be left open computes for each size what the
// program for that size does, and sizes that it does not take are those that the graph guards.
func TestBoundedSamples(t *testing.T) {
	open, refused, ran := 0, 0, 0
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.ByValue {
			continue
		}
		list := o.Samples()
		if !fxtest.IsNightly() {
			list = list[:min(1, len(list))]
		}
		for _, s := range list {
			for _, c := range openings(o, s) {
				m := c.module()
				if m == nil {
					continue
				}
				p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": c.size})
				if err != nil {
					require.NotContains(t, err.Error(), "internal error", "%s %s", o.Key(), s.Name)
					refused++
					continue
				}
				open++
				ran += c.compare(t, m, p)
			}
		}
	}
	t.Log(open, "left open,", refused, "refused,", ran, "sizes")
	require.Greater(t, open, 500)
	require.Greater(t, ran, 2000)
}

// compare evaluates a program for every size up to the bound.
func (c opened) compare(t *testing.T, m *graph.Module, p *xla.Program) (ran int) {
	for n := 1; n <= c.size; n++ {
		q, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
		if err != nil {
			require.True(t, guarded(m, n), "%s %s: nothing guards %d: %v", c.op.Key(), c.sample.Name, n, err)
			continue
		}
		in := c.inputs(n)
		require.Empty(t, fxtest.CloseArrays(evaluate(t, q, in), within(t, p, in, map[string]int{"N": n})), "%s %s: %d\n%s\n%s", c.op.Key(), c.sample.Name, n, m.Graph, p)
		ran++
	}
	return ran
}

// guarded reports whether a graph says itself that it does not take a size.
func guarded(m *graph.Module, n int) bool {
	ready, err := lowering.Prepare(m, lowering.Options{})
	if err != nil {
		return true
	}
	return slices.ContainsFunc(ready.Graph.Guards(), func(g graph.Guard) bool {
		c, err := g.Check(func(string) (diag.SizeOf, bool) { return diag.SizeOf{Value: n}, true })
		return c != nil || err != nil
	})
}

// module has the call alone, nil where the operator does not take such a size as a symbol.
func (c opened) module() *graph.Module {
	g := graph.New("one")
	at, failed := g.At(), false
	at.OnError = func(error) { failed = true }
	args := make([]*graph.Node, len(c.sample.In))
	for i, a := range c.sample.In {
		if a == nil {
			continue
		}
		t, axis := shape.TypeOf(a), -1
		for d, size := range a.Shape() {
			if c.symbol(i, d, size) {
				t, axis = t.WithDims(t.Dims().With(d, shape.Sym("N"))), d
			}
		}
		args[i] = at.Placeholder("x"+string(rune('a'+i)), t, nil)
		if _, known := g.Symbol("N"); axis >= 0 && !known {
			g.DefineSymbol("N", args[i], axis)
		}
	}
	call := at.Function(c.op, c.sample.Attrs, args...)
	items, structure := []*graph.Node{call}, (*graph.Structure)(nil)
	if n, tuple := c.op.NumResults(c.sample.Attrs); tuple {
		items, structure = nil, &graph.Structure{Kind: graph.Results}
		for i := range n {
			items = append(items, at.ItemNode(call, i))
			structure.Fields = append(structure.Fields, graph.Leaf(i))
		}
	}
	at.Output(structure, items...)
	if failed || graph.Lint(g).Err() != nil {
		return nil
	}
	return graph.NewModule(g)
}

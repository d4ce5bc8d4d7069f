package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestExamplesOfCodes makes the mistakes that the examples of the codes make.
func TestExamplesOfCodes(t *testing.T) {
	m := parsed(t, "graph g(%x: f32[4,4], %y: f32[4,4]) {\n  %s = call_function[add](%x, %y) : f32[4,4]\n  return %s\n}\n")
	mistakes := map[diag.Code]shard.Layout{
		shard.BadLayout: {Mesh: shard.Mesh{{Name: "data", Size: 3}}, Inputs: map[string]shard.Split{"x": {"data", ""}}},
		shard.Conflict:  {Mesh: grid[:1:1], Inputs: map[string]shard.Split{"x": {"data", ""}, "y": {"", "data"}}},
	}
	for code, l := range mistakes {
		_, err := shard.Propagate(m, lowering.Options{}, l)
		require.ErrorIs(t, err, code)
	}
}

// liar is a sum of rows whose step says that rows can be cut and the values joined.
type liar struct{ cut kernel.Cut }

func (l liar) Run(w *kernel.Workspace, out, in []*array.Array) {
	kernel.Softmax{Dim: 1}.Run(w, out, in)
}

func (l liar) Cuts(_, _ [][]int) []kernel.Cut { return []kernel.Cut{l.cut} }

// liars are operators with rules, of which the first is right.
var liars = []struct {
	op   *op.Op
	axis int
	ok   bool
}{
	{lying("liar0", kernel.Cut{In: []int{0}, Out: []int{0}, Size: 4}), 0, true},
	{lying("liar1", kernel.Cut{In: []int{1}, Out: []int{1}, Size: 6}), 1, false},
	{lying("liar2", kernel.Cut{In: []int{kernel.Whole}, Out: []int{0}, Size: 4}), 0, false},
}

func lying(name string, cut kernel.Cut) *op.Op {
	return op.Define(name, op.Spec[op.None]{Doc: name + " is a softmax.", In: op.Args("x"),
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return liar{cut} }})
}

// TestWrongRulesAreFound shows that running partitions tells a wrong rule from a right one, also
// of operators that are defined elsewhere.
func TestWrongRulesAreFound(t *testing.T) {
	for i, c := range liars {
		o := c.op
		x := (&op.Gen{}).Normal(4, 6)
		m, values := oneCall(o, op.None{}, []*array.Array{x})
		split := shard.Split{"", ""}
		split[c.axis] = "a"
		l := shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}}, Values: map[string]shard.Split{m.Graph.Output().Arg(0).Name(): split}}
		p, err := shard.Propagate(m, lowering.Options{}, l)
		require.NoError(t, err)
		require.Len(t, p.Work[0].Cuts, 1)
		got, err := run(p, values)
		want, _ := o.Eval(&kernel.Workspace{}, op.None{}, []*array.Array{x})
		require.Equal(t, c.ok, err == nil && fxtest.CloseArrays(want, got) == "", "rule %d", i)
	}
}

// run runs a plan's partitions; what a wrong rule makes of a step is an error.
func run(p *shard.Plan, values map[string]*array.Array) (out []*array.Array, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = diag.Bug("a step panics")
		}
	}()
	return (&machine{plan: p}).run(values)
}

// TestRandomGraphs: graphs, meshes and layouts that are drawn, of inputs, weights and values within,
// compute what they do whole, or are refused for a contradiction.
func TestRandomGraphs(t *testing.T) {
	ran, cut, exchanges := 0, 0, map[shard.Kind]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := fxtest.RandomGraph(rt)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		sizes := map[string]int{}
		for _, s := range m.Graph.Symbols() {
			sizes[s.Name] = 4
		}
		bound, err := lowering.Prepare(m, lowering.Options{Shapes: sizes})
		if err != nil {
			return // guards that these sizes do not keep
		}
		values := numbers(bound)
		for _, q := range m.Params() {
			bound.SetParam(*q)
			values[q.Path] = q.Value
		}
		l := shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}, {Name: "b", Size: 2}},
			Inputs: map[string]shard.Split{}, Weights: map[string]shard.Split{}, Values: map[string]shard.Split{}, Stored: map[string]shard.Split{}}
		for n := range bound.Graph.Nodes() {
			_, dims, ok := n.Type().Concrete()
			if !ok || r.IntN(3) == 0 {
				continue
			}
			all := splits(dims, l.Mesh)
			s := all[r.IntN(len(all))] // of the first, nothing is cut
			switch n.Opcode() {
			case graph.Placeholder:
				l.Inputs[n.Name()] = s
			case graph.GetAttr:
				l.Weights[n.Target()] = s
				if r.IntN(2) == 0 {
					l.Stored[n.Target()] = all[r.IntN(len(all))]
				}
			case graph.CallFunction:
				if r.IntN(4) == 0 {
					l.Values[n.Name()] = s
				}
			}
		}
		p, err := shard.Propagate(bound, lowering.Options{}, l)
		if err != nil {
			require.True(rt, onlyKnown(err), err.Error())
			return
		}
		ran++
		got, err := (&machine{plan: p}).run(values)
		require.NoError(rt, err, "%s\n%v", bound.Graph, l)
		require.Empty(rt, fxtest.CloseWide(bound.Graph, interpreted(t, bound, values), got), "%s\n%v\n%s", bound.Graph, l, p)
		for _, w := range p.Work {
			cut += min(1, len(w.Cuts))
		}
		for _, e := range p.Exchanges {
			exchanges[e.Kind]++
		}
	})
	t.Log(ran, "graphs,", cut, "calls in parts,", exchanges)
}

// onlyKnown reports whether an error is of contradictions, or of values that preparation dropped.
func onlyKnown(err error) bool {
	l, ok := err.(diag.List)
	if !ok {
		return false
	}
	for _, e := range l {
		if e.Code != shard.Conflict && e.Code != shard.BadLayout {
			return false
		}
	}
	return true
}

package arrange_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	_ "github.com/gofx-dev/gofx/internal/testkit/stale"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/shape"
)

func results(t require.TestingT, m *graph.Module, in []*array.Array) []*array.Array {
	out, err := (&interp.Interpreter{State: interp.NewState(graph.Clone(m))}).RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}

func inputs(t require.TestingT, m *graph.Module, sizes map[string]int, seed uint64) []*array.Array {
	in, err := passes.Inputs(m.Graph, sizes, seed)
	require.NoError(t, err)
	return in
}

// TestMoves_randomGraphs compares results up to the order of sums.
func TestMoves_randomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := fxtest.RandomGraph(t)
		in := inputs(t, m, nil, rapid.Uint64().Draw(t, "seed"))
		done := graph.Clone(m)
		_, err := passes.Run(context.Background(), done, []passes.Pass{arrange.Moves}, passes.Options{})
		require.NoError(t, err, m.String())
		if d := fxtest.CloseArrays(results(t, m, in), results(t, done, in)); d != "" {
			t.Fatalf("%s\n%s\nbecame\n%s", d, m, done)
		}
	})
}

// TestMoves_randomViews makes graphs of views and elementwise calls, over a symbol,
// and demands the same bits for each of its sizes.
func TestMoves_randomViews(t *testing.T) {
	matches, across := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		m := randomViews(r)
		done := graph.Clone(m)
		report, err := passes.Run(context.Background(), done, []passes.Pass{arrange.Moves}, passes.Options{})
		require.NoError(t, err, "seed %d\n%s", seed, m)
		matches += report.Matches("moves")
		for _, e := range report.Passes[0].Log {
			if strings.HasPrefix(e.Why, "taken") {
				across++
			}
		}
		for _, n := range []int{1, 2, 3, 4, 7} {
			in := inputs(t, m, map[string]int{"N": n}, seed)
			d := fxtest.SameArrays(results(t, m, in), results(t, done, in))
			require.Empty(t, d, "seed %d, N = %d\n%s\nbecame\n%s", seed, n, m, done)
		}
	}
	require.Greater(t, matches, 1000)
	require.Greater(t, across, 50)
}

// undoing is a call that undoes the last view that a value is made of.
type undoing struct {
	op    *op.Op
	attrs any
}

// viewer makes views and elementwise calls.
type viewer struct {
	r    *rand.Rand
	c    *graph.Cursor
	pool []*graph.Node
	undo map[*graph.Node]undoing
}

// randomViews has calls of views, many of them undone again, with elementwise calls
// between them.
func randomViews(r *rand.Rand) *graph.Module {
	g := graph.New("views")
	m := graph.NewModule(g)
	v := &viewer{r: r, c: g.At(), undo: map[*graph.Node]undoing{}}
	t := shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(2), shape.Const(1+r.IntN(3))))
	v.pool = []*graph.Node{v.c.Placeholder("x", t, nil), v.c.Placeholder("y", t, nil)}
	g.DefineSymbol("N", v.pool[0], 0)
	for range 3 + r.IntN(9) {
		v.step(v.pool[max(0, len(v.pool)-1-r.IntN(3))])
	}
	v.c.Output(&graph.Structure{Kind: graph.Results, Fields: []*graph.Structure{graph.Leaf(0), graph.Leaf(1)}},
		v.pool[len(v.pool)-1], v.pool[max(0, len(v.pool)-4)])
	return m
}

func (v *viewer) step(x *graph.Node) {
	switch v.r.IntN(9) {
	case 0:
		v.add(v.undo[x], std.Relu, nil, x)
	case 1:
		v.add(v.undo[x], std.Neg, nil, x)
	case 2: // an operand of the same sizes
		for _, o := range v.pool {
			if o.Type().Same(x.Type()) && v.r.IntN(2) == 0 {
				v.add(v.undo[x], std.Add, nil, x, o)
				return
			}
		}
	case 3: // one that broadcasts
		dims := x.Type().Dims()
		for i := range dims.Len() {
			if v.r.IntN(2) == 0 {
				dims = dims.With(i, shape.Const(1))
			}
		}
		if v.r.IntN(4) == 0 && dims.Len() > 1 {
			dims = dims.Sub(1, dims.Len())
		}
		ramp := v.c.Function(std.Full, std.FullAttrs{Size: dims, Value: op.Float(1.5)})
		v.add(v.undo[x], std.Mul, nil, x, v.c.Function(std.Cumsum, std.ScanAttrs{Dim: -1}, ramp))
	case 4, 5:
		v.permute(x)
	case 6:
		v.regroup(x)
	default:
		if u := v.undo[x]; u.op != nil {
			v.add(undoing{}, u.op, u.attrs, x)
		}
	}
}

func (v *viewer) add(u undoing, o *op.Op, attrs any, in ...*graph.Node) {
	n := v.c.Function(o, attrs, in...)
	v.pool, v.undo[n] = append(v.pool, n), u
}

func (v *viewer) permute(x *graph.Node) {
	perm := v.r.Perm(x.Type().Rank())
	back := make([]int, len(perm))
	for i, d := range perm {
		back[d] = i
	}
	v.add(undoing{std.Permute, std.PermuteAttrs{Dims: op.IntList(back...)}}, std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)}, x)
}

// regroup joins two dimensions, or adds one.
func (v *viewer) regroup(x *graph.Node) {
	dims := x.Type().Dims()
	u := undoing{std.Reshape, std.ReshapeAttrs{Shape: dims}}
	if k := v.r.IntN(max(dims.Len(), 1)); dims.Len() > 1 && k > 0 {
		v.add(u, std.Flatten, std.FlattenAttrs{StartDim: k - 1, EndDim: k}, x)
	} else if dims.Len() < 5 {
		v.add(u, std.Unsqueeze, std.DimAttrs{Dim: k}, x)
	}
}

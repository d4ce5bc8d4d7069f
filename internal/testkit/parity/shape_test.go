package parity

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func init() { area("2.8", typingRows, sizeRows, operatorRows) }

// dim reads a size.
func dim(t *testing.T, text string) shape.Dim {
	t.Helper()
	d, err := shape.ParseDim(text)
	require.NoError(t, err)
	return d
}

// relation reads a relation of sizes.
func relation(t *testing.T, text string) shape.Relation {
	t.Helper()
	r, err := shape.ParseRelation(text)
	require.NoError(t, err)
	return r
}

// guards are the texts of the guards of a graph.
func guards(g *graph.Graph) (list []string) {
	for _, d := range g.Guards() {
		list = append(list, d.String())
	}
	return list
}

// stack is a convolution, a pool, a reshape and a linear layer.
func stack(features int) func(x tt) tt {
	conv, fc := nn.NewConv2d(3, 4, 3), nn.NewLinear(features, 2)
	return func(x tt) tt { return fc.Forward(conv.Forward(x).MaxPool2d([]int{2}).Flatten(1, -1)) }
}

var typingRows = []row{
	{id: "127a", input: "convolution, pool, flatten and linear layer on known, unknown and wrong sizes", outcome: "the type, as far as sizes are known; the mistake at its line with both sizes", on: in(fx.Input, (*op.Op).Type), test: func(t *testing.T) {
		for in, want := range map[string]string{"f32[2,3,8,8]": "f32[2,2]", "f32[N,3,8,8]": "f32[N,2]", "f32[?,3,8,8]": "2]"} {
			require.Contains(t, capture(t, stack(36), fx.Input("x", in)).Graph.Output().Arg(0).Type().String(), want)
		}
		refused(t, "FX2003", "36", stack(35), fx.Input("x", "f32[N,3,8,8]"))
		refused(t, "FX2003", "conv2d", stack(36), fx.Input("x", "f32[N,4,8,8]"))
		gm := capture(t, stack(36), fx.Input("x", "f32[N,3,H,W]"))
		require.Equal(t, "f32[N,2]", gm.Graph.Output().Arg(0).Type().String())
		require.Len(t, gm.Graph.Guards(), 3, "%s", gm.Graph)
		_, err := gm.Run(context.Background(), tensor.Ones(1, 3, 9, 11))
		require.ErrorIs(t, err, interp.GuardFailed)
		require.Len(t, results(t, gm, tensor.Ones(1, 3, 8, 8))[0], 2)
	}},
	{id: "127b", input: "two descriptions of one value, each with something unknown; two that contradict", outcome: "what both know; how they contradict", on: in(passes.MergeTypes, passes.DescribeConflict, shape.Type.Compatible), test: func(t *testing.T) {
		a, b := typeOf(t, "f32[?,3]"), typeOf(t, "f32[N,?]")
		require.Equal(t, "f32[N,3]", passes.MergeTypes(a, b).String())
		require.Empty(t, passes.DescribeConflict(a, b))
		require.NotEmpty(t, passes.DescribeConflict(a, typeOf(t, "f32[2,4]")))
		require.True(t, a.Compatible(b))
		require.False(t, a.Compatible(typeOf(t, "f32[2]")))
	}},
	{id: "128", input: "equalities of sizes that have a solution, one after the other, and one that contradicts", outcome: "what follows from them; the two that contradict, each with its origin", on: in((*shape.Solver).Equal, (*shape.Solver).Resolve), test: func(t *testing.T) {
		var s shape.Solver
		for _, e := range [][2]string{{"A+B", "5"}, {"A-B", "1"}, {"N", "M"}, {"M", "4"}} {
			require.Nil(t, s.Equal(dim(t, e[0]), dim(t, e[1]), shape.Fact{Text: e[0]}))
		}
		require.Equal(t, "32", s.Resolve(dim(t, "10*A+B")).String())
		require.Equal(t, "4", s.Resolve(dim(t, "N")).String())
		conflict := s.Equal(dim(t, "N"), dim(t, "5"), shape.Fact{Text: "the last one"})
		require.NotNil(t, conflict)
		require.Equal(t, "M", conflict.First.Text)
		require.Equal(t, "the last one", conflict.Second.Text)
	}},
	{id: "128b", input: "types of inputs that two lines of a model cannot both have", outcome: "one error that cites both lines", on: in(shapeprop.Infer), test: func(t *testing.T) {
		m := parse(t, `graph g(%x: f32[N], %y: f32[?], %z: f32[?]) {
  symbol N = dim(%x, 0)
  %a = call_function[add](%x, %y) : f32[?] at "net.go:5"
  %b = call_function[add](%x, %z) : f32[?] at "net.go:6"
  return %a, %b
}`)
		_, err := passes.Run(context.Background(), m, []passes.Pass{shapeprop.Infer(map[string]shape.Type{"x": typeOf(t, "f32[N]"), "y": typeOf(t, "f32[3]"), "z": typeOf(t, "f32[4]")})}, passes.Options{})
		require.ErrorContains(t, err, "net.go:6")
		require.ErrorContains(t, err, "net.go:5")
	}},
}

var sizeRows = []row{
	{id: "129", input: "sums, products, quotients of sizes in shapes; sizes of what is computed", outcome: "expressions of the inputs' sizes in the types; right for every run", on: in(tensor.Size.Add, tensor.Size.Mul, tensor.Size.Div, (*tensor.Tensor).Size), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt {
			n := x.Size(0).Add(1).Mul(2).Div(2)
			return tensor.Cat([]tt{x, tensor.Ones(n)}, 0)
		}, fx.Input("x", "f32[N]"))
		require.Equal(t, "f32[2*N+1]", gm.Graph.Output().Arg(0).Type().String())
		require.Equal(t, [][]float32{{5, 6, 1, 1, 1}}, results(t, gm, vector(5, 6)))
		pooled := capture(t, func(x tt) tt { return x.MaxPool1d([]int{3}) }, fx.Input("x", "f32[1,1,N]"))
		require.Contains(t, pooled.Graph.Output().Arg(0).Type().String(), "N")
		require.Equal(t, [][]float32{{1, 1}}, results(t, pooled, tensor.Ones(1, 1, 7)))
	}},
	{id: "130", input: "a size of an input that is not known: demanded to be equal, asked whether it is equal, and asked where a demand answers it", outcome: "a guard; refused at its line; answered", on: in(tensor.Size.MustEqual, tensor.Size.Equal), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt { x.Size(0).MustEqual(4); return x.Reshape(2, 2) }, fx.Input("x", "f32[N]"))
		require.Equal(t, []string{"N == 4"}, guards(gm.Graph))
		branch := func(x tt) tt {
			if x.Size(0).Equal(4) {
				return x.Neg()
			}
			return x
		}
		refused(t, tracer.UnknownSize, "shape_test.go", branch, fx.Input("x", "f32[N]"))
		gm = capture(t, func(x tt) tt { x.Size(0).MustEqual(4); return branch(x) }, fx.Input("x", "f32[N]"))
		require.Equal(t, map[string]int{"neg": 1}, opcounts(gm.Graph))
	}},
	{id: "131", input: "bounds of a size that narrow, one that is implied, one that contradicts; sizes are 0 or more", outcome: "the strongest bounds; refused with both", on: in(tensor.Size.MustBeAtLeast, tensor.Size.MustBeAtMost), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt {
			n := x.Size(0)
			n.MustBeAtLeast(2)
			n.MustBeAtLeast(5)
			n.MustBeAtMost(9)
			n.MustBeAtMost(20)
			n.MustBeAtLeast(0)
			return x.Neg()
		}, fx.Input("x", "f32[N]"))
		require.ElementsMatch(t, []string{"N >= 5", "N <= 9"}, guards(gm.Graph))
		refused(t, graph.Contradiction, "N", func(x tt) tt { x.Size(0).MustBeAtLeast(6); x.Size(0).MustBeAtMost(4); return x }, fx.Input("x", "f32[N]"))
	}},
	{id: "132", input: "expressions and relations of sizes: divisibility, floor division, equal ones, ones that always hold or never", outcome: "one canonical form; true, false or open", on: in(shape.Dim.FloorDiv, shape.Dim.Mul, shape.Relation.Truth, shape.AtLeast, shape.Multiple), test: func(t *testing.T) {
		n := shape.Sym("N")
		require.Equal(t, "N", n.Mul(shape.Const(4)).FloorDiv(shape.Const(4)).String())
		require.True(t, n.Add(n).Equal(shape.Const(2).Mul(n)))
		require.Equal(t, "2*N+1", dim(t, "(4*N+2)//2").String())
		for text, want := range map[string]shape.Truth{"N >= 0": shape.True, "N >= 3": shape.Open, "0-1-N >= 0": shape.False, "(4*N) % 4 == 0": shape.True, "(2*N+1) % 2 == 0": shape.False, "N == N": shape.True, "N == N+1": shape.False} {
			require.Equal(t, want, relation(t, text).Truth(), text)
		}
		require.Equal(t, "H >= 9", shape.AtLeast(dim(t, "(H-1)//2+1"), dim(t, "5")).String())
		require.Equal(t, "C % 2 == 0", shape.Multiple(dim(t, "6*C"), dim(t, "4")).String())
	}},
	{id: "133", input: "calls that need a size of 6 or more, 2 or more, a multiple of 4, of 8", outcome: "one guard for each that the others do not imply, in the text form", on: in((*graph.Graph).Guards, shape.Relation.Implies), test: func(t *testing.T) {
		gm := capture(t, func(x tt) []tt {
			return []tt{x.Select(1, 5), x.Select(1, 1), x.GroupNorm(nil, nil, 4, 1e-5), x.GroupNorm(nil, nil, 8, 1e-5)}
		}, fx.Input("x", "f32[N,C]"))
		require.ElementsMatch(t, []string{"C >= 6", "C % 8 == 0"}, guards(gm.Graph))
		again, err := graph.Parse([]byte(gm.Module.String()), "guards.fx")
		require.NoError(t, err)
		require.Equal(t, guards(gm.Graph), guards(again.Graph))
		require.True(t, relation(t, "N % 8 == 0").Implies(relation(t, "N % 4 == 0")))
		require.False(t, relation(t, "N % 4 == 0").Implies(relation(t, "N % 8 == 0")))
	}},
	{id: "134", input: "sizes printed and read; a graph whose symbols are fixed, and the graph itself", outcome: "the same expressions; the guards of the one hold for the sizes of the other, and refuse all others", on: in(shape.ParseDim, shapeprop.Specialize), test: func(t *testing.T) {
		for _, text := range []string{"2*N+1", "N//2", "(H-1)//2", "M*N", "7", "?"} {
			require.Equal(t, text, dim(t, dim(t, text).String()).String())
		}
		m := parse(t, "graph g(%x: f32[N,M]) {\n  symbol N = dim(%x, 0)\n  symbol M = dim(%x, 1)\n  guard M == 2*N\n  %a = call_method[reshape](%x) {shape=[N*M]}\n  return %a\n}")
		apply2(t, m, shapeprop.Specialize(map[string]int{"N": 3}))
		require.Equal(t, "f32[18]", m.Graph.Find("a").Type().String())
		gm := fx.NewGraphModule(m)
		require.Len(t, results(t, gm, tensor.Ones(3, 6))[0], 18)
		_, err := gm.Run(context.Background(), tensor.Ones(2, 4))
		require.ErrorIs(t, err, interp.GuardFailed)
		_, err = passes.Run(context.Background(), m, []passes.Pass{shapeprop.Specialize(map[string]int{"N": 4})}, passes.Options{})
		require.ErrorIs(t, err, graph.Contradiction)
	}},
}

var operatorRows = []row{
	{id: "135a", input: "a layer norm, an attention and a gelu of random types, taken apart to primitive operators", outcome: "no composite operator is left; the numbers agree", on: in(variable{"passes/simplify.Decompose", simplify.Decompose}), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt {
			y := x.LayerNorm(nil, nil, []int{4}, 1e-5).Gelu()
			return y.ScaledDotProductAttention(y, y, nil).Silu()
		}, fx.Input("x", "f32[N,2,3,4]"))
		require.NotNil(t, passes.Decomposed.Violation(gm.Graph))
		apply(t, gm.Module, simplify.Functionalize, simplify.Decompose)
		require.Nil(t, passes.Decomposed.Violation(gm.Graph))
	}},
	{id: "135b", input: "factories of sizes of the input, of a constant, of a parameter", outcome: "the first is a call at each run; nothing is burnt in; constants and parameters are read", on: in(tensor.Arange, tensor.Zeros), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt { return tensor.Arange(x.Size(0)).Cast(array.F32).Add(x).Add(tensor.Zeros(x.Size(0))) }, fx.Input("x", "f32[N]"))
		require.Equal(t, [][]float32{{1, 2, 3}}, results(t, gm, vector(1, 1, 1)))
		require.Equal(t, [][]float32{{5}}, results(t, gm, vector(5)))
		require.Empty(t, gm.Graph.Specialisations())
	}},
	{id: "135c", input: "writes in place that change what a view sees, captured", outcome: "values: a graph without writes, with the numbers of Go", on: in((*tensor.Tensor).MulScalarInPlace), test: func(t *testing.T) {
		f := func(x tt) tt {
			y := x.Neg()
			y.Select(0, 0).MulScalarInPlace(10)
			return y.Reshape(-1).Add(y.T().Reshape(-1))
		}
		gm := trace(t, f)
		require.Equal(t, [][]float32{{-20, 17, 17, 8}}, floats(f(twoByTwo)))
		require.Equal(t, floats(f(twoByTwo)), results(t, gm, twoByTwo))
		for n := range gm.Graph.Nodes() {
			require.NotEqual(t, op.Assign, n.Op())
		}
		require.Equal(t, std.Neg, gm.Graph.Find("neg").Op())
	}},
	{id: "135d", input: "the gradient of a captured graph", outcome: "a graph that computes it, with the numbers of a function run at once", on: in((*fx.GraphModule).Gradient, fx.ValueAndGrad), test: func(t *testing.T) {
		loss := func(x tt) tt { return x.Mul(x.Exp()).Sum() }
		gm := capture(t, loss, fx.Input("x", "f32[N]"))
		g, err := gm.Gradient(t.Context(), fx.GradOptions{Wrt: []string{"x"}})
		require.NoError(t, err)
		x := vector(0, 1, -1)
		_, grads, err := fx.ValueAndGrad(func() tt { return loss(x) }, x)
		require.NoError(t, err)
		got := results(t, g, x)
		require.InDeltaSlice(t, []float32{1, 2 * math.E, 0}, got[0], 1e-5)
		require.InDeltaSlice(t, floats(grads[0])[0], got[0], 1e-6)
	}},
}

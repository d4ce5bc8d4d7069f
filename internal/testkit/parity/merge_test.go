package parity

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/simplify"
)

func init() { area("2.6", mergeRows) }

var mergeRows = []row{
	{id: "110a", input: "two and five linear layers of one value; two of which the second reads the first", outcome: "one layer and a split; as it was", on: in(variable{"passes/fusion.MergeLinear", fusion.MergeLinear}), test: func(t *testing.T) {
		for _, n := range []int{2, 5} {
			var list []*nn.Linear
			for i := range n {
				list = append(list, nn.NewLinear(4, 3+i))
			}
			gm := capture(t, func(x tt) (out []tt) {
				for _, l := range list {
					out = append(out, l.Forward(x))
				}
				return out
			}, fx.Input("x", "f32[N,4]"))
			report := apply(t, gm.Module, simplify.Functionalize, fusion.MergeLinear)
			require.Equal(t, 1, opcounts(gm.Graph)["linear"], report.Explain())
			require.Len(t, gm.Graph.Output().Args(), n)
		}
		a, b := nn.NewLinear(4, 4), nn.NewLinear(4, 4)
		gm := capture(t, func(x tt) tt { return b.Forward(a.Forward(x)) }, fx.Input("x", "f32[N,4]"))
		require.Equal(t, 0, apply(t, gm.Module, simplify.Functionalize, fusion.MergeLinear).Matches("merge-linear"))
	}},
	{id: "110b", input: "products of two and of five matrices with one right operand; products that depend on each other", outcome: "one product of the rows below each other, and a split; as they were", on: in(variable{"passes/fusion.MergeMatmul", fusion.MergeMatmul}), test: func(t *testing.T) {
		for _, n := range []int{2, 5} {
			in := make([]tt, n)
			for i := range in {
				in[i] = fx.Meta("f32[2,3]")
			}
			gm := capture(t, func(xs []tt, w tt) (out []tt) {
				for _, x := range xs {
					out = append(out, x.Matmul(w))
				}
				return out
			}, fx.Args(in, fx.Meta("f32[3,4]")))
			apply(t, gm.Module, fusion.MergeMatmul)
			require.Equal(t, map[string]int{"cat": 1, "matmul": 1, "split": 1, "getitem": n}, opcounts(gm.Graph))
		}
		gm := capture(t, func(x, w tt) tt { return x.Matmul(w).Matmul(w) }, fx.Input("x", "f32[3,3]"), fx.Input("w", "f32[3,3]"))
		require.False(t, apply(t, gm.Module, fusion.MergeMatmul).Changed())
	}},
	{id: "108c", input: "dimensions from the end and defaults written out", outcome: "one spelling, so that equal calls merge", on: in(variable{"passes/simplify.Normalise", simplify.Normalise}), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt { return x.Flip(-1).Add(x.Flip(1)) }, fx.Input("x", "f32[2,3]"))
		require.False(t, apply(t, graph.Clone(gm.Module), simplify.CSE).Changed())
		apply(t, gm.Module, simplify.Normalise, simplify.CSE)
		require.Equal(t, 1, opcounts(gm.Graph)["flip"])
	}},
	{id: "117b", input: "`passes.Retarget` of an operator to one with equal attributes, to one of another type, of a call with attributes that are lost", outcome: "operands, spelling, line and uses stay; left as it is, with the reason", on: in(passes.Retarget), test: func(t *testing.T) {
		m := linear(t)
		apply2(t, m, passes.Retarget("sub", "Makes sub of mul.", std.Mul, std.Sub, nil))
		y := m.Graph.Output().Arg(0)
		require.Equal(t, std.Sub, y.Op())
		require.Equal(t, 42, y.Pos().Line)
		report := apply2(t, m, passes.Retarget("eq", "Makes eq of sub.", std.Sub, std.Eq, nil))
		require.False(t, report.Changed())
		require.Contains(t, report.Explain(), "%")
	}},
	{id: "107d", input: "a part of a network in half precision", outcome: "casts at its edges, the element types of inputs and results stay, the numbers to the precision", on: in(arrange.Halve), test: func(t *testing.T) {
		gm := capture(t, mlp(), fx.Input("x", "f32[2,8]"))
		apply2(t, gm.Module, simplify.Functionalize)
		want := interpreted(t, gm.Module, 2)
		apply2(t, gm.Module, arrange.Halve("half", array.F16, func(n *graph.Node) bool { return true }))
		require.Equal(t, array.F32, gm.Graph.Output().Arg(0).Type().DType())
		require.Positive(t, opcounts(gm.Graph)["cast"], "%s", gm.Graph)
		near(t, want, interpreted(t, gm.Module, 2), 1e-2)
	}},
}

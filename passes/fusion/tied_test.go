package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// TestTiedOperands runs every fusion alone, and all of them, over graphs in which one parameter or
// value is several operands, and interprets and compiles what comes out.
func TestTiedOperands(t *testing.T) {
	lists := map[string][]passes.Pass{
		"conv-bn": {fusion.ConvBN}, "linear-bn": {fusion.LinearBN}, "bn-affine": {fusion.BNAffine}, "merge-linear": {fusion.MergeLinear},
		"merge-matmul": {fusion.MergeMatmul}, "moves": {arrange.Moves}, "scatter-add": {fusion.ScatterAdd}, "recognise": fusion.Recognisers(),
		"simplify": {simplify.ConstFold, simplify.CSE, simplify.Algebra, simplify.Identity, simplify.DCE, simplify.DropUnused},
		"all": append(fusion.Recognisers(), fusion.ConvBN, fusion.LinearBN, fusion.BNAffine, fusion.MergeLinear, fusion.MergeMatmul,
			fusion.ScatterAdd, arrange.Moves, simplify.Algebra, simplify.ConstFold, simplify.CSE, simplify.DropUnused),
	}
	for _, c := range cases.Ties {
		t.Run(c.Name, func(t *testing.T) {
			m, err := c.Module()
			require.NoError(t, err)
			in, err := passes.Inputs(m.Graph, nil, 5)
			require.NoError(t, err)
			want, err := fx.NewGraphModule(m).RunArrays(context.Background(), in)
			require.NoError(t, err)
			runs(t, "as it is", m, in, want)
			for name, list := range lists {
				n := graph.Clone(m)
				_, err := passes.Run(context.Background(), n, list, passes.Options{})
				require.NoError(t, err, name)
				runs(t, name, n, in, want)
			}
		})
	}
}

// runs requires what the interpreter and plans compute to be what is wanted, except for rounding.
func runs(t *testing.T, name string, m *graph.Module, in, want []*array.Array) {
	t.Helper()
	require.Empty(t, graph.Lint(m.Graph), name)
	got, err := fx.NewGraphModule(m).RunArrays(context.Background(), in)
	require.NoError(t, err, name)
	near(t, name+", interpreted", want, got)
	for _, o := range []lowering.Options{{}, {Exact: true}} {
		e, err := cpu.Compile(m, o)
		require.NoError(t, err, name)
		got, err = e.Run(context.Background(), in)
		require.NoError(t, err, name)
		near(t, name+", compiled", want, got)
	}
}

func near(t *testing.T, name string, want, got []*array.Array) {
	t.Helper()
	require.Len(t, got, len(want), name)
	for k := range want {
		require.Equal(t, want[k].Shape(), got[k].Shape(), name)
		for i := range want[k].Len() {
			w := array.Float64At(want[k], i)
			require.InDelta(t, w, array.Float64At(got[k], i), 1e-4*(1+max(w, -w)), "%s: element %d of result %d", name, i, k)
		}
	}
}

package fx_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

func TestPasses_haveNamesAndCanRun(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range fx.AllPasses() {
		require.Regexp(t, "^[a-z][a-z-]*$", p.Name)
		require.Regexp(t, `^[A-Z].*\.$`, p.Doc)
		require.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
	}
	require.NoError(t, passes.CheckOrder(fx.Passes()))

	list, err := fx.Pipeline("conv-bn, dce")
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "dce", list[1].Name)
	_, err = fx.Pipeline("dce,nonsense")
	require.ErrorIs(t, err, passes.BadPipeline)
	require.ErrorContains(t, err, "passes are shape-prop, shape-check, normalise, functionalize, identity")
	_, err = fx.Pipeline("decompose,conv-bn")
	require.ErrorContains(t, err, "expected it before")
}

func TestApply_allPasses(t *testing.T) {
	gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor {
		return x.Sub(x.MeanWith(-1, tensor.ReduceAttrs{KeepDim: true})).Relu().Relu()
	}, fx.Input("x", "f32[N,4]"))
	require.NoError(t, err)
	x := tensor.FromSlice([]float32{1, 2, 3, 6}, 1, 4)
	want := gm.Forward(x)
	r, err := gm.Apply(context.Background(), fx.Passes(), fx.PassOptions{Numeric: &passes.Numeric{}})
	require.NoError(t, err)
	require.NotEmpty(t, r.String())
	require.Empty(t, passes.Differ(gm.Forward(x).Array(), want.Array(), 1e-6, 0))
}

// TestLayers_areRolledByName rolls equal layers into calls of one sub-graph, by the names
// that commands take, and back.
func TestLayers_areRolledByName(t *testing.T) {
	var layers []nn.Module
	for range 6 {
		layers = append(layers, nn.NewLinear(4, 4), nn.NewLayerNorm([]int{4}), nn.NewGELU(), nn.NewLinear(4, 4), nn.NewTanh(),
			nn.NewLinear(4, 4), nn.NewSigmoid(), nn.NewReLU(), nn.NewLayerNorm([]int{4}))
	}
	net := nn.NewSequential(layers...)
	models.Synthetic(&models.Model{}, net, "roll")
	gm, err := fx.Trace(t.Context(), net, fx.Input("x", "f32[N,4]"))
	require.NoError(t, err)
	run := func(names string) *fx.PassReport {
		list, err := fx.Pipeline(names)
		require.NoError(t, err)
		r, err := gm.Apply(t.Context(), list, fx.PassOptions{Numeric: &passes.Numeric{}})
		require.NoError(t, err)
		return r
	}
	run("functionalize,decompose")
	flat := graph.Clone(gm.Module)
	require.Equal(t, 6, run("reroll").Matches("reroll"))
	require.Len(t, gm.Subs(), 1)
	require.Less(t, gm.Graph.Len(), flat.Graph.Len()/2)
	require.Equal(t, 6, run("inline").Matches("inline"))
	require.Empty(t, gm.Subs())
	same, diff := graph.Equal(flat.Graph, gm.Graph)
	require.True(t, same, diff)

	list, err := fx.Pipeline("reroll")
	require.NoError(t, err)
	gm, err = fx.Trace(t.Context(), net, fx.Input("x", "f32[N,4]"))
	require.NoError(t, err)
	_, err = gm.Apply(t.Context(), list, fx.PassOptions{})
	require.ErrorIs(t, err, passes.MissingFact, "modules have no operands to pass")
	require.ErrorContains(t, err, "functionalize")
}

func ExampleReplace() {
	model := func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Log().Relu() }
	gm, err := fx.Trace(context.Background(), model, fx.Input("x", "f32[N]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	undo := fx.Replace("log-exp", func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Log() },
		func(x *tensor.Tensor) *tensor.Tensor { return x })
	r, err := gm.Apply(context.Background(), []fx.Pass{undo}, fx.PassOptions{})
	fmt.Println(r.Matches("log-exp"), err)
	fmt.Print(gm.Graph)
	// Output:
	// 1 <nil>
	// gofx 1
	//
	// graph ExampleReplace.func1(%x: f32[N]) {
	//   symbol N = dim(%x, 0)
	//   %relu = call_method[relu](%x) : f32[N]
	//   return %relu
	// }
}

func TestPasses_areDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/passes.md")
	require.NoError(t, err)
	table, _, _ := strings.Cut(string(page), "\n## ")
	defaults := map[string]bool{}
	for _, p := range fx.Optimise() {
		defaults[p.Name] = true
	}
	for _, p := range fx.AllPasses() {
		row := regexp.MustCompile("(?m)^\\| [^|]*`" + p.Name + "`[^|]* \\|( •)? \\|").FindStringSubmatch(table)
		require.NotNil(t, row, p.Name)
		require.Equal(t, defaults[p.Name], row[1] != "", p.Name)
	}
}

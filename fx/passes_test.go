package fx_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

func TestPassesHaveNamesAndCanRun(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range fx.Passes() {
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
	require.ErrorContains(t, err, "passes are shape-prop, functionalize, conv-bn")
	_, err = fx.Pipeline("decompose,conv-bn")
	require.ErrorContains(t, err, "expected it before")
}

func TestApplyAllPasses(t *testing.T) {
	gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor {
		return x.Sub(x.Mean(std.ReduceAttrs{Dim: op.IntList(-1), KeepDim: true})).Relu().Relu()
	}, fx.Input("x", "f32[N,4]"))
	require.NoError(t, err)
	x := tensor.FromSlice([]float32{1, 2, 3, 6}, 1, 4)
	want := gm.Forward(x)
	r, err := gm.Apply(context.Background(), fx.Passes(), fx.PassOptions{Numeric: &passes.Numeric{}})
	require.NoError(t, err)
	require.NotEmpty(t, r.String())
	require.Empty(t, passes.Differ(gm.Forward(x).Array(), want.Array(), 1e-6, 0))
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

package nn_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// TestCTCLoss_openSizes: one graph has the loss and its gradient for all sizes, a single step and no labels among them.
func TestCTCLoss_openSizes(t *testing.T) {
	ctx := context.Background()
	loss := func(x, labels, steps, counts *tensor.Tensor) *tensor.Tensor {
		return (&nn.CTCLoss{Reduction: nn.Sum}).Forward(x.LogSoftmax(2), labels, steps, counts)
	}
	gm, err := fx.Trace(ctx, loss, fx.Input("x", "f32[T,N,5]"), fx.Input("labels", "i64[N,S]"), fx.Input("steps", "i64[N]"), fx.Input("counts", "i64[N]"))
	require.NoError(t, err)
	grad, err := gm.ValueAndGrad(ctx, fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	plan, err := cpu.Target{}.Compile(grad.Module, lowering.Options{})
	require.NoError(t, err)
	defer plan.Close()
	for _, size := range [][3]int{{6, 4, 3}, {1, 2, 1}, {3, 1, 0}, {2, 3, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			steps, n, most := size[0], size[1], size[2]
			x, labels := array.New(array.F32, steps, n, 5), array.New(array.I64, n, most)
			long, counts := array.New(array.I64, n), array.New(array.I64, n)
			for i := range x.Len() {
				array.SetFloat64At(x, i, math.Sin(float64(i)))
			}
			for i := range labels.Len() {
				array.SetFloat64At(labels, i, float64(1+i*3%4))
			}
			for i := range n {
				array.SetFloat64At(long, i, float64(steps))
				array.SetFloat64At(counts, i, float64(min(most, i)))
			}
			in := []*array.Array{x, labels, long, counts}
			got, err := plan.Run(ctx, in)
			require.NoError(t, err)
			want := loss(tensor.New(x), tensor.New(labels), tensor.New(long), tensor.New(counts))
			require.InDelta(t, values(want)[0], array.Float64At(got[0], 0), 1e-4)
			for i := range x.Len() {
				require.False(t, math.IsNaN(array.Float64At(got[1], i)))
			}
		})
	}
}

// TestCTCLoss_impossible: labels that do not fit have an infinite loss, and no NaN in the gradient of the other rows.
func TestCTCLoss_impossible(t *testing.T) {
	x := tensor.Full([]int{2, 2, 3}, 0.5)
	labels := tensor.FromSlice([]int64{1, 1, 1, 2}, 2, 2) // the first row repeats a label: three steps at least
	two := tensor.FromSlice([]int64{2, 2})
	loss := func(x *tensor.Tensor) *tensor.Tensor {
		return (&nn.CTCLoss{Reduction: nn.None}).Forward(x.LogSoftmax(2), labels, two, two)
	}
	got := values(loss(x))
	require.Equal(t, math.Inf(1), got[0])
	require.InDelta(t, 2*math.Log(3), got[1], 1e-6)
	defer func() {
		err, _ := recover().(*diag.Error)
		require.NotNil(t, err)
		require.Equal(t, "the operands have the ranks 3, 1, 1, 1, expected 3, 2, 1, 1", err.Msg)
	}()
	nn.NewCTCLoss().Forward(x, labels.Reshape(-1), two, two)
}

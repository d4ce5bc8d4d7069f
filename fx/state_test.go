package fx_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// Passes that are given the module, not the GraphModule, replace and drop parameters: runs, the
// state and its walk follow.
func TestState_followsPassesOnTheModule(t *testing.T) {
	net := nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU())
	gm, err := fx.Trace(context.Background(), net, fx.Input("x", "f32[N,3,8,8]"))
	require.NoError(t, err)
	ramp := make([]float32, 2*3*8*8)
	for i := range ramp {
		ramp[i] = float32(i%17) / 8
	}
	x := tensor.FromSlice(ramp, 2, 3, 8, 8)
	want, err := gm.Run(context.Background(), x)
	require.NoError(t, err)

	_, err = passes.Run(context.Background(), gm.Module, fx.Optimise(), passes.Options{})
	require.NoError(t, err)
	got, err := gm.Run(context.Background(), x)
	require.NoError(t, err)
	require.InDeltaSlice(t, array.Data[float32](want[0].Array()), array.Data[float32](got[0].Array()), 1e-3)

	var paths []string
	for _, p := range gm.Params() {
		paths = append(paths, p.Path)
	}
	var walked []string
	gm.Walk(func(i tensor.Item) bool {
		if i.Tensor != nil {
			walked = append(walked, i.Path)
		}
		return true
	})
	require.Equal(t, paths, walked)
}

// A tensor whose array stayed is the same tensor, so that its holders go on to write the state.
func TestState_keepsTensorsThatStayed(t *testing.T) {
	gm, err := fx.Trace(context.Background(), nn.NewLinear(2, 1), fx.Input("x", "f32[N,2]"))
	require.NoError(t, err)
	weight, bias := gm.State().Tensor("weight"), gm.State().Tensor("bias")
	p := *gm.Param("bias")
	p.Value = array.FromSlice([]float32{5}, 1)
	gm.SetParam(p)
	require.Same(t, weight, gm.State().Tensor("weight"))
	require.NotSame(t, bias, gm.State().Tensor("bias"))
	require.Equal(t, 5.0, gm.State().Tensor("bias").Item())
}

func TestState_goroutinesSeeOneTable(t *testing.T) {
	gm, err := fx.Trace(context.Background(), nn.NewLinear(2, 1), fx.Input("x", "f32[N,2]"))
	require.NoError(t, err)
	p := *gm.Param("bias")
	p.Value = array.FromSlice([]float32{5}, 1)
	gm.SetParam(p)
	got := make(chan *tensor.Tensor)
	const n = 16
	for range n {
		go func() {
			runtime.Gosched()
			got <- gm.State().Tensor("bias")
		}()
	}
	first := <-got
	for range n - 1 {
		require.Same(t, first, <-got)
	}
}

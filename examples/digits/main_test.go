package main

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"

	"example.com/digits/digitsnet"
	"example.com/digits/streamnet"
)

func TestGeneratedCodeAgreesWithTheModelAndPyTorch(t *testing.T) {
	images, labels, err := testSplit()
	require.NoError(t, err)
	require.Len(t, labels, 449)

	m := NewNet()
	require.NoError(t, nn.LoadFile(m, "digits.safetensors"))
	eager := tensor.Data[float32](m.Forward(tensor.FromSlice(images, 449, 1, 8, 8)))

	net, err := digitsnet.New()
	require.NoError(t, err)
	out, err := net.Forward(context.Background(), array.DenseOf(images, 449, 1, 8, 8))
	require.NoError(t, err)

	want, err := npy.ReadFile("test_logits.npy")
	require.NoError(t, err)
	torch := array.Data[float32](want)
	right := 0
	for i, p := range argmax(out.Data(), 10) {
		if p == labels[i] {
			right++
		}
	}
	require.Equal(t, 447, right)
	require.Equal(t, argmax(eager, 10), argmax(out.Data(), 10), "predictions of generated code and of the eager model")
	require.Equal(t, argmax(torch, 10), argmax(out.Data(), 10), "predictions of generated code and of PyTorch")
	for i := range torch {
		require.InDelta(t, torch[i], eager[i], 1e-4)
		require.InDelta(t, torch[i], out.Data()[i], 1e-4)
	}
}

// TestStreamsGoOn smooths two streams at once, each with a state of its own.
func TestStreamsGoOn(t *testing.T) {
	ctx := context.Background()
	net, err := streamnet.New()
	require.NoError(t, err)
	var wait sync.WaitGroup
	for k := range 2 {
		state, err := net.NewState()
		require.NoError(t, err)
		wait.Go(func() {
			eager := NewStream()
			for n := range 9 {
				logits := array.NewDense[float32](n%4, 10)
				for i := range logits.Data() {
					logits.Data()[i] = float32((i*7+n*k)%11) - 5
				}
				want := eager.Forward(tensor.New(logits.Array))
				got, err := net.Forward(ctx, state, logits)
				if !assert.NoError(t, err) {
					return
				}
				assert.InDeltaSlice(t, tensor.Data[float32](want), got.Data(), 1e-6)
				assert.InDeltaSlice(t, tensor.Data[float32](eager.Mean), state.Mean.Data(), 1e-6)
				assert.Equal(t, tensor.Data[int64](eager.Calls), state.Calls.Data())
			}
		})
	}
	wait.Wait()
}

func TestSmallBatches(t *testing.T) {
	images, _, err := testSplit()
	require.NoError(t, err)
	net, err := digitsnet.New()
	require.NoError(t, err)
	all, err := net.Forward(context.Background(), array.DenseOf(images, 449, 1, 8, 8))
	require.NoError(t, err)
	for _, n := range []int{1, 7, 64} {
		some, err := net.Forward(context.Background(), array.DenseOf(images[:64*n], n, 1, 8, 8))
		require.NoError(t, err)
		require.InDeltaSlice(t, all.Data()[:10*n], some.Data(), 1e-5)
	}
	_, err = net.Forward(context.Background(), array.DenseOf(images[:64], 1, 1, 64, 1))
	require.ErrorContains(t, err, "input \"x\" is f32[1,1,64,1]")
}

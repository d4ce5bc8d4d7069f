package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"

	"example.com/digits/digitsnet"
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

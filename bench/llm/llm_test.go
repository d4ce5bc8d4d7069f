package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	ggufread "github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/bench/peers"
)

// Files have the weights that kinds promises, and decode in one piece and in two alike.
func TestModels(t *testing.T) {
	dir := t.TempDir()
	for format := range kinds {
		file, err := writeModel(dir, "tiny", format)
		require.NoError(t, err)
		again, err := writeModel(dir, "tiny", format)
		require.NoError(t, err)
		require.Equal(t, file, again)
		f, err := ggufread.Open(file)
		require.NoError(t, err)
		w, err := f.Get("blk.1.ffn_up.weight")
		require.NoError(t, err)
		sum, squares := 0.0, 0.0
		for i := range w.Len() {
			v := array.Float64At(array.Contiguous(w), i)
			sum, squares = sum+v, squares+v*v
		}
		n := float64(w.Len())
		require.InDelta(t, deviation, math.Sqrt(squares/n), 0.1*deviation, format)
		require.InDelta(t, 0, sum/n, 0.15*deviation, format)
		ids := peers.Tensor{Shape: []int{1, 5}, DType: "i64", Scale: 1000}
		o, err := newOurs(f, ids, ids, 1)
		require.NoError(t, err)
		require.Zero(t, difference(o.probe, o.probe))
		require.Greater(t, o.probe[len(o.probe)-1], 0.01)
		require.Greater(t, o.bytes, 4e5)
		require.NoError(t, f.Close())
	}
	_, err := writeModel(dir, "tiny", "Q1_0")
	require.Error(t, err)
}

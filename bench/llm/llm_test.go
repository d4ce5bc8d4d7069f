package main

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	ggufread "github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
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
		o, err := newOurs(f, ids, ids, 1, true, "f32")
		require.NoError(t, err)
		require.Zero(t, difference(o.probe, o.probe))
		require.Greater(t, o.probe[len(o.probe)-1], 0.01)
		require.Greater(t, o.bytes, 4e5)
		require.NoError(t, f.Close())
	}
	_, err := writeModel(dir, "tiny", "Q1_0")
	require.Error(t, err)
}

// Scores are those of the decoder with f32 weights, of which only sums are in another order.
func TestScores(t *testing.T) {
	size := "tiny"
	if s := os.Getenv("GOFX_LLM_SIZE"); s != "" {
		size = s
	}
	dir := t.TempDir()
	for format := range kinds {
		file, err := writeModel(dir, size, format)
		require.NoError(t, err)
		f, err := ggufread.Open(file)
		require.NoError(t, err)
		m, err := models.LoadLlama(f)
		require.NoError(t, err)
		wide := models.NewLlama(m.Config)
		require.NoError(t, nn.LoadStateDict(wide, f, nn.CastTypes()))
		c := m.Config
		past := tensor.Zeros(0, c.NumLayers, 2, 1, c.NumKVHeads, c.HeadDim)
		ids := tensor.FromSlice([]int64{3, 100, 17, 5, 999, 0}, 1, 6)
		for range 2 { // several rows, then one
			got, present := m.Forward(ids, past)
			want, _ := wide.Forward(ids, past)
			worst, size := 0.0, 0.0
			for i := range want.Array().Len() {
				w := array.Float64At(want.Array(), i)
				worst, size = max(worst, math.Abs(w-array.Float64At(got.Array(), i))), max(size, math.Abs(w))
			}
			t.Log(format, worst/size)
			require.Less(t, worst, 1e-4*size, format)
			past, ids = present, tensor.FromSlice([]int64{42}, 1, 1)
		}
		require.NoError(t, f.Close())
	}
}

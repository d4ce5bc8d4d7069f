package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestFile(t *testing.T) {
	var b bytes.Buffer
	ramp := func(_, col int) float32 { return float32(col - 16) }
	require.NoError(t, Write(&b, []Key{{"general.architecture", "gpt2"}, {"n", 7}, {"eps", 0.5}},
		[]*Tensor{{Name: "v", Vector: true, Rows: 1, Cols: 3, At: ramp}, {Name: "m", Kind: Q8, Rows: 2, Cols: 32, At: ramp}}))
	data := b.Bytes()
	require.Equal(t, "GGUF", string(data[:4]))
	require.Equal(t, uint32(3), binary.LittleEndian.Uint32(data[4:]))
	require.Zero(t, len(data)%align, "ends where other data could begin")
	// The vector takes 12 bytes and 20 zeros, the matrix two rows of a scale and 32 bytes.
	end := data[len(data)-aligned(2*34):]
	require.InDelta(t, 16.0/127, half(end), 1e-4)
}

func half(b []byte) float64 { return float64(array.Half(binary.LittleEndian.Uint16(b)).Float32()) }

// TestBlocks: numbers times their scale are the values, within half of it, or all of it where 4 bits
// have no 8.
func TestBlocks(t *testing.T) {
	block := make([]float32, Block)
	for i := range block {
		block[i] = float32(math.Sin(float64(i)))
	}
	eight := narrow(block, Q8)
	require.Len(t, eight, 34)
	for i, v := range block {
		require.InDelta(t, v, half(eight)*float64(int8(eight[2+i])), 0.006)
	}
	four := narrow(block, Q4)
	require.Len(t, four, 18)
	for i := range Block / 2 {
		require.InDelta(t, block[i], half(four)*(float64(four[2+i]&15)-8), 0.13)
		require.InDelta(t, block[i+Block/2], half(four)*(float64(four[2+i]>>4)-8), 0.13)
	}
	require.Equal(t, make([]byte, 34), narrow(make([]float32, Block), Q8), "no division by zero")
}

func TestBadModels(t *testing.T) {
	at := func(_, _ int) float32 { return 0 }
	require.ErrorContains(t, Write(&bytes.Buffer{}, nil, []*Tensor{{Name: "m", Kind: Q4, Rows: 1, Cols: 33, At: at}}), "33 columns")
	require.ErrorContains(t, Write(&bytes.Buffer{}, []Key{{"k", true}}, nil), "k is a bool")
}

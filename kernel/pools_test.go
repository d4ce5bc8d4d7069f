package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestOtherPoolsOfPadding takes windows none of which has an element, in blocks of
// channels and of bytes.
func TestOtherPoolsOfPadding(t *testing.T) {
	s := MaxPool{Kernel: []int{2, 2}, Stride: []int{1, 1}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, Dilation: []int{3, 3}}
	inf := math.Inf(-1)
	const image = 2 * 2 * BlockLanes
	blocked := array.New(array.F32, 1, 1, 1, 1, BlockLanes)
	kerneltest.Soil(blocked.Storage().Bytes())
	kerneltest.RunStep(t, MaxPoolBlocked{MaxPool: s}, []*array.Array{blocked}, []*array.Array{array.Reshape(array.FromSlice(make([]float32, image)), 1, 1, 2, 2, BlockLanes)})
	for _, v := range array.Data[float32](blocked) {
		require.Equal(t, float32(inf), v)
	}

	for _, last := range []bool{false, true} {
		q := array.New(array.I8, 1, 1, 1, 1)
		kerneltest.Soil(q.Storage().Bytes())
		kerneltest.RunStep(t, QMaxPool{Kernel: s.Kernel, Stride: s.Stride, PadLo: s.PadLo, PadHi: s.PadHi, Dilation: s.Dilation, ChannelsLast: last},
			[]*array.Array{q}, []*array.Array{array.FromSlice([]int8{1, 2, 3, 4}, 1, map[bool]int{false: 1, true: 2}[last], 2, map[bool]int{false: 2, true: 1}[last])})
		require.Equal(t, []int8{-128}, array.Data[int8](q))
	}
}

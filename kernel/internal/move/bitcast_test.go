package move

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

func TestBitcast(t *testing.T) {
	x := array.FromSlice([]float32{0, 1, -2, 0.5, 3, 7}, 2, 3)
	y := kerneltest.Run1(t, Bitcast{}, array.U32, []int{3, 2}, array.Permute(x, 1, 0))
	require.Equal(t, []uint32{0, 0x3f000000, 0x3f800000, 0x40400000, 0xc0000000, 0x40e00000}, array.Data[uint32](y))
	for _, d := range []array.DType{array.U8, array.I16, array.I32, array.F64} {
		in := array.Cast(x, d)
		back := kerneltest.Run1(t, Bitcast{}, d, []int{2, 3}, in)
		require.Equal(t, array.Format(in, 9), array.Format(back, 9))
	}
	kerneltest.Code(t, operand.OperandCode, "larger or smaller", func() { kerneltest.Run1(t, Bitcast{}, array.F64, []int{2, 3}, x) })
	kerneltest.NoAllocs(t, Bitcast{}, []*array.Array{array.New(array.I32, 2, 3)}, x)
}

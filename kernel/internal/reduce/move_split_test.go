package reduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestSplit(t *testing.T) {
	x := array.Permute(array.FromSlice([]int32{1, 2, 3, 4, 5, 6}, 3, 2), 1, 0) // [[1,3,5],[2,4,6]]
	w := &par.Workspace{}
	a, b := array.New(array.I32, 2, 1), array.New(array.I32, 2, 2)
	move.Split{Dim: 1}.Run(w, []*array.Array{a, b}, []*array.Array{x})
	require.Equal(t, []int32{1, 2}, array.Data[int32](a))
	require.Equal(t, []int32{3, 5, 4, 6}, array.Data[int32](b))

	rows := []*array.Array{array.New(array.I32, 3), array.New(array.I32, 3)}
	move.Split{Dim: -2, Unbind: true}.Run(w, rows, []*array.Array{x})
	require.Equal(t, []int32{1, 3, 5}, array.Data[int32](rows[0]))
	require.Equal(t, []int32{2, 4, 6}, array.Data[int32](rows[1]))

	defer func() {
		e, ok := recover().(*diag.Error)
		require.True(t, ok)
		require.Equal(t, operand.OperandCode, e.Code)
	}()
	move.Split{Dim: 1}.Run(w, []*array.Array{b, b}, []*array.Array{x})
}

// TestScanIntoF64 needs the running sum not to be rounded to the operand's type.
func TestScanIntoF64(t *testing.T) {
	x, y := array.FromSlice([]float32{1, 0x1p-40}), array.New(array.F64, 2)
	Scan{Kind: "cumsum"}.Run(&par.Workspace{}, []*array.Array{y}, []*array.Array{x})
	require.Equal(t, []float64{1, 1 + 0x1p-40}, array.Data[float64](y))
}

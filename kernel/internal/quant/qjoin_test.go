package quant

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// TestQConcat compares joins with the tensors dequantised, joined and quantised.
func TestQConcat(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for range 200 {
		d, axis := anyByte(r), r.IntN(3)
		shape := []int{r.IntN(4), 1 + r.IntN(5), 1 + r.IntN(40)}
		in := []*array.Array{qScale(r, 1, 0.1), qZero(r, d)}
		var parts []*array.Array
		total := 0
		for k := range 1 + r.IntN(4) {
			own := slices.Clone(shape)
			own[axis] = r.IntN(6)
			total += own[axis]
			x, scale, zero := qArray(r, d, own...), qScale(r, 1, 0.1), qZero(r, d)
			if k == 1 {
				scale, zero = in[0], in[1] // as the result is
			}
			in = append(in, x, scale, zero)
			real := array.New(array.F32, own...)
			Dequantize{}.Run(&par.Workspace{}, []*array.Array{real}, []*array.Array{x, scale, zero})
			parts = append(parts, real)
		}
		shape[axis] = total
		want, got, at := array.New(d, shape...), array.New(d, shape...), 0
		for _, p := range parts {
			q := array.New(d, p.Shape()...)
			Quantize{}.Run(&par.Workspace{}, []*array.Array{q}, []*array.Array{p, in[0], in[1]})
			array.Copy(array.Slice(want, axis, at, at+p.Dim(axis), 1), q)
			at += p.Dim(axis)
		}
		kerneltest.QLevels(t, func(level string) {
			QConcat{Dim: axis}.Run(&par.Workspace{Threads: 2}, []*array.Array{got}, in)
			require.Equal(t, array.Bytes(want), array.Bytes(got), level)
		})
	}
}

// TestQEmbedding compares rows that are taken with rows of the dequantised weight.
func TestQEmbedding(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	for range 100 {
		d, rows, width := anyByte(r), 1+r.IntN(9), r.IntN(70)
		n := 1
		if r.IntN(2) == 0 {
			n = rows
		}
		in := []*array.Array{nil, qArray(r, d, rows, width), qScale(r, n, 0.1), qArray(r, d, n)}
		all := array.New(array.F32, rows, width)
		Dequantize{}.Run(&par.Workspace{}, []*array.Array{all}, in[1:])
		at := make([]int32, r.IntN(12))
		for i := range at {
			at[i] = int32(r.IntN(rows))
		}
		in[0] = array.FromSlice(at, len(at))
		out := array.New(array.F32, len(at), width)
		kerneltest.QLevels(t, func(level string) {
			QEmbedding{}.Run(&par.Workspace{Threads: 2}, []*array.Array{out}, in)
			for i, row := range at {
				require.Equal(t, array.Data[float32](all)[int(row)*width:][:width], array.Data[float32](out)[i*width:][:width], level)
			}
		})
	}
}

// TestJoinsRefuse gives joins and embeddings operands that they cannot take.
func TestJoinsRefuse(t *testing.T) {
	s, z := array.Scalar(float32(1)), array.Scalar(uint8(0))
	x := array.New(array.U8, 2, 3)
	join := func(out *array.Array, in ...*array.Array) func() {
		return func() { QConcat{Dim: 1}.Run(&par.Workspace{}, []*array.Array{out}, in) }
	}
	kerneltest.Code(t, operand.OperandCode, "tensors with theirs", join(x, s, z, x, s))
	kerneltest.Code(t, operand.OperandCode, "hold more elements", join(x, s, z, x, s, z, x, s, z))
	kerneltest.Code(t, operand.OperandCode, "hold less elements", join(array.New(array.U8, 2, 4), s, z, x, s, z))
	kerneltest.Code(t, operand.OperandCode, "a dimension that is not joined", join(array.New(array.U8, 3, 3), s, z, x, s, z))
	take := func(index, weight, scale *array.Array) func() {
		return func() {
			QEmbedding{}.Run(&par.Workspace{}, []*array.Array{array.New(array.F32, 1, 3)}, []*array.Array{index, weight, scale})
		}
	}
	kerneltest.Code(t, operand.IndexCode, "index 2 is out of range for dimension 0 of size 2", take(array.FromSlice([]int64{2}, 1), x, s))
	kerneltest.Code(t, operand.IndexCode, "index -1", take(array.FromSlice([]int32{-1}, 1), x, s))
	kerneltest.Code(t, operand.OperandCode, "expected i32 or i64", take(array.FromSlice([]float32{1}, 1), x, s))
	kerneltest.Code(t, operand.OperandCode, "neither one element", take(array.FromSlice([]int64{1}, 1), x, array.New(array.F32, 3)))
	kerneltest.RequireNoAllocs(t, QConcat{Dim: 1}, []*array.Array{array.New(array.U8, 2, 6)}, []*array.Array{s, z, x, s, z, x, array.Scalar(float32(2)), z})
	kerneltest.RequireNoAllocs(t, QEmbedding{}, []*array.Array{array.New(array.F32, 2, 3)}, []*array.Array{array.FromSlice([]int64{1, 0}), x, s})
}

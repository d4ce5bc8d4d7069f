package linalg

import (
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// expand is the determinant by the first row's minors.
func expand(m [][]float64) float64 {
	if len(m) == 0 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for k, v := range m[0] {
		var minor [][]float64
		for _, row := range m[1:] {
			minor = append(minor, append(append([]float64(nil), row[:k]...), row[k+1:]...))
		}
		sum, sign = sum+sign*v*expand(minor), -sign
	}
	return sum
}

func TestDet(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, shape := range [][]int{{3, 1, 1}, {2, 2, 2}, {4, 3, 3}, {2, 3, 5, 5}, {3, 0, 0}, {0, 2, 2}, {4, 4}} {
		x := kerneltest.Rand64(r, shape...)
		n, lead := shape[len(shape)-1], shape[:len(shape)-2]
		want := kerneltest.Fill64(lead, func(ix []int) float64 {
			m := make([][]float64, n)
			for i := range m {
				for j := range n {
					m[i] = append(m[i], x.At(append(append([]int(nil), ix...), i, j)...))
				}
			}
			return expand(m)
		})
		for d, tol := range map[array.DType]float64{array.F64: 1e-12, array.F32: 1e-5} {
			for _, in := range kerneltest.Layouts(d, x) {
				kerneltest.Near(t, want, kerneltest.Run1(t, Det{}, d, lead, in), tol, shape, d)
			}
		}
	}
	zero := array.FromSlice([]float32{0, 0, 3, 0, 1, 0, 2, 0, 0}, 3, 3) // every pivot is below
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{}, Data: []float64{-6}}, kerneltest.Run1(t, Det{}, array.F32, nil, zero))
	kerneltest.Code(t, operand.OperandCode, "square", func() {
		kerneltest.Run1(t, Det{}, array.F32, []int{2}, array.New(array.F32, 2, 3, 4))
	})
	kerneltest.NoAllocs(t, Det{}, []*array.Array{array.New(array.F32, 2)}, array.New(array.F32, 2, 3, 3))
}

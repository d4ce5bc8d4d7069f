package gemm

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// Batches of small products, in every layout, with broadcast operands.
func TestMatMulBatch(t *testing.T) {
	cases := []struct{ a, b, out []int }{
		{[]int{3, 17, 21}, []int{3, 21, 35}, []int{3, 17, 35}},
		{[]int{2, 3, 16, 9}, []int{3, 9, 40}, []int{2, 3, 16, 40}},
		{[]int{5, 1, 15, 20}, []int{1, 2, 20, 11}, []int{5, 2, 15, 11}},
		{[]int{33, 9, 10}, []int{33, 10, 9}, []int{33, 9, 9}},
		{[]int{2, 30, 300}, []int{2, 300, 33}, []int{2, 30, 33}},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, c := range cases {
			kerneltest.StepCase{
				Name: fmt.Sprint(c.a, c.b), Step: MatMul{}, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.a, c.b},
				Meaning: func(in, out []kerneltest.RefArray) { matMulMeaning(in[0], in[1], out[0]) },
			}.Check(t, array.F32, array.BF16)
		}
		kerneltest.RequireNoAllocs(t, MatMul{}, []*array.Array{array.New(array.F32, 6, 40, 60)},
			[]*array.Array{array.New(array.F32, 6, 40, 50), array.New(array.F32, 6, 50, 60)})
	})
}

package plan_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// A plan is buffers and steps. This one is made by hand: two matrix products.
func ExamplePlan() {
	t := shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(16)))
	w := shape.TensorType(array.F32, shape.ConstDims(16, 16))
	p := &plan.Plan{
		Name: "twice",
		Buffers: []plan.Buffer{
			{Name: "x", Kind: plan.Input, Type: t},
			{Name: "w", Kind: plan.Weight, Type: w, Path: "fc.weight"},
			{Name: "h", Kind: plan.Temp, Type: t},
			{Name: "y", Kind: plan.Output, Type: t},
		},
		Steps: []plan.Step{
			{Kernel: &kernel.MatMul{}, Out: []int{2}, In: []int{0, 1}, Op: "matmul"},
			{Kernel: &kernel.MatMul{}, Out: []int{3}, In: []int{2, 1}, Op: "matmul"},
		},
		Inputs: []int{0}, Outputs: []int{3}, Symbols: []guard.Symbol{{Name: "N"}},
	}
	p.Live()  // between which steps each buffer is in use
	p.Place() // where in the arena it lies
	fmt.Println(p.Check(), p.Weights())
	fmt.Print(p)

	var s plan.Sizes
	err := p.Size(&s, plan.Values(map[string]int{"N": 10}))
	fmt.Println(s.Shapes[2], s.Arena, p.Need(&s), err)
	// Output:
	// <nil> [1]
	// plan twice
	//   symbol N = dim(x, 0)
	//   input x : f32[N,16]
	//   weight w : f32[16,16] from "fc.weight"
	//   temp h : f32[N,16] at 0, 64*N bytes, steps 0-1
	//   output y : f32[N,16]
	//   arena 64*N bytes
	//   0: h = MatMul{} (x, w) # matmul
	//   1: y = MatMul{} (h, w) # matmul
	//   return y
	// [10 16] 640 640 <nil>
}

// Instance makes a step's kernel for one run, with sizes to set.
func ExampleStep_Instance() {
	slice := &kernel.Slice{Dim: 0, Step: 1}
	u := op.WithSizes(slice, op.Size(&slice.Stop, shape.Sym("N"))).(*op.Unsized)
	s := plan.Step{Kernel: u.Step, Sizes: u.Sizes}
	k, fields, err := s.Instance()
	if err != nil {
		fmt.Println(err)
		return
	}
	*fields[0] = 7
	fmt.Println(plan.KernelName(k), plan.KernelName(s.Kernel))
	// Output: Slice{Stop: 7, Step: 1} Slice{Step: 1}
}

func ExampleKernelName() {
	fmt.Println(plan.KernelName(kernel.Permute{Dims: []int{1, 0}}))
	// Output: Permute{Dims: [1 0]}
}

func ExampleValues() {
	env := plan.Values(map[string]int{"N": 3})
	fmt.Println(shape.Sym("N").MulInt(4).Eval(env))
	// Output: 12 <nil>
}

package lazy_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// A step that always makes the same calls is captured once; runs of it record nothing.
func ExampleSession_Program() {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	layer := nn.NewLinear(2, 1)
	layer.Weight.AssignInPlace(tensor.FromSlice([]float32{1, 2}).Reshape(1, 2))
	layer.Bias.AssignInPlace(tensor.Zeros(1))
	step := func(x *tensor.Tensor) *tensor.Tensor {
		y := layer.Forward(x)
		layer.Bias.AddInPlace(y.Sum(0)) // a run writes to the model's memory
		return y
	}
	p, err := s.Program(step, tensor.Ones(1, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	for range 3 {
		y, err := p.Run(tensor.Ones(1, 2))
		fmt.Println(y[0], layer.Bias, err)
	}
	fmt.Println(s.Stats().Calls, "calls were recorded")
	fmt.Println(p.Module().Graph.Output().NumArgs(), "result")
	// Output:
	// tensor([[3.]]) tensor([3.]) <nil>
	// tensor([[6.]]) tensor([9.]) <nil>
	// tensor([[12.]]) tensor([21.]) <nil>
	// 0 calls were recorded
	// 1 result
}

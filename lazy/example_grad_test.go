package lazy_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// descend trains a model on batches until its loss is small.
func descend(model nn.Module, batches, params []*tensor.Tensor) (steps int, err error) {
	s := lazy.New(lazy.Options{Gradients: true})
	defer s.Close()
	for _, x := range batches {
		loss := model.Forward(s.In(x)).Square().Mean()
		if loss.Item() < 1e-3 { // data-dependent: ordinary Go
			break
		}
		for i, g := range tensor.Grad(loss, params...) {
			params[i].SubInPlace(g.MulScalar(0.25))
		}
		if err := s.Barrier(); err != nil {
			return steps, err
		}
		steps++
	}
	return steps, nil
}

// The gradient of a step is recorded with the step, also after the loss was read.
func ExampleSession_Gradient() {
	model := nn.NewLinear(1, 1, nn.Seed(1))
	steps, err := descend(model, []*tensor.Tensor{tensor.Ones(1, 1), tensor.Ones(1, 1), tensor.Ones(1, 1)}, nn.Parameters(model))
	fmt.Println(steps, err)
	// Output: 1 <nil>
}

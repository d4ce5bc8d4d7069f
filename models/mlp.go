package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// MLP is a perceptron with two hidden layers of 512 on images of 28 by 28.
type MLP struct {
	Fc1, Fc2, Fc3 *nn.Linear
}

// NewMLP returns the perceptron with zero weights.
func NewMLP() *MLP {
	return &MLP{
		Fc1: nn.NewLinear(784, 512, nn.NoInit()),
		Fc2: nn.NewLinear(512, 512, nn.NoInit()),
		Fc3: nn.NewLinear(512, 10, nn.NoInit()),
	}
}

// Forward takes x [N, 784] to scores [N, 10].
func (m *MLP) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.Relu(m.Fc1.Forward(x))
	x = tensor.Relu(m.Fc2.Forward(x))
	return m.Fc3.Forward(x)
}

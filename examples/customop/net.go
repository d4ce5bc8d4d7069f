package customop

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Net cleans signals of 32 samples: a network with all operators of the package.
type Net struct {
	Gate, Value *tensor.Tensor
	Out         *nn.Linear
}

// NewNet returns the network with initial weights.
func NewNet() *Net {
	gate, value := nn.NewLinear(32, 48), nn.NewLinear(32, 48)
	return &Net{Gate: gate.Weight, Value: value.Weight, Out: nn.NewLinear(48, 32)}
}

// Forward takes signals, f32[N,32], and returns them without noise.
func (m *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.CallOp(Median, MedianAttrs{Window: 5}, x)
	h := tensor.CallOp(GatedLinear, nil, x, m.Gate, m.Value)
	return m.Out.Forward(tensor.CallOp(Snake, SnakeAttrs{Alpha: 2}, h)).Add(x)
}

package mlp_with_state_of_its_own

import (
	"io"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Model is the state of MLP. The tags are the names of the tensors in files.
type Model struct {
	Fc1Weight *tensor.Tensor `fx:"fc1.weight"`
	Fc1Bias   *tensor.Tensor `fx:"fc1.bias"`
	Fc2Weight *tensor.Tensor `fx:"fc2.weight"`
	Fc2Bias   *tensor.Tensor `fx:"fc2.bias"`
}

// NewModel returns a Model whose tensors are zero; see LoadModel.
func NewModel() *Model {
	return &Model{
		Fc1Weight: tensor.Param(array.New(array.F32, 3, 4)),
		Fc1Bias:   tensor.Param(array.New(array.F32, 3)),
		Fc2Weight: tensor.Param(array.New(array.F32, 2, 3)),
		Fc2Bias:   tensor.Param(array.New(array.F32, 2)),
	}
}

// LoadModel reads a Model from safetensors data of the given size. Missing, unexpected
// and mis-shaped tensors are reported all at once.
func LoadModel(r io.ReaderAt, size int64) (*Model, error) {
	file, err := safetensors.Open(r, size)
	if err != nil {
		return nil, err
	}
	m := NewModel()
	if err := nn.LoadStateDict(m, nn.File(file)); err != nil {
		return nil, err
	}
	return m, nil
}

// Forward computes MLP.
//
// Inputs: x is f32[N,4].
func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor {
	tensor.Expect("x: f32[N,4]", x)

	// fc1 (Linear)
	fc1 := tensor.Linear(x, m.Fc1Weight, m.Fc1Bias) // f32[N,3]

	relu := tensor.Relu(fc1) // f32[N,3]

	// fc2 (Linear)
	fc2 := tensor.Linear(relu, m.Fc2Weight, m.Fc2Bias) // f32[N,2]
	return fc2
}

package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// LSTM is a stack of recurrent layers of Hochreiter and Schmidhuber, 1997, that
// starts from zeros, with the names of torch.nn.LSTM.
type LSTM struct {
	Layers *nn.LSTM `fx:"."`
}

// NewLSTM returns so many layers of a width with zero weights.
func NewLSTM(width, layers int) *LSTM {
	return &LSTM{nn.NewLSTM(width, width, nn.NumLayers(layers), nn.NoInit())}
}

// Forward takes sequences x [T, N, width] to the results of the last layer
// [T, N, width] and the last states of all layers [layers, N, width].
func (m *LSTM) Forward(x *tensor.Tensor) (output, hN, cN *tensor.Tensor) {
	return m.Layers.Forward(x, nil, nil)
}

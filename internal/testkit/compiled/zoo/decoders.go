package zoo

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// AttnDecoder makes the scores of a word, with attention to the encoder's results.
type AttnDecoder struct {
	Words         *nn.Embedding
	Attn, Combine *nn.Linear
	Cell          *nn.GRUCell
	Out           *nn.Linear
	Hidden        *tensor.Tensor // of the word before
	Steps         int
}

// NewAttnDecoder makes a small one.
func NewAttnDecoder() *AttnDecoder {
	return &AttnDecoder{Words: nn.NewEmbedding(12, 6, nn.Seed(5)), Attn: linear(12, 4), Combine: linear(12, 6), Cell: nn.NewGRUCell(6, 6, nn.Seed(6)), Out: linear(6, 12),
		Hidden: tensor.Zeros(1, 6)}
}

// Forward takes a word [1] and the encoder's results [4, 6] to the scores of the next word and the weights.
func (m *AttnDecoder) Forward(word, encoded *tensor.Tensor) (scores, weights *tensor.Tensor) {
	x := m.Words.Forward(word)
	weights = m.Attn.Forward(tensor.Cat([]*tensor.Tensor{x, m.Hidden}, 1)).Softmax(1)
	x = m.Combine.Forward(tensor.Cat([]*tensor.Tensor{x, weights.Matmul(encoded)}, 1)).Relu()
	m.Hidden = m.Cell.Forward(x, m.Hidden)
	m.Steps++
	return m.Out.Forward(m.Hidden).LogSoftmax(1), weights
}

// GreedyDecoder makes words one after the other, each the likeliest.
type GreedyDecoder struct {
	Words *nn.Embedding
	Cell  *nn.GRUCell
	Out   *nn.Linear
	Most  int
	Start int
}

// NewGreedyDecoder makes a small one.
func NewGreedyDecoder() *GreedyDecoder {
	return &GreedyDecoder{Words: nn.NewEmbedding(12, 6, nn.Seed(7)), Cell: nn.NewGRUCell(6, 6, nn.Seed(8)), Out: linear(6, 12), Most: 5, Start: 1}
}

// Forward takes a state [1, 6] to the words.
func (m *GreedyDecoder) Forward(h *tensor.Tensor) *tensor.Tensor {
	word := tensor.Full(1, m.Start)
	var words []*tensor.Tensor
	for range m.Most {
		h = m.Cell.Forward(m.Words.Forward(word), h)
		word = m.Out.Forward(h).Argmax(1)
		words = append(words, word)
	}
	return tensor.Stack(words, 0)
}

package main

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// The sizes of the network.
const (
	window = 64 // characters that it looks at
	width  = 64
	heads  = 4
	layers = 2
)

// GPT predicts the next character of a text: a decoder of Radford et al., "Improving Language
// Understanding by Generative Pre-Training", 2018, with the normalisation first.
type GPT struct {
	Chars, Places *nn.Embedding
	Blocks        []*Block
	Norm          *nn.LayerNorm
	Out           *nn.Linear
}

// NewGPT returns the network with random weights.
func NewGPT() *GPT {
	m := &GPT{
		Chars:  nn.NewEmbedding(symbols, width),
		Places: nn.NewEmbedding(window, width),
		Norm:   nn.NewLayerNorm([]int{width}),
		Out:    nn.NewLinear(width, symbols),
	}
	for range layers {
		m.Blocks = append(m.Blocks, &Block{
			Norm1: nn.NewLayerNorm([]int{width}), Heads: nn.NewLinear(width, 3*width), Join: nn.NewLinear(width, width),
			Norm2: nn.NewLayerNorm([]int{width}), Up: nn.NewLinear(width, 4*width), Down: nn.NewLinear(4*width, width),
		})
	}
	nn.ResetParameters(m, 1)
	// PyTorch's embeddings begin with a deviation of 1, which takes long to unlearn.
	for _, e := range []*nn.Embedding{m.Chars, m.Places} {
		e.Weight.MulInPlace(e.Weight.FullLike(0.1))
	}
	return m
}

// Forward takes numbers of characters, i64[N,S] with S up to 64, and returns the logits of the
// character after each, f32[N,S,96].
func (m *GPT) Forward(chars *tensor.Tensor) *tensor.Tensor {
	x := m.Chars.Forward(chars).Add(m.Places.Forward(tensor.Arange(chars.Size(1))))
	for _, b := range m.Blocks {
		x = nn.Run(b, x)
	}
	return m.Out.Forward(m.Norm.Forward(x))
}

// Loss is the cross entropy of the characters that follow, next i64[N,S].
func (m *GPT) Loss(chars, next *tensor.Tensor) *tensor.Tensor {
	return nn.NewCrossEntropyLoss().Forward(m.Forward(chars).Permute(0, 2, 1), next)
}

// Block is attention to the characters before, and a perceptron, each added to its input.
type Block struct {
	Norm1       *nn.LayerNorm
	Heads, Join *nn.Linear
	Norm2       *nn.LayerNorm
	Up, Down    *nn.Linear
}

// Forward keeps the sizes of x, f32[N,S,64].
func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	parts := b.Heads.Forward(b.Norm1.Forward(x)).Chunk(3, -1)
	for i, p := range parts {
		parts[i] = p.Unflatten(-1, heads, width/heads).Transpose(1, 2)
	}
	seen := tensor.ScaledDotProductAttention(parts[0], parts[1], parts[2], nil, tensor.AttentionAttrs{IsCausal: true})
	x = x.Add(b.Join.Forward(seen.Transpose(1, 2).Flatten(2, -1)))
	return x.Add(b.Down.Forward(b.Up.Forward(b.Norm2.Forward(x)).Gelu()))
}

package nn

import (
	"github.com/gofx-dev/gofx/tensor"
)

// TransformerEncoderLayer is torch.nn.TransformerEncoderLayer of Vaswani et al., arXiv:1706.03762:
// attention of a sequence to itself and two linear layers, each with a residual and a
// normalisation, after the sum or (NormFirst) before the block.
type TransformerEncoderLayer struct {
	SelfAttn         *MultiheadAttention
	Linear1, Linear2 *Linear
	Norm1, Norm2     *LayerNorm
	Activation       Module
	NormFirst        bool
	// Dropout follows Activation, Dropout1 attention, Dropout2 Linear2; nil without.
	Dropout, Dropout1, Dropout2 *Dropout
}

// NewTransformerEncoderLayer returns a layer of width dim. PyTorch's arguments are options, with its
// defaults (Feedforward 2048, ReLU, the normalisation last), except that nothing is dropped without
// DropoutBetween.
func NewTransformerEncoderLayer(dim, heads int, opts ...TransformerOption) *TransformerEncoderLayer {
	s := transformerSettings(opts)
	m := &TransformerEncoderLayer{NormFirst: s.normFirst, Activation: s.activation}
	m.SelfAttn = s.attn(dim, heads, 0)
	m.Linear1, m.Linear2 = s.feed(dim)
	m.Norm1, m.Norm2 = s.layerNorm(dim), s.layerNorm(dim)
	m.Dropout, m.Dropout1, m.Dropout2 = s.drop(1), s.drop(2), s.drop(3)
	s.reset(m.SelfAttn.OutProj, m.SelfAttn, m.Linear1, m.Linear2)
	return m
}

// Forward encodes src [S, N, E], or [N, S, E] with BatchFirst. The masks, which may be nil, are those
// of MultiheadAttention.Forward: mask of pairs of positions, padding [N, S] of positions. The causal mask
// of s positions, a number or a Size, is tensor.Ones(s, s).Triu(1).Cast(array.Bool).
func (m *TransformerEncoderLayer) Forward(src, mask, padding *tensor.Tensor) *tensor.Tensor {
	attend := func(x *tensor.Tensor) *tensor.Tensor {
		return dropped(m.Dropout1, Run(m.SelfAttn, x, x, x, padding, mask))
	}
	feed := func(x *tensor.Tensor) *tensor.Tensor {
		x = dropped(m.Dropout, Run(m.Activation, Run(m.Linear1, x)))
		return dropped(m.Dropout2, Run(m.Linear2, x))
	}
	return residual(residual(src, m.Norm1, m.NormFirst, attend), m.Norm2, m.NormFirst, feed)
}

// TransformerEncoder is torch.nn.TransformerEncoder: layers one after the other.
type TransformerEncoder struct {
	Layers []*TransformerEncoderLayer
	Norm   *LayerNorm // of the result; nil without
}

// NewTransformerEncoder returns n layers, each with weights of its own, and a last normalisation with
// FinalNorm.
func NewTransformerEncoder(n, dim, heads int, opts ...TransformerOption) *TransformerEncoder {
	m := &TransformerEncoder{}
	for _, o := range layerOptions(n, opts) {
		m.Layers = append(m.Layers, NewTransformerEncoderLayer(dim, heads, o...))
	}
	s := transformerSettings(opts)
	m.Norm = s.lastNorm(dim)
	return m
}

// Forward encodes src; see TransformerEncoderLayer.Forward.
func (m *TransformerEncoder) Forward(src, mask, padding *tensor.Tensor) *tensor.Tensor {
	for _, l := range m.Layers {
		src = Run(l, src, mask, padding)
	}
	return normed(m.Norm, src)
}

// residual adds what f makes of x, normalised before or after.
func residual(x *tensor.Tensor, norm *LayerNorm, first bool, f func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if first {
		return x.Add(f(Run(norm, x)))
	}
	return Run(norm, x.Add(f(x)))
}

func dropped(d *Dropout, x *tensor.Tensor) *tensor.Tensor {
	if d == nil {
		return x
	}
	return Run(d, x)
}

func normed(n *LayerNorm, x *tensor.Tensor) *tensor.Tensor {
	if n == nil {
		return x
	}
	return Run(n, x)
}

package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/tensor"
)

// TransformerDecoderLayer is torch.nn.TransformerDecoderLayer of Vaswani et al., arXiv:1706.03762:
// attention of a sequence to itself, to the encoder's result (the memory), and two linear layers.
type TransformerDecoderLayer struct {
	SelfAttn, MultiheadAttn *MultiheadAttention
	Linear1, Linear2        *Linear
	Norm1, Norm2, Norm3     *LayerNorm
	Activation              Module
	NormFirst               bool
	// Dropout follows Activation, the others attention to itself, to the memory and Linear2; nil
	// without.
	Dropout, Dropout1, Dropout2, Dropout3 *Dropout
}

// NewTransformerDecoderLayer returns a layer of width dim; see NewTransformerEncoderLayer for options.
func NewTransformerDecoderLayer(dim, heads int, opts ...TransformerOption) *TransformerDecoderLayer {
	s := transformerSettings(opts)
	m := &TransformerDecoderLayer{NormFirst: s.normFirst, Activation: s.activation}
	m.SelfAttn, m.MultiheadAttn = s.attn(dim, heads, 0), s.attn(dim, heads, 4)
	m.Linear1, m.Linear2 = s.feed(dim)
	m.Norm1, m.Norm2, m.Norm3 = s.layerNorm(dim), s.layerNorm(dim), s.layerNorm(dim)
	m.Dropout, m.Dropout1, m.Dropout2, m.Dropout3 = s.drop(1), s.drop(2), s.drop(3), s.drop(5)
	s.reset(m.SelfAttn.OutProj, m.SelfAttn, m.MultiheadAttn.OutProj, m.MultiheadAttn, m.Linear1, m.Linear2)
	return m
}

// Forward decodes tgt [T, N, E], or [N, T, E] with BatchFirst, next to memory, the result of the
// encoder. The masks, each of which may be nil, are those of MultiheadAttention.Forward: tgtMask
// [T, T] and memoryMask [T, S] of pairs of positions, tgtPadding [N, T] and memoryPadding [N, S] of
// positions.
func (m *TransformerDecoderLayer) Forward(tgt, memory, tgtMask, memoryMask, tgtPadding, memoryPadding *tensor.Tensor) *tensor.Tensor {
	self := func(x *tensor.Tensor) *tensor.Tensor { return Run(m.SelfAttn, x, x, x, tgtPadding, tgtMask) }
	cross := func(x *tensor.Tensor) *tensor.Tensor {
		return Run(m.MultiheadAttn, x, memory, memory, memoryPadding, memoryMask)
	}
	return m.run(tgt, self, cross)
}

func (m *TransformerDecoderLayer) run(x *tensor.Tensor, self, cross func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	x = residual(x, m.Norm1, m.NormFirst, func(x *tensor.Tensor) *tensor.Tensor { return dropped(m.Dropout1, self(x)) })
	x = residual(x, m.Norm2, m.NormFirst, func(x *tensor.Tensor) *tensor.Tensor { return dropped(m.Dropout2, cross(x)) })
	return residual(x, m.Norm3, m.NormFirst, func(x *tensor.Tensor) *tensor.Tensor {
		x = dropped(m.Dropout, Run(m.Activation, Run(m.Linear1, x)))
		return dropped(m.Dropout3, Run(m.Linear2, x))
	})
}

// caches is the number of tensors that a layer keeps from step to step: keys and values of the
// positions before, and of the memory, [N, heads, positions, E/heads].
const caches = 4

// step is Forward of the next positions of tgt, each of which sees those before it.
func (m *TransformerDecoderLayer) step(tgt, memory, padding *tensor.Tensor, cache []*tensor.Tensor) (out *tensor.Tensor, next []*tensor.Tensor) {
	next = make([]*tensor.Tensor, caches)
	if cache == nil {
		next[2], next[3] = m.MultiheadAttn.heads(memory)
	} else {
		copy(next[2:], cache[2:])
	}
	out = m.run(tgt,
		func(x *tensor.Tensor) *tensor.Tensor {
			next[0], next[1] = m.SelfAttn.heads(x)
			if cache != nil {
				next[0], next[1] = tensor.Cat([]*tensor.Tensor{cache[0], next[0]}, 2), tensor.Cat([]*tensor.Tensor{cache[1], next[1]}, 2)
			}
			at := tensor.Arange(next[0].Size(2))
			own := at.Narrow(0, next[0].Size(2).Sub(m.SelfAttn.length(x)), m.SelfAttn.length(x))
			return m.SelfAttn.find(x, next[0], next[1], at.Unsqueeze(0).Le(own.Unsqueeze(1)))
		},
		func(x *tensor.Tensor) *tensor.Tensor {
			return m.MultiheadAttn.find(x, next[2], next[3], combine(padding, nil))
		})
	return out, next
}

// TransformerDecoder is torch.nn.TransformerDecoder: layers one after the other.
type TransformerDecoder struct {
	Layers []*TransformerDecoderLayer
	Norm   *LayerNorm // of the result; nil without
}

// NewTransformerDecoder returns n layers, each with weights of its own, and a last normalisation with
// FinalNorm.
func NewTransformerDecoder(n, dim, heads int, opts ...TransformerOption) *TransformerDecoder {
	m := &TransformerDecoder{}
	for _, o := range layerOptions(n, opts) {
		m.Layers = append(m.Layers, NewTransformerDecoderLayer(dim, heads, o...))
	}
	s := transformerSettings(opts)
	m.Norm = s.lastNorm(dim)
	return m
}

// Forward decodes tgt; see TransformerDecoderLayer.Forward.
func (m *TransformerDecoder) Forward(tgt, memory, tgtMask, memoryMask, tgtPadding, memoryPadding *tensor.Tensor) *tensor.Tensor {
	for _, l := range m.Layers {
		tgt = Run(l, tgt, memory, tgtMask, memoryMask, tgtPadding, memoryPadding)
	}
	return normed(m.Norm, tgt)
}

// Step decodes the next positions of a sequence, tgt [T, N, E] or [N, T, E], as Forward decodes them
// with a causal mask in the whole sequence. cache is what the step before returned, nil for the first
// one, which alone reads memory. padding [N, S] tells which positions of the memory are padding; it
// may be nil. For a captured step, cache and next are inputs and results of the graph.
func (m *TransformerDecoder) Step(tgt, memory, padding *tensor.Tensor, cache []*tensor.Tensor) (out *tensor.Tensor, next []*tensor.Tensor) {
	if n := caches * len(m.Layers); cache != nil && len(cache) != n {
		refuse("transformer_decoder", strconv.Itoa(len(cache))+" cached tensors, expected "+strconv.Itoa(n), "give what the step before returned, or nil")
	}
	for i, l := range m.Layers {
		var own, kept []*tensor.Tensor
		if cache != nil {
			own = cache[caches*i : caches*(i+1)]
		}
		tgt, kept = l.step(tgt, memory, padding, own)
		next = append(next, kept...)
	}
	return normed(m.Norm, tgt), next
}

// heads returns keys and values [N, heads, L, E/heads] of x.
func (m *MultiheadAttention) heads(x *tensor.Tensor) (keys, values *tensor.Tensor) {
	p := m.blocks(1, x, x)
	return m.split(p[0]), m.split(p[1])
}

// find is Forward for keys and values that heads returned; mask is that of
// ScaledDotProductAttention. It drops no attention weights.
func (m *MultiheadAttention) find(q, keys, values, mask *tensor.Tensor) *tensor.Tensor {
	y := tensor.ScaledDotProductAttention(m.split(m.blocks(0, q)[0]), keys, values, mask)
	return m.OutProj.Forward(m.merge(y))
}

// length returns the number of positions of a sequence.
func (m *MultiheadAttention) length(x *tensor.Tensor) tensor.Size {
	if m.BatchFirst {
		return x.Size(1)
	}
	return x.Size(0)
}

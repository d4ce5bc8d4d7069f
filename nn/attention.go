package nn

import (
	"math"
	"runtime"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// MultiheadAttention is torch.nn.MultiheadAttention of Vaswani et al.,
// arXiv:1706.03762, for queries, keys and values of one width. Rows of
// InProjWeight are those of query, key and value. It is written with other
// modules and operators, so a trace looks into it.
type MultiheadAttention struct {
	EmbedDim, NumHeads int
	BatchFirst         bool           // inputs are [N, L, E] instead of [L, N, E]
	InProjWeight       *tensor.Tensor // [3E, E]
	InProjBias         *tensor.Tensor // [3E] or nil
	OutProj            *Linear
	AttnDropout        *Dropout // of the attention weights in training; nil without
}

// NewMultiheadAttention returns attention with heads of width dim/heads.
func NewMultiheadAttention(dim, heads int, opts ...AttentionOption) *MultiheadAttention {
	s := settings{bias: true}
	for _, o := range opts {
		o.attention(&s)
	}
	if heads < 1 || dim < 1 || dim%heads != 0 {
		refuse("multihead_attention", "width "+strconv.Itoa(dim)+" and "+strconv.Itoa(heads)+" heads, expected a positive multiple of the heads", "")
	}
	m := &MultiheadAttention{EmbedDim: dim, NumHeads: heads, BatchFirst: s.batchFirst, InProjWeight: zeros(3*dim, dim)}
	out := []LinearOption{NoInit()}
	if s.bias {
		m.InProjBias = zeros(3 * dim)
	} else {
		out = append(out, NoBias())
	}
	m.OutProj = NewLinear(dim, dim, out...)
	if s.dropout > 0 {
		m.AttnDropout = NewDropout(s.dropout, DropoutSeed(s.dropoutSeed))
	}
	if !s.noInit {
		src := NewSource(s.seed)
		m.OutProj.ResetParameters(src)
		m.ResetParameters(src)
	}
	return m
}

// ResetParameters draws InProjWeight by Xavier's rule and clears the biases.
func (m *MultiheadAttention) ResetParameters(s *Source) {
	s.XavierUniform(m.InProjWeight, 1)
	for _, b := range []*tensor.Tensor{m.InProjBias, m.OutProj.Bias} {
		if b != nil {
			Constant(b, 0)
		}
	}
}

// SetTraining switches the dropout of the attention weights.
func (m *MultiheadAttention) SetTraining(on bool) {
	if m.AttnDropout != nil {
		m.AttnDropout.SetTraining(on)
	}
}

// Forward returns what the queries q [L, N, E] find in the keys k and values v
// [S, N, E]. Both masks may be nil: keyPaddingMask [N, S] tells which keys are
// padding, attnMask [L, S] or [N, heads, L, S] which pairs are not allowed. Masks
// are bool, true meaning "ignore" as in torch.nn, or floats that are added. A query
// for which bool masks leave no key finds zeros, from Attend and in training too, where
// torch.nn gives NaN; one to whose scores floats add -Inf everywhere finds NaN.
func (m *MultiheadAttention) Forward(q, k, v, keyPaddingMask, attnMask *tensor.Tensor) *tensor.Tensor {
	out, _ := m.attend(q, k, v, keyPaddingMask, attnMask, false)
	runtime.KeepAlive(m) // a trace reads on the stack whose Forward runs
	return out
}

// Attend is Forward that also returns the attention weights [N, L, S], averaged
// over the heads.
func (m *MultiheadAttention) Attend(q, k, v, keyPaddingMask, attnMask *tensor.Tensor) (output, weights *tensor.Tensor) {
	return m.attend(q, k, v, keyPaddingMask, attnMask, true)
}

func (m *MultiheadAttention) attend(q, k, v, padding, pairs *tensor.Tensor, need bool) (output, weights *tensor.Tensor) {
	p := m.project(q, k, v)
	for i := range p {
		p[i] = m.split(p[i])
	}
	mask := combine(padding, pairs)
	var y *tensor.Tensor
	if dropping := m.AttnDropout != nil && m.AttnDropout.Training; !need && !dropping {
		y = tensor.ScaledDotProductAttention(p[0], p[1], p[2], mask)
	} else {
		scale := 1 / math.Sqrt(float64(m.EmbedDim/m.NumHeads))
		scores := p[0].MulScalar(scale).Matmul(p[1].Transpose(-1, -2))
		if mask != nil {
			scores = scores.Add(additive(mask))
		}
		w := scores.Softmax(-1)
		if mask != nil && mask.DType() == array.Bool { // as scaled_dot_product_attention: 0 for a query without keys
			w = w.MaskedFill(mask.LogicalNot().AllWith(-1, tensor.ReduceAttrs{KeepDim: true}), 0)
		}
		if dropping {
			w = m.AttnDropout.Forward(w)
		}
		y = w.Matmul(p[2])
		weights = tensor.Mean(w, 1)
	}
	return m.OutProj.Forward(m.merge(y)), weights
}

// split makes heads [N, heads, L, E/heads] of a projection.
func (m *MultiheadAttention) split(x *tensor.Tensor) *tensor.Tensor {
	if !m.BatchFirst {
		x = x.Transpose(0, 1)
	}
	return x.Unflatten(-1, m.NumHeads, m.EmbedDim/m.NumHeads).Transpose(1, 2)
}

// merge takes split back.
func (m *MultiheadAttention) merge(y *tensor.Tensor) *tensor.Tensor {
	y = y.Transpose(1, 2).Flatten(2, 3)
	if !m.BatchFirst {
		y = y.Transpose(0, 1)
	}
	return y
}

// project applies the three blocks of the input projection, in one product when
// queries, keys and values are the same tensor.
func (m *MultiheadAttention) project(q, k, v *tensor.Tensor) []*tensor.Tensor {
	if q == k && k == v {
		return tensor.Linear(q, m.InProjWeight, m.InProjBias).Chunk(3, -1)
	}
	return m.blocks(0, q, k, v)
}

// blocks applies one block of the input projection to each tensor, from the named one on.
func (m *MultiheadAttention) blocks(first int, x ...*tensor.Tensor) []*tensor.Tensor {
	w, b := m.InProjWeight.Chunk(3, 0), make([]*tensor.Tensor, 3)
	if m.InProjBias != nil {
		b = m.InProjBias.Chunk(3, 0)
	}
	out := make([]*tensor.Tensor, len(x))
	for i, x := range x {
		out[i] = tensor.Linear(x, w[first+i], b[first+i])
	}
	return out
}

// combine makes one mask of both in the sense of scaled_dot_product_attention:
// bool and true for pairs to keep, or floats to be added.
func combine(padding, pairs *tensor.Tensor) *tensor.Tensor {
	if padding != nil {
		padding = padding.Unsqueeze(1).Unsqueeze(2)
	}
	switch {
	case padding == nil && pairs == nil:
		return nil
	case padding == nil:
		return kept(pairs)
	case pairs == nil:
		return kept(padding)
	case padding.DType() == array.Bool && pairs.DType() == array.Bool:
		return padding.LogicalOr(pairs).LogicalNot()
	}
	return additive(kept(padding)).Add(additive(kept(pairs)))
}

// kept turns "ignore" around.
func kept(mask *tensor.Tensor) *tensor.Tensor {
	if mask.DType() == array.Bool {
		return mask.LogicalNot()
	}
	return mask
}

// additive turns a mask of pairs to keep into one of numbers to add.
func additive(mask *tensor.Tensor) *tensor.Tensor {
	if mask.DType() != array.Bool {
		return mask
	}
	return mask.Cast(array.F32).ZerosLike().MaskedFill(mask.LogicalNot(), math.Inf(-1))
}

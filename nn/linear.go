package nn

import (
	"math"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// Linear is torch.nn.Linear: x [..., InFeatures] to [..., OutFeatures] by
// x @ Weightᵀ + Bias, Weight [OutFeatures, InFeatures], Bias [OutFeatures] or nil.
type Linear struct {
	leaf
	InFeatures, OutFeatures int
	Weight, Bias            *tensor.Tensor
}

// NewLinear returns a linear map with a bias unless NoBias is given.
func NewLinear(in, out int, opts ...LinearOption) *Linear {
	s := settings{bias: true}
	for _, o := range opts {
		o.linear(&s)
	}
	m := &Linear{InFeatures: in, OutFeatures: out, Weight: zeros(out, in)}
	if s.bias {
		m.Bias = zeros(out)
	}
	start(m, &s)
	return m
}

// Forward returns x @ Weightᵀ + Bias.
func (m *Linear) Forward(x *tensor.Tensor) *tensor.Tensor {
	return weighted(m, std.Linear, op.None{}, x, m.Weight, m.Bias)
}

// ResetParameters draws weight and bias uniformly within 1/sqrt(InFeatures).
func (m *Linear) ResetParameters(s *Source) { uniformBound(s, m.Weight, m.Bias) }

// Bilinear is torch.nn.Bilinear: y[k] = x1ᵀ Weight[k] x2 + Bias[k] over the last
// axis; Weight [OutFeatures, In1Features, In2Features].
type Bilinear struct {
	In1Features, In2Features, OutFeatures int
	Weight, Bias                          *tensor.Tensor
}

// NewBilinear returns a bilinear map with a bias unless NoBias is given.
func NewBilinear(in1, in2, out int, opts ...LinearOption) *Bilinear {
	s := settings{bias: true}
	for _, o := range opts {
		o.linear(&s)
	}
	m := &Bilinear{In1Features: in1, In2Features: in2, OutFeatures: out, Weight: zeros(out, in1, in2)}
	if s.bias {
		m.Bias = zeros(out)
	}
	start(m, &s)
	return m
}

// Forward returns the bilinear form of x1 [..., In1Features] and x2 [..., In2Features].
func (m *Bilinear) Forward(x1, x2 *tensor.Tensor) *tensor.Tensor {
	// [..., 1, 1, in1] @ [out, in1, in2] = [..., out, 1, in2]; times x2 and summed over in2.
	left := x1.Unsqueeze(-2).Unsqueeze(-2).Matmul(m.Weight).Squeeze(-2)
	y := left.Mul(x2.Unsqueeze(-2)).Sum(-1)
	if m.Bias == nil {
		return y
	}
	return y.Add(m.Bias)
}

// ResetParameters draws weight and bias uniformly within 1/sqrt(In1Features).
func (m *Bilinear) ResetParameters(s *Source) {
	b := 1 / math.Sqrt(float64(max(m.In1Features, 1)))
	s.Uniform(m.Weight, -b, b)
	if m.Bias != nil {
		s.Uniform(m.Bias, -b, b)
	}
}

// Identity is torch.nn.Identity: it returns its input, also while tracing.
type Identity struct{ leaf }

// NewIdentity returns the identity.
func NewIdentity() *Identity { return &Identity{} }

// Forward returns x itself.
func (m *Identity) Forward(x *tensor.Tensor) *tensor.Tensor { return x }

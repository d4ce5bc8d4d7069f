package nn

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// Activation functions without settings; see the torch.nn classes of the same
// names. In-place variants are not needed: a target reuses memory by itself.
type (
	// ReLU is max(x, 0).
	ReLU struct{ leaf }
	// ReLU6 is min(max(x, 0), 6).
	ReLU6 struct{ leaf }
	// SiLU is x * sigmoid(x).
	SiLU struct{ leaf }
	// Hardswish is x * relu6(x + 3) / 6.
	Hardswish struct{ leaf }
	// Hardsigmoid is relu6(x + 3) / 6.
	Hardsigmoid struct{ leaf }
	// Sigmoid is 1 / (1 + exp(-x)).
	Sigmoid struct{ leaf }
	// LogSigmoid is log(sigmoid(x)).
	LogSigmoid struct{ leaf }
	// Tanh is the hyperbolic tangent.
	Tanh struct{ leaf }
	// SELU is the self-normalising unit of Klambauer et al., arXiv:1706.02515.
	SELU struct{ leaf }
	// Softsign is x / (1 + |x|).
	Softsign struct{ leaf }
	// Mish is x * tanh(softplus(x)).
	Mish struct{ leaf }
)

// NewReLU returns a ReLU.
func NewReLU() *ReLU { return &ReLU{} }

// NewReLU6 returns a ReLU6.
func NewReLU6() *ReLU6 { return &ReLU6{} }

// NewSiLU returns a SiLU.
func NewSiLU() *SiLU { return &SiLU{} }

// NewHardswish returns a Hardswish.
func NewHardswish() *Hardswish { return &Hardswish{} }

// NewHardsigmoid returns a Hardsigmoid.
func NewHardsigmoid() *Hardsigmoid { return &Hardsigmoid{} }

// NewSigmoid returns a Sigmoid.
func NewSigmoid() *Sigmoid { return &Sigmoid{} }

// NewLogSigmoid returns a LogSigmoid.
func NewLogSigmoid() *LogSigmoid { return &LogSigmoid{} }

// NewTanh returns a Tanh.
func NewTanh() *Tanh { return &Tanh{} }

// NewSELU returns a SELU.
func NewSELU() *SELU { return &SELU{} }

// NewSoftsign returns a Softsign.
func NewSoftsign() *Softsign { return &Softsign{} }

// NewMish returns a Mish.
func NewMish() *Mish { return &Mish{} }

// Forward returns max(x, 0).
func (m *ReLU) Forward(x *tensor.Tensor) *tensor.Tensor { return apply(m, std.Relu, op.None{}, x) }

// Forward returns min(max(x, 0), 6).
func (m *ReLU6) Forward(x *tensor.Tensor) *tensor.Tensor { return apply(m, std.Relu6, op.None{}, x) }

// Forward returns x * sigmoid(x).
func (m *SiLU) Forward(x *tensor.Tensor) *tensor.Tensor { return apply(m, std.Silu, op.None{}, x) }

// Forward returns x * relu6(x + 3) / 6.
func (m *Hardswish) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Hardswish, op.None{}, x)
}

// Forward returns relu6(x + 3) / 6.
func (m *Hardsigmoid) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Hardsigmoid, op.None{}, x)
}

// Forward returns 1 / (1 + exp(-x)).
func (m *Sigmoid) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Sigmoid, op.None{}, x)
}

// Forward returns log(sigmoid(x)).
func (m *LogSigmoid) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Logsigmoid, op.None{}, x)
}

// Forward returns tanh(x).
func (m *Tanh) Forward(x *tensor.Tensor) *tensor.Tensor { return apply(m, std.Tanh, op.None{}, x) }

// Forward returns selu(x).
func (m *SELU) Forward(x *tensor.Tensor) *tensor.Tensor { return apply(m, std.Selu, op.None{}, x) }

// Forward returns x / (1 + |x|).
func (m *Softsign) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Softsign, op.None{}, x)
}

// Forward returns x * tanh(softplus(x)).
func (m *Mish) Forward(x *tensor.Tensor) *tensor.Tensor { return apply(m, std.Mish, op.None{}, x) }

// GELU is torch.nn.GELU: exact by erf when Approximate is empty, else "tanh".
type GELU struct {
	leaf
	Approximate string
}

// NewGELU returns the exact GELU.
func NewGELU() *GELU { return &GELU{} }

// NewGELUTanh returns the GELU that is approximated by tanh.
func NewGELUTanh() *GELU { return &GELU{Approximate: "tanh"} }

// Forward returns gelu(x).
func (m *GELU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Gelu, tensor.GeluAttrs{Approximate: m.Approximate}, x)
}

// Hardtanh is torch.nn.Hardtanh: x limited to [MinVal, MaxVal].
type Hardtanh struct {
	leaf
	MinVal, MaxVal float64
}

// NewHardtanh returns a limiter; PyTorch's defaults are -1 and 1.
func NewHardtanh(lo, hi float64) *Hardtanh { return &Hardtanh{MinVal: lo, MaxVal: hi} }

// Forward limits x.
func (m *Hardtanh) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Hardtanh, tensor.HardtanhAttrs{MinVal: m.MinVal, MaxVal: m.MaxVal}, x)
}

// ELU is torch.nn.ELU: x where x > 0, else Alpha*(exp(x)-1).
type ELU struct {
	leaf
	Alpha float64
}

// NewELU returns an ELU; PyTorch's default of alpha is 1.
func NewELU(alpha float64) *ELU { return &ELU{Alpha: alpha} }

// Forward returns elu(x).
func (m *ELU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Elu, tensor.AlphaAttrs{Alpha: m.Alpha}, x)
}

// CELU is torch.nn.CELU: x where x > 0, else Alpha*(exp(x/Alpha)-1).
type CELU struct {
	leaf
	Alpha float64
}

// NewCELU returns a CELU; PyTorch's default of alpha is 1.
func NewCELU(alpha float64) *CELU { return &CELU{Alpha: alpha} }

// Forward returns celu(x).
func (m *CELU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Celu, tensor.AlphaAttrs{Alpha: m.Alpha}, x)
}

// LeakyReLU is torch.nn.LeakyReLU: x where x > 0, else NegativeSlope*x.
type LeakyReLU struct {
	leaf
	NegativeSlope float64
}

// NewLeakyReLU returns a LeakyReLU; PyTorch's default slope is 0.01.
func NewLeakyReLU(slope float64) *LeakyReLU { return &LeakyReLU{NegativeSlope: slope} }

// Forward returns leaky_relu(x).
func (m *LeakyReLU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.LeakyRelu, tensor.LeakyReluAttrs{NegativeSlope: m.NegativeSlope}, x)
}

// PReLU is torch.nn.PReLU: x where x > 0, else Weight*x with a slope [1] or one
// for each channel.
type PReLU struct {
	leaf
	NumParameters int
	Weight        *tensor.Tensor
}

// NewPReLU returns a PReLU with n slopes of 0.25.
func NewPReLU(n int) *PReLU {
	if n < 1 {
		refuse("prelu", "fewer than one slope, expected 1 or one for each channel", "")
	}
	m := &PReLU{NumParameters: n, Weight: zeros(n)}
	m.ResetParameters(nil)
	return m
}

// Forward returns prelu(x).
func (m *PReLU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Leaf(m, &tensor.Bound{Op: std.Prelu, Attrs: op.None{}, Names: justWeight, Params: []*tensor.Tensor{m.Weight}, Inputs: 1}, x)[0]
}

// ResetParameters sets all slopes to 0.25.
func (m *PReLU) ResetParameters(*Source) { Constant(m.Weight, 0.25) }

// Softplus is torch.nn.Softplus: log(1+exp(Beta*x))/Beta, and x where Beta*x is
// greater than Threshold.
type Softplus struct {
	leaf
	Beta, Threshold float64
}

// NewSoftplus returns a Softplus; PyTorch's defaults are 1 and 20.
func NewSoftplus(beta, threshold float64) *Softplus {
	return &Softplus{Beta: beta, Threshold: threshold}
}

// Forward returns softplus(x).
func (m *Softplus) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Softplus, tensor.SoftplusAttrs{Beta: m.Beta, Threshold: m.Threshold}, x)
}

// Threshold is torch.nn.Threshold: x where x > Threshold, else Value.
type Threshold struct {
	leaf
	Threshold, Value float64
}

// NewThreshold returns a Threshold.
func NewThreshold(threshold, value float64) *Threshold {
	return &Threshold{Threshold: threshold, Value: value}
}

// Forward returns threshold(x).
func (m *Threshold) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Threshold, tensor.ThresholdAttrs{Threshold: m.Threshold, Value: m.Value}, x)
}

// GLU is torch.nn.GLU: the first half of axis Dim times the sigmoid of the second.
type GLU struct {
	leaf
	Dim int
}

// NewGLU returns a GLU over an axis; PyTorch's default is -1.
func NewGLU(dim int) *GLU { return &GLU{Dim: dim} }

// Forward returns glu(x).
func (m *GLU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Glu, tensor.DimAttrs{Dim: m.Dim}, x)
}

// Softmax is torch.nn.Softmax over axis Dim.
type Softmax struct {
	leaf
	Dim int
}

// LogSoftmax is torch.nn.LogSoftmax over axis Dim.
type LogSoftmax struct {
	leaf
	Dim int
}

// Softmin is torch.nn.Softmin: the softmax of -x over axis Dim.
type Softmin struct {
	leaf
	Dim int
}

// NewSoftmax returns a softmax over an axis.
func NewSoftmax(dim int) *Softmax { return &Softmax{Dim: dim} }

// NewLogSoftmax returns the logarithm of a softmax over an axis.
func NewLogSoftmax(dim int) *LogSoftmax { return &LogSoftmax{Dim: dim} }

// NewSoftmin returns a softmin over an axis.
func NewSoftmin(dim int) *Softmin { return &Softmin{Dim: dim} }

// Forward returns softmax(x).
func (m *Softmax) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Softmax, tensor.DimAttrs{Dim: m.Dim}, x)
}

// Forward returns log_softmax(x).
func (m *LogSoftmax) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.LogSoftmax, tensor.DimAttrs{Dim: m.Dim}, x)
}

// Forward returns softmin(x).
func (m *Softmin) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.Softmin, tensor.DimAttrs{Dim: m.Dim}, x)
}

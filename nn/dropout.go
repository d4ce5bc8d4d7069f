package nn

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// Dropout is torch.nn.Dropout: in training it sets elements to zero with
// probability P and scales the others by 1/(1-P); otherwise it is the identity.
// Its random numbers come from a counter-based generator of its own: State is a
// key that every call splits in two, one for the call and one for the next. A
// trace records that, so a captured training step drops differently at each run.
// Calls in training write State, so one goroutine at a time may make them.
type Dropout struct {
	leaf
	P        float64
	Training bool
	// State is i64 [] and no part of the state dict; nil without a seed.
	State *tensor.Tensor `fx:",buffer"`
}

// DropoutOption is an option of the dropouts.
type DropoutOption func(*Dropout)

// DropoutSeed sets the seed, without which a dropout refuses to run in training.
func DropoutSeed(seed uint64) DropoutOption {
	return func(d *Dropout) { d.State = tensor.New(array.Scalar(int64(mix(seed)))) }
}

// NewDropout returns a dropout with probability p.
func NewDropout(p float64, opts ...DropoutOption) *Dropout {
	if !(p >= 0 && p <= 1) {
		refuse("dropout", "p is "+strconv.FormatFloat(p, 'g', -1, 64)+", expected a probability from 0 to 1", "")
	}
	m := &Dropout{P: p}
	for _, o := range opts {
		o(m)
	}
	return m
}

// SetTraining switches dropping on and off.
func (m *Dropout) SetTraining(on bool) { m.Training = on }

// NonPersistentTensors keeps the generator out of state dicts, where PyTorch has
// nothing.
func (m *Dropout) NonPersistentTensors() []*tensor.Tensor { return []*tensor.Tensor{m.State} }

// Forward drops elements of x.
func (m *Dropout) Forward(x *tensor.Tensor) *tensor.Tensor {
	if !m.Training {
		return apply(m, std.Dropout, tensor.DropoutAttrs{P: m.P}, x)
	}
	if m.P == 0 {
		return x
	}
	return tensor.Dropout(x, m.nextKey(x), m.P, tensor.DropoutAttrs{Training: true})
}

// nextKey takes a fresh key from the generator, in the engine of x.
func (m *Dropout) nextKey(x *tensor.Tensor) *tensor.Tensor {
	if m.State == nil {
		refuse("dropout", "the module has no seed, training expects one", "make it with nn.DropoutSeed(n), or call nn.Eval on the model")
	}
	keys := tensor.On(x, m.State).RandomSplit(2)
	key := keys.Select(0, 1)
	m.State.AssignInPlace(keys.Select(0, 0))
	return key
}

// Dropout1d is torch.nn.Dropout1d: it drops whole channels of x [N, C, L].
type Dropout1d struct{ Dropout }

// Dropout2d is torch.nn.Dropout2d: it drops whole channels of x [N, C, H, W].
type Dropout2d struct{ Dropout }

// Dropout3d is torch.nn.Dropout3d: it drops whole channels of x [N, C, D, H, W].
type Dropout3d struct{ Dropout }

// NewDropout1d returns a dropout of channels with probability p.
func NewDropout1d(p float64, opts ...DropoutOption) *Dropout1d {
	return &Dropout1d{*NewDropout(p, opts...)}
}

// NewDropout2d returns a dropout of channels with probability p.
func NewDropout2d(p float64, opts ...DropoutOption) *Dropout2d {
	return &Dropout2d{*NewDropout(p, opts...)}
}

// NewDropout3d returns a dropout of channels with probability p.
func NewDropout3d(p float64, opts ...DropoutOption) *Dropout3d {
	return &Dropout3d{*NewDropout(p, opts...)}
}

// channels multiplies whole channels by what a dropout makes of ones.
func (m *Dropout) channels(leaf any, x *tensor.Tensor) *tensor.Tensor {
	if !m.Training {
		return apply(leaf, std.Dropout, tensor.DropoutAttrs{P: m.P}, x)
	}
	if m.P == 0 {
		return x
	}
	size := []any{x.Size(0), x.Size(1)}
	for range x.Rank() - 2 {
		size = append(size, 1)
	}
	ones := tensor.OnesWith(size, tensor.SizeAttrs{DType: x.DType()})
	return x.Mul(tensor.Dropout(ones, m.nextKey(x), m.P, tensor.DropoutAttrs{Training: true}))
}

// Forward drops channels of x.
func (m *Dropout1d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.channels(m, x) }

// Forward drops channels of x.
func (m *Dropout2d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.channels(m, x) }

// Forward drops channels of x.
func (m *Dropout3d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.channels(m, x) }

// AlphaDropout is torch.nn.AlphaDropout, for networks of SELU: in training it sets elements with
// probability P to the value that SELU has at -Inf, and scales and shifts the result so that mean 0
// and variance 1 stay; otherwise it is the identity. See Klambauer et al., arXiv:1706.02515.
type AlphaDropout struct{ Dropout }

// FeatureAlphaDropout is torch.nn.FeatureAlphaDropout: an AlphaDropout of whole channels of
// x [N, C, ...].
type FeatureAlphaDropout struct{ Dropout }

// NewAlphaDropout returns a dropout with probability p.
func NewAlphaDropout(p float64, opts ...DropoutOption) *AlphaDropout {
	return &AlphaDropout{*NewDropout(p, opts...)}
}

// NewFeatureAlphaDropout returns a dropout of channels with probability p.
func NewFeatureAlphaDropout(p float64, opts ...DropoutOption) *FeatureAlphaDropout {
	return &FeatureAlphaDropout{*NewDropout(p, opts...)}
}

// Forward drops elements of x.
func (m *AlphaDropout) Forward(x *tensor.Tensor) *tensor.Tensor { return m.alpha(m, x, x.Rank()) }

// Forward drops channels of x.
func (m *FeatureAlphaDropout) Forward(x *tensor.Tensor) *tensor.Tensor { return m.alpha(m, x, 2) }

// seluLow is the value of SELU at -Inf.
const seluLow = -1.7580993408473766

// alpha drops what the first axes name.
func (m *Dropout) alpha(leaf any, x *tensor.Tensor, axes int) *tensor.Tensor {
	if !m.Training {
		return apply(leaf, std.Dropout, tensor.DropoutAttrs{P: m.P}, x)
	}
	if m.P == 0 {
		return x
	}
	size := make([]any, x.Rank())
	for i := range size {
		size[i] = 1
		if i < axes {
			size[i] = x.Size(i)
		}
	}
	ones := tensor.OnesWith(size, tensor.SizeAttrs{DType: x.DType()})
	kept := tensor.Dropout(ones, m.nextKey(x), m.P, tensor.DropoutAttrs{Training: true}).GtScalar(0)
	var scale float64 // nothing is left to scale where all are dropped, as in PyTorch
	if m.P < 1 {
		scale = 1 / math.Sqrt((1-m.P)*(1+m.P*seluLow*seluLow))
	}
	return tensor.WhereScalar(kept, x, seluLow).MulScalar(scale).AddScalar(-scale * m.P * seluLow)
}

package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// RunningStats is what batch and instance normalisations share.
type RunningStats struct {
	leaf
	NumFeatures       int
	Eps, Momentum     float64
	CumulativeAverage bool // Momentum is ignored; all batches count the same
	Training          bool
	Weight, Bias      *tensor.Tensor // [NumFeatures], nil without affine
	// The running statistics, nil when they are not tracked.
	RunningMean       *tensor.Tensor `fx:",buffer"`
	RunningVar        *tensor.Tensor `fx:",buffer"`
	NumBatchesTracked *tensor.Tensor `fx:",buffer"` // i64, no dimension
}

// SetTraining switches between the statistics of the batch and the running ones.
func (r *RunningStats) SetTraining(on bool) { r.Training = on }

// ResetParameters sets weight and variance to one, bias and mean to zero.
func (r *RunningStats) ResetParameters(*Source) {
	for _, p := range []struct {
		x *tensor.Tensor
		v float64
	}{{r.Weight, 1}, {r.Bias, 0}, {r.RunningMean, 0}, {r.RunningVar, 1}, {r.NumBatchesTracked, 0}} {
		if p.x != nil {
			Constant(p.x, p.v)
		}
	}
}

func (r *RunningStats) build(n int, affine, track bool, opts []NormOption) {
	s := settings{bias: true, affine: affine, track: track, eps: 1e-5, momentum: 0.1}
	for _, o := range opts {
		o.norm(&s)
	}
	if n < 1 {
		refuse("norm", strconv.Itoa(n)+" features, expected at least 1", "")
	}
	r.NumFeatures, r.Eps, r.Momentum, r.CumulativeAverage = n, s.eps, s.momentum, s.cumulative
	if s.affine {
		r.Weight = zeros(n)
		if s.bias {
			r.Bias = zeros(n)
		}
	}
	if s.track {
		r.RunningMean, r.RunningVar = zeros(n), zeros(n)
		r.NumBatchesTracked = tensor.StateParam(array.New(array.I64))
	}
	start(r, &s)
}

func (r *RunningStats) params() []*tensor.Tensor {
	return []*tensor.Tensor{r.RunningMean, r.RunningVar, r.Weight, r.Bias}
}

// update blends the statistics of a batch into the running ones. The buffers are
// read through On, so that a trace records what happens to them.
func (r *RunningStats) update(mean, variance *tensor.Tensor) {
	count := tensor.On(mean, r.NumBatchesTracked).AddScalar(1)
	r.NumBatchesTracked.AssignInPlace(count)
	for _, p := range [][2]*tensor.Tensor{{r.RunningMean, mean}, {r.RunningVar, variance}} {
		old, next := tensor.On(mean, p[0]), p[1]
		if r.CumulativeAverage {
			next = old.Add(next.Sub(old).Div(count))
		} else {
			next = old.MulScalar(1 - r.Momentum).Add(next.MulScalar(r.Momentum))
		}
		p[0].AssignInPlace(next)
	}
}

// batchNorm is the Forward of all batch normalisations. In evaluation mode it is
// a leaf. In training it uses the statistics of the batch and writes the running
// ones, with the unbiased variance as PyTorch does.
func (r *RunningStats) batchNorm(m any, x *tensor.Tensor) *tensor.Tensor {
	if !r.Training {
		return tensor.Leaf(m, &tensor.Bound{Op: std.BatchNorm, Attrs: tensor.BatchNormAttrs{Eps: r.Eps},
			Names: statsAffine, Params: r.params(), Inputs: 1}, x)[0]
	}
	y := tensor.BatchNorm(x, nil, nil, r.Weight, r.Bias, r.Eps, tensor.BatchNormAttrs{Training: true})
	if r.RunningMean != nil {
		dims := []int{0}
		for i := 2; i < x.Rank(); i++ {
			dims = append(dims, i)
		}
		over := tensor.Ints(dims...)
		r.update(x.MeanWith(over, tensor.ReduceAttrs{}), x.VarWith(over, tensor.VarAttrs{}))
	}
	return y
}

// BatchNorm1d is torch.nn.BatchNorm1d: x [N, C] or [N, C, L]; Ioffe and Szegedy,
// arXiv:1502.03167.
type BatchNorm1d struct{ RunningStats }

// BatchNorm2d is torch.nn.BatchNorm2d: x [N, C, H, W].
type BatchNorm2d struct{ RunningStats }

// BatchNorm3d is torch.nn.BatchNorm3d: x [N, C, D, H, W].
type BatchNorm3d struct{ RunningStats }

// NewBatchNorm1d returns a batch normalisation of n channels with eps 1e-5,
// momentum 0.1, affine and tracking unless options say otherwise.
func NewBatchNorm1d(n int, opts ...NormOption) *BatchNorm1d {
	m := &BatchNorm1d{}
	m.build(n, true, true, opts)
	return m
}

// NewBatchNorm2d returns a batch normalisation of n channels; see NewBatchNorm1d.
func NewBatchNorm2d(n int, opts ...NormOption) *BatchNorm2d {
	m := &BatchNorm2d{}
	m.build(n, true, true, opts)
	return m
}

// NewBatchNorm3d returns a batch normalisation of n channels; see NewBatchNorm1d.
func NewBatchNorm3d(n int, opts ...NormOption) *BatchNorm3d {
	m := &BatchNorm3d{}
	m.build(n, true, true, opts)
	return m
}

// Forward normalises each channel of x.
func (m *BatchNorm1d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.batchNorm(m, x) }

// Forward normalises each channel of x.
func (m *BatchNorm2d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.batchNorm(m, x) }

// Forward normalises each channel of x.
func (m *BatchNorm3d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.batchNorm(m, x) }

// InstanceNorm1d is torch.nn.InstanceNorm1d: x [N, C, L]; Ulyanov, Vedaldi,
// Lempitsky, arXiv:1607.08022.
type InstanceNorm1d struct{ RunningStats }

// InstanceNorm2d is torch.nn.InstanceNorm2d: x [N, C, H, W].
type InstanceNorm2d struct{ RunningStats }

// InstanceNorm3d is torch.nn.InstanceNorm3d: x [N, C, D, H, W].
type InstanceNorm3d struct{ RunningStats }

// NewInstanceNorm1d returns an instance normalisation of n channels, neither
// affine nor tracking unless options say so.
func NewInstanceNorm1d(n int, opts ...NormOption) *InstanceNorm1d {
	m := &InstanceNorm1d{}
	m.build(n, false, false, opts)
	return m
}

// NewInstanceNorm2d returns an instance normalisation of n channels; see
// NewInstanceNorm1d.
func NewInstanceNorm2d(n int, opts ...NormOption) *InstanceNorm2d {
	m := &InstanceNorm2d{}
	m.build(n, false, false, opts)
	return m
}

// NewInstanceNorm3d returns an instance normalisation of n channels; see
// NewInstanceNorm1d.
func NewInstanceNorm3d(n int, opts ...NormOption) *InstanceNorm3d {
	m := &InstanceNorm3d{}
	m.build(n, false, false, opts)
	return m
}

// instanceNorm is the Forward of all instance normalisations.
func (r *RunningStats) instanceNorm(m any, x *tensor.Tensor) *tensor.Tensor {
	if r.RunningMean == nil || !r.Training {
		return tensor.Leaf(m, &tensor.Bound{Op: std.InstanceNorm,
			Attrs: tensor.InstanceNormAttrs{Eps: r.Eps, UseRunningStats: r.RunningMean != nil},
			Names: statsAffine, Params: r.params(), Inputs: 1}, x)[0]
	}
	var dims []int
	for i := 2; i < x.Rank(); i++ {
		dims = append(dims, i)
	}
	y := tensor.InstanceNorm(x, nil, nil, r.Weight, r.Bias, r.Eps)
	r.update(x.Mean(dims...).Mean(0), x.Var(dims...).Mean(0))
	return y
}

// Forward normalises each channel of each instance of x.
func (m *InstanceNorm1d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.instanceNorm(m, x) }

// Forward normalises each channel of each instance of x.
func (m *InstanceNorm2d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.instanceNorm(m, x) }

// Forward normalises each channel of each instance of x.
func (m *InstanceNorm3d) Forward(x *tensor.Tensor) *tensor.Tensor { return m.instanceNorm(m, x) }

// LayerNorm is torch.nn.LayerNorm: it normalises over the last axes, whose sizes
// are NormalizedShape; Ba, Kiros, Hinton, arXiv:1607.06450.
type LayerNorm struct {
	leaf
	NormalizedShape []int
	Eps             float64
	Weight, Bias    *tensor.Tensor
}

// NewLayerNorm returns a layer normalisation over axes of the given sizes, with
// eps 1e-5, weight and bias unless options say otherwise.
func NewLayerNorm(sizes []int, opts ...NormOption) *LayerNorm {
	m := &LayerNorm{NormalizedShape: sizes}
	m.Eps, m.Weight, m.Bias = affineNorm("layer_norm", 1e-5, sizes, true, opts)
	return m
}

// affineNorm makes the parameters of a normalisation without statistics.
func affineNorm(name string, defaultEps float64, sizes []int, hasBias bool, opts []NormOption) (eps float64, weight, bias *tensor.Tensor) {
	s := settings{bias: hasBias, affine: true, eps: defaultEps}
	for _, o := range opts {
		o.norm(&s)
	}
	if len(sizes) == 0 {
		refuse(name, "no sizes to normalise over, expected at least one", "")
	}
	if !s.affine {
		return s.eps, nil, nil
	}
	weight = zeros(sizes...)
	if s.bias {
		bias = zeros(sizes...)
	}
	if !s.noInit {
		resetAffine(weight, bias)
	}
	return s.eps, weight, bias
}

func resetAffine(weight, bias *tensor.Tensor) {
	if weight != nil {
		Constant(weight, 1)
	}
	if bias != nil {
		Constant(bias, 0)
	}
}

// Forward normalises x over its last axes.
func (m *LayerNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return weighted(m, std.LayerNorm, tensor.LayerNormAttrs{NormalizedShape: shape.ConstDims(m.NormalizedShape...), Eps: m.Eps}, x, m.Weight, m.Bias)
}

// ResetParameters sets the weight to one and the bias to zero.
func (m *LayerNorm) ResetParameters(*Source) { resetAffine(m.Weight, m.Bias) }

// RMSNorm is torch.nn.RMSNorm: x over its root mean square over the last axes,
// times Weight; Zhang, Sennrich, arXiv:1910.07467.
type RMSNorm struct {
	leaf
	NormalizedShape []int
	Eps             float64
	Weight          *tensor.Tensor
}

// NewRMSNorm returns a normalisation by the root mean square; its eps is that of
// f32, 2^-23, unless Eps is given.
func NewRMSNorm(sizes []int, opts ...NormOption) *RMSNorm {
	m := &RMSNorm{NormalizedShape: sizes}
	m.Eps, m.Weight, _ = affineNorm("rms_norm", 0x1p-23, sizes, false, opts)
	return m
}

// Forward normalises x over its last axes.
func (m *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	a := tensor.LayerNormAttrs{NormalizedShape: shape.ConstDims(m.NormalizedShape...), Eps: m.Eps}
	return tensor.Leaf(m, &tensor.Bound{Op: std.RmsNorm, Attrs: a, Names: justWeight, Params: []*tensor.Tensor{m.Weight}, Inputs: 1}, x)[0]
}

// ResetParameters sets the weight to one.
func (m *RMSNorm) ResetParameters(*Source) { resetAffine(m.Weight, nil) }

// GroupNorm is torch.nn.GroupNorm: it normalises x [N, C, ...] over groups of
// channels; Wu, He, arXiv:1803.08494.
type GroupNorm struct {
	leaf
	NumGroups, NumChannels int
	Eps                    float64
	Weight, Bias           *tensor.Tensor
}

// NewGroupNorm returns a normalisation over groups; channels must be a multiple
// of them.
func NewGroupNorm(groups, channels int, opts ...NormOption) *GroupNorm {
	if groups < 1 || channels < 1 || channels%groups != 0 {
		refuse("group_norm", strconv.Itoa(channels)+" channels in "+strconv.Itoa(groups)+" groups, expected a positive multiple", "")
	}
	m := &GroupNorm{NumGroups: groups, NumChannels: channels}
	m.Eps, m.Weight, m.Bias = affineNorm("group_norm", 1e-5, []int{channels}, true, opts)
	return m
}

// Forward normalises each group of each instance of x.
func (m *GroupNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return weighted(m, std.GroupNorm, tensor.GroupNormAttrs{NumGroups: m.NumGroups, Eps: m.Eps}, x, m.Weight, m.Bias)
}

// ResetParameters sets the weight to one and the bias to zero.
func (m *GroupNorm) ResetParameters(*Source) { resetAffine(m.Weight, m.Bias) }

// LocalResponseNorm is torch.nn.LocalResponseNorm: x over (K + Alpha*m)^Beta, m
// being the mean of the squares of Size neighbouring channels; Krizhevsky,
// Sutskever, Hinton, 2012.
type LocalResponseNorm struct {
	leaf
	Size           int
	Alpha, Beta, K float64
}

// NewLocalResponseNorm returns the normalisation with PyTorch's defaults: alpha
// 1e-4, beta 0.75, k 1.
func NewLocalResponseNorm(size int) *LocalResponseNorm {
	return &LocalResponseNorm{Size: size, Alpha: 1e-4, Beta: 0.75, K: 1}
}

// Forward normalises x [N, C, ...] over neighbouring channels.
func (m *LocalResponseNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return apply(m, std.LocalResponseNorm, tensor.LocalResponseNormAttrs{Size: m.Size, Alpha: m.Alpha, Beta: m.Beta, K: m.K}, x)
}

package zoo

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func conv(in, out, stride, groups int) *nn.Conv2d {
	return nn.NewConv2d(in, out, 3, nn.Stride(stride), nn.Padding(1), nn.Groups(groups), nn.Seed(uint64(in*7+out+stride)))
}

// Inverted is a block of EfficientNet.
type Inverted struct {
	Expand, Project *nn.Conv2d
	Depthwise       *nn.Conv2d
	Norm            *nn.BatchNorm2d
	Squeeze, Excite *nn.Linear
	Stride          int
}

func newInverted(channels, stride int) *Inverted {
	return &Inverted{Expand: conv(channels, 2*channels, 1, 1), Depthwise: conv(2*channels, 2*channels, stride, 2*channels), Project: conv(2*channels, channels, 1, 1),
		Norm: nn.NewBatchNorm2d(2 * channels), Squeeze: linear(2*channels, 2), Excite: linear(2, 2*channels), Stride: stride}
}

// Forward adds its input where the size stays.
func (b *Inverted) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := b.Norm.Forward(b.Depthwise.Forward(b.Expand.Forward(x).Silu())).Silu()
	gate := b.Excite.Forward(b.Squeeze.Forward(y.Mean(2, 3)).Silu()).Sigmoid()
	y = b.Project.Forward(y.Mul(gate.Unsqueeze(-1).Unsqueeze(-1)))
	if b.Stride == 1 {
		return y.Add(x)
	}
	return y
}

// Residual is a block of ResNet-18.
type Residual struct {
	Conv1, Conv2 *nn.Conv2d
	Norm1, Norm2 *nn.BatchNorm2d
	Down         *nn.Conv2d
}

func newResidual(in, out, stride int) *Residual {
	r := &Residual{Conv1: conv(in, out, stride, 1), Conv2: conv(out, out, 1, 1), Norm1: nn.NewBatchNorm2d(out), Norm2: nn.NewBatchNorm2d(out)}
	if stride != 1 || in != out {
		r.Down = conv(in, out, stride, 1)
	}
	return r
}

// Forward adds what the convolutions make.
func (r *Residual) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := r.Norm2.Forward(r.Conv2.Forward(r.Norm1.Forward(r.Conv1.Forward(x)).Relu()))
	if r.Down != nil {
		x = r.Down.Forward(x)
	}
	return y.Add(x).Relu()
}

// MonoDepth estimates depth at several scales, from the decoder's results and the encoder's.
type MonoDepth struct {
	Encoder []*Residual
	Decoder []*nn.Conv2d
	Heads   []*nn.Conv2d
	Scales  int
	Skips   bool
	Min     float64
}

// NewMonoDepth makes a small one.
func NewMonoDepth() *MonoDepth {
	m := &MonoDepth{Scales: 2, Skips: true, Min: 0.1}
	for i, c := range [][2]int{{3, 4}, {4, 4}, {4, 8}} {
		m.Encoder = append(m.Encoder, newResidual(c[0], c[1], 1+min(i, 1)))
	}
	m.Decoder = []*nn.Conv2d{conv(12, 4, 1, 1), conv(8, 4, 1, 1)}
	m.Heads = []*nn.Conv2d{conv(4, 1, 1, 1), conv(4, 1, 1, 1)}
	return m
}

// Forward takes images [N, 3, H, W] to disparities, the coarse one first.
func (m *MonoDepth) Forward(x *tensor.Tensor) []*tensor.Tensor {
	var features, out []*tensor.Tensor
	for _, e := range m.Encoder {
		x = e.Forward(x)
		features = append(features, x)
	}
	for i, d := range m.Decoder {
		skip := features[len(features)-2-i]
		x = x.RepeatInterleave(2, 2).RepeatInterleave(2, 3)
		if m.Skips {
			x = tensor.Cat([]*tensor.Tensor{x, skip}, 1)
		}
		x = d.Forward(x).Elu(1)
		if i >= len(m.Decoder)-m.Scales {
			out = append(out, m.Heads[i].Forward(x).Sigmoid().AddScalar(m.Min))
		}
	}
	return out
}

// DenseNet has layers that see the results of all before them.
type DenseNet struct {
	Stem   *nn.Conv2d
	Layers []*nn.Conv2d
	Last   *nn.Linear
}

// NewDenseNet makes a small one.
func NewDenseNet() *DenseNet {
	m := &DenseNet{Stem: conv(3, 4, 2, 1), Last: linear(10, 5)}
	for i := range 3 {
		m.Layers = append(m.Layers, conv(4+2*i, 2, 1, 1))
	}
	return m
}

// Forward takes images [N, 3, H, W] to scores.
func (m *DenseNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	features := []*tensor.Tensor{m.Stem.Forward(x)}
	for _, l := range m.Layers {
		features = append(features, l.Forward(tensor.Cat(features, 1).Relu()))
	}
	return m.Last.Forward(tensor.Cat(features, 1).Mean(2, 3))
}

// Quantized rounds activations and weights to steps that the data gives.
type Quantized struct {
	Stem   *nn.Conv2d
	Blocks []*Residual
	Last   *nn.Linear
	Bits   int
}

// NewQuantized makes a small one.
func NewQuantized() *Quantized {
	return &Quantized{Stem: conv(3, 4, 2, 1), Blocks: []*Residual{newResidual(4, 4, 1), newResidual(4, 8, 2)}, Last: linear(8, 5), Bits: 8}
}

// round rounds to 2^Bits steps between the least and the greatest element, which are tensors of no axes.
func (m *Quantized) round(x *tensor.Tensor) *tensor.Tensor {
	low, high := x.Min(), x.Max()
	step := high.Sub(low).DivScalar(float64(int(1)<<m.Bits - 1))
	return x.Sub(low).Div(step).Round().Mul(step).Add(low)
}

// Forward takes images [N, 3, H, W] to scores.
func (m *Quantized) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.round(m.Stem.Forward(m.round(x)).Relu())
	for _, b := range m.Blocks {
		x = m.round(b.Forward(x))
	}
	return x.Mean(2, 3).Linear(m.round(m.Last.Weight), m.Last.Bias)
}

// TridentNet has branches that share weights and differ in how far their convolutions reach.
type TridentNet struct {
	Stem      *nn.Conv2d
	Branch    *Residual
	Weight    *tensor.Tensor
	Dilations []int
	Attend    bool
	TestOnly  int // the branch that is used alone, -1 for all
}

// NewTridentNet makes a small one.
func NewTridentNet() *TridentNet {
	return &TridentNet{Stem: conv(3, 4, 2, 1), Branch: newResidual(4, 4, 1), Weight: conv(4, 4, 1, 1).Weight, Dilations: []int{1, 2, 3}, Attend: true, TestOnly: -1}
}

// Forward adds the branches.
func (m *TridentNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Stem.Forward(x).Relu()
	var sum *tensor.Tensor
	for i, d := range m.Dilations {
		if m.TestOnly >= 0 && i != m.TestOnly {
			continue
		}
		y := x.Conv2d(m.Weight, nil, tensor.ConvAttrs{Padding: tensor.Ints(d), Dilation: tensor.Ints(d)})
		y = m.Branch.Forward(y)
		if m.Attend {
			y = y.Mul(y.Mean(1).Unsqueeze(1).Sigmoid())
		}
		if sum == nil {
			sum = y
		} else {
			sum = sum.Add(y)
		}
	}
	return sum
}

// BlockDrop leaves blocks out of a residual network, as a policy of each image says.
type BlockDrop struct {
	Stem   *nn.Conv2d
	Blocks []*Residual
	Last   *nn.Linear
}

// NewBlockDrop makes a small one.
func NewBlockDrop() *BlockDrop {
	return &BlockDrop{Stem: conv(3, 4, 2, 1), Blocks: []*Residual{newResidual(4, 4, 1), newResidual(4, 4, 1), newResidual(4, 4, 1)}, Last: linear(4, 5)}
}

// Forward takes images [N, 3, H, W] and policies [N, blocks] of 0 and 1 to scores.
func (m *BlockDrop) Forward(x, policy *tensor.Tensor) *tensor.Tensor {
	x = m.Stem.Forward(x).Relu()
	for i, b := range m.Blocks {
		keep := policy.Narrow(1, i, 1).GtScalar(0.5).Unsqueeze(-1).Unsqueeze(-1)
		x = tensor.Where(keep, b.Forward(x), x)
	}
	return m.Last.Forward(x.Mean(2, 3))
}

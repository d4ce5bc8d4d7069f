package nets

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func conv(in, out, kernel, stride int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel, nn.Stride(stride), nn.Padding(kernel/2), nn.NoBias(), nn.NoInit())
}

func batchNorm(n int) *nn.BatchNorm2d { return nn.NewBatchNorm2d(n, nn.NoInit()) }

// MonoDepth estimates depth at four scales, after Godard et al., arXiv:1806.01260: ResNet-18 and a decoder that sees its stages.
type MonoDepth struct {
	Encoder *models.ResNet
	Up      []*Upwards // the coarse one first
	Scales  int
}

// Upwards is a stage of the decoder: its result is twice as large.
type Upwards struct {
	Before, After, Head *nn.Conv2d
	Skip                bool // it sees a stage of the encoder
}

// NewMonoDepth returns a network with zero weights.
func NewMonoDepth() *MonoDepth {
	m := &MonoDepth{Encoder: models.NewResNet18(), Scales: 4}
	seen, in := []int{256, 128, 64, 64, 0}, 512
	for i, out := range []int{256, 128, 64, 32, 16} {
		m.Up = append(m.Up, &Upwards{Before: biased(in, out), After: biased(out+seen[i], out), Head: biased(out, 1), Skip: seen[i] > 0})
		in = out
	}
	return m
}

func biased(in, out int) *nn.Conv2d { return nn.NewConv2d(in, out, 3, nn.Padding(1), nn.NoInit()) }

// Forward takes images [N, 3, H, W] to disparities, the coarse one first.
func (m *MonoDepth) Forward(x *tensor.Tensor) []*tensor.Tensor {
	e := m.Encoder
	x = e.Relu.Forward(e.Bn1.Forward(e.Conv1.Forward(x)))
	stages := []*tensor.Tensor{x}
	x = e.Maxpool.Forward(x)
	for _, layer := range []*nn.Sequential{e.Layer1, e.Layer2, e.Layer3, e.Layer4} {
		x = nn.Run(layer, x)
		stages = append(stages, x)
	}
	var out []*tensor.Tensor
	for i, up := range m.Up {
		x = up.Before.Forward(x).Elu(1).RepeatInterleave(2, 2).RepeatInterleave(2, 3)
		if up.Skip {
			x = tensor.Cat([]*tensor.Tensor{x, stages[len(stages)-2-i]}, 1)
		}
		x = up.After.Forward(x).Elu(1)
		if i >= len(m.Up)-m.Scales {
			out = append(out, up.Head.Forward(x).Sigmoid())
		}
	}
	return out
}

// Residual is a block of two convolutions.
type Residual struct {
	Conv1, Conv2 *nn.Conv2d
	Bn1, Bn2     *nn.BatchNorm2d
	Down         *nn.Conv2d // nil where the shape does not change
	Bits         int        // of weights and activations, 0 for floats
}

func newResidual(in, out, stride, bits int) *Residual {
	r := &Residual{Conv1: conv(in, out, 3, stride), Conv2: conv(out, out, 3, 1), Bn1: batchNorm(out), Bn2: batchNorm(out), Bits: bits}
	if stride != 1 || in != out {
		r.Down = conv(in, out, 1, stride)
	}
	return r
}

// Forward adds what the convolutions make.
func (r *Residual) Forward(x *tensor.Tensor) *tensor.Tensor {
	return r.branch(x).Add(r.shortcut(x)).Relu()
}

func (r *Residual) branch(x *tensor.Tensor) *tensor.Tensor {
	y := r.Bn1.Forward(convolved(r.Conv1, x, r.Bits)).Relu()
	return r.Bn2.Forward(convolved(r.Conv2, y, r.Bits))
}

func (r *Residual) shortcut(x *tensor.Tensor) *tensor.Tensor {
	if r.Down == nil {
		return x
	}
	return convolved(r.Down, x, r.Bits)
}

// convolved is a convolution of numbers of so many bits.
func convolved(c *nn.Conv2d, x *tensor.Tensor, bits int) *tensor.Tensor {
	if bits == 0 {
		return c.Forward(x)
	}
	return rounded(x, bits).Conv2d(rounded(c.Weight, bits), nil, tensor.ConvAttrs{Stride: tensor.Ints(c.Stride...), Padding: tensor.Ints(c.Padding...)})
}

// rounded rounds to steps between the least and the greatest element, which are tensors of no axes.
func rounded(x *tensor.Tensor, bits int) *tensor.Tensor {
	low, high := x.Min(), x.Max()
	step := high.Sub(low).DivScalar(float64(int(1)<<bits - 1))
	return x.Sub(low).Div(step).Round().Mul(step).Add(low)
}

// Quantized is ResNet-18 whose convolutions round activations and weights to steps that the data gives.
type Quantized struct {
	Stem   *nn.Conv2d
	Bn     *nn.BatchNorm2d
	Pool   *nn.MaxPool2d
	Blocks []*Residual
	Last   *nn.Linear
	Bits   int
}

// NewQuantized returns a network with zero weights.
func NewQuantized() *Quantized {
	m := &Quantized{Stem: conv(3, 64, 7, 2), Bn: batchNorm(64), Pool: nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1)), Last: linear(512, 1000), Bits: 8}
	in := 64
	for stage, out := range []int{64, 128, 256, 512} {
		m.Blocks = append(m.Blocks, newResidual(in, out, 1+min(stage, 1), m.Bits), newResidual(out, out, 1, m.Bits))
		in = out
	}
	return m
}

// Forward takes images [N, 3, H, W] to scores.
func (m *Quantized) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Pool.Forward(m.Bn.Forward(convolved(m.Stem, x, m.Bits)).Relu())
	for _, b := range m.Blocks {
		x = b.Forward(x)
	}
	return m.Last.Forward(x.Mean(2, 3))
}

// TridentNet is ResNet-50's first stages and one whose blocks have branches, after Li et al., arXiv:1901.01892: branches share
// weights and differ in how far they reach, and each ends with attention over all places.
type TridentNet struct {
	Stem      *models.ResNet
	Enter     *nn.Conv2d
	Blocks    []*Trident
	Attention *Places
	Dilations []int
	TestOnly  int // the branch that is used alone, -1 for all
}

// NewTridentNet returns a network with zero weights.
func NewTridentNet() *TridentNet {
	m := &TridentNet{Stem: models.NewResNet50(), Enter: conv(512, 1024, 1, 2), Attention: &Places{conv(1024, 64, 1, 1), conv(1024, 64, 1, 1), conv(1024, 1024, 1, 1)},
		Dilations: []int{1, 2, 3}, TestOnly: -1}
	for range 6 {
		m.Blocks = append(m.Blocks, &Trident{Conv1: conv(1024, 256, 1, 1), Bn1: batchNorm(256), Weight: tensor.StateParam(array.New(array.F32, 256, 256, 3, 3)), Bn2: batchNorm(256),
			Conv3: conv(256, 1024, 1, 1), Bn3: batchNorm(1024)})
	}
	return m
}

// Forward takes images [N, 3, H, W] to the mean of the branches [N, 1024, H/16, W/16].
func (m *TridentNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	s := m.Stem
	x = s.Maxpool.Forward(s.Relu.Forward(s.Bn1.Forward(s.Conv1.Forward(x))))
	x = m.Enter.Forward(nn.Run(s.Layer2, nn.Run(s.Layer1, x)))
	var branches []*tensor.Tensor
	for i, dilation := range m.Dilations {
		if m.TestOnly >= 0 && i != m.TestOnly {
			continue
		}
		y := x
		for _, b := range m.Blocks {
			y = b.Forward(y, dilation)
		}
		branches = append(branches, m.Attention.Forward(y))
	}
	return tensor.Stack(branches, 0).Mean(0)
}

// Trident is a bottleneck of one branch.
type Trident struct {
	Conv1         *nn.Conv2d
	Weight        *tensor.Tensor // of all branches
	Conv3         *nn.Conv2d
	Bn1, Bn2, Bn3 *nn.BatchNorm2d
}

// Forward reaches as far as dilation says.
func (b *Trident) Forward(x *tensor.Tensor, dilation int) *tensor.Tensor {
	y := b.Bn1.Forward(b.Conv1.Forward(x)).Relu()
	y = y.Conv2d(b.Weight, nil, tensor.ConvAttrs{Padding: tensor.Ints(dilation), Dilation: tensor.Ints(dilation)})
	y = b.Bn3.Forward(b.Conv3.Forward(b.Bn2.Forward(y).Relu()))
	return y.Add(x).Relu()
}

// Places attends to all places of an image.
type Places struct {
	Query, Key, Value *nn.Conv2d
}

// Forward adds to x [N, C, H, W] what all places say.
func (p *Places) Forward(x *tensor.Tensor) *tensor.Tensor {
	q, k, v := p.Query.Forward(x).Flatten(2, 3), p.Key.Forward(x).Flatten(2, 3), p.Value.Forward(x).Flatten(2, 3)
	weights := q.Transpose(1, 2).Matmul(k).DivScalar(8).Softmax(-1)
	return x.Add(v.Matmul(weights.Transpose(1, 2)).Reshape(x.Size(0), x.Size(1), x.Size(2), x.Size(3)))
}

// BlockDrop leaves blocks out of a ResNet-32 for images of 32 by 32, as a policy of each image says; Wu et al., arXiv:1711.08393.
type BlockDrop struct {
	Stem   *nn.Conv2d
	Bn     *nn.BatchNorm2d
	Blocks []*Residual
	Last   *nn.Linear
}

// NewBlockDrop returns a network of three stages of so many blocks with zero weights.
func NewBlockDrop(blocks int) *BlockDrop {
	m := &BlockDrop{Stem: conv(3, 16, 3, 1), Bn: batchNorm(16), Last: linear(64, 10)}
	in := 16
	for stage, out := range []int{16, 32, 64} {
		for i := range blocks {
			stride := 1
			if i == 0 && stage > 0 {
				stride = 2
			}
			m.Blocks = append(m.Blocks, newResidual(in, out, stride, 0))
			in = out
		}
	}
	return m
}

// Forward takes images [N, 3, 32, 32] and policies [N, blocks] of 0 and 1 to scores [N, 10].
func (m *BlockDrop) Forward(x, policy *tensor.Tensor) *tensor.Tensor {
	x = m.Bn.Forward(m.Stem.Forward(x)).Relu()
	for i, b := range m.Blocks {
		keep := policy.Narrow(1, i, 1).GtScalar(0.5).Unsqueeze(-1).Unsqueeze(-1)
		short := b.shortcut(x)
		x = tensor.Where(keep, b.branch(x).Add(short).Relu(), short)
	}
	return m.Last.Forward(x.Mean(2, 3))
}

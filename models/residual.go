package models

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Painter chooses brush strokes: the actor of Huang et al., "Learning to Paint
// With Model-based Deep Reinforcement Learning", arXiv:1903.04411, a ResNet-18
// with the names of its authors' code.
type Painter struct {
	Conv1                          *nn.Conv2d
	Bn1                            *nn.BatchNorm2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	Fc                             *nn.Linear
}

// NewPainter returns the network with zero weights.
func NewPainter() *Painter {
	in := 64
	layer := func(width int) *nn.Sequential {
		s := nn.NewSequential(newPainterBlock(in, width, 2), newPainterBlock(width, width, 1))
		in = width
		return s
	}
	return &Painter{
		Conv1:  conv(9, 64, 3, 2),
		Bn1:    batchNorm(64),
		Layer1: layer(64),
		Layer2: layer(128),
		Layer3: layer(256),
		Layer4: layer(512),
		Fc:     linear(512, 65),
	}
}

// Forward takes states x [N, 9, 128, 128], canvas, target, step and coordinates,
// to five strokes of 13 numbers, [N, 65].
func (m *Painter) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.Relu(m.Bn1.Forward(m.Conv1.Forward(x)))
	for _, layer := range []*nn.Sequential{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = nn.Run(layer, x)
	}
	x = tensor.AvgPool2d(x, 4)
	return tensor.Sigmoid(m.Fc.Forward(x.Flatten(1, -1)))
}

// PainterBlock is the residual block of a Painter: BasicBlock with other names.
type PainterBlock struct {
	Conv1    *nn.Conv2d
	Bn1      *nn.BatchNorm2d
	Conv2    *nn.Conv2d
	Bn2      *nn.BatchNorm2d
	Shortcut *nn.Sequential // empty where the shape does not change
}

func newPainterBlock(in, width, stride int) *PainterBlock {
	m := &PainterBlock{
		Conv1:    conv(in, width, 3, stride),
		Bn1:      batchNorm(width),
		Conv2:    conv(width, width, 3, 1),
		Bn2:      batchNorm(width),
		Shortcut: nn.NewSequential(),
	}
	if stride != 1 || in != width {
		m.Shortcut = convNorm(conv(in, width, 1, stride), nil)
	}
	return m
}

// Forward returns relu(f(x) + x), with x projected where the shapes differ.
func (m *PainterBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := tensor.Relu(m.Bn1.Forward(m.Conv1.Forward(x)))
	out = m.Bn2.Forward(m.Conv2.Forward(out))
	return tensor.Relu(tensor.Add(out, nn.Run(m.Shortcut, x)))
}

// RegNet is the network of Radosavovic et al., arXiv:2003.13678, with squeeze-excitation
// (RegNetY) and torchvision's names: 224 by 224 images to 1000 classes.
type RegNet struct {
	Stem        *nn.Sequential
	TrunkOutput *nn.NamedSequential
	Avgpool     *nn.AdaptiveAvgPool2d
	Fc          *nn.Linear
}

// NewRegNetY400MF returns the network of 0.4 billion multiply-adds with zero weights.
func NewRegNetY400MF() *RegNet {
	in, trunk := 32, nn.NewNamedSequential()
	for i, stage := range []struct{ width, blocks int }{{48, 1}, {104, 3}, {208, 6}, {440, 6}} {
		s, name := nn.NewNamedSequential(), "block"+strconv.Itoa(i+1)
		for k := range stage.blocks {
			s.Append(name+"-"+strconv.Itoa(k), newRegNetBlock(in, stage.width, 2-min(k, 1), 8))
			in = stage.width
		}
		trunk.Append(name, s)
	}
	return &RegNet{
		Stem:        convNorm(conv(3, 32, 3, 2), nn.NewReLU()),
		TrunkOutput: trunk,
		Avgpool:     nn.NewAdaptiveAvgPool2d(1),
		Fc:          linear(in, 1000),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *RegNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Avgpool.Forward(nn.Run(m.TrunkOutput, nn.Run(m.Stem, x)))
	return m.Fc.Forward(x.Flatten(1, -1))
}

// RegNetBlock is a residual block whose inner convolution has groups of channels.
type RegNetBlock struct {
	Proj       *nn.Sequential // nil where the shape does not change
	F          *nn.NamedSequential
	Activation *nn.ReLU
}

func newRegNetBlock(in, width, stride, group int) *RegNetBlock {
	m := &RegNetBlock{
		F: nn.NewNamedSequential(
			nn.Named("a", convNorm(conv(in, width, 1, 1), nn.NewReLU())),
			nn.Named("b", convNorm(groupedConv(width, width, 3, stride, width/group), nn.NewReLU())),
			nn.Named("se", newSqueezeExcitation(width, in/4, nn.NewReLU(), nn.NewSigmoid())),
			nn.Named("c", convNorm(conv(width, width, 1, 1), nil))),
		Activation: nn.NewReLU(),
	}
	if stride != 1 || in != width {
		m.Proj = convNorm(conv(in, width, 1, stride), nil)
	}
	return m
}

// Forward returns relu(f(x) + x), with x projected where the shapes differ.
func (m *RegNetBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	residual := x
	if m.Proj != nil {
		residual = nn.Run(m.Proj, x)
	}
	return m.Activation.Forward(tensor.Add(residual, nn.Run(m.F, x)))
}

// ConvNeXt is the network of Liu et al., arXiv:2201.03545, with torchvision's names:
// 224 by 224 images to 1000 classes.
type ConvNeXt struct {
	Features   *nn.Sequential
	Avgpool    *nn.AdaptiveAvgPool2d
	Classifier *nn.Sequential
}

// NewConvNeXtTiny returns the smallest network with zero weights.
func NewConvNeXtTiny() *ConvNeXt {
	features, in := nn.NewSequential(nn.NewSequential(nn.NewConv2d(3, 96, 4, nn.Stride(4), nn.NoInit()), newChannelNorm(96))), 96
	for _, stage := range []struct{ width, blocks int }{{96, 3}, {192, 3}, {384, 9}, {768, 3}} {
		if stage.width != in {
			features.Modules = append(features.Modules,
				nn.NewSequential(newChannelNorm(in), nn.NewConv2d(in, stage.width, 2, nn.Stride(2), nn.NoInit())))
			in = stage.width
		}
		s := nn.NewSequential()
		for range stage.blocks {
			s.Modules = append(s.Modules, newConvNeXtBlock(in))
		}
		features.Modules = append(features.Modules, s)
	}
	return &ConvNeXt{
		Features:   features,
		Avgpool:    nn.NewAdaptiveAvgPool2d(1),
		Classifier: nn.NewSequential(newChannelNorm(in), nn.NewFlatten(), linear(in, 1000)),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *ConvNeXt) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Classifier, m.Avgpool.Forward(nn.Run(m.Features, x)))
}

// ChannelNorm normalises the channels of each point of a map: torchvision's LayerNorm2d.
type ChannelNorm struct {
	Norm *nn.LayerNorm `fx:"."`
}

func newChannelNorm(channels int) *ChannelNorm {
	return &ChannelNorm{nn.NewLayerNorm([]int{channels}, nn.Eps(1e-6), nn.NoInit())}
}

// Forward keeps the shape of x [N, C, H, W].
func (m *ChannelNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Norm.Forward(x.Permute(0, 2, 3, 1)).Permute(0, 3, 1, 2)
}

// Permute puts axes in another order, as a module.
type Permute struct {
	Dims []int
}

// Forward takes x to its axes in the order of Dims.
func (m *Permute) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Permute(m.Dims...) }

// ConvNeXtBlock filters each channel by itself and runs a perceptron on each point.
type ConvNeXtBlock struct {
	LayerScale *tensor.Tensor // [C, 1, 1]
	Block      *nn.Sequential
}

func newConvNeXtBlock(width int) *ConvNeXtBlock {
	return &ConvNeXtBlock{
		LayerScale: tensor.StateParam(array.New(array.F32, width, 1, 1)),
		Block: nn.NewSequential(
			nn.NewConv2d(width, width, 7, nn.Padding(3), nn.Groups(width), nn.NoInit()),
			&Permute{[]int{0, 2, 3, 1}},
			nn.NewLayerNorm([]int{width}, nn.Eps(1e-6), nn.NoInit()),
			linear(width, 4*width), nn.NewGELU(), linear(4*width, width),
			&Permute{[]int{0, 3, 1, 2}}),
	}
}

// Forward keeps the shape of x [N, C, H, W].
func (m *ConvNeXtBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Add(nn.Run(m.Block, x).Mul(m.LayerScale))
}

// TridentNet is the backbone of Li et al., arXiv:1901.01892: the first stages of
// ResNet-50, the last of which is run three times, with the same weights and filters
// that reach ever further. The names are those of torchvision's ResNet-50.
type TridentNet struct {
	Conv1                  *nn.Conv2d
	Bn1                    *nn.BatchNorm2d
	Relu                   *nn.ReLU
	Maxpool                *nn.MaxPool2d
	Layer1, Layer2, Layer3 *nn.Sequential
}

// NewTridentNet returns the network with zero weights.
func NewTridentNet() *TridentNet {
	r := NewResNet50()
	return &TridentNet{Conv1: r.Conv1, Bn1: r.Bn1, Relu: r.Relu, Maxpool: r.Maxpool, Layer1: r.Layer1, Layer2: r.Layer2, Layer3: r.Layer3}
}

// Forward takes images x [N, 3, H, W] to the maps of the branches, one after the other
// along the first axis: [3*N, 1024, H/16, W/16].
func (m *TridentNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Maxpool.Forward(m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(x))))
	x = nn.Run(m.Layer2, nn.Run(m.Layer1, x))
	branches := make([]*tensor.Tensor, 3)
	for i := range branches {
		branches[i] = x
		for _, b := range m.Layer3.Modules {
			branches[i] = b.(*Bottleneck).dilated(branches[i], i+1)
		}
	}
	return tensor.Cat(branches, 0)
}

// dilated is Forward with another reach of the inner convolution.
func (m *Bottleneck) dilated(x *tensor.Tensor, dilation int) *tensor.Tensor {
	out := m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(x)))
	out = tensor.Conv2d(out, m.Conv2.Weight, nil, tensor.ConvAttrs{
		Stride: tensor.Ints(m.Conv2.Stride...), Padding: tensor.Ints(dilation), Dilation: tensor.Ints(dilation)})
	out = m.Bn3.Forward(m.Conv3.Forward(m.Relu.Forward(m.Bn2.Forward(out))))
	if m.Downsample != nil {
		x = nn.Run(m.Downsample, x)
	}
	return m.Relu.Forward(tensor.Add(out, x))
}

// BlockDrop is a residual network for images of 32 by 32 whose blocks are left out as a
// policy says: Wu et al., arXiv:1711.08393.
type BlockDrop struct {
	Conv1  *nn.Conv2d
	Bn1    *nn.BatchNorm2d
	Blocks [][]*DroppedBlock
	Fc     *nn.Linear
}

// NewBlockDrop returns the network of 32 layers with zero weights.
func NewBlockDrop() *BlockDrop {
	m := &BlockDrop{Conv1: conv(3, 16, 3, 1), Bn1: batchNorm(16), Fc: linear(64, 10)}
	in := 16
	for _, width := range []int{16, 32, 64} {
		var segment []*DroppedBlock
		for range 5 {
			segment = append(segment, newDroppedBlock(in, width))
			in = width
		}
		m.Blocks = append(m.Blocks, segment)
	}
	return m
}

// Forward takes images x [N, 3, 32, 32] and policies [N, 15] of 0 and 1 to scores [N, 10]
// and which blocks were run, [15] (i64): those that an image of the batch asks for.
func (m *BlockDrop) Forward(x, policy *tensor.Tensor) (logits, blocksRun *tensor.Tensor) {
	x = m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
	t := 0
	for _, segment := range m.Blocks {
		for _, block := range segment {
			keep := policy.Narrow(1, t, 1).Unsqueeze(-1).Unsqueeze(-1)
			x = nn.Run(block, x, keep)
			t++
		}
	}
	logits = m.Fc.Forward(x.AvgPool2d(8).Flatten(1, -1))
	return logits, policy.Amax(0).GtScalar(0).Cast(array.I64)
}

// DroppedBlock is a residual block that is not run when no image of the batch asks for it.
type DroppedBlock struct {
	Conv1   *nn.Conv2d
	Bn1     *nn.BatchNorm2d
	Conv2   *nn.Conv2d
	Bn2     *nn.BatchNorm2d
	Widened bool // the block halves the map and doubles the channels
}

func newDroppedBlock(in, width int) *DroppedBlock {
	return &DroppedBlock{
		Conv1:   conv(in, width, 3, width/in),
		Bn1:     batchNorm(width),
		Conv2:   conv(width, width, 3, 1),
		Bn2:     batchNorm(width),
		Widened: in != width,
	}
}

// Forward takes x [N, C, H, W] to relu(f(x) + x) for images whose keep [N, 1, 1, 1] is 1,
// and to x for those where it is 0. Where a block widens, x is pooled and has zeros for
// the new channels.
func (m *DroppedBlock) Forward(x, keep *tensor.Tensor) *tensor.Tensor {
	residual := x
	if m.Widened {
		residual = x.AvgPool2d(2)
		residual = tensor.Cat([]*tensor.Tensor{residual, residual.ZerosLike()}, 1)
	}
	run := func(in []*tensor.Tensor) []*tensor.Tensor {
		x, residual, keep := in[0], in[1], in[2]
		out := m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
		out = m.Bn2.Forward(m.Conv2.Forward(out)).Add(residual).Relu()
		return []*tensor.Tensor{out.Mul(keep).Add(residual.Mul(keep.RSubScalar(1)))}
	}
	skip := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[1]} }
	return tensor.Cond(keep.Amax().GtScalar(0), run, skip, x, residual, keep)[0]
}

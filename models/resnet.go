package models

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// ResNet is the residual network of He et al., arXiv:1512.03385, with
// torchvision's names: 224 by 224 images to 1000 classes.
type ResNet struct {
	Conv1                          *nn.Conv2d
	Bn1                            *nn.BatchNorm2d
	Relu                           *nn.ReLU
	Maxpool                        *nn.MaxPool2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	Avgpool                        *nn.AdaptiveAvgPool2d
	Fc                             *nn.Linear
}

// NewResNet18 returns ResNet-18 with zero weights.
func NewResNet18() *ResNet { return newResNet(newBasicBlock, 1, [4]int{2, 2, 2, 2}) }

// NewResNet34 returns ResNet-34 with zero weights.
func NewResNet34() *ResNet { return newResNet(newBasicBlock, 1, [4]int{3, 4, 6, 3}) }

// NewResNet50 returns ResNet-50 with zero weights.
func NewResNet50() *ResNet { return newResNet(bottleneck(1, 64), 4, [4]int{3, 4, 6, 3}) }

// NewResNet101 returns ResNet-101 with zero weights.
func NewResNet101() *ResNet { return newResNet(bottleneck(1, 64), 4, [4]int{3, 4, 23, 3}) }

// NewResNeXt50 returns ResNeXt-50 (32x4d) of Xie et al., arXiv:1611.05431, with
// zero weights: ResNet-50 whose 3 by 3 convolutions have 32 groups of 4 channels
// and more.
func NewResNeXt50() *ResNet { return newResNet(bottleneck(32, 4), 4, [4]int{3, 4, 6, 3}) }

// newBlock makes a block of in channels to width*expansion channels.
type newBlock func(in, width, stride int, downsample *nn.Sequential) nn.Module

func newResNet(block newBlock, expansion int, depth [4]int) *ResNet {
	in := 64
	layer := func(width, blocks, stride int) *nn.Sequential {
		s := nn.NewSequential()
		for i := range blocks {
			var downsample *nn.Sequential
			if i == 0 && (stride != 1 || in != width*expansion) {
				downsample = nn.NewSequential(conv(in, width*expansion, 1, stride), batchNorm(width*expansion))
			}
			s.Modules = append(s.Modules, block(in, width, stride, downsample))
			in, stride = width*expansion, 1
		}
		return s
	}
	return &ResNet{
		Conv1:   conv(3, 64, 7, 2),
		Bn1:     batchNorm(64),
		Relu:    nn.NewReLU(),
		Maxpool: nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1)),
		Layer1:  layer(64, depth[0], 1),
		Layer2:  layer(128, depth[1], 2),
		Layer3:  layer(256, depth[2], 2),
		Layer4:  layer(512, depth[3], 2),
		Avgpool: nn.NewAdaptiveAvgPool2d(1),
		Fc:      nn.NewLinear(512*expansion, 1000, nn.NoInit()),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *ResNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(x)))
	x = m.Maxpool.Forward(x)
	for _, layer := range []*nn.Sequential{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = nn.Run(layer, x)
	}
	x = m.Avgpool.Forward(x)
	x = tensor.Flatten(x, 1, -1)
	return m.Fc.Forward(x)
}

// BasicBlock is the residual block of ResNet-18 and 34: two convolutions of 3 by 3.
type BasicBlock struct {
	Conv1      *nn.Conv2d
	Bn1        *nn.BatchNorm2d
	Relu       *nn.ReLU
	Conv2      *nn.Conv2d
	Bn2        *nn.BatchNorm2d
	Downsample *nn.Sequential // nil where the shape does not change
}

func newBasicBlock(in, width, stride int, downsample *nn.Sequential) nn.Module {
	return &BasicBlock{
		Conv1:      conv(in, width, 3, stride),
		Bn1:        batchNorm(width),
		Relu:       nn.NewReLU(),
		Conv2:      conv(width, width, 3, 1),
		Bn2:        batchNorm(width),
		Downsample: downsample,
	}
}

// Forward returns relu(f(x) + x), with x projected where the shapes differ.
func (m *BasicBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(x)))
	out = m.Bn2.Forward(m.Conv2.Forward(out))
	if m.Downsample != nil {
		x = nn.Run(m.Downsample, x)
	}
	return m.Relu.Forward(tensor.Add(out, x))
}

// Bottleneck is the residual block of ResNet-50 and deeper: convolutions of
// 1 by 1, 3 by 3 (which has the stride, and groups in ResNeXt) and 1 by 1 with
// four times the channels.
type Bottleneck struct {
	Conv1      *nn.Conv2d
	Bn1        *nn.BatchNorm2d
	Conv2      *nn.Conv2d
	Bn2        *nn.BatchNorm2d
	Conv3      *nn.Conv2d
	Bn3        *nn.BatchNorm2d
	Relu       *nn.ReLU
	Downsample *nn.Sequential // nil where the shape does not change
}

// bottleneck makes blocks whose inner convolution has groups, each of base
// channels for every 64 of the block's width.
func bottleneck(groups, base int) newBlock {
	return func(in, width, stride int, downsample *nn.Sequential) nn.Module {
		inner := width * base / 64 * groups
		return &Bottleneck{
			Conv1:      conv(in, inner, 1, 1),
			Bn1:        batchNorm(inner),
			Conv2:      groupedConv(inner, inner, 3, stride, groups),
			Bn2:        batchNorm(inner),
			Conv3:      conv(inner, 4*width, 1, 1),
			Bn3:        batchNorm(4 * width),
			Relu:       nn.NewReLU(),
			Downsample: downsample,
		}
	}
}

// Forward returns relu(f(x) + x), with x projected where the shapes differ.
func (m *Bottleneck) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(x)))
	out = m.Relu.Forward(m.Bn2.Forward(m.Conv2.Forward(out)))
	out = m.Bn3.Forward(m.Conv3.Forward(out))
	if m.Downsample != nil {
		x = nn.Run(m.Downsample, x)
	}
	return m.Relu.Forward(tensor.Add(out, x))
}

// QuantizedResNet18 is ResNet-18 that simulates 8 bits: inputs, weights and the last bias are
// rounded to 256 values of their range before they are used. Ranges begin anywhere, so that
// zero points are no integers: it is elementwise arithmetic, not the operator quantize.
type QuantizedResNet18 struct {
	Conv1                          *QuantizedConv
	Bn1                            *nn.BatchNorm2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	Fc                             *QuantizedLinear
}

// NewQuantizedResNet18 returns the network with zero weights.
func NewQuantizedResNet18() *QuantizedResNet18 {
	in := 64
	layer := func(width, stride int) *nn.Sequential {
		s := nn.NewSequential()
		for range 2 {
			b := &QuantizedBlock{Conv1: newQuantizedConv(in, width, 3, stride), Bn1: batchNorm(width),
				Conv2: newQuantizedConv(width, width, 3, 1), Bn2: batchNorm(width)}
			if stride != 1 || in != width {
				b.Downsample = nn.NewSequential(newQuantizedConv(in, width, 1, stride), batchNorm(width))
			}
			s.Modules = append(s.Modules, b)
			in, stride = width, 1
		}
		return s
	}
	return &QuantizedResNet18{newQuantizedConv(3, 64, 7, 2), batchNorm(64), layer(64, 1), layer(128, 2), layer(256, 2), layer(512, 2),
		&QuantizedLinear{tensor.StateParam(array.New(array.F32, 1000, 512)), tensor.StateParam(array.New(array.F32, 1000)), newValueRange()}}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000] and the maps of the first
// convolution [N, 64, 112, 112].
func (m *QuantizedResNet18) Forward(x *tensor.Tensor) (logits, stem *tensor.Tensor) {
	stem = m.Bn1.Forward(nn.Run(m.Conv1, x)).Relu()
	x = tensor.MaxPool2d(stem, 3, tensor.MaxPoolAttrs{Stride: tensor.Ints(2), Padding: tensor.Ints(1)})
	for _, layer := range []*nn.Sequential{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = nn.Run(layer, x)
	}
	return nn.Run(m.Fc, tensor.AdaptiveAvgPool2d(x, 1).Flatten(1, -1)), stem
}

// QuantizedBlock is BasicBlock with quantized convolutions.
type QuantizedBlock struct {
	Conv1      *QuantizedConv
	Bn1        *nn.BatchNorm2d
	Conv2      *QuantizedConv
	Bn2        *nn.BatchNorm2d
	Downsample *nn.Sequential // nil where the shape does not change
}

// Forward returns relu(f(x) + x), with x projected where the shapes differ.
func (m *QuantizedBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Bn1.Forward(nn.Run(m.Conv1, x)).Relu()
	y = m.Bn2.Forward(nn.Run(m.Conv2, y))
	if m.Downsample != nil {
		x = nn.Run(m.Downsample, x)
	}
	return y.Add(x).Relu()
}

// QuantizedConv is a convolution without bias that rounds its input and its weight.
type QuantizedConv struct {
	Weight          *tensor.Tensor
	QuantizeInput   *ValueRange
	Stride, Padding int
}

func newQuantizedConv(in, out, kernel, stride int) *QuantizedConv {
	return &QuantizedConv{tensor.StateParam(array.New(array.F32, out, in, kernel, kernel)), newValueRange(), stride, kernel / 2}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *QuantizedConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Conv2d(nn.Run(m.QuantizeInput, x), roundedToOwnRange(m.Weight), nil,
		tensor.ConvAttrs{Stride: tensor.Ints(m.Stride), Padding: tensor.Ints(m.Padding)})
}

// QuantizedLinear is a linear layer that rounds its input, its weight and its bias.
type QuantizedLinear struct {
	Weight, Bias  *tensor.Tensor
	QuantizeInput *ValueRange
}

// Forward takes x [N, in] to [N, out].
func (m *QuantizedLinear) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Linear(nn.Run(m.QuantizeInput, x), roundedToOwnRange(m.Weight), roundedToOwnRange(m.Bias))
}

// ValueRange is the range of a layer's inputs.
type ValueRange struct {
	RunningMin *tensor.Tensor `fx:",buffer"`
	RunningMax *tensor.Tensor `fx:",buffer"`
}

func newValueRange() *ValueRange {
	return &ValueRange{tensor.StateParam(array.New(array.F32, 1)), tensor.StateParam(array.New(array.F32, 1))}
}

// Forward rounds x to 256 values of the range.
func (m *ValueRange) Forward(x *tensor.Tensor) *tensor.Tensor {
	return roundedTo(x, m.RunningMin, m.RunningMax)
}

// roundedTo rounds x to 256 values of [lo, hi].
func roundedTo(x, lo, hi *tensor.Tensor) *tensor.Tensor {
	scale := hi.Sub(lo).DivScalar(255).Clamp(1e-8, nil)
	return x.Sub(lo).Div(scale).Clamp(0, 255).Round().Mul(scale).Add(lo)
}

// roundedToOwnRange rounds x to 256 values between its least and greatest element.
func roundedToOwnRange(x *tensor.Tensor) *tensor.Tensor { return roundedTo(x, x.Min(), x.Max()) }

package models

import (
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

package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// SqueezeNet is the network of Iandola et al., arXiv:1602.07360, with
// torchvision's names: 224 by 224 images to 1000 classes.
type SqueezeNet struct {
	Features, Classifier *nn.Sequential
}

// NewSqueezeNet11 returns version 1.1 with zero weights.
func NewSqueezeNet11() *SqueezeNet {
	pool := func() *nn.MaxPool2d { return nn.NewMaxPool2d(3, nn.Stride(2), nn.CeilMode()) }
	return &SqueezeNet{
		Features: nn.NewSequential(
			nn.NewConv2d(3, 64, 3, nn.Stride(2), nn.NoInit()), nn.NewReLU(), pool(),
			newFire(64, 16, 64), newFire(128, 16, 64), pool(),
			newFire(128, 32, 128), newFire(256, 32, 128), pool(),
			newFire(256, 48, 192), newFire(384, 48, 192), newFire(384, 64, 256), newFire(512, 64, 256)),
		Classifier: nn.NewSequential(nn.NewDropout(0.5), biasedConv(512, 1000, 1), nn.NewReLU(), nn.NewAdaptiveAvgPool2d(1)),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *SqueezeNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.Classifier, nn.Run(m.Features, x))
	return tensor.Flatten(x, 1, -1)
}

// Fire squeezes channels by a convolution of 1 by 1 and expands them by one of
// 1 by 1 and one of 3 by 3.
type Fire struct {
	Squeeze             *nn.Conv2d
	SqueezeActivation   *nn.ReLU
	Expand1x1           *nn.Conv2d
	Expand1x1Activation *nn.ReLU
	Expand3x3           *nn.Conv2d
	Expand3x3Activation *nn.ReLU
}

func newFire(in, squeezed, expanded int) *Fire {
	return &Fire{
		Squeeze:             biasedConv(in, squeezed, 1),
		SqueezeActivation:   nn.NewReLU(),
		Expand1x1:           biasedConv(squeezed, expanded, 1),
		Expand1x1Activation: nn.NewReLU(),
		Expand3x3:           biasedConv(squeezed, expanded, 3),
		Expand3x3Activation: nn.NewReLU(),
	}
}

// Forward takes x [N, in, H, W] to [N, 2*expanded, H, W].
func (m *Fire) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.SqueezeActivation.Forward(m.Squeeze.Forward(x))
	return tensor.Cat([]*tensor.Tensor{
		m.Expand1x1Activation.Forward(m.Expand1x1.Forward(x)),
		m.Expand3x3Activation.Forward(m.Expand3x3.Forward(x)),
	}, 1)
}

// GoogLeNet is the network of Szegedy et al., arXiv:1409.4842, with batch norms and
// torchvision's names: 224 by 224 images to 1000 classes. The heads of training are
// not part of it.
type GoogLeNet struct {
	Conv1                                                           *ConvNormReLU
	Maxpool1                                                        *nn.MaxPool2d
	Conv2, Conv3                                                    *ConvNormReLU
	Maxpool2                                                        *nn.MaxPool2d
	Inception3a, Inception3b                                        *Inception
	Maxpool3                                                        *nn.MaxPool2d
	Inception4a, Inception4b, Inception4c, Inception4d, Inception4e *Inception
	Maxpool4                                                        *nn.MaxPool2d
	Inception5a, Inception5b                                        *Inception
	Avgpool                                                         *nn.AdaptiveAvgPool2d
	Dropout                                                         *nn.Dropout
	Fc                                                              *nn.Linear
}

// NewGoogLeNet returns the network with zero weights.
func NewGoogLeNet() *GoogLeNet {
	pool := func(size int) *nn.MaxPool2d { return nn.NewMaxPool2d(size, nn.Stride(2), nn.CeilMode()) }
	return &GoogLeNet{
		Conv1:       newConvNormReLU(3, 64, 7, 2),
		Maxpool1:    pool(3),
		Conv2:       newConvNormReLU(64, 64, 1, 1),
		Conv3:       newConvNormReLU(64, 192, 3, 1),
		Maxpool2:    pool(3),
		Inception3a: newInception(192, 64, 96, 128, 16, 32, 32),
		Inception3b: newInception(256, 128, 128, 192, 32, 96, 64),
		Maxpool3:    pool(3),
		Inception4a: newInception(480, 192, 96, 208, 16, 48, 64),
		Inception4b: newInception(512, 160, 112, 224, 24, 64, 64),
		Inception4c: newInception(512, 128, 128, 256, 24, 64, 64),
		Inception4d: newInception(512, 112, 144, 288, 32, 64, 64),
		Inception4e: newInception(528, 256, 160, 320, 32, 128, 128),
		Maxpool4:    pool(2),
		Inception5a: newInception(832, 256, 160, 320, 32, 128, 128),
		Inception5b: newInception(832, 384, 192, 384, 48, 128, 128),
		Avgpool:     nn.NewAdaptiveAvgPool2d(1),
		Dropout:     nn.NewDropout(0.2),
		Fc:          linear(1024, 1000),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *GoogLeNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, part := range []nn.Module{
		m.Conv1, m.Maxpool1, m.Conv2, m.Conv3, m.Maxpool2,
		m.Inception3a, m.Inception3b, m.Maxpool3,
		m.Inception4a, m.Inception4b, m.Inception4c, m.Inception4d, m.Inception4e, m.Maxpool4,
		m.Inception5a, m.Inception5b, m.Avgpool,
	} {
		x = nn.Run(part, x)
	}
	return m.Fc.Forward(m.Dropout.Forward(tensor.Flatten(x, 1, -1)))
}

// ConvNormReLU is a convolution, the normalisation of its result and a ReLU:
// torchvision's BasicConv2d.
type ConvNormReLU struct {
	Conv *nn.Conv2d
	Bn   *nn.BatchNorm2d
}

func newConvNormReLU(in, out, kernel, stride int) *ConvNormReLU {
	return &ConvNormReLU{Conv: conv(in, out, kernel, stride), Bn: batchNorm(out, nn.Eps(1e-3))}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *ConvNormReLU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Relu(m.Bn.Forward(m.Conv.Forward(x)))
}

// Inception joins the results of four branches: convolutions of 1 by 1, of 3 by 3
// twice, and of 1 by 1 after a pool.
type Inception struct {
	Branch1                   *ConvNormReLU
	Branch2, Branch3, Branch4 *nn.Sequential
}

// newInception takes the channels of the branches; those of the second and third are
// reduced before the convolution of 3 by 3.
func newInception(in, one, reduced2, two, reduced3, three, four int) *Inception {
	return &Inception{
		Branch1: newConvNormReLU(in, one, 1, 1),
		Branch2: nn.NewSequential(newConvNormReLU(in, reduced2, 1, 1), newConvNormReLU(reduced2, two, 3, 1)),
		Branch3: nn.NewSequential(newConvNormReLU(in, reduced3, 1, 1), newConvNormReLU(reduced3, three, 3, 1)),
		Branch4: nn.NewSequential(nn.NewMaxPool2d(3, nn.Stride(1), nn.Padding(1), nn.CeilMode()), newConvNormReLU(in, four, 1, 1)),
	}
}

// Forward takes x [N, in, H, W] to the channels of all branches, [N, out, H, W].
func (m *Inception) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Cat([]*tensor.Tensor{nn.Run(m.Branch1, x), nn.Run(m.Branch2, x), nn.Run(m.Branch3, x), nn.Run(m.Branch4, x)}, 1)
}

// ShuffleNetV2 is the network of Ma et al., arXiv:1807.11164, with torchvision's names:
// 224 by 224 images to 1000 classes.
type ShuffleNetV2 struct {
	Conv1                  *nn.Sequential
	Maxpool                *nn.MaxPool2d
	Stage2, Stage3, Stage4 *nn.Sequential
	Conv5                  *nn.Sequential
	Fc                     *nn.Linear
}

// NewShuffleNetV2 returns the network of width 1 with zero weights.
func NewShuffleNetV2() *ShuffleNetV2 {
	in := 24
	stage := func(out, blocks int) *nn.Sequential {
		s := nn.NewSequential(newShuffleUnit(in, out, 2))
		for range blocks - 1 {
			s.Modules = append(s.Modules, newShuffleUnit(out, out, 1))
		}
		in = out
		return s
	}
	return &ShuffleNetV2{
		Conv1:   convNorm(conv(3, 24, 3, 2), nn.NewReLU()),
		Maxpool: nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1)),
		Stage2:  stage(116, 4),
		Stage3:  stage(232, 8),
		Stage4:  stage(464, 4),
		Conv5:   convNorm(conv(464, 1024, 1, 1), nn.NewReLU()),
		Fc:      linear(1024, 1000),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *ShuffleNetV2) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Maxpool.Forward(nn.Run(m.Conv1, x))
	for _, part := range []*nn.Sequential{m.Stage2, m.Stage3, m.Stage4, m.Conv5} {
		x = nn.Run(part, x)
	}
	return m.Fc.Forward(x.Mean(2, 3))
}

// ShuffleUnit filters channels in two branches and mixes them. With stride 1 the first
// half of the channels passes as it is.
type ShuffleUnit struct {
	Branch1, Branch2 *nn.Sequential // the first is empty where channels pass
}

func newShuffleUnit(in, out, stride int) *ShuffleUnit {
	half := out / 2
	m := &ShuffleUnit{Branch1: nn.NewSequential()}
	if stride == 1 {
		in = half
	} else {
		m.Branch1 = nn.NewSequential(groupedConv(in, in, 3, stride, in), batchNorm(in), conv(in, half, 1, 1), batchNorm(half), nn.NewReLU())
	}
	m.Branch2 = nn.NewSequential(
		conv(in, half, 1, 1), batchNorm(half), nn.NewReLU(),
		groupedConv(half, half, 3, stride, half), batchNorm(half),
		conv(half, half, 1, 1), batchNorm(half), nn.NewReLU())
	return m
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *ShuffleUnit) Forward(x *tensor.Tensor) *tensor.Tensor {
	first, second := x, x
	if len(m.Branch1.Modules) == 0 {
		halves := x.Chunk(2, 1)
		first, second = halves[0], halves[1]
	} else {
		first = nn.Run(m.Branch1, x)
	}
	return tensor.Cat([]*tensor.Tensor{first, nn.Run(m.Branch2, second)}, 1).ChannelShuffle(2)
}

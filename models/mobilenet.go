package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// MobileNetV2 is the network of Sandler et al., arXiv:1801.04381, with
// torchvision's names: 224 by 224 images to 1000 classes.
type MobileNetV2 struct {
	Features, Classifier *nn.Sequential
}

// NewMobileNetV2 returns the network with zero weights.
func NewMobileNetV2() *MobileNetV2 {
	features := nn.NewSequential(convNorm(conv(3, 32, 3, 2), nn.NewReLU6()))
	in := 32
	for _, stage := range []struct{ expand, out, blocks, stride int }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		stride := stage.stride
		for range stage.blocks {
			features.Modules = append(features.Modules, newInvertedResidualV2(in, stage.out, stride, stage.expand))
			in, stride = stage.out, 1
		}
	}
	features.Modules = append(features.Modules, convNorm(conv(in, 1280, 1, 1), nn.NewReLU6()))
	return &MobileNetV2{Features: features, Classifier: nn.NewSequential(nn.NewDropout(0.2), linear(1280, 1000))}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *MobileNetV2) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.AdaptiveAvgPool2d(nn.Run(m.Features, x), 1, 1)
	return nn.Run(m.Classifier, tensor.Flatten(x, 1, -1))
}

// InvertedResidualV2 is the block of MobileNetV2: it widens, filters each channel
// by itself and narrows without an activation.
type InvertedResidualV2 struct {
	Conv     *nn.Sequential
	Residual bool // the shape does not change
}

func newInvertedResidualV2(in, out, stride, expand int) *InvertedResidualV2 {
	wide := in * expand
	s := nn.NewSequential()
	if expand != 1 {
		s.Modules = append(s.Modules, convNorm(conv(in, wide, 1, 1), nn.NewReLU6()))
	}
	s.Modules = append(s.Modules, convNorm(groupedConv(wide, wide, 3, stride, wide), nn.NewReLU6()), conv(wide, out, 1, 1), batchNorm(out))
	return &InvertedResidualV2{Conv: s, Residual: stride == 1 && in == out}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *InvertedResidualV2) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := nn.Run(m.Conv, x)
	if m.Residual {
		y = tensor.Add(x, y)
	}
	return y
}

// MobileNetV3 is the network of Howard et al., arXiv:1905.02244, with
// torchvision's names: 224 by 224 images to 1000 classes.
type MobileNetV3 struct {
	Features   *nn.Sequential
	Avgpool    *nn.AdaptiveAvgPool2d
	Classifier *nn.Sequential
}

// epsV3 is the number that the batch norms of MobileNetV3 add to the variance.
const epsV3 = 1e-3

// blockV3 are the settings of an InvertedResidualV3. Squeezed are the channels
// between the two layers of its squeeze-excitation, 0 where it has none.
type blockV3 struct {
	in, kernel, wide, out, squeezed int
	hardswish                       bool
	stride                          int
}

// NewMobileNetV3Large returns the larger network with zero weights.
func NewMobileNetV3Large() *MobileNetV3 {
	features := nn.NewSequential(convNorm(conv(3, 16, 3, 2), nn.NewHardswish(), nn.Eps(epsV3)))
	for _, b := range []blockV3{
		{16, 3, 16, 16, 0, false, 1},
		{16, 3, 64, 24, 0, false, 2},
		{24, 3, 72, 24, 0, false, 1},
		{24, 5, 72, 40, 24, false, 2},
		{40, 5, 120, 40, 32, false, 1},
		{40, 5, 120, 40, 32, false, 1},
		{40, 3, 240, 80, 0, true, 2},
		{80, 3, 200, 80, 0, true, 1},
		{80, 3, 184, 80, 0, true, 1},
		{80, 3, 184, 80, 0, true, 1},
		{80, 3, 480, 112, 120, true, 1},
		{112, 3, 672, 112, 168, true, 1},
		{112, 5, 672, 160, 168, true, 2},
		{160, 5, 960, 160, 240, true, 1},
		{160, 5, 960, 160, 240, true, 1},
	} {
		features.Modules = append(features.Modules, newInvertedResidualV3(b))
	}
	features.Modules = append(features.Modules, convNorm(conv(160, 960, 1, 1), nn.NewHardswish(), nn.Eps(epsV3)))
	return &MobileNetV3{
		Features:   features,
		Avgpool:    nn.NewAdaptiveAvgPool2d(1),
		Classifier: nn.NewSequential(linear(960, 1280), nn.NewHardswish(), nn.NewDropout(0.2), linear(1280, 1000)),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *MobileNetV3) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Avgpool.Forward(nn.Run(m.Features, x))
	return nn.Run(m.Classifier, tensor.Flatten(x, 1, -1))
}

// InvertedResidualV3 is the block of MobileNetV3: that of MobileNetV2 with a
// choice of kernel and activation and, in some, a squeeze-excitation.
type InvertedResidualV3 struct {
	Block    *nn.Sequential
	Residual bool // the shape does not change
}

func newInvertedResidualV3(b blockV3) *InvertedResidualV3 {
	activation := func() nn.Module {
		if b.hardswish {
			return nn.NewHardswish()
		}
		return nn.NewReLU()
	}
	s := nn.NewSequential()
	if b.wide != b.in {
		s.Modules = append(s.Modules, convNorm(conv(b.in, b.wide, 1, 1), activation(), nn.Eps(epsV3)))
	}
	s.Modules = append(s.Modules, convNorm(groupedConv(b.wide, b.wide, b.kernel, b.stride, b.wide), activation(), nn.Eps(epsV3)))
	if b.squeezed > 0 {
		s.Modules = append(s.Modules, newSqueezeExcitation(b.wide, b.squeezed, nn.NewReLU(), nn.NewHardsigmoid()))
	}
	s.Modules = append(s.Modules, convNorm(conv(b.wide, b.out, 1, 1), nil, nn.Eps(epsV3)))
	return &InvertedResidualV3{Block: s, Residual: b.stride == 1 && b.in == b.out}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *InvertedResidualV3) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := nn.Run(m.Block, x)
	if m.Residual {
		y = tensor.Add(y, x)
	}
	return y
}

package models

import (
	"math"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// EfficientNet is the network of Tan and Le, arXiv:1905.11946, with torchvision's
// names: images to 1000 classes. Stochastic depth, which leaves blocks out in
// training, is not part of it.
type EfficientNet struct {
	Features   *nn.Sequential
	Avgpool    *nn.AdaptiveAvgPool2d
	Classifier *nn.Sequential
}

// NewEfficientNetB0 returns the smallest network with zero weights.
func NewEfficientNetB0() *EfficientNet { return newEfficientNet(1) }

// NewEfficientNetB1 returns the network of the width of B0 that is a tenth deeper, with zero weights.
func NewEfficientNetB1() *EfficientNet { return newEfficientNet(1.1) }

// newEfficientNet scales the number of blocks of each stage by depth.
func newEfficientNet(depth float64) *EfficientNet {
	features := nn.NewSequential(convNorm(conv(3, 32, 3, 2), nn.NewSiLU()))
	in := 32
	for _, stage := range []struct{ expand, kernel, stride, out, blocks int }{
		{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2}, {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1},
	} {
		s, stride := nn.NewSequential(), stage.stride
		for range int(math.Ceil(float64(stage.blocks) * depth)) {
			s.Modules = append(s.Modules, newMBConv(in, stage.out, stage.kernel, stride, stage.expand))
			in, stride = stage.out, 1
		}
		features.Modules = append(features.Modules, s)
	}
	features.Modules = append(features.Modules, convNorm(conv(in, 1280, 1, 1), nn.NewSiLU()))
	return &EfficientNet{
		Features:   features,
		Avgpool:    nn.NewAdaptiveAvgPool2d(1),
		Classifier: nn.NewSequential(nn.NewDropout(0.2), linear(1280, 1000)),
	}
}

// Forward takes images x [N, 3, H, W] to scores [N, 1000].
func (m *EfficientNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Avgpool.Forward(nn.Run(m.Features, x))
	return nn.Run(m.Classifier, tensor.Flatten(x, 1, -1))
}

// MBConv is the block of EfficientNet: it widens, filters each channel by itself,
// scales the channels and narrows without an activation.
type MBConv struct {
	Block    *nn.Sequential
	Residual bool // the shape does not change
}

func newMBConv(in, out, kernel, stride, expand int) *MBConv {
	wide := in * expand
	s := nn.NewSequential()
	if expand != 1 {
		s.Modules = append(s.Modules, convNorm(conv(in, wide, 1, 1), nn.NewSiLU()))
	}
	s.Modules = append(s.Modules,
		convNorm(groupedConv(wide, wide, kernel, stride, wide), nn.NewSiLU()),
		newSqueezeExcitation(wide, in/4, nn.NewSiLU(), nn.NewSigmoid()),
		convNorm(conv(wide, out, 1, 1), nil))
	return &MBConv{Block: s, Residual: stride == 1 && in == out}
}

// Forward takes x [N, in, H, W] to [N, out, H/stride, W/stride].
func (m *MBConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := nn.Run(m.Block, x)
	if m.Residual {
		y = tensor.Add(y, x)
	}
	return y
}

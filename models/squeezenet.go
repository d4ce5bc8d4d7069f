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

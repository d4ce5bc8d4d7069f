package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// VGG is the network of Simonyan and Zisserman, arXiv:1409.1556, with
// torchvision's names: 224 by 224 images to 1000 classes.
type VGG struct {
	Features   *nn.Sequential
	Avgpool    *nn.AdaptiveAvgPool2d
	Classifier *nn.Sequential
}

// NewVGG11 returns the network of 11 layers, without norms, with zero weights.
func NewVGG11() *VGG { return newVGG([]int{1, 1, 2, 2, 2}, false) }

// NewVGG16BN returns the network of 16 layers, with batch norms, with zero weights.
func NewVGG16BN() *VGG { return newVGG([]int{2, 2, 3, 3, 3}, true) }

// newVGG makes so many convolutions in each of the five stages.
func newVGG(convs []int, norms bool) *VGG {
	features := nn.NewSequential()
	in := 3
	for i, channels := range []int{64, 128, 256, 512, 512} {
		for range convs[i] {
			features.Modules = append(features.Modules, biasedConv(in, channels, 3))
			if norms {
				features.Modules = append(features.Modules, batchNorm(channels))
			}
			features.Modules = append(features.Modules, nn.NewReLU())
			in = channels
		}
		features.Modules = append(features.Modules, nn.NewMaxPool2d(2))
	}
	return &VGG{
		Features: features,
		Avgpool:  nn.NewAdaptiveAvgPool2d(7),
		Classifier: nn.NewSequential(
			linear(512*7*7, 4096), nn.NewReLU(), nn.NewDropout(0.5),
			linear(4096, 4096), nn.NewReLU(), nn.NewDropout(0.5),
			linear(4096, 1000)),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *VGG) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Avgpool.Forward(nn.Run(m.Features, x))
	return nn.Run(m.Classifier, tensor.Flatten(x, 1, -1))
}

// AlexNet is the network of Krizhevsky, arXiv:1404.5997, with torchvision's names:
// 224 by 224 images to 1000 classes.
type AlexNet struct {
	Features   *nn.Sequential
	Avgpool    *nn.AdaptiveAvgPool2d
	Classifier *nn.Sequential
}

// NewAlexNet returns the network with zero weights.
func NewAlexNet() *AlexNet {
	pool := func() *nn.MaxPool2d { return nn.NewMaxPool2d(3, nn.Stride(2)) }
	return &AlexNet{
		Features: nn.NewSequential(
			nn.NewConv2d(3, 64, 11, nn.Stride(4), nn.Padding(2), nn.NoInit()), nn.NewReLU(), pool(),
			biasedConv(64, 192, 5), nn.NewReLU(), pool(),
			biasedConv(192, 384, 3), nn.NewReLU(),
			biasedConv(384, 256, 3), nn.NewReLU(),
			biasedConv(256, 256, 3), nn.NewReLU(), pool()),
		Avgpool: nn.NewAdaptiveAvgPool2d(6),
		Classifier: nn.NewSequential(
			nn.NewDropout(0.5), linear(256*6*6, 4096), nn.NewReLU(),
			nn.NewDropout(0.5), linear(4096, 4096), nn.NewReLU(),
			linear(4096, 1000)),
	}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *AlexNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Avgpool.Forward(nn.Run(m.Features, x))
	return nn.Run(m.Classifier, tensor.Flatten(x, 1, -1))
}

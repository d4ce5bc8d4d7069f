package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// VGG is the network of Simonyan and Zisserman, arXiv:1409.1556, with batch
// norms and torchvision's names: 224 by 224 images to 1000 classes.
type VGG struct {
	Features   *nn.Sequential
	Avgpool    *nn.AdaptiveAvgPool2d
	Classifier *nn.Sequential
}

// NewVGG16BN returns the network of 16 layers with zero weights.
func NewVGG16BN() *VGG {
	features := nn.NewSequential()
	in := 3
	for _, stage := range []struct{ channels, convs int }{{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}} {
		for range stage.convs {
			features.Modules = append(features.Modules, biasedConv(in, stage.channels, 3), batchNorm(stage.channels), nn.NewReLU())
			in = stage.channels
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

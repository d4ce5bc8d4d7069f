package models

import (
	"strconv"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// DenseNet is the network of Huang et al., arXiv:1608.06993, with torchvision's
// names: 224 by 224 images to 1000 classes.
type DenseNet struct {
	Features   *nn.NamedSequential
	Classifier *nn.Linear
}

// NewDenseNet121 returns the network of 121 layers with zero weights.
func NewDenseNet121() *DenseNet { return newDenseNet(32, []int{6, 12, 24, 16}) }

// newDenseNet makes blocks of so many layers, each of which adds growth channels.
func newDenseNet(growth int, layers []int) *DenseNet {
	channels := 2 * growth
	features := nn.NewNamedSequential(
		nn.Named("conv0", conv(3, channels, 7, 2)),
		nn.Named("norm0", batchNorm(channels)),
		nn.Named("relu0", nn.NewReLU()),
		nn.Named("pool0", nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1))))
	for i, n := range layers {
		block := &DenseBlock{}
		for k := range n {
			block.Layers.Append("denselayer"+strconv.Itoa(k+1), newDenseLayer(channels, growth))
			channels += growth
		}
		features.Append("denseblock"+strconv.Itoa(i+1), block)
		if i < len(layers)-1 {
			features.Append("transition"+strconv.Itoa(i+1), newTransition(channels, channels/2))
			channels /= 2
		}
	}
	features.Append("norm5", batchNorm(channels))
	return &DenseNet{Features: features, Classifier: linear(channels, 1000)}
}

// Forward takes images x [N, 3, 224, 224] to scores [N, 1000].
func (m *DenseNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.Relu(nn.Run(m.Features, x))
	x = tensor.AdaptiveAvgPool2d(x, 1, 1)
	return m.Classifier.Forward(tensor.Flatten(x, 1, -1))
}

// DenseBlock is a stack of layers, each of which sees the results of all before it.
type DenseBlock struct {
	Layers nn.Children[*DenseLayer] `fx:"."`
}

// Forward returns x [N, C, H, W] followed by the channels of all layers.
func (m *DenseBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	features := []*tensor.Tensor{x}
	for _, layer := range m.Layers.Modules {
		features = append(features, nn.Run(layer, features...))
	}
	return tensor.Cat(features, 1)
}

// DenseLayer is a convolution of 1 by 1 and one of 3 by 3, each after a
// normalisation and a ReLU.
type DenseLayer struct {
	Norm1 *nn.BatchNorm2d
	Relu1 *nn.ReLU
	Conv1 *nn.Conv2d
	Norm2 *nn.BatchNorm2d
	Relu2 *nn.ReLU
	Conv2 *nn.Conv2d
}

func newDenseLayer(in, growth int) *DenseLayer {
	wide := 4 * growth
	return &DenseLayer{
		Norm1: batchNorm(in),
		Relu1: nn.NewReLU(),
		Conv1: conv(in, wide, 1, 1),
		Norm2: batchNorm(wide),
		Relu2: nn.NewReLU(),
		Conv2: conv(wide, growth, 3, 1),
	}
}

// Forward takes the channels of all features to [N, growth, H, W].
func (m *DenseLayer) Forward(features ...*tensor.Tensor) *tensor.Tensor {
	x := tensor.Cat(features, 1)
	x = m.Conv1.Forward(m.Relu1.Forward(m.Norm1.Forward(x)))
	return m.Conv2.Forward(m.Relu2.Forward(m.Norm2.Forward(x)))
}

// newTransition halves height and width and changes the number of channels.
func newTransition(in, out int) *nn.NamedSequential {
	return nn.NewNamedSequential(
		nn.Named("norm", batchNorm(in)),
		nn.Named("relu", nn.NewReLU()),
		nn.Named("conv", conv(in, out, 1, 1)),
		nn.Named("pool", nn.NewAvgPool2d(2)))
}

package main

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// Net classifies 8×8 images of handwritten digits: two convolutions with their norms, a mean over
// what is left of the image, and a linear layer.
type Net struct {
	Conv1 *nn.Conv2d
	Bn1   *nn.BatchNorm2d
	Conv2 *nn.Conv2d
	Bn2   *nn.BatchNorm2d
	Conv3 *nn.Conv2d
	Bn3   *nn.BatchNorm2d
	Drop  *nn.Dropout
	Fc    *nn.Linear
}

// NewNet returns the network with random weights, which seed decides.
func NewNet(seed uint64) *Net {
	conv := func(in, out, stride int) *nn.Conv2d {
		return nn.NewConv2d(in, out, 3, nn.Stride(stride), nn.Padding(1), nn.NoBias())
	}
	m := &Net{
		Conv1: conv(1, 16, 1), Bn1: nn.NewBatchNorm2d(16),
		Conv2: conv(16, 32, 2), Bn2: nn.NewBatchNorm2d(32),
		Conv3: conv(32, 64, 1), Bn3: nn.NewBatchNorm2d(64),
		Drop: nn.NewDropout(0.1, nn.DropoutSeed(seed)),
		Fc:   nn.NewLinear(64, 10),
	}
	nn.ResetParameters(m, seed)
	return m
}

// Forward takes images, u8[N,8,8] with values from 0 to 16, and returns the logits of the ten
// digits, f32[N,10].
func (m *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Cast(array.F32).DivScalar(16).Unsqueeze(1)
	x = m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
	x = m.Bn2.Forward(m.Conv2.Forward(x)).Relu()
	x = m.Bn3.Forward(m.Conv3.Forward(x)).Relu()
	return m.Fc.Forward(m.Drop.Forward(x.Mean(2, 3)))
}

// Loss is what is trained: the cross entropy, and the part of the images that is classified right.
func (m *Net) Loss(images, labels *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
	logits := m.Forward(images)
	right := logits.Argmax(1).Eq(labels).Cast(array.F32).Mean()
	entropy := nn.NewCrossEntropyLoss()
	entropy.LabelSmoothing = 0.1
	return entropy.Forward(logits, labels), train.Metrics{"accuracy": right}
}

package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// UNet is a small network after Ronneberger et al., arXiv:1505.04597, with batch
// norms and padded convolutions: it marks each point of an image as one of two
// classes.
type UNet struct {
	Enc1, Enc2, Enc3, Mid *DoubleConv
	Up3                   *nn.ConvTranspose2d
	Dec3                  *DoubleConv
	Up2                   *nn.ConvTranspose2d
	Dec2                  *DoubleConv
	Up1                   *nn.ConvTranspose2d
	Dec1                  *DoubleConv
	Head                  *nn.Conv2d
}

// NewUNet returns the network with zero weights.
func NewUNet() *UNet {
	up := func(in, out int) *nn.ConvTranspose2d {
		return nn.NewConvTranspose2d(in, out, 2, nn.Stride(2), nn.NoInit())
	}
	return &UNet{
		Enc1: newDoubleConv(3, 16),
		Enc2: newDoubleConv(16, 32),
		Enc3: newDoubleConv(32, 64),
		Mid:  newDoubleConv(64, 128),
		Up3:  up(128, 64),
		Dec3: newDoubleConv(128, 64),
		Up2:  up(64, 32),
		Dec2: newDoubleConv(64, 32),
		Up1:  up(32, 16),
		Dec1: newDoubleConv(32, 16),
		Head: biasedConv(16, 2, 1),
	}
}

// Forward takes images x [N, 3, H, W] to scores [N, 2, H, W]; height and width
// are multiples of 8.
func (m *UNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	e1 := nn.Run(m.Enc1, x)
	e2 := nn.Run(m.Enc2, halve(e1))
	e3 := nn.Run(m.Enc3, halve(e2))
	x = nn.Run(m.Mid, halve(e3))
	x = nn.Run(m.Dec3, join(e3, m.Up3.Forward(x)))
	x = nn.Run(m.Dec2, join(e2, m.Up2.Forward(x)))
	x = nn.Run(m.Dec1, join(e1, m.Up1.Forward(x)))
	return m.Head.Forward(x)
}

func halve(x *tensor.Tensor) *tensor.Tensor { return tensor.MaxPool2d(x, 2) }

func join(a, b *tensor.Tensor) *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{a, b}, 1) }

// DoubleConv is two convolutions of 3 by 3, each normalised and rectified.
type DoubleConv struct {
	Conv1 *nn.Conv2d
	Bn1   *nn.BatchNorm2d
	Conv2 *nn.Conv2d
	Bn2   *nn.BatchNorm2d
}

func newDoubleConv(in, out int) *DoubleConv {
	return &DoubleConv{
		Conv1: conv(in, out, 3, 1),
		Bn1:   batchNorm(out),
		Conv2: conv(out, out, 3, 1),
		Bn2:   batchNorm(out),
	}
}

// Forward takes x [N, in, H, W] to [N, out, H, W].
func (m *DoubleConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.Relu(m.Bn1.Forward(m.Conv1.Forward(x)))
	return tensor.Relu(m.Bn2.Forward(m.Conv2.Forward(x)))
}

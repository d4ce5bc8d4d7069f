package main

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Net classifies 8×8 images of handwritten digits: a small residual network.
type Net struct {
	Conv   *nn.Conv2d
	Bn     *nn.BatchNorm2d
	Block1 *Block
	Down   *nn.Conv2d
	Bnd    *nn.BatchNorm2d
	Block2 *Block
	Fc     *nn.Linear
}

// NewNet returns the network with initial weights.
func NewNet() *Net {
	return &Net{
		Conv:   nn.NewConv2d(1, 16, 3, nn.Padding(1), nn.NoBias()),
		Bn:     nn.NewBatchNorm2d(16),
		Block1: newBlock(16),
		Down:   nn.NewConv2d(16, 32, 3, nn.Stride(2), nn.Padding(1), nn.NoBias()),
		Bnd:    nn.NewBatchNorm2d(32),
		Block2: newBlock(32),
		Fc:     nn.NewLinear(32, 10),
	}
}

// Forward takes images, f32[N,1,8,8] with values in [0, 1], and returns the
// logits of the ten digits, f32[N,10].
func (m *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Bn.Forward(m.Conv.Forward(x)).Relu()
	x = nn.Run(m.Block1, x)
	x = m.Bnd.Forward(m.Down.Forward(x)).Relu()
	x = nn.Run(m.Block2, x)
	x = x.Mean(2, 3)
	return m.Fc.Forward(x)
}

// Block is two convolutions with a residual connection.
type Block struct {
	Conv1 *nn.Conv2d
	Bn1   *nn.BatchNorm2d
	Conv2 *nn.Conv2d
	Bn2   *nn.BatchNorm2d
}

func newBlock(channels int) *Block {
	conv := func() *nn.Conv2d { return nn.NewConv2d(channels, channels, 3, nn.Padding(1), nn.NoBias()) }
	return &Block{conv(), nn.NewBatchNorm2d(channels), conv(), nn.NewBatchNorm2d(channels)}
}

// Forward keeps the shape of x, f32[N,C,H,W].
func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := b.Bn1.Forward(b.Conv1.Forward(x)).Relu()
	y = b.Bn2.Forward(b.Conv2.Forward(y))
	return y.Add(x).Relu()
}

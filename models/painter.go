package models

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Painter chooses brush strokes: the actor of Huang et al., "Learning to Paint
// With Model-based Deep Reinforcement Learning", arXiv:1903.04411, a ResNet-18
// with the names of its authors' code.
type Painter struct {
	Conv1                          *nn.Conv2d
	Bn1                            *nn.BatchNorm2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	Fc                             *nn.Linear
}

// NewPainter returns the network with zero weights.
func NewPainter() *Painter {
	in := 64
	layer := func(width int) *nn.Sequential {
		s := nn.NewSequential(newPainterBlock(in, width, 2), newPainterBlock(width, width, 1))
		in = width
		return s
	}
	return &Painter{
		Conv1:  conv(9, 64, 3, 2),
		Bn1:    batchNorm(64),
		Layer1: layer(64),
		Layer2: layer(128),
		Layer3: layer(256),
		Layer4: layer(512),
		Fc:     linear(512, 65),
	}
}

// Forward takes states x [N, 9, 128, 128], canvas, target, step and coordinates,
// to five strokes of 13 numbers, [N, 65].
func (m *Painter) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = tensor.Relu(m.Bn1.Forward(m.Conv1.Forward(x)))
	for _, layer := range []*nn.Sequential{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = nn.Run(layer, x)
	}
	x = tensor.AvgPool2d(x, 4)
	return tensor.Sigmoid(m.Fc.Forward(x.Flatten(1, -1)))
}

// PainterBlock is the residual block of a Painter: BasicBlock with other names.
type PainterBlock struct {
	Conv1    *nn.Conv2d
	Bn1      *nn.BatchNorm2d
	Conv2    *nn.Conv2d
	Bn2      *nn.BatchNorm2d
	Shortcut *nn.Sequential // empty where the shape does not change
}

func newPainterBlock(in, width, stride int) *PainterBlock {
	m := &PainterBlock{
		Conv1:    conv(in, width, 3, stride),
		Bn1:      batchNorm(width),
		Conv2:    conv(width, width, 3, 1),
		Bn2:      batchNorm(width),
		Shortcut: nn.NewSequential(),
	}
	if stride != 1 || in != width {
		m.Shortcut = convNorm(conv(in, width, 1, stride), nil)
	}
	return m
}

// Forward returns relu(f(x) + x), with x projected where the shapes differ.
func (m *PainterBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := tensor.Relu(m.Bn1.Forward(m.Conv1.Forward(x)))
	out = m.Bn2.Forward(m.Conv2.Forward(out))
	return tensor.Relu(tensor.Add(out, nn.Run(m.Shortcut, x)))
}

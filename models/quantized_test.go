package models_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// The network of this file simulates 8 bits: inputs, weights and the last bias are
// rounded to 256 values of their range before they are used. Ranges begin anywhere, so
// that zero points are no integers: it is elementwise arithmetic, not quantize.

// simulated rounds x to 256 values of [lo, hi].
func simulated(x, lo, hi *tensor.Tensor) *tensor.Tensor {
	scale := hi.Sub(lo).DivScalar(255).Clamp(1e-8, nil)
	return x.Sub(lo).Div(scale).Clamp(0, 255).Round().Mul(scale).Add(lo)
}

// own rounds x to 256 values of its own range.
func own(x *tensor.Tensor) *tensor.Tensor { return simulated(x, x.Min(), x.Max()) }

// valueRange is the range of a layer's inputs.
type valueRange struct {
	RunningMin *tensor.Tensor `fx:",buffer"`
	RunningMax *tensor.Tensor `fx:",buffer"`
}

func newRange() *valueRange {
	return &valueRange{tensor.Param(array.New(array.F32, 1)), tensor.Param(array.New(array.F32, 1))}
}

func (r *valueRange) Forward(x *tensor.Tensor) *tensor.Tensor {
	return simulated(x, r.RunningMin, r.RunningMax)
}

// simConv is a convolution without bias.
type simConv struct {
	Weight          *tensor.Tensor
	QuantizeInput   *valueRange
	stride, padding int
}

func newSimConv(in, out, kernel, stride int) *simConv {
	return &simConv{tensor.Param(array.New(array.F32, out, in, kernel, kernel)), newRange(), stride, kernel / 2}
}

func (m *simConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Conv2d(m.QuantizeInput.Forward(x), own(m.Weight), nil,
		tensor.ConvAttrs{Stride: tensor.Ints(m.stride), Padding: tensor.Ints(m.padding)})
}

// simLinear is a linear layer.
type simLinear struct {
	Weight, Bias  *tensor.Tensor
	QuantizeInput *valueRange
}

func (m *simLinear) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Linear(m.QuantizeInput.Forward(x), own(m.Weight), own(m.Bias))
}

// simBlock is the block of ResNet-18.
type simBlock struct {
	Conv1      *simConv
	Bn1        *nn.BatchNorm2d
	Conv2      *simConv
	Bn2        *nn.BatchNorm2d
	Downsample *nn.Sequential
}

func (m *simBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
	y = m.Bn2.Forward(m.Conv2.Forward(y))
	if m.Downsample != nil {
		x = nn.Run(m.Downsample, x)
	}
	return y.Add(x).Relu()
}

// simResNet is ResNet-18.
type simResNet struct {
	Conv1                          *simConv
	Bn1                            *nn.BatchNorm2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	Fc                             *simLinear
}

func newSimResNet() *simResNet {
	in := 64
	layer := func(width, stride int) *nn.Sequential {
		s := nn.NewSequential()
		for range 2 {
			b := &simBlock{Conv1: newSimConv(in, width, 3, stride), Bn1: nn.NewBatchNorm2d(width), Conv2: newSimConv(width, width, 3, 1), Bn2: nn.NewBatchNorm2d(width)}
			if stride != 1 || in != width {
				b.Downsample = nn.NewSequential(newSimConv(in, width, 1, stride), nn.NewBatchNorm2d(width))
			}
			s.Modules = append(s.Modules, b)
			in, stride = width, 1
		}
		return s
	}
	return &simResNet{newSimConv(3, 64, 7, 2), nn.NewBatchNorm2d(64), layer(64, 1), layer(128, 2), layer(256, 2), layer(512, 2),
		&simLinear{tensor.Param(array.New(array.F32, 1000, 512)), tensor.Param(array.New(array.F32, 1000)), newRange()}}
}

func (m *simResNet) Forward(x *tensor.Tensor) (logits, stem *tensor.Tensor) {
	stem = m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
	x = tensor.MaxPool2d(stem, 3, tensor.MaxPoolAttrs{Stride: tensor.Ints(2), Padding: tensor.Ints(1)})
	for _, layer := range []*nn.Sequential{m.Layer1, m.Layer2, m.Layer3, m.Layer4} {
		x = nn.Run(layer, x)
	}
	x = tensor.Flatten(tensor.AdaptiveAvgPool2d(x, 1), 1, -1)
	return m.Fc.Forward(x), stem
}

// TestSimulatedQuantisation runs the network eagerly, interpreted and as a plan.
func TestSimulatedQuantisation(t *testing.T) {
	ref := fxtest.LoadFixture(t, "quantized_resnet18")
	m := newSimResNet()
	entry := &models.Model{Name: ref.Model, Inputs: []models.InputSpec{{Name: "x", Type: "f32[1,3,224,224]", Rule: models.Uniform{}}}}
	for _, f := range ref.Multipliers {
		entry.Multipliers = append(entry.Multipliers, models.Multiplier{Name: regexp.MustCompile(f[0].(string)), Factor: f[1].(float64)})
	}
	models.Synthetic(entry, m, ref.Seed)
	h := sha256.New()
	state := nn.StateDict(m)
	require.Len(t, state, len(ref.Parameters))
	for i, e := range state {
		p := ref.Parameters[i]
		require.Equal(t, p.Name, e.Name)
		if p.Rule == "constant" {
			nn.Constant(e.Tensor, p.Value)
		}
		if p.Rule != "zero" {
			h.Write(array.Bytes(e.Tensor.Array()))
		}
	}
	require.Equal(t, ref.WeightsSHA256, hex.EncodeToString(h.Sum(nil)))

	in, err := entry.SyntheticInputs(ref.Seed)
	require.NoError(t, err)
	logits, stem := m.Forward(in[0])
	ref.Check(t, []*array.Array{logits.Array(), stem.Array()})

	gm, err := fx.Trace(context.Background(), m, fx.Args(in[0]))
	require.NoError(t, err)
	out, err := gm.Run(context.Background(), in...)
	require.NoError(t, err)
	ref.Check(t, []*array.Array{out[0].Array(), out[1].Array()})
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	got, err := e.Run(context.Background(), []*array.Array{in[0].Array()})
	require.NoError(t, err)
	ref.Check(t, got)
	require.NoError(t, e.Close())
}

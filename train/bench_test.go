package train_test

import (
	"context"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// benchStep is a step of a known network, whose plan the benchmarks run.
type benchStep struct {
	name  string
	new   func() (model any, loss any, rule optim.Rule)
	specs []fx.Option
	in    func() []*array.Array
}

// classify is the loss of a network that makes scores of an image.
func classify(forward func(*tensor.Tensor) *tensor.Tensor) func(x, y *tensor.Tensor) *tensor.Tensor {
	return func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewCrossEntropyLoss().Forward(forward(x), y) }
}

var benchSteps = []benchStep{
	{name: "resnet18_b8", specs: []fx.Option{fx.Input("x", "f32[8,3,224,224]"), fx.Input("y", "i64[8]")},
		new: func() (any, any, optim.Rule) {
			m := models.NewResNet18()
			return m, classify(m.Forward), optim.Rule{Optimiser: optim.SGD{LR: 0.01, Momentum: 0.9}}
		},
		in: func() []*array.Array {
			x, y := array.New(array.F32, 8, 3, 224, 224), array.New(array.I64, 8)
			spread(x)
			copy(array.Data[int64](y), []int64{1, 2, 3, 4, 5, 6, 7, 8})
			return []*array.Array{x, y}
		}},
	{name: "gpt2_2layers", specs: []fx.Option{fx.Input("ids", "i64[2,128]"), fx.Input("y", "i64[256]")},
		new: func() (any, any, optim.Rule) {
			c := models.GPT2Small
			c.NumLayers, c.VocabSize = 2, 8192
			m := models.NewGPT2(c)
			return m, func(ids, y *tensor.Tensor) *tensor.Tensor {
				_, logits := m.Forward(ids)
				return nn.NewCrossEntropyLoss().Forward(logits.Reshape(256, 8192), y)
			}, optim.Rule{Optimiser: optim.AdamW{LR: 1e-4}}
		},
		in: func() []*array.Array {
			ids, y := array.New(array.I64, 2, 128), array.New(array.I64, 256)
			for i := range array.Data[int64](y) {
				array.Data[int64](ids)[i], array.Data[int64](y)[i] = int64(i*37%8192), int64(i*91%8192)
			}
			return []*array.Array{ids, y}
		}},
}

// spread fills an array with numbers of like sizes.
func spread(a *array.Array) {
	d := array.Data[float32](a)
	for i := range d {
		d[i] = float32(i*7919%2003)/1001 - 1
	}
}

// compiled returns the executable of a step on one thread.
func (s benchStep) compiled(tb testing.TB, o lowering.Options) *cpu.Executable {
	tb.Helper()
	m, loss, rule := s.new()
	step, err := train.NewStep(ctx, m, loss, rule, s.specs...)
	if err != nil {
		tb.Fatal(err)
	}
	own := fx.NewGraphModule(step.Graph().WithGraph(step.Graph().Graph.Clone()))
	if _, err := own.Apply(ctx, fx.Optimise(), fx.PassOptions{}); err != nil {
		tb.Fatal(err)
	}
	o.Threads = 1
	exe, err := cpu.Compile(own.Module, o)
	if err != nil {
		tb.Fatal(err)
	}
	return exe
}

// BenchmarkStep runs steps of training on one thread, in a plan and in an exact one, which has
// no epilogues and no convolution by Winograd's algorithm.
func BenchmarkStep(b *testing.B) {
	for _, s := range benchSteps {
		for _, exact := range []bool{false, true} {
			name := s.name + "/plan"
			if exact {
				name = s.name + "/exact"
			}
			b.Run(name, func(b *testing.B) {
				exe, in := s.compiled(b, lowering.Options{Exact: exact}), s.in()
				out, err := exe.Run(ctx, in)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := exe.RunInto(context.Background(), out, in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

package grad_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// The losses are means of sines of the results, which no symmetry makes zero.

type mlpLoss struct{ Net *models.MLP }

func (m *mlpLoss) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Net.Forward(x).Sin().Mean() }

type resnetLoss struct{ Net *models.ResNet }

func (m *resnetLoss) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Net.Forward(x).Sin().Mean() }

type bertLoss struct{ Net *models.Bert }

func (m *bertLoss) Forward(ids, mask *tensor.Tensor) *tensor.Tensor {
	_, y := m.Net.Forward(ids, mask)
	return y.Sin().Mean()
}

type gptLoss struct{ Net *models.GPT2 }

func (m *gptLoss) Forward(ids *tensor.Tensor) *tensor.Tensor {
	_, y := m.Net.Forward(ids)
	return y.Sin().Mean()
}

// TestModels compares the gradients of networks in training by all their parameters with
// differences along directions, in the interpreter and in a plan.
func TestModels(t *testing.T) {
	mlp, resnet := &mlpLoss{models.NewMLP()}, &resnetLoss{models.NewResNet18()}
	bert := &bertLoss{models.NewBert(models.BertConfig{VocabSize: 31, MaxPositions: 16, TypeVocabSize: 2, HiddenSize: 16, NumLayers: 2, NumHeads: 2, IntermediateSize: 24, LayerNormEps: 1e-12})}
	gpt := &gptLoss{models.NewGPT2(models.GPT2Config{VocabSize: 31, MaxPositions: 16, Width: 16, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5})}
	ids := array.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 1, 2, 30, 0, 9}, 2, 6)
	mask := array.FromSlice([]int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, 2, 6)
	for _, c := range []struct {
		name  string
		net   any
		specs []fx.Option
		in    []*array.Array
	}{
		{"mlp", mlp, []fx.Option{fx.Input("x", "f32[N,784]")}, []*array.Array{array.New(array.F64, 3, 784)}},
		{"resnet18", resnet, []fx.Option{fx.Input("x", "f32[N,3,32,32]")}, []*array.Array{array.New(array.F64, 2, 3, 32, 32)}},
		{"bert", bert, []fx.Option{fx.Input("ids", "i64[N,6]"), fx.Input("mask", "i64[N,6]")}, []*array.Array{ids, mask}},
		{"gpt2", gpt, []fx.Option{fx.Input("ids", "i64[N,6]")}, []*array.Array{ids}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "resnet18" && testing.Short() {
				t.Skip("it takes seconds, which -short leaves out; CI runs it without -short")
			}
			r := rand.New(rand.NewPCG(3, 4))
			nn.Train(c.net)
			gm, err := fx.Trace(ctx, c.net, c.specs...)
			require.NoError(t, err)
			m, err := inF64(gm.Module)
			require.NoError(t, err)
			scatter(r, m)
			g, err := grad.ValueAndGrad(ctx, m, grad.Options{AllowUnused: true})
			require.NoError(t, err)
			for _, a := range c.in {
				if a.DType() == array.F64 {
					copy(array.Data[float64](a), array.Data[float64](random(r, a.Shape()...)))
				}
			}
			compareModel(t, r, m, g, c.in)
		})
	}
}

// scatter gives parameters random values.
func scatter(r *rand.Rand, m *graph.Module) {
	for _, p := range m.Params() {
		if p.Buffer || p.Value.DType() != array.F64 {
			continue
		}
		q := *p
		q.Value = random(r, p.Value.Shape()...)
		for i := range array.Data[float64](q.Value) {
			array.Data[float64](q.Value)[i] *= 0.1
			if q.Value.Rank() == 1 {
				array.Data[float64](q.Value)[i]++
			}
		}
		m.SetParam(q)
	}
}

func compareModel(t *testing.T, r *rand.Rand, m, g *graph.Module, in []*array.Array) {
	out, err := fx.NewGraphModule(graph.Clone(g)).RunArrays(ctx, in)
	require.NoError(t, err)
	exe, err := cpu.Compile(graph.Clone(g), lowering.Options{})
	require.NoError(t, err)
	planned, err := exe.Run(ctx, in)
	require.NoError(t, err)
	require.Len(t, planned, len(out))
	for i := range out {
		near(t, out[i], planned[i], 1e-6)
	}
	for range 3 {
		p := point{m: m, in: in, move: map[string]*array.Array{}, seed: []*array.Array{array.Scalar(1.0)}}
		for _, q := range m.Params() {
			if q.Value.DType() == array.F64 && !q.Buffer {
				p.wrt, p.move[q.Path] = append(p.wrt, q.Path), random(r, q.Value.Shape()...)
			}
		}
		got := p.product(out[1:])
		h := 1e-7
		want := (p.along(h) - p.along(-h)) / (2 * h)
		require.NotZero(t, got)
		require.InDelta(t, want, got, 2e-5*(1+math.Abs(want)))
	}
}

// near requires two arrays to agree, relative to the greatest element.
func near(t require.TestingT, want, got *array.Array, rel float64) {
	require.Equal(t, want.Shape(), got.Shape())
	most := 1e-12
	for i := range want.Len() {
		most = max(most, math.Abs(array.Float64At(want, i)))
	}
	for i := range want.Len() {
		require.InDelta(t, array.Float64At(want, i), array.Float64At(got, i), rel*most)
	}
}

package recompute_test

import (
	"context"
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
	"github.com/gofx-dev/gofx/passes/recompute"
	"github.com/gofx-dev/gofx/tensor"
)

var ctx = context.Background()

// subject is a network with a batch.
type subject struct {
	name   string
	net    any
	specs  []fx.Option
	in     []*array.Array
	sizes  map[string]int
	policy recompute.Policy
}

type imageLoss struct{ Net *models.ResNet }

func (m *imageLoss) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Net.Forward(x).Sin().Mean() }

type textLoss struct{ Net *models.GPT2 }

func (m *textLoss) Forward(ids *tensor.Tensor) *tensor.Tensor {
	_, y := m.Net.Forward(ids)
	return y.Sin().Mean()
}

// deep is a network of equal layers, each of them a module.
type deep struct {
	Layers []*layer
	Last   *nn.Linear
}

type layer struct {
	Norm *nn.LayerNorm
	Up   *nn.Linear
	Down *nn.Linear
	Drop *nn.Dropout
}

func (l *layer) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := l.Up.Forward(l.Norm.Forward(x)).Gelu()
	return x.Add(l.Drop.Forward(l.Down.Forward(h)))
}

func newDeep(n, width int) *deep {
	d := &deep{Last: nn.NewLinear(width, 4, nn.Seed(99))}
	for i := range n {
		s := uint64(3 * i)
		d.Layers = append(d.Layers, &layer{nn.NewLayerNorm([]int{width}), nn.NewLinear(width, 4*width, nn.Seed(s)), nn.NewLinear(4*width, width, nn.Seed(s+1)), nn.NewDropout(0.1, nn.DropoutSeed(s+2))})
	}
	return d
}

func (d *deep) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, l := range d.Layers {
		x = l.Forward(x)
	}
	return d.Last.Forward(x).Square().Mean()
}

func noise(shape ...int) *array.Array {
	r, a := rand.New(rand.NewPCG(7, 8)), array.New(array.F32, shape...)
	for i := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(r.NormFloat64())
	}
	return a
}

func subjects() []subject {
	c := models.GPT2Config{VocabSize: 31, MaxPositions: 16, Width: 16, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}
	ids := array.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 1, 2, 30, 0, 9}, 2, 6)
	return []subject{
		{name: "deep", net: newDeep(6, 16), specs: []fx.Option{fx.Input("x", "f32[N,16]")}, in: []*array.Array{noise(64, 16)}, sizes: map[string]int{"N": 64}, policy: recompute.Policy{Scopes: []string{"layers.*"}}},
		{name: "resnet18", net: &imageLoss{models.NewResNet18()}, specs: []fx.Option{fx.Input("x", "f32[N,3,32,32]")}, in: []*array.Array{noise(2, 3, 32, 32)}, sizes: map[string]int{"N": 2}, policy: recompute.Policy{Scopes: []string{"net.layer[0-9].*"}}},
		{name: "gpt2", net: &textLoss{models.NewGPT2(c)}, specs: []fx.Option{fx.Input("ids", "i64[N,6]")}, in: []*array.Array{ids}, sizes: map[string]int{"N": 2}, policy: recompute.Policy{Scopes: []string{"net.h.*"}}},
	}
}

// gradients returns the graph of a loss and its gradients.
func (s *subject) gradients(t *testing.T) *fx.GraphModule {
	nn.Train(s.net)
	gm, err := fx.Trace(ctx, s.net, s.specs...)
	require.NoError(t, err)
	g, err := gm.ValueAndGrad(ctx, fx.GradOptions{AllowUnused: true})
	require.NoError(t, err)
	return g
}

// with returns a copy on which the pass has been.
func with(t *testing.T, g *fx.GraphModule, p recompute.Policy) *fx.GraphModule {
	m := fx.NewGraphModule(graph.Clone(g.Module))
	report, err := m.Apply(ctx, []fx.Pass{recompute.Pass(p)}, fx.PassOptions{LintEach: true})
	require.NoError(t, err)
	t.Log(report)
	return m
}

func planned(t *testing.T, g *fx.GraphModule, o lowering.Options) *cpu.Executable {
	m := fx.NewGraphModule(graph.Clone(g.Module))
	_, err := m.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	exe, err := cpu.Compile(m.Module, o)
	require.NoError(t, err)
	return exe
}

func TestSame(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			g := s.gradients(t)
			s.policy.Sizes = s.sizes
			base := planned(t, g, lowering.Options{Exact: true})
			p0, err := base.PeakBytes(s.sizes)
			require.NoError(t, err)
			for _, p := range []recompute.Policy{{Sizes: s.sizes}, s.policy} {
				m := with(t, g, p)
				exe := planned(t, m, lowering.Options{Exact: true})
				p1, err := exe.PeakBytes(s.sizes)
				require.NoError(t, err)
				big := map[string]int{"N": 64}
				b0, err := base.PeakBytes(big)
				require.NoError(t, err)
				b1, err := exe.PeakBytes(big)
				require.NoError(t, err)
				t.Log("peak", p0, p1, b0, b1)
				a := fx.NewGraphModule(graph.Clone(g.Module))
				for range 3 {
					want, err := a.RunArrays(ctx, s.in)
					require.NoError(t, err)
					got, err := m.RunArrays(ctx, s.in)
					require.NoError(t, err)
					for i := range want {
						require.True(t, array.Equal(want[i], got[i]), "result %d", i)
					}
				}
			}
		})
	}
}

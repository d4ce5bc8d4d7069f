package recompute_test

import (
	"context"
	"fmt"
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
	scopes []string
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
	h := l.Drop.Forward(l.Up.Forward(l.Norm.Forward(x)).Gelu())
	return x.Add(l.Down.Forward(h))
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
		{name: "deep", net: newDeep(6, 16), specs: []fx.Option{fx.Input("x", "f32[N,16]")}, in: []*array.Array{noise(64, 16)}, sizes: map[string]int{"N": 64}, scopes: []string{"layers.*"}},
		{name: "resnet18", net: &imageLoss{models.NewResNet18()}, specs: []fx.Option{fx.Input("x", "f32[N,3,32,32]")}, in: []*array.Array{noise(2, 3, 32, 32)}, sizes: map[string]int{"N": 2}, scopes: []string{"net.layer[0-9].*"}},
		{name: "gpt2", net: &textLoss{models.NewGPT2(c)}, specs: []fx.Option{fx.Input("ids", "i64[N,6]")}, in: []*array.Array{ids}, sizes: map[string]int{"N": 2}, scopes: []string{"net.h.*"}},
	}
}

// gradients returns the graph of a loss and its gradients.
func (s *subject) gradients(t testing.TB) *fx.GraphModule {
	nn.Train(s.net)
	gm, err := fx.Trace(ctx, s.net, s.specs...)
	require.NoError(t, err)
	g, err := gm.ValueAndGrad(ctx, fx.GradOptions{AllowUnused: true})
	require.NoError(t, err)
	return g
}

// with returns a copy on which the pass has been.
func with(t testing.TB, g *fx.GraphModule, p recompute.Policy) *fx.GraphModule {
	m, _, _ := reported(t, g, p)
	return m
}

// reported returns a copy on which the pass has been, and what it keeps now and kept before, in bytes.
func reported(t testing.TB, g *fx.GraphModule, p recompute.Policy) (m *fx.GraphModule, now, before int64) {
	m = fx.NewGraphModule(graph.Clone(g.Module))
	report, err := m.Apply(ctx, []fx.Pass{recompute.Pass(p)}, fx.PassOptions{})
	require.NoError(t, err)
	require.Len(t, report.Passes[0].Notes, 1)
	var calls int
	_, err = fmt.Sscanf(report.Passes[0].Notes[0], "%d calls are computed again; the backward half reads %d bytes of forward values instead of %d", &calls, &now, &before)
	require.NoError(t, err)
	return m, now, before
}

// planned is the exact plan of an optimised copy.
func planned(t *testing.T, g *fx.GraphModule) *cpu.Executable {
	m := fx.NewGraphModule(graph.Clone(g.Module))
	_, err := m.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	exe, err := cpu.Compile(m.Module, lowering.Options{Exact: true})
	require.NoError(t, err)
	return exe
}

// TestBits compares losses, gradients and state of three runs, of the interpreter and of exact
// plans, with and without repeated calls, and has the plan take less memory.
func TestBits(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "resnet18" && testing.Short() {
				t.Skip("it takes seconds, which -short leaves out; CI runs it without -short")
			}
			g := s.gradients(t)
			base := planned(t, g)
			most, err := base.PeakBytes(s.sizes)
			require.NoError(t, err)
			want, state := runs(t, s.in, fx.NewGraphModule(graph.Clone(g.Module)))
			inPlan := planRuns(t, s.in, base) // what optimising does to sums is in both plans
			for _, p := range []recompute.Policy{{Sizes: s.sizes}, {Scopes: s.scopes, Sizes: s.sizes}} {
				m := with(t, g, p)
				exe := planned(t, m)
				peak, err := exe.PeakBytes(s.sizes)
				require.NoError(t, err)
				require.Less(t, peak, most, "%+v", p)
				compare(t, "the plan", inPlan, planRuns(t, s.in, exe))
				got, after := runs(t, s.in, m)
				compare(t, "the interpreter", want, got)
				require.Equal(t, len(state), len(after))
				for path, a := range state {
					require.True(t, array.Equal(a, after[path]), "state %s", path)
				}
			}
		})
	}
}

// runs interprets a module three times, and returns the results and the state after them.
func runs(t *testing.T, in []*array.Array, m *fx.GraphModule) (out [][]*array.Array, state map[string]*array.Array) {
	for range 3 {
		r, err := m.RunArrays(ctx, in)
		require.NoError(t, err)
		out = append(out, r)
	}
	state = map[string]*array.Array{}
	for _, p := range m.Params() {
		state[p.Path] = p.Value
	}
	return out, state
}

func planRuns(t *testing.T, in []*array.Array, exe *cpu.Executable) (out [][]*array.Array) {
	for range 3 {
		r, err := exe.Run(ctx, in)
		require.NoError(t, err)
		out = append(out, r)
	}
	return out
}

func compare(t *testing.T, what string, want, got [][]*array.Array) {
	for i := range want {
		for k := range want[i] {
			require.True(t, array.Equal(want[i][k], got[i][k]), "%s: run %d, result %d", what, i, k)
		}
	}
}

// TestMemory counts the memory of plans of a network of sixteen layers: half of what is kept is computed
// again by cheap calls alone, and nine tenths by whole layers.
func TestMemory(t *testing.T) {
	s := subject{net: newDeep(16, 16), specs: []fx.Option{fx.Input("x", "f32[N,16]")}}
	size := map[string]int{"N": 256}
	g := s.gradients(t)
	peak := func(g *fx.GraphModule) int64 {
		n, err := planned(t, g).PeakBytes(size)
		require.NoError(t, err)
		return n
	}
	whole := peak(g)
	cheap, kept, before := reported(t, g, recompute.Policy{Sizes: size})
	require.LessOrEqual(t, 2*kept, before+before/100)
	require.Less(t, 10*peak(cheap), 6*whole)
	layers, kept, before := reported(t, g, recompute.Policy{Scopes: []string{"layers.*"}, Sizes: size})
	require.Less(t, 9*kept, before)
	require.Less(t, 4*peak(layers), whole)
}

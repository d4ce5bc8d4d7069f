package grad_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// stacked is a loss of an LSTM: of which results, and whether it begins with states.
type stacked struct {
	Layers         *nn.LSTM
	output, hN, cN bool
	states         bool
}

func (m *stacked) Forward(x, h, c *tensor.Tensor) *tensor.Tensor {
	if !m.states {
		h, c = nil, nil
	}
	y, hN, cN := m.Layers.Forward(x, h, c)
	loss := x.Sum().MulScalar(0.1)
	for i, of := range []bool{m.output, m.hN, m.cN} {
		if of {
			loss = loss.Add([]*tensor.Tensor{y, hN, cN}[i].Sin().Mean())
		}
	}
	return loss
}

// spec is the type of an input.
func spec(dims ...int) string { return shape.TensorType(array.F32, shape.ConstDims(dims...)).String() }

// steps returns a graph whose LSTMs are written out step by step.
func steps(t *testing.T, m *graph.Module) *graph.Module {
	t.Helper()
	m = graph.Clone(m)
	_, err := passes.Run(ctx, m, []passes.Pass{simplify.FunctionalizeAll, simplify.ExpandExcept(nil, nil, expand.Table())}, passes.Options{})
	require.NoError(t, err)
	for n := range m.All() {
		require.NotContains(t, n.Target(), "lstm")
	}
	return m
}

// TestLSTMLayers holds the gradients of LSTMs, which go back layer by layer, to those of
// their steps written out, in the interpreter, optimised and as plans.
func TestLSTMLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for name, c := range map[string]struct {
		opts  []nn.RNNOption
		m     stacked
		x     []int
		state []int
	}{
		"two layers":    {[]nn.RNNOption{nn.NumLayers(2)}, stacked{output: true}, []int{4, 2, 3}, nil},
		"states":        {[]nn.RNNOption{nn.NumLayers(2)}, stacked{output: true, cN: true, states: true}, []int{4, 2, 3}, []int{2, 2, 5}},
		"both ways":     {[]nn.RNNOption{nn.Bidirectional()}, stacked{output: true, hN: true}, []int{3, 2, 3}, nil},
		"all":           {[]nn.RNNOption{nn.Bidirectional(), nn.NumLayers(2), nn.BatchFirst()}, stacked{output: true, hN: true, cN: true, states: true}, []int{2, 4, 3}, []int{4, 2, 5}},
		"last states":   {[]nn.RNNOption{nn.NumLayers(2)}, stacked{hN: true, cN: true}, []int{4, 2, 3}, nil},
		"no bias":       {[]nn.RNNOption{nn.NoBias()}, stacked{output: true, states: true}, []int{4, 2, 3}, []int{1, 2, 5}},
		"one step":      {nil, stacked{output: true, hN: true}, []int{1, 2, 3}, nil},
		"without batch": {nil, stacked{output: true, cN: true, states: true}, []int{4, 3}, []int{1, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.Layers = nn.NewLSTM(3, 5, c.opts...)
			in := []*array.Array{random(r, c.x...)}
			inputs := []fx.Option{fx.Input("x", spec(c.x...))}
			wrt := []string{"x"}
			state := c.state
			if !c.m.states {
				state = []int{1} // which nothing reads
			} else {
				wrt = append(wrt, "h", "c")
			}
			for _, name := range []string{"h", "c"} {
				inputs, in = append(inputs, fx.Input(name, spec(state...))), append(in, random(r, state...))
			}
			gm, err := fx.Trace(ctx, &c.m, inputs...)
			require.NoError(t, err)
			m, err := inF64(gm.Module)
			require.NoError(t, err)
			scatter(r, m)
			for _, p := range m.Params() {
				wrt = append(wrt, p.Path)
			}
			of := func(m *graph.Module) *graph.Module {
				g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: wrt})
				require.NoError(t, err)
				return g
			}
			want, err := fx.NewGraphModule(of(steps(t, m))).RunArrays(ctx, in)
			require.NoError(t, err)
			g := of(m)
			require.Contains(t, g.String(), "lstm_layer_grad")
			got, err := fx.NewGraphModule(graph.Clone(g)).RunArrays(ctx, in)
			require.NoError(t, err)
			planned, err := inPlan(g, in)
			require.NoError(t, err)
			optimised := fx.NewGraphModule(graph.Clone(g))
			_, err = optimised.Apply(ctx, fx.Optimise(), fx.PassOptions{})
			require.NoError(t, err)
			short, err := optimised.RunArrays(ctx, in)
			require.NoError(t, err)
			out, err := fx.NewGraphModule(steps(t, g)).RunArrays(ctx, in)
			require.NoError(t, err)
			for i := range want {
				near(t, want[i], got[i], 1e-12)
				near(t, want[i], planned[i], 1e-12)
				near(t, want[i], short[i], 1e-12)
				near(t, want[i], out[i], 1e-12)
			}
		})
	}
}

// TestLSTMOfAnyLength has the gradient of an open number of steps, which one graph serves.
func TestLSTMOfAnyLength(t *testing.T) {
	m := &stacked{Layers: nn.NewLSTM(3, 5, nn.NumLayers(2), nn.Bidirectional()), output: true, hN: true, cN: true, states: true}
	trace := func(x string) *graph.Module {
		gm, err := fx.Trace(ctx, m, fx.Input("x", x), fx.Input("h", "f32[4,2,5]"), fx.Input("c", "f32[4,2,5]"))
		require.NoError(t, err)
		w, err := inF64(gm.Module)
		require.NoError(t, err)
		scatter(rand.New(rand.NewPCG(5, 6)), w)
		g, err := grad.ValueAndGrad(ctx, w, grad.Options{Wrt: []string{"x", "h", "c", "*weight*", "*bias*"}})
		require.NoError(t, err)
		return g
	}
	r, open := rand.New(rand.NewPCG(7, 8)), trace("f32[T,2,3]")
	for _, x := range []*array.Array{random(r, 1, 2, 3), random(r, 4, 2, 3)} {
		in := []*array.Array{x, random(r, 4, 2, 5), random(r, 4, 2, 5)}
		fixed := trace(spec(x.Shape()...))
		want, err := fx.NewGraphModule(fixed).RunArrays(ctx, in)
		require.NoError(t, err)
		got, err := fx.NewGraphModule(graph.Clone(open)).RunArrays(ctx, in)
		require.NoError(t, err)
		planned, err := inPlan(open, in)
		require.NoError(t, err)
		for i := range want {
			near(t, want[i], got[i], 1e-12)
			near(t, want[i], planned[i], 1e-12)
		}
	}
}

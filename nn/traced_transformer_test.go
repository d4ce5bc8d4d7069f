package nn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func input(t *testing.T, name, typ string) tracer.Input {
	t.Helper()
	p, err := shape.ParseType(typ)
	require.NoError(t, err)
	return tracer.Input{Name: name, Type: p}
}

// Captured with open sizes, encoder and decoder give what they give eagerly, and calls have the
// layers' scopes.
func TestTransformers_captured(t *testing.T) {
	enc := nn.NewTransformerEncoder(2, 8, 2, nn.Feedforward(12), nn.BatchFirst())
	dec := nn.NewTransformerDecoder(2, 8, 2, nn.Feedforward(12), nn.BatchFirst(), nn.NormFirst())
	model := func(src, tgt, padding, later *tensor.Tensor) *tensor.Tensor {
		return nn.Run(dec, tgt, nn.Run(enc, src, nil, padding), later, nil, nil, padding)
	}
	tr := tracer.Tracer{Root: &struct {
		Enc *nn.TransformerEncoder
		Dec *nn.TransformerDecoder
	}{enc, dec}, Inputs: []tracer.Input{input(t, "src", "f32[N,S,8]"), input(t, "tgt", "f32[N,T,8]"), input(t, "padding", "bool[N,S]"), input(t, "later", "bool[T,T]")}}
	m, err := tr.Trace(context.Background(), model)
	require.NoError(t, err)
	scopes := map[string]bool{}
	for n := range m.Graph.Nodes() {
		scopes[n.Scope().Path] = true
	}
	for _, s := range []string{"enc.layers.1.self_attn", "dec.layers.0.multihead_attn", "dec.layers.1"} {
		found := false
		for have := range scopes {
			found = found || strings.HasPrefix(have, s)
		}
		require.True(t, found, "%s is none of %v", s, scopes)
	}
	p := interp.Interpreter{State: interp.NewState(m)}
	for _, n := range []int{1, 3} {
		src, tgt := filled(n, 5, 8), filled(n, 2, 8).MulScalar(0.3)
		padding := tensor.Zeros(n, 5).Cast(array.Bool)
		later := tensor.Ones(2, 2).Triu(1).Cast(array.Bool)
		got, err := p.Run(context.Background(), src, tgt, padding, later)
		require.NoError(t, err)
		require.InDeltaSlice(t, values(model(src, tgt, padding, later)), values(got[0]), 1e-6)
	}
}

// A captured step serves all lengths of the past.
func TestTransformerDecoder_capturedStep(t *testing.T) {
	dec := nn.NewTransformerDecoder(1, 8, 2, nn.Feedforward(12), nn.BatchFirst())
	next := func(x, keys, values, memoryKeys, memoryValues *tensor.Tensor) (y, k, v *tensor.Tensor) {
		out, kept := dec.Step(x, nil, nil, []*tensor.Tensor{keys, values, memoryKeys, memoryValues})
		return out, kept[0], kept[1]
	}
	const past, memory = "f32[N,2,P,4]", "f32[N,2,S,4]"
	tr := tracer.Tracer{Root: dec, Inputs: []tracer.Input{input(t, "x", "f32[N,L,8]"), input(t, "keys", past), input(t, "values", past), input(t, "memory_keys", memory), input(t, "memory_values", memory)}}
	m, err := tr.Trace(context.Background(), next)
	require.NoError(t, err)
	p := interp.Interpreter{State: interp.NewState(m)}
	tgt := filled(2, 6, 8)
	_, cache := dec.Step(tgt.Narrow(1, 0, 1), filled(2, 3, 8), nil, nil)
	eager := cache
	for _, part := range [][2]int{{1, 1}, {2, 3}, {5, 1}} {
		x := tgt.Narrow(1, part[0], part[1])
		var want *tensor.Tensor
		want, eager = dec.Step(x, nil, nil, eager)
		got, err := p.Run(context.Background(), append([]*tensor.Tensor{x}, cache...)...)
		require.NoError(t, err)
		require.InDeltaSlice(t, values(want), values(got[0]), 1e-6)
		cache = append([]*tensor.Tensor{got[1], got[2]}, cache[2:]...)
	}
}

// What is composed of several operators is captured with open sizes, too.
func TestComposedModules_captured(t *testing.T) {
	pool := nn.NewMaxPool2d(2)
	for name, c := range map[string]struct {
		f  any
		in []tracer.Input
		x  []*tensor.Tensor
	}{
		"unpool": {func(x *tensor.Tensor) *tensor.Tensor {
			return nn.Run(nn.NewMaxUnpool2d(2), nn.RunAll(indexed{pool}, x)...)
		}, []tracer.Input{input(t, "x", "f32[N,2,H,W]")}, []*tensor.Tensor{filled(2, 2, 4, 6)}},
		"cosine":   {nn.NewCosineSimilarity(1), []tracer.Input{input(t, "x", "f32[N,D]"), input(t, "y", "f32[N,D]")}, []*tensor.Tensor{filled(3, 4), filled(3, 4).AddScalar(1)}},
		"pairwise": {nn.NewPairwiseDistance(2), []tracer.Input{input(t, "x", "f32[N,D]"), input(t, "y", "f32[N,D]")}, []*tensor.Tensor{filled(3, 4), filled(3, 4).AddScalar(1)}},
		"shrink": {nn.NewSequential(nn.NewSoftshrink(0.1), nn.NewHardshrink(0.2), nn.NewTanhshrink(), nn.NewAlphaDropout(0.1)),
			[]tracer.Input{input(t, "x", "f32[N]")}, []*tensor.Tensor{filled(9)}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := (&tracer.Tracer{Inputs: c.in}).Trace(context.Background(), c.f)
			require.NoError(t, err)
			got, err := (&interp.Interpreter{State: interp.NewState(m)}).Run(context.Background(), c.x...)
			require.NoError(t, err)
			f, ok := c.f.(func(*tensor.Tensor) *tensor.Tensor)
			if !ok {
				f = func(*tensor.Tensor) *tensor.Tensor { return nn.Run(c.f, c.x...) }
			}
			require.Equal(t, values(f(c.x[0])), values(got[0]))
		})
	}
}

// indexed runs a pool that tells where its maxima are.
type indexed struct{ *nn.MaxPool2d }

func (m indexed) Forward(x *tensor.Tensor) (values, indices *tensor.Tensor) {
	return m.ForwardIndices(x)
}

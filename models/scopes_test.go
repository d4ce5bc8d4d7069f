package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

// writer is a transformer that calls its modules as Go methods, or by nn.Run.
type writer struct {
	Layers []*writerLayer
	Head   *writerMLP

	explicit bool
}

type writerLayer struct {
	Norm1, Norm2 *nn.LayerNorm
	Attn         *writerAttention
	MLP          *writerMLP

	explicit bool
}

type writerAttention struct {
	QKV, Proj *nn.Linear
	Heads     int
}

type writerMLP struct {
	Fc1, Fc2 *nn.Linear
	Out      *nn.Sequential

	explicit bool
}

func newWriter(layers int, explicit bool) *writer {
	mlp := func() *writerMLP {
		return &writerMLP{nn.NewLinear(8, 16), nn.NewLinear(16, 8), nn.NewSequential(nn.NewDropout(0.1), nn.NewGELU()), explicit}
	}
	m := &writer{Head: mlp(), explicit: explicit}
	for range layers {
		attn := &writerAttention{nn.NewLinear(8, 24), nn.NewLinear(8, 8), 2}
		m.Layers = append(m.Layers, &writerLayer{nn.NewLayerNorm([]int{8}), nn.NewLayerNorm([]int{8}), attn, mlp(), explicit})
	}
	return m
}

func (m *writer) Forward(x *tensor.Tensor) *tensor.Tensor {
	if m.explicit {
		for _, l := range m.Layers {
			x = nn.Run(l, x)
		}
		return nn.Run(m.Head, x)
	}
	for _, l := range m.Layers {
		x = l.Forward(x)
	}
	return m.Head.Forward(x)
}

func (m *writerLayer) Forward(x *tensor.Tensor) *tensor.Tensor {
	if m.explicit {
		x = x.Add(nn.Run(m.Attn, m.Norm1.Forward(x)))
		return x.Add(nn.Run(m.MLP, m.Norm2.Forward(x)))
	}
	x = x.Add(m.Attn.Forward(m.Norm1.Forward(x)))
	return x.Add(m.MLP.Forward(m.Norm2.Forward(x)))
}

func (m *writerAttention) Forward(x *tensor.Tensor) *tensor.Tensor {
	n, l := x.Dim(0), x.Dim(1)
	qkv := m.QKV.Forward(x).Chunk(3, -1)
	for i, y := range qkv {
		qkv[i] = y.Reshape(n, l, m.Heads, -1).Transpose(1, 2)
	}
	y := tensor.ScaledDotProductAttention(qkv[0], qkv[1], qkv[2], nil)
	return m.Proj.Forward(y.Transpose(1, 2).Reshape(n, l, -1))
}

func (m *writerMLP) Forward(x *tensor.Tensor) *tensor.Tensor {
	if m.explicit {
		return nn.Run(m.Out, m.Fc2.Forward(m.Fc1.Forward(x).Relu()))
	}
	return m.Out.Forward(m.Fc2.Forward(m.Fc1.Forward(x).Relu()))
}

func captured(t *testing.T, m *writer) *graph.Module {
	t.Helper()
	gm, err := fx.Trace(context.Background(), m, fx.Input("x", "f32[2,3,8]"))
	require.NoError(t, err)
	return gm.Module
}

// A model that calls Forward as a Go method has the scopes that nn.Run tells of: the layers
// fold in a drawing and roll into one sub-graph, costs have their names.
func TestScopes_forwardCalls(t *testing.T) {
	plain, told := newWriter(2, false), newWriter(2, true)
	m, want := captured(t, plain), captured(t, told)
	n := want.Graph.First()
	for got := range m.Graph.Nodes() {
		require.Equal(t, n.Name(), got.Name())
		require.Equal(t, n.Scope(), got.Scope(), "%s", got)
		n = n.Next()
	}

	require.Contains(t, draw.DOT(m, draw.Options{Depth: 2}), "layers.0 … layers.1  × 2")

	steps := costly(t, m)
	require.Equal(t, costly(t, want), steps)
	require.Subset(t, steps, map[string]bool{"layers.0": true, "layers.1.attn": true}, "residuals and attention have no module of their own")
	require.NotContains(t, steps, "")

	_, err := passes.Run(context.Background(), m, []passes.Pass{simplify.Functionalize, partition.Reroll}, passes.Options{})
	require.NoError(t, err)
	require.Len(t, m.Subs(), 1)
	require.Equal(t, "layers", m.Subs()[0].Name)
	calls := 0
	for n := range m.Graph.Nodes() {
		if n.Callee() != nil {
			calls++
		}
	}
	require.Equal(t, 2, calls)
}

// costly are the scopes that the steps of a plan stand under.
func costly(t *testing.T, m *graph.Module) map[string]bool {
	t.Helper()
	ready, err := lowering.Prepare(graph.Clone(m), lowering.Options{})
	require.NoError(t, err)
	p, err := cpu.Plan(ready, lowering.Options{})
	require.NoError(t, err)
	w, err := cost.Of(p, nil)
	require.NoError(t, err)
	out := map[string]bool{}
	for _, s := range w.Steps {
		if s.Flops > 0 {
			out[s.Scope] = true
		}
	}
	return out
}

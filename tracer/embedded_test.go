package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// gate embeds leaves, one of which has tensors, and has a field that is called like the
// other one.
type gate struct {
	*nn.Linear
	nn.ReLU
	Named *nn.Sigmoid  `fx:"re_lu"`
	Proj  *nn.Softplus `fx:"."`
}

func (m *gate) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Proj.Forward(m.Named.Forward(m.ReLU.Forward(m.Linear.Forward(x))))
}

type gates struct{ Gates []*gate }

func (m *gates) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, g := range m.Gates {
		x = nn.Run(g, x)
	}
	return x
}

func newGate() *gate {
	return &gate{Linear: nn.NewLinear(3, 3), Named: &nn.Sigmoid{}, Proj: nn.NewSoftplus(1, 20)}
}

// TestEmbeddedLeavesHaveNames captures leaves whose tensors have the names of those of the
// struct that embeds them: the nodes are named after the fields.
func TestEmbeddedLeavesHaveNames(t *testing.T) {
	for name, c := range map[string]struct {
		net interface {
			Forward(*tensor.Tensor) *tensor.Tensor
		}
		targets []string
	}{
		"root":   {newGate(), []string{"linear", "re_lu_1", "re_lu", "proj"}},
		"slices": {&gates{[]*gate{newGate(), newGate()}}, []string{"gates.0.linear", "gates.0.re_lu_1", "gates.0.re_lu", "gates.0.proj", "gates.1.linear", "gates.1.re_lu_1", "gates.1.re_lu", "gates.1.proj"}},
		"itself": {nn.NewLinear(3, 3), []string{"linear"}},
	} {
		t.Run(name, func(t *testing.T) {
			gm, err := fx.Trace(ctx, c.net, fx.Input("x", "f32[N,3]"))
			require.NoError(t, err)
			var targets []string
			for n := range gm.Graph.Nodes() {
				if n.Opcode() == graph.CallModule {
					targets = append(targets, n.Target())
					require.NotRegexp(t, `^_`, n.Name())
				}
			}
			require.Equal(t, c.targets, targets)

			text := gm.Module.String()
			again, err := graph.Parse([]byte(text), "net.fx")
			require.NoError(t, err)
			require.Equal(t, text, again.String())

			x := tensor.FromSlice([]float32{-1, 0.5, 2}, 1, 3)
			out, err := gm.Run(ctx, x)
			require.NoError(t, err)
			require.Equal(t, tensor.Data[float32](c.net.Forward(x)), tensor.Data[float32](out[0]))
		})
	}
}

package recipes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// towers has two modules, and two calls of its own.
type towers struct{ First, Second *mlp }

func (m *towers) Forward(x *tensor.Tensor) *tensor.Tensor {
	values, _ := nn.Run(m.First, x).Add(nn.Run(m.Second, x)).Topk(2, -1)
	return values
}

// TestProfile gives each call a millisecond by a clock that goes on by one at each look.
func TestProfile(t *testing.T) {
	net := &towers{newMLP(4, 8), newMLP(4, 8)}
	gm := capture(t, net, fx.Input("x", "f32[N,4]"))
	now := time.Time{}
	p := &Profile{Clock: func() time.Time { now = now.Add(time.Millisecond); return now }}
	apply(t, gm, p.Insert())
	// Calls with effects stay: dce and cse change nothing else in the graph.
	tidy, err := fx.Pipeline("cse,dce")
	require.NoError(t, err)
	_, err = gm.Apply(ctx, tidy, fx.PassOptions{})
	require.NoError(t, err)

	var g op.Gen
	x := normal(&g, 3, 4)
	same(t, gm, net.Forward(x), 0, x) // two runs: as graph and as plan
	ms := time.Millisecond
	require.Equal(t, map[string]time.Duration{
		"first.up": 2 * ms, "first.act": 2 * ms, "first.down": 2 * ms, "second.up": 2 * ms, "second.act": 2 * ms, "second.down": 2 * ms, "": 4 * ms,
	}, p.Spent)
}

// TestProfileInSubgraphs measures a part as often as the network calls it, with the clock
// of the machine.
func TestProfileInSubgraphs(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[4]) {
  %a = call_module[one](%x) : f32[4]
  %b = call_module[two](%a) : f32[4]
  return %b
}
subgraph part(%x: f32[4]) {
  %exp = call_function[exp](%x) : f32[4]
  %tanh = call_function[tanh](%exp) : f32[4]
  return %tanh
}
module one = call {graph="part"} ()
module two = call {graph="part"} ()
`), "net.fx")
	require.NoError(t, err)
	gm := fx.NewGraphModule(m)
	calls, p := 0, &Profile{}
	p.Clock = func() time.Time { calls++; return time.Now() }
	report := apply(t, gm, p.Insert())
	require.Equal(t, 4, report.Matches("profile"))
	x := tensor.FromSlice([]float32{-1, 0, 1, 2})
	same(t, gm, x.Exp().Tanh().Exp().Tanh(), 0, x)
	require.Equal(t, 2*(1+2*(2+1)), calls, "graph and plan: the start, two calls and the nodes after them")
	require.Positive(t, p.Spent[""])
}

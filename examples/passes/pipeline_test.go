package recipes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/schedule"
	"github.com/gofx-dev/gofx/tensor"
)

// ranker looks up embeddings, which another host has, for batch after batch.
type ranker struct {
	Table *tensor.Tensor
	Mlp   *mlp
}

func (m *ranker) Forward(ids *tensor.Tensor) *tensor.Tensor {
	var out []*tensor.Tensor
	for i := range 4 {
		users := tensor.Embedding(ids.Select(0, i), m.Table)
		out = append(out, m.Mlp.Forward(users))
	}
	return tensor.Stack(out, 0)
}

// remote moves the node that reads the table to another host.
var remote = schedule.Place("place", "Gives lookups to another host.", func(n *graph.Node) schedule.Resource {
	if n.Op() == std.Embedding {
		return "embeddings"
	}
	return schedule.Host
})

// machine needs 10 ms for a lookup, 1 of which is the way, and 9 for a batch.
var machine = schedule.Machine{
	Cost: func(n *graph.Node) time.Duration {
		switch n.Op() {
		case std.Embedding:
			return 9 * time.Millisecond
		case std.Linear:
			return 4 * time.Millisecond
		case std.Relu:
			return time.Millisecond
		}
		return 0
	},
	Links: map[schedule.Way]schedule.Link{{From: "embeddings", To: schedule.Host}: {Latency: time.Millisecond}},
}

func TestPipeline(t *testing.T) {
	var g op.Gen
	net := &ranker{normal(&g, 50, 8), newMLP(8, 16)}
	ids := tensor.New(g.Int(50, 4, 6))
	want := tensor.Data[float32](net.Forward(ids))
	predicted := func(pass passes.Pass) time.Duration {
		gm := capture(t, net, fx.Input("ids", "i64[4,B]"))
		report := apply(t, gm, remote, pass)
		require.Equal(t, 4, report.Matches(pass.Name))
		line, err := schedule.Simulate(gm.Graph, machine)
		require.NoError(t, err)
		out, err := schedule.Run(ctx, &interp.Interpreter{State: interp.NewState(gm.Module)}, ids)
		require.NoError(t, err)
		require.Equal(t, want, tensor.Data[float32](out[0]))
		same(t, gm, net.Forward(ids), 0, ids)
		return line.Makespan
	}
	ms := time.Millisecond
	require.Equal(t, 4*(10+9)*ms, predicted(Pipeline(0)), "one after the other")
	require.Equal(t, (10+9)*ms+3*(10)*ms, predicted(Pipeline(1)), "a lookup begins when the one before has come")
	require.Equal(t, 10*ms+4*9*ms, predicted(Pipeline(2)), "the host never waits again")
	require.Equal(t, predicted(schedule.Overlap(machine)), predicted(Pipeline(2)), "as good as the scheduler")
}

// TestPipelineOfOtherLoops has several lookups in a round, work elsewhere on values made
// elsewhere, tuples made there, and lookups that need the one before.
func TestPipelineOfOtherLoops(t *testing.T) {
	var g op.Gen
	table := normal(&g, 20, 4)
	for name, round := range map[string]func(ids *tensor.Tensor) *tensor.Tensor{
		"two": func(ids *tensor.Tensor) *tensor.Tensor {
			return tensor.Embedding(ids, table).Relu().Add(tensor.Embedding(ids.AddScalar(1), table).Relu())
		},
		"chain": func(ids *tensor.Tensor) *tensor.Tensor { return tensor.Embedding(ids, table).Tanh().Relu() },
		"tuple": func(ids *tensor.Tensor) *tensor.Tensor {
			values, at := tensor.Embedding(ids, table).Topk(2, -1)
			return values.Relu().Add(at.Cast(array.F32))
		},
		"serial": func(ids *tensor.Tensor) *tensor.Tensor {
			best := tensor.Embedding(ids, table).Argmax(1)
			return tensor.Embedding(best, table).Relu()
		},
	} {
		loop := func(ids *tensor.Tensor) *tensor.Tensor {
			var out []*tensor.Tensor
			for i := range 3 {
				out = append(out, round(ids.Select(0, i)))
			}
			return tensor.Stack(out, 0)
		}
		away := schedule.Place("place", "Gives some operators away.", func(n *graph.Node) schedule.Resource {
			if o := n.Op(); o == std.Embedding || o == std.Tanh || o == std.Topk {
				return "embeddings"
			}
			return schedule.Host
		})
		ids := tensor.New(g.Int(19, 3, 5))
		for _, ahead := range []int{-1, 0, 1, 2, 100} {
			gm := capture(t, loop, fx.Input("ids", "i64[3,N]"))
			apply(t, gm, away, Pipeline(ahead))
			out, err := schedule.Run(ctx, &interp.Interpreter{State: interp.NewState(gm.Module)}, ids)
			require.NoError(t, err, "%s %d\n%s", name, ahead, gm)
			require.Equal(t, tensor.Data[float32](loop(ids)), tensor.Data[float32](out[0]), "%s %d\n%s", name, ahead, gm)
			same(t, gm, loop(ids), 0, ids)
		}
	}
}

// TestPipelineKeepsState leaves a lookup after the write to the state that it reads.
func TestPipelineKeepsState(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1

graph g(%x: f32[2], %y: f32[2]) {
  %mean = get_attr[mean] : f32[2]
  %a = call_function[tanh](%x) : f32[2]
  %b = call_function[add](%a, %mean) : f32[2]
  %set = call_function[assign](%mean, %b) : f32[2]
  %now = get_attr[mean] : f32[2]
  %c = call_function[mul](%now, %y) : f32[2]
  %d = call_function[add](%b, %c) : f32[2]
  return %d
}
param mean : f32[2] buffer
`), "state.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "mean", Value: tensor.FromSlice([]float32{1, 2}).Array(), Buffer: true})
	away := schedule.Place("place", "Gives products away.", func(n *graph.Node) schedule.Resource {
		if n.Op() == std.Mul || n.Op() == std.Tanh {
			return "remote"
		}
		return schedule.Host
	})
	report, err := passes.Run(ctx, m, []passes.Pass{away, Pipeline(1)}, passes.Options{Numeric: &passes.Numeric{}})
	require.NoError(t, err)
	require.Contains(t, report.Explain(), "%now left as it is: node %now: %now cannot move past %set")
	require.True(t, m.Graph.Find("set").Precedes(m.Graph.Find("now")))
	_, err = schedule.Simulate(m.Graph, machine)
	require.NoError(t, err)
}

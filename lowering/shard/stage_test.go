package shard_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// chained runs the stages one after the other, each by run.
func chained(t testing.TB, m *graph.Module, p *shard.Pipeline, values map[string]*array.Array, run func(i int, in []*array.Array) []*array.Array) []*array.Array {
	t.Helper()
	var done [][]*array.Array
	take := func(f shard.From) *array.Array {
		if f.Stage < 0 {
			return values[m.Graph.Inputs()[f.Index].Name()]
		}
		return done[f.Stage][f.Index]
	}
	for i, s := range p.Stages {
		var in []*array.Array
		for _, f := range s.Inputs {
			require.Less(t, f.Stage, i, "a stage needs none behind it")
			in = append(in, take(f))
		}
		done = append(done, run(i, in))
	}
	var out []*array.Array
	for _, f := range p.Outputs {
		out = append(out, take(f))
	}
	return out
}

// TestStages: stages of every number compute what the graph does, interpreted, and over a mesh.
func TestStages(t *testing.T) {
	m := small(t)
	values := numbers(m)
	want := interpreted(t, m, values)
	whole, err := shard.Stages(m, lowering.Options{}, 1)
	require.NoError(t, err)
	for _, n := range []int{1, 2, 3, 5, 9} {
		p, err := shard.Stages(m, lowering.Options{}, n)
		require.NoError(t, err)
		require.Len(t, p.Stages, n)
		var flops, longest int64
		for _, s := range p.Stages {
			flops += s.Flops
			longest = max(longest, s.Flops)
		}
		require.Equal(t, whole.Stages[0].Flops, flops)
		if n <= 3 {
			require.Less(t, float64(longest), 1.35*float64(flops)/float64(n), "%d stages", n)
		}
		fxtest.Same(t, "stages", want, chained(t, m, p, values, func(i int, in []*array.Array) []*array.Array {
			out, err := (&interp.Interpreter{State: interp.NewState(p.Stages[i].Module)}).RunArrays(context.Background(), in)
			require.NoError(t, err)
			return out
		}))
		plans, err := p.Propagate(megatron(m, shard.Mesh{{Name: "data", Size: 2}, {Name: "tensor", Size: 2}}))
		require.NoError(t, err)
		fxtest.Close(t, "stages over a mesh", want, chained(t, m, p, values, func(i int, in []*array.Array) []*array.Array {
			mine := map[string]*array.Array{}
			for k, n := range p.Stages[i].Module.Graph.Inputs() {
				mine[n.Name()] = in[k]
			}
			for _, q := range p.Stages[i].Module.Params() {
				mine[q.Path] = values[q.Path]
			}
			out, err := (&machine{plan: plans[i]}).run(mine)
			require.NoError(t, err)
			return out
		}))
	}
	require.InDelta(t, 0.2, mustStages(t, m, 2).Bubble(4), 1e-9)
}

func mustStages(t testing.TB, m *graph.Module, n int) *shard.Pipeline {
	p, err := shard.Stages(m, lowering.Options{}, n)
	require.NoError(t, err)
	return p
}

// TestCutsWhereLittleIsHandedOn: of two places that share the work alike the narrow one is taken.
func TestCutsWhereLittleIsHandedOn(t *testing.T) {
	m := parsed(t, `graph g(%x: f32[64,64], %w: f32[64,64], %v: f32[64,1]) {
  %a = call_function[matmul](%x, %w) : f32[64,64]
  %b = call_function[neg](%a) : f32[64,64]
  %c = call_function[sum](%b) {dim=[1], keep_dim=true} : f32[64,1]
  %d = call_function[neg](%c) : f32[64,1]
  %e = call_function[add](%d, %x) : f32[64,64]
  %f = call_function[matmul](%e, %w) : f32[64,64]
  return %f
}
`)
	p := mustStages(t, m, 2)
	require.Equal(t, int64(64*4), p.Stages[1].Received)
	require.Nil(t, p.Stages[1].Module.Graph.Find("a"))
}

// TestManyStages: a long chain in many stages, of which none is longer than it has to be.
func TestManyStages(t *testing.T) {
	g := graph.New("chain")
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(4)), nil)
	for range 1500 {
		x = c.Function(std.Neg, nil, x)
	}
	c.Output(nil, x)
	calls := 0
	for _, s := range mustStages(t, graph.NewModule(g), 700).Stages {
		require.LessOrEqual(t, s.Calls, 3)
		calls += s.Calls
	}
	require.Equal(t, 1500, calls)
}

func TestStagesRefuse(t *testing.T) {
	m := parsed(t, perceptron)
	for _, n := range []int{0, -1, 6} {
		_, err := shard.Stages(m, lowering.Options{}, n)
		require.ErrorIs(t, err, shard.BadLayout)
	}
	written := parsed(t, "graph g(%x: f32[4]) {\n  %s = get_attr[s] : f32[4]\n  %y = call_function[add](%x, %s) : f32[4]\n  %a = call_function[assign](%s, %y)\n  %z = call_function[neg](%y) : f32[4]\n  return %z\n}\nparam s : f32[4]\n")
	_, err := shard.Stages(written, lowering.Options{}, 2)
	require.ErrorIs(t, err, lowering.Unsupported)
	body := "(%p, %x) {\n    region(%u: f32[4]) {\n      %s = get_attr[s] : f32[4]\n      "
	end := "\n      return %u\n    }\n    region(%u: f32[4]) {\n      return %u\n    }\n  }\n"
	inBodies := parsed(t, "graph g(%p: bool[], %x: f32[4]) {\n  %y = call_function[cond]"+body+"%a = call_function[assign](%s, %u)"+end+
		"  %z = call_function[cond]"+strings.Replace(body, "%x", "%y", 1)+"%a = call_function[add](%s, %u)"+strings.Replace(end, "%u", "%a", 1)+"  return %z\n}\nparam s : f32[4]\n")
	_, err = shard.Stages(inBodies, lowering.Options{}, 2)
	require.ErrorIs(t, err, lowering.Unsupported)
	require.Len(t, err, 2, "both reads of the state are named")
	_, err = mustStages(t, m, 2).Propagate(shard.Layout{Mesh: grid, Inputs: map[string]shard.Split{"q": {"data"}}})
	require.ErrorContains(t, err, `no input "q"`)
	open := parsed(t, "graph g(%x: f32[N,6]) {\n  %y = call_function[neg](%x) : f32[N,6]\n  return %y\n}\n")
	_, err = shard.Stages(open, lowering.Options{}, 1)
	require.ErrorIs(t, err, lowering.UnknownSize)
}

// TestEstimate: work goes down with the mesh, and exchanges take what links and rings say.
func TestEstimate(t *testing.T) {
	m := parsed(t, perceptron)
	numbers(m)
	d := &cost.Device{Name: "unit", Threads: 1, Cores: 1, Float: 1e6, Memory: []cost.Level{{Rate: 1e12}}}
	l := shard.Layout{Mesh: grid, Inputs: map[string]shard.Split{"x": {"data", "", ""}}, Weights: map[string]shard.Split{"up.weight": {"tensor", ""}}}
	p, err := shard.Propagate(m, lowering.Options{}, l)
	require.NoError(t, err)
	links := map[string]shard.Link{"data": {Rate: 1}, "tensor": {Rate: 512, Latency: time.Second}}
	e, err := p.Estimate(d, links)
	require.NoError(t, err)
	require.Equal(t, 4*time.Second+time.Second, e.Exchange, "four messages, and 512 bytes")
	require.InDelta(t, float64(p.Totals().Flops)/1e6, e.Compute.Seconds(), 1e-6)
	require.Equal(t, e.Compute+e.Exchange, e.Time())
	delete(links, "tensor")
	_, err = p.Estimate(d, links)
	require.ErrorContains(t, err, "axis tensor has no link")
	_, err = p.Estimate(&cost.Device{}, links)
	require.ErrorIs(t, err, cost.BadDevice)
}

// TestRandomStages: random graphs, cut into stages that are drawn, compute what they do whole.
func TestRandomStages(t *testing.T) {
	ran, refused := 0, 0
	check := func(rt *rapid.T) (cut bool) {
		m := fxtest.RandomGraph(rt)
		sizes := map[string]int{}
		for _, s := range m.Graph.Symbols() {
			sizes[s.Name] = 4
		}
		bound, err := lowering.Prepare(m, lowering.Options{Shapes: sizes})
		if err != nil {
			return false // guards that these sizes do not keep
		}
		values := numbers(bound)
		for _, q := range m.Params() {
			bound.SetParam(*q)
		}
		n := rapid.IntRange(1, 6).Draw(rt, "stages")
		p, err := shard.Stages(bound, lowering.Options{}, n)
		if err != nil {
			require.True(rt, errors.Is(err, shard.BadLayout) || errors.Is(err, lowering.Unsupported) || errors.Is(err, lowering.UnknownSize), err.Error())
			refused++
			return false
		}
		ran++
		require.Len(rt, p.Stages, n)
		got := chained(t, bound, p, values, func(i int, in []*array.Array) []*array.Array {
			out, err := (&interp.Interpreter{State: interp.NewState(p.Stages[i].Module)}).RunArrays(context.Background(), in)
			require.NoError(rt, err, "%s", bound.Graph)
			return out
		})
		require.Empty(rt, fxtest.SameArrays(interpreted(t, bound, values), got), "%s", bound.Graph)
		return true
	}
	fixed := rapid.Custom(check) // the same graphs each time: of those that are drawn again all may be refused
	for k := range 20 {
		fixed.Example(k)
	}
	require.Positive(t, ran)
	rapid.Check(t, func(rt *rapid.T) { check(rt) })
	t.Log(ran, "graphs,", refused, "refused")
}

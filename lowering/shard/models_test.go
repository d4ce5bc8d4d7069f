package shard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tracer"
)

func traced(t testing.TB, module any, in ...models.InputSpec) *graph.Module {
	p := tracer.Tracer{}
	for _, i := range in {
		p.Inputs = append(p.Inputs, tracer.Input{Name: i.Name, Type: i.ShapeType()})
	}
	m, err := p.Trace(context.Background(), module)
	require.NoError(t, err)
	return m
}

// small is a network of Bert's form.
func small(t testing.TB) *graph.Module {
	c := models.BertConfig{VocabSize: 32, MaxPositions: 16, TypeVocabSize: 2, HiddenSize: 24, NumLayers: 2, NumHeads: 6, IntermediateSize: 48, LayerNormEps: 1e-12}
	return traced(t, models.NewBert(c), models.InputSpec{Name: "input_ids", Type: "i64[4,8]"}, models.InputSpec{Name: "attention_mask", Type: "i64[4,8]"})
}

// megatron cuts the first of each pair of layers by outputs and the second by inputs, and the
// batch along data.
func megatron(m *graph.Module, mesh shard.Mesh) shard.Layout {
	l := shard.Layout{Mesh: mesh, Weights: map[string]shard.Split{}, Inputs: map[string]shard.Split{"input_ids": {"data", ""}}}
	for _, p := range m.Params() {
		switch {
		case strings.Contains(p.Path, ".Self.") || strings.Contains(p.Path, "Intermediate.Dense"),
			strings.Contains(p.Path, ".self.") || strings.Contains(p.Path, "intermediate.dense"):
			l.Weights[p.Path] = shard.Split{"tensor", ""}[:p.TypeOf().Rank()]
		}
	}
	return l
}

// TestBert: two sums a layer are all that is exchanged, the mask follows the batch, and each
// partition of the simulation computes what the model does.
func TestBert(t *testing.T) {
	m := small(t)
	values := numbers(m)
	for _, mesh := range []shard.Mesh{
		{{Name: "data", Size: 1}, {Name: "tensor", Size: 1}},
		{{Name: "data", Size: 4}, {Name: "tensor", Size: 1}},
		{{Name: "data", Size: 1}, {Name: "tensor", Size: 6}},
		{{Name: "data", Size: 2}, {Name: "tensor", Size: 3}},
		{{Name: "tensor", Size: 2}, {Name: "data", Size: 2}},
	} {
		p, err := shard.Propagate(m, lowering.Options{}, megatron(m, mesh))
		require.NoError(t, err)
		sums := 0
		for _, e := range p.Exchanges {
			require.Equal(t, shard.AllReduce, e.Kind, "%s", p)
			require.Equal(t, "tensor", e.Axis)
			require.NotEmpty(t, e.Pos.File)
			sums++
		}
		if tensor := mesh[0].Size * mesh[1].Size / map[bool]int{true: mesh[0].Size, false: mesh[1].Size}[mesh[0].Name == "data"]; tensor > 1 {
			require.Equal(t, 2*2, sums, "%s", p)
		} else {
			require.Zero(t, sums, "%s", p)
		}
		require.Equal(t, shard.Split{"data", ""}, p.Inputs[1].Split, "the mask")
		same(t, m, p, values)
	}
}

// TestHeadsThatDoNotDivide: 6 heads on 4 partitions are gathered where they come apart.
func TestHeadsThatDoNotDivide(t *testing.T) {
	m := small(t)
	values := numbers(m)
	p, err := shard.Propagate(m, lowering.Options{}, megatron(m, shard.Mesh{{Name: "data", Size: 1}, {Name: "tensor", Size: 4}}))
	require.NoError(t, err)
	gathers := map[string]int{}
	for _, e := range p.Exchanges {
		if e.Kind == shard.AllGather {
			gathers[e.Op]++
		}
	}
	require.Equal(t, map[string]int{"reshape": 6}, gathers, "%s", p)
	same(t, m, p, values)
}

// TestModels: every network with its batch cut in two computes what it does on one device, as far
// as the interpreter is quick, and plans in any case.
func TestModels(t *testing.T) {
	ran := 0
	for _, model := range models.All() {
		m := traced(t, model.New(), model.Inputs...)
		l := shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{}}
		sizes := map[string]int{}
		for s, n := range model.Dims {
			sizes[s] = n
		}
		batch := ""
		for _, n := range m.Graph.Inputs() {
			if s, ok := n.Type().Dim(0).IsSymbol(); ok && (batch == "" || batch == s) { // texts and images are one batch each
				batch = s
				sizes[s] = 2 * ((model.Dims[s] + 1) / 2)
				l.Inputs[n.Name()] = make(shard.Split, n.Type().Rank())
				l.Inputs[n.Name()][0] = "data"
			}
		}
		p, err := shard.Propagate(m, lowering.Options{Shapes: sizes}, l)
		require.NoError(t, err, model.Name)
		t.Logf("%s: %d calls, %d exchanges", model.Name, len(p.Work), len(p.Exchanges))
		whole, err := shard.Propagate(m, lowering.Options{Shapes: sizes}, shard.Layout{})
		require.NoError(t, err)
		require.LessOrEqual(t, p.Totals().Flops, whole.Totals().Flops)
		if whole.Totals().Flops > 4e7 && (!fxtest.IsNightly() || whole.Totals().Flops > 2e9) {
			continue
		}
		if model.Name == "greedy_decoder" { // the test's machine has no loops
			continue
		}
		ran++
		values := map[string]*array.Array{}
		module := model.New()
		models.Synthetic(model, module, "gofx-1")
		with := traced(t, module, model.Inputs...)
		for _, q := range with.Params() {
			values[q.Path] = q.Value
		}
		// the fixture's inputs have another batch: random ones of these sizes
		bound, err := lowering.Prepare(with, lowering.Options{Shapes: sizes})
		require.NoError(t, err)
		for name, a := range numbers(traceless(bound)) {
			values[name] = a
		}
		same(t, bound, p, values)
	}
	require.Greater(t, ran, 1)
}

// traceless is the module without its state, so that only inputs are made.
func traceless(m *graph.Module) *graph.Module {
	return graph.NewModule(m.Graph.Clone())
}

package partition_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

var ctx = context.Background()

func bert(t *testing.T, layers int) (*models.Bert, *graph.Module) {
	model := models.NewBert(models.BertConfig{VocabSize: 11, MaxPositions: 6, TypeVocabSize: 2, HiddenSize: 4, NumLayers: layers,
		NumHeads: 2, IntermediateSize: 8, LayerNormEps: 1e-12})
	gm, err := fx.Trace(ctx, model, fx.Input("input_ids", "i64[N,S]"), fx.Input("attention_mask", "i64[N,S]"))
	require.NoError(t, err)
	var gen op.Gen
	for _, p := range gm.Params() {
		array.Copy(p.Value, gen.Normal(p.Value.Shape()...))
	}
	return model, gm.Module
}

func run(t require.TestingT, m *graph.Module, in []*array.Array) []*array.Array {
	p := interp.Interpreter{State: interp.NewState(m)}
	out, err := p.RunArrays(ctx, in)
	require.NoError(t, err)
	return out
}

// program are the lines of a text form but those of the tables of the state, which
// has one line for each tensor whatever the program does with it.
func program(m *graph.Module) (n int) {
	for line := range strings.Lines(m.String()) {
		if !strings.HasPrefix(line, "param ") && !strings.HasPrefix(line, "module ") {
			n++
		}
	}
	return n
}

func TestRerolledBert(t *testing.T) {
	lines, source := map[int]int{}, map[int]int{}
	for _, layers := range []int{2, 12} {
		root, m := bert(t, layers)
		in := []*array.Array{array.FromSlice([]int64{1, 5, 9, 0, 2, 10}, 2, 3), array.FromSlice([]int64{1, 1, 1, 1, 1, 0}, 2, 3)}
		want := run(t, m, in)
		before := graph.Clone(m)
		_, err := passes.Run(ctx, m, []passes.Pass{simplify.Functionalize, partition.Reroll}, passes.Options{})
		require.NoError(t, err)
		require.Len(t, m.Subs(), 1, "%s", m)
		require.Equal(t, "layer", m.Subs()[0].Name)
		calls := 0
		for n := range m.Graph.Nodes() {
			if n.Callee() != nil {
				require.Equal(t, graph.CallModule, n.Opcode())
				require.Len(t, n.Bound().Params, 16)
				calls++
			}
		}
		require.Equal(t, layers, calls)
		fxtest.Same(t, "interpreter", want, run(t, m, in))
		exe, err := cpu.Compile(m, lowering.Options{Exact: true, Threads: 1})
		require.NoError(t, err)
		got, err := exe.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Close(t, "plan", want, got)
		again, err := graph.Parse([]byte(m.String()), "again.fx")
		require.NoError(t, err)
		equal, diff := graph.Equal(again.Graph, m.Graph)
		require.True(t, equal, diff)

		files, err := codegen.Module(m, codegen.ModuleOptions{Root: root})
		require.NoError(t, err)
		lines[layers], source[layers] = program(m), strings.Count(string(files.List[0].Data), "\n")

		_, err = passes.Run(ctx, m, []passes.Pass{simplify.Inline, simplify.Functionalize}, passes.Options{})
		require.NoError(t, err)
		_, err = passes.Run(ctx, before, []passes.Pass{simplify.Functionalize}, passes.Options{})
		require.NoError(t, err)
		equal, diff = graph.Equal(m.Graph, before.Graph)
		require.True(t, equal, diff)
	}
	t.Log("text", lines, "module style", source)
	require.LessOrEqual(t, float64(lines[12]), 1.3*float64(lines[2]))
	require.LessOrEqual(t, float64(source[12]), 1.3*float64(source[2]))
}

// check is rapid.Check for 2,000 graphs, 20 of them with -short.
func check(t *testing.T, property func(t *rapid.T)) { fxtest.CheckTimes(t, 20, property) }

// Split by any function keeps what a graph computes, or says why it cannot.
func TestSplitRandom(t *testing.T) {
	split := 0
	check(t, func(t *rapid.T) {
		m := fxtest.RandomGraph(t)
		in, err := passes.Inputs(m.Graph, map[string]int{"N": 3}, 1)
		require.NoError(t, err)
		want, before := run(t, m, in), m.String()
		stages := rapid.Bool().Draw(t, "stages")
		k, at := rapid.IntRange(1, 5).Draw(t, "nodes of a stage"), 0
		calls, err := partition.Split(m, func(n *graph.Node) string {
			if at++; stages {
				return []string{"a", "b", "c"}[min(at/k, 2)]
			}
			return rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "part")
		})
		if err != nil {
			require.False(t, stages, "%s\n%s", err, before)
			require.ErrorIs(t, err, graph.BadOutline)
			require.Equal(t, before, m.String())
			return
		}
		split += len(calls)
		require.NoError(t, graph.Lint(m.Graph).Err())
		if d := fxtest.SameArrays(want, run(t, m, in)); d != "" {
			t.Fatalf("%s\n%s", d, m)
		}
		exe, err := cpu.Compile(m, lowering.Options{Exact: true, Threads: 1})
		require.NoError(t, err)
		got, err := exe.Run(ctx, in)
		require.NoError(t, err)
		if d := fxtest.SameArrays(want, got); d != "" {
			t.Fatalf("plan: %s\n%s", d, m)
		}
	})
	require.Positive(t, split)
}

// A body of control flow is rolled up by itself.
func TestRerollInBodies(t *testing.T) {
	layers := func(x *tensor.Tensor, w []*tensor.Tensor) *tensor.Tensor {
		for _, p := range w {
			x = tensor.LayerNorm(x.Add(tensor.Linear(x, p, nil).Relu().Square()), nil, nil, 4, 1e-5)
		}
		return x
	}
	var gen op.Gen
	weights := make([]*tensor.Tensor, 6)
	for i := range weights {
		weights[i] = tensor.New(gen.Normal(4, 4))
	}
	trace := func() *graph.Module {
		gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
			last, _ := tensor.Scan(func(carry, in []*tensor.Tensor) (next, out []*tensor.Tensor) {
				return []*tensor.Tensor{layers(carry[0].Add(in[0]), weights)}, nil
			}, []*tensor.Tensor{x.Select(0, 0)}, []*tensor.Tensor{x})
			return last[0]
		}, fx.Input("x", "f32[T,N,4]"))
		require.NoError(t, err)
		return gm.Module
	}
	m := trace()
	_, err := passes.Run(ctx, m, []passes.Pass{simplify.Functionalize, partition.RerollMin(3)}, passes.Options{})
	require.NoError(t, err)
	require.Len(t, m.Subs(), 1, "%s", m)
	calls := 0
	for n := range m.All() {
		if n.Callee() != nil {
			calls++
			require.NotNil(t, n.Graph().Parent())
		}
	}
	require.Equal(t, 6, calls, "%s", m)
	in := []*array.Array{gen.Normal(3, 2, 4)}
	want := run(t, trace(), in)
	require.Empty(t, fxtest.SameArrays(want, run(t, m, in)))
	exe, err := cpu.Compile(m, lowering.Options{Exact: true, Threads: 1})
	require.NoError(t, err)
	got, err := exe.Run(ctx, in)
	require.NoError(t, err)
	require.Empty(t, fxtest.SameArrays(want, got))
}

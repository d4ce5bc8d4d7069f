package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// statefulGraph draws a graph that reads and writes two buffers, with views of
// them, of a weight and of an input, and returns some of its values.
func statefulGraph(r *rapid.T) *graph.Module {
	g := graph.New("stateful")
	m := graph.NewModule(g)
	c := g.At()
	square := shape.TensorType(array.F32, shape.Ints(4, 4))
	var gen op.Gen
	for _, path := range []string{"a", "b", "w"} {
		m.SetParam(graph.Param{Path: path, Value: gen.Normal(4, 4), Buffer: path != "w"})
	}
	nodes := []*graph.Node{c.Placeholder("x", square, nil)}
	pick := func() *graph.Node { return rapid.SampledFrom(nodes).Draw(r, "operand") }
	for range rapid.IntRange(3, 20).Draw(r, "nodes") {
		v := pick()
		switch rapid.IntRange(0, 9).Draw(r, "kind") {
		case 0, 1:
			v = c.GetAttr(rapid.SampledFrom([]string{"a", "b", "w"}).Draw(r, "path"))
		case 2:
			v = c.Function(std.T, nil, v)
		case 3:
			v = c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Ints(4, 4)}, c.Function(std.Flatten, std.FlattenAttrs{StartDim: 0, EndDim: 1}, v))
		case 4:
			halves := c.Function(std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: rapid.IntRange(0, 1).Draw(r, "dim")}, v)
			u := c.ItemNode(halves, rapid.IntRange(0, 1).Draw(r, "half"))
			v = c.Function(std.Cat, std.DimAttrs{Dim: rapid.IntRange(0, 1).Draw(r, "dim")}, u, u)
			if !v.Type().Same(square) {
				v = c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Ints(4, 4)}, v)
			}
		case 5:
			v = c.Function(rapid.SampledFrom([]*op.Op{std.Clone, std.Relu}).Draw(r, "copy"), nil, v)
		case 6:
			v = c.Function(std.Cast, std.CastAttrs{DType: array.F32}, v)
		case 7:
			v = c.Function(rapid.SampledFrom([]*op.Op{std.Add, std.Sub, std.Copy}).Draw(r, "binary"), nil, v, pick())
		default:
			b := c.GetAttr(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "buffer"))
			v = c.Function(op.Assign, nil, b, v)
		}
		nodes = append(nodes, v)
	}
	outputs(r, c, pick)
	return m
}

// TestStateEqualsTheInterpreter runs such graphs several times beside the
// interpreter, which has buffers of its own.
func TestStateEqualsTheInterpreter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := statefulGraph(r)
		e := compileIn(r, m)
		fresh := graph.Clone(m)
		for _, p := range fresh.Params() {
			q := *p
			q.Value = array.Clone(p.Value)
			fresh.SetParam(q)
		}
		var gen op.Gen
		for range 3 {
			x := gen.Normal(4, 4)
			out, err := e.Run(ctx, []*array.Array{x})
			require.NoError(r, err)
			want := interpret(t, fresh, array.Clone(x))
			for i := range want {
				require.Equal(r, bits(want[i]), bits(out[i]), "result %d of\n%s", i, e.Plan())
			}
			ownMemory(r, m, e.State, x, out)
			for _, path := range []string{"a", "b"} {
				if a := e.State(path); a != nil {
					require.Equal(r, bits(fresh.Param(path).Value), bits(a), "buffer %s of\n%s", path, e.Plan())
				}
			}
			for _, a := range out { // what the caller writes to results is the caller's
				fill := array.Data[float32](a)
				for k := range fill {
					fill[k] = -77
				}
			}
		}
	})
}

// ownMemory requires that no result shares memory with another, an input, a
// parameter or state.
func ownMemory(r require.TestingT, m *graph.Module, state func(string) *array.Array, x *array.Array, out []*array.Array) {
	seen := map[*array.Storage]bool{x.Storage(): true}
	for _, p := range m.Params() {
		seen[p.Value.Storage()] = true
		if a := state(p.Path); a != nil {
			seen[a.Storage()] = true
		}
	}
	for i, a := range out {
		require.False(r, seen[a.Storage()], "result %d shares memory", i)
		seen[a.Storage()] = true
	}
}

func compileIn(r *rapid.T, m *graph.Module) *cpu.Executable {
	e, err := cpu.Compile(m, lowering.Options{Threads: 1})
	require.NoError(r, err)
	return e
}

// TestStateIsWhatThePlanWrites asks for a weight, which this plan has packed, and for
// what it writes.
func TestStateIsWhatThePlanWrites(t *testing.T) {
	m := module(t, `
graph net(%x: f32[1,4]) {
  %w = get_attr[w] : f32[4,4]
  %y = call_function[linear](%x, %w) : f32[1,4]
  %b = get_attr[sum] : f32[1,4]
  %z = call_function[assign](%b, %y) : f32[1,4]
  return %y
}
param w : f32[4,4]
param sum : f32[1,4] buffer
`)
	e := compile(t, m, lowering.Options{})
	require.Nil(t, e.State("w"))
	require.Nil(t, e.State("v"))
	require.Equal(t, []int{1, 4}, e.State("sum").Shape())
}

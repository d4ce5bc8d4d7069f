package shard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func parsed(t testing.TB, text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n"+text), "model.fx")
	require.NoError(t, err)
	return m
}

// numbers returns values for all inputs and weights, by name.
func numbers(m *graph.Module) map[string]*array.Array {
	g, all := &op.Gen{}, map[string]*array.Array{}
	for _, n := range m.Graph.Inputs() {
		_, dims, _ := n.Type().Concrete()
		all[n.Name()] = g.Normal(dims...)
		if n.Type().DType() == array.I64 {
			all[n.Name()] = g.Int(2, dims...)
		}
	}
	for _, p := range m.Params() {
		_, dims, _ := p.TypeOf().Concrete()
		all[p.Path] = g.Uniform(-0.3, 0.3, dims...)
		q := *p
		q.Value = all[p.Path]
		m.SetParam(q)
	}
	return all
}

// interpreted runs the module as it is.
func interpreted(t testing.TB, m *graph.Module, values map[string]*array.Array) []*array.Array {
	var in []*array.Array
	for _, n := range m.Graph.Inputs() {
		in = append(in, values[n.Name()])
	}
	out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}

// same runs the plan's partitions and compares with the module.
func same(t testing.TB, m *graph.Module, p *shard.Plan, values map[string]*array.Array) {
	t.Helper()
	got, err := (&machine{plan: p}).run(values)
	require.NoError(t, err)
	fxtest.Close(t, m.Graph.Name, interpreted(t, m, values), got)
}

const perceptron = `graph mlp(%x: f32[8,4,6]) {
  %w1 = get_attr[up.weight] : f32[12,6]
  %b1 = get_attr[up.bias] : f32[12]
  %w2 = get_attr[down.weight] : f32[6,12]
  %b2 = get_attr[down.bias] : f32[6]
  %h = call_function[linear](%x, %w1, %b1) : f32[8,4,12]
  %a = call_function[gelu](%h) : f32[8,4,12]
  %y = call_function[linear](%a, %w2, %b2) : f32[8,4,6]
  %r = call_function[add](%y, %x) : f32[8,4,6]
  %n = call_function[softmax](%r) {dim=-1} : f32[8,4,6]
  return %n
}
param up.weight : f32[12,6]
param up.bias : f32[12]
param down.weight : f32[6,12]
param down.bias : f32[6]
`

var grid = shard.Mesh{{Name: "data", Size: 2}, {Name: "tensor", Size: 3}}

// TestColumnsAndRows: two layers of which the first has its outputs cut and the second its inputs
// exchange one sum, and the first one's bias follows.
func TestColumnsAndRows(t *testing.T) {
	m := parsed(t, perceptron)
	values := numbers(m)
	p, err := shard.Propagate(m, lowering.Options{}, shard.Layout{Mesh: grid,
		Inputs:  map[string]shard.Split{"x": {"data", "", ""}},
		Weights: map[string]shard.Split{"up.weight": {"tensor", ""}}})
	require.NoError(t, err)
	splits := map[string]string{}
	for _, v := range p.Weights {
		splits[v.Name] = v.Split.String()
	}
	require.Equal(t, map[string]string{"up.weight": "[tensor,]", "up.bias": "[tensor]", "down.weight": "[,tensor]", "down.bias": "[]"}, splits)
	require.Equal(t, shard.Split{"data", "", ""}, p.Outputs[0].Split)
	require.Len(t, p.Exchanges, 1)
	e := p.Exchanges[0]
	require.Equal(t, []any{shard.AllReduce, "tensor", "y", "linear", "sum", int64(2 * 4 * 4 * 6 * 4 * 2 / 3)}, []any{e.Kind, e.Axis, e.Node, e.Op, e.Combine, e.Bytes})
	same(t, m, p, values)
	require.Contains(t, p.String(), "512 B in 1 × all-reduce along tensor of linear's result\n")
}

// TestReduceScatter: what is summed and cut again is exchanged once.
func TestReduceScatter(t *testing.T) {
	m := parsed(t, perceptron)
	values := numbers(m)
	p, err := shard.Propagate(m, lowering.Options{}, shard.Layout{Mesh: shard.Mesh{{Name: "tensor", Size: 2}},
		Weights: map[string]shard.Split{"up.weight": {"tensor", ""}, "down.weight": {"", "tensor"}},
		Values:  map[string]shard.Split{"h": {"", "", "tensor"}, "y": {"", "tensor", ""}}})
	require.NoError(t, err)
	var kinds []shard.Kind
	for _, e := range p.Exchanges {
		kinds = append(kinds, e.Kind)
	}
	require.Equal(t, []shard.Kind{shard.AllGather, shard.ReduceScatter}, kinds, "sequence parallel: %s", p)
	require.Equal(t, shard.Split{"", "tensor", ""}, p.Inputs[0].Split, "by the residual sum")
	same(t, m, p, values)
}

// TestStored: weights that lie cut along the data are gathered, and a device holds a part of them.
func TestStored(t *testing.T) {
	m := parsed(t, perceptron)
	values := numbers(m)
	l := shard.Layout{Mesh: grid, Inputs: map[string]shard.Split{"x": {"data", "", ""}}, Weights: map[string]shard.Split{"up.weight": {"tensor", ""}},
		Stored: map[string]shard.Split{"up.weight": {"tensor", "data"}, "down.weight": {"data", "tensor"}}}
	p, err := shard.Propagate(m, lowering.Options{}, l)
	require.NoError(t, err)
	require.Equal(t, shard.Split{"tensor", "data"}, p.Weights[0].Split)
	require.Equal(t, []int{4, 3}, p.Weights[0].Local)
	var kinds []shard.Kind
	for _, e := range p.Exchanges {
		kinds = append(kinds, e.Kind)
	}
	require.Equal(t, []shard.Kind{shard.AllGather, shard.AllGather, shard.AllReduce}, kinds, "%s", p)
	require.Equal(t, int64(4*3*4), p.Exchanges[0].Bytes)
	require.Contains(t, p.String(), "2 × all-gather along data of stored weights")
	same(t, m, p, values)
	l.Stored["up.weight"] = shard.Split{"data"}
	l.Stored["no"] = nil
	_, err = shard.Propagate(m, lowering.Options{}, l)
	require.ErrorContains(t, err, "weight up.weight is f32[12,6], and stored: the split has 1 dimensions")
	require.ErrorContains(t, err, `no weight "no"`)
}

func TestConflicts(t *testing.T) {
	m := parsed(t, `graph g(%x: f32[4,6], %y: f32[4,6], %z: f32[6,4]) {
  %s = call_function[add](%x, %y) : f32[4,6]
  %p = call_function[matmul](%x, %z) : f32[4,4]
  %q = call_function[neg](%p) : f32[4,4]
  return (%s, %q)
}
`)
	values := numbers(m)
	l := shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}, {Name: "b", Size: 2}}, Inputs: map[string]shard.Split{
		"x": {"a", ""}, "y": {"b", ""}, "z": {"", "a"}}}
	_, err := shard.Propagate(m, lowering.Options{}, l)
	require.ErrorIs(t, err, shard.Conflict)
	text := err.Error()
	require.Contains(t, text, "node %s: add: dimension 0 of x is cut along a (by the layout of input x), dimension 0 of other is cut along b (by the layout of input y): the two belong together")
	require.Contains(t, text, "say in Layout.Values how s is laid out")
	require.Contains(t, text, "node %p: matmul:")
	require.Contains(t, text, "by the layout of input z")
	require.Contains(t, text, "a partition has one place along an axis")
	require.Contains(t, text, "or change the layout of input ")
	// the cures that it names
	l.Values = map[string]shard.Split{"s": {"b", "a"}, "p": {"a", ""}}
	p, err := shard.Propagate(m, lowering.Options{}, l)
	require.NoError(t, err)
	same(t, m, p, values)
	require.NotEmpty(t, p.Exchanges)
	l.Values = nil
	l.Inputs["y"], l.Inputs["z"] = shard.Split{"a", "b"}, shard.Split{"b", ""}
	p, err = shard.Propagate(m, lowering.Options{}, l)
	require.NoError(t, err)
	same(t, m, p, values)
	require.Equal(t, shard.Split{"a", "b"}, p.Inputs[1].Split)
}

// TestConflictWithin: the cure holds for calls that stand for others, too.
func TestConflictWithin(t *testing.T) {
	m := parsed(t, `graph g(%q: f32[4,2,6,4], %k: f32[4,2,6,4], %v: f32[4,2,6,4]) {
  %y = call_function[scaled_dot_product_attention](%q, %k, %v) : f32[4,2,6,4]
  return %y
}
`)
	values := numbers(m)
	l := shard.Layout{Mesh: grid, Inputs: map[string]shard.Split{"q": {"data", "", "tensor", ""}, "k": {"", "", "tensor", ""}}}
	_, err := shard.Propagate(m, lowering.Options{}, l)
	require.ErrorContains(t, err, "within scaled_dot_product_attention: ")
	require.ErrorContains(t, err, "say in Layout.Values how y is laid out")
	l.Values = map[string]shard.Split{"y": {"data", "", "tensor", ""}}
	p, err := shard.Propagate(m, lowering.Options{}, l)
	require.NoError(t, err)
	require.NotEmpty(t, p.Exchanges)
	same(t, m, p, values)
}

// residual is a model whose author lays out both operands of a sum, each otherwise.
type residual struct{ Up, Down *nn.Linear }

func (m *residual) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Down.Forward(tensor.Gelu(m.Up.Forward(x)))
	return y.Add(x)
}

// TestConflictAtTheModelsLine: a traced model's author reads the line, and both layouts.
func TestConflictAtTheModelsLine(t *testing.T) {
	tr := tracer.Tracer{Inputs: []tracer.Input{{Name: "x", Type: shape.TensorType(array.F32, shape.ConstDims(8, 6))}}}
	m, err := tr.Trace(context.Background(), &residual{nn.NewLinear(6, 12), nn.NewLinear(12, 6)})
	require.NoError(t, err)
	_, err = shard.Propagate(m, lowering.Options{}, shard.Layout{Mesh: grid, Inputs: map[string]shard.Split{"x": {"data", "tensor"}},
		Weights: map[string]shard.Split{"down.weight": {"data", ""}}})
	require.ErrorIs(t, err, shard.Conflict)
	require.Regexp(t, `shard_test\.go:\d+: linear: .*by the layout of input x.*by the layout of weight down.weight`, err.Error())
}

// TestConflictOfATensorWithItself: the cure names no layout twice.
func TestConflictOfATensorWithItself(t *testing.T) {
	m := parsed(t, "graph g(%x: f32[4,6]) {\n  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[6,4]\n  %p = call_function[matmul](%x, %t) : f32[4,4]\n  return %p\n}\n")
	_, err := shard.Propagate(m, lowering.Options{}, shard.Layout{Mesh: grid, Inputs: map[string]shard.Split{"x": {"data", ""}}})
	require.ErrorIs(t, err, shard.Conflict)
	require.NotContains(t, err.Error(), "or change")
}

func TestRefuses(t *testing.T) {
	m := parsed(t, perceptron)
	mesh := shard.Mesh{{Name: "data", Size: 4}, {Name: "model", Size: 5}}
	in := func(s ...string) shard.Layout {
		return shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"x": s}}
	}
	for _, c := range []struct {
		layout shard.Layout
		want   string
	}{
		{in("data"), "input x is f32[8,4,6]: the split has 1 dimensions"},
		{in("data", "data", ""), "axis data cuts two dimensions"},
		{in("", "model", ""), "dimension 1 has no 5 equal parts along model"},
		{in("pipe", "", ""), `the mesh has no axis "pipe"`},
		{shard.Layout{Mesh: mesh, Weights: map[string]shard.Split{"fc.bias": {"model"}}}, `the prepared graph has no weight "fc.bias"`},
		{shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"w": {"model"}}}, `the prepared graph has no input "w"`},
		{shard.Layout{Mesh: mesh, Values: map[string]shard.Split{"x": {"model"}}}, `the graph has no call "x"`},
		{shard.Layout{Mesh: mesh, Values: map[string]shard.Split{"n": {"model", "", ""}}}, "value n is f32[8,4,6]: dimension 0 has no 5 equal parts"},
		{shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}, {Name: "a", Size: 2}}}, `axis 1 of the mesh is named "a"`},
		{shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 1 << 20}, {Name: "b", Size: 1 << 62}}}, "axis b of the mesh has size"},
		{shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: -1}}}, "axis a of the mesh has size -1"},
	} {
		_, err := shard.Propagate(m, lowering.Options{}, c.layout)
		require.ErrorContains(t, err, c.want)
		require.ErrorIs(t, err, shard.BadLayout)
	}
	open := parsed(t, "graph g(%x: f32[N,6]) {\n  %y = call_function[neg](%x) : f32[N,6]\n  return %y\n}\n")
	_, err := shard.Propagate(open, lowering.Options{}, shard.Layout{Mesh: mesh})
	require.ErrorIs(t, err, lowering.UnknownSize)
	_, err = shard.Propagate(open, lowering.Options{Shapes: map[string]int{"N": 8}}, in("data", ""))
	require.NoError(t, err)
	// all mistakes are in one list
	l := in("data")
	l.Weights = map[string]shard.Split{"up.weight": {"data", "data"}, "no": nil}
	_, err = shard.Propagate(m, lowering.Options{}, l)
	require.Equal(t, 3, strings.Count(err.Error(), string(shard.BadLayout)), err.Error())
}

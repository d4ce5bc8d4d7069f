package cpu_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
)

var ctx = context.Background()

// module parses a graph and fills its parameters with data.
func module(t testing.TB, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	var g op.Gen
	for _, p := range m.Params() {
		d, dims, ok := p.Type.Concrete()
		require.True(t, ok)
		q := *p
		q.Value = array.Cast(g.Uniform(-0.5, 0.5, dims...), d)
		m.SetParam(q)
	}
	return m
}

func compile(t testing.TB, m *graph.Module, o lowering.Options) *cpu.Executable {
	t.Helper()
	e, err := cpu.Compile(m, o)
	require.NoError(t, err)
	return e
}

// interpret runs the module node by node.
func interpret(t testing.TB, m *graph.Module, in ...*array.Array) []*array.Array {
	t.Helper()
	p := interp.Interpreter{State: interp.NewState(m)}
	out, err := p.RunArrays(ctx, in)
	require.NoError(t, err)
	return out
}

// same requires results to be equal to the last bit.
func same(t testing.TB, want, got []*array.Array) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].DType(), got[i].DType(), "type of result %d", i)
		require.Equal(t, want[i].Shape(), got[i].Shape(), "shape of result %d", i)
		require.True(t, bytes.Equal(bits(want[i]), bits(got[i])), "result %d: want\n%v\ngot\n%v", i, array.Format(want[i], 50), array.Format(got[i], 50))
	}
}

func bits(a *array.Array) []byte { return array.Bytes(array.Contiguous(a)) }

const mlp = `
graph mlp(%x: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w1 = get_attr[fc1.weight] : f32[16,8]
  %b1 = get_attr[fc1.bias] : f32[16]
  %fc1 = call_function[linear](%x, %w1, %b1) : f32[N,16]
  %act = call_method[relu](%fc1) : f32[N,16]
  %fc2 = call_module[fc2](%act) : f32[N,4]
  %out = call_function[softmax](%fc2) {dim=-1} : f32[N,4]
  return %out
}
param fc1.weight : f32[16,8]
param fc1.bias : f32[16]
param fc2.weight : f32[4,16]
param fc2.bias : f32[4]
module fc2 = linear (weight=fc2.weight, bias=fc2.bias)
`

func TestOneExecutableServesEveryBatch(t *testing.T) {
	m := module(t, mlp)
	before := m.String()
	e, exact := compile(t, m, lowering.Options{}), compile(t, m, lowering.Options{Exact: true})
	var g op.Gen
	for _, n := range []int{1, 3, 7, 0, 64, 3} {
		x := g.Normal(n, 8)
		want := interpret(t, m, x)
		out, err := exact.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		same(t, want, out)
		out, err = e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		near(t, "", want, out)
	}
	require.Equal(t, before, m.String(), "the module is not touched")
	t.Log(e.Plan().String())
}

func compileError(m *graph.Module) error {
	_, err := cpu.Compile(m, lowering.Options{})
	return err
}

// TestTheListingInTheDocs compiles the example of docs/lowering.md.
func TestTheListingInTheDocs(t *testing.T) {
	e := compile(t, module(t, `
graph mlp(%x: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w1 = get_attr[fc1.weight] : f32[16,8]
  %fc1 = call_function[linear](%x, %w1) : f32[N,16]
  %act = call_function[relu](%fc1) : f32[N,16]
  return %act
}
param fc1.weight : f32[16,8]
`), lowering.Options{})
	doc, err := os.ReadFile("../../docs/lowering.md")
	require.NoError(t, err)
	require.Contains(t, string(doc), "```\n"+e.Plan().String()+"```")
}

package xla_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/zoo"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tracer"
)

func traceModel(t *testing.T, m *models.Model, module any) *graph.Module {
	t.Helper()
	p := tracer.Tracer{}
	for _, in := range m.Inputs {
		p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	mod, err := p.Trace(ctx, module)
	require.NoError(t, err)
	return mod
}

// arguments returns what main of a program takes: the inputs, then the module's tensors.
func arguments(p *xla.Program, m *graph.Module, in []*array.Array) []*array.Array {
	all := append([]*array.Array(nil), in...)
	for _, w := range p.Weights {
		all = append(all, m.Param(w.Name).Value)
	}
	return all
}

// TestModelsAreAccepted emits every network; nothing is computed.
func TestModelsAreAccepted(t *testing.T) {
	var texts []string
	for _, model := range models.All() {
		m := traceModel(t, model, model.New())
		require.Empty(t, lowering.Query(target{}, m.Graph), model.Name)
		p, err := xla.Emit(m, lowering.Options{Shapes: model.Dims})
		require.NoError(t, err, model.Name)
		again, err := xla.Emit(m, lowering.Options{Shapes: model.Dims})
		require.NoError(t, err)
		require.Equal(t, p.String(), again.String(), "the text is deterministic")
		t.Logf("%s: %d operations, %d bytes", model.Name, strings.Count(p.String(), "stablehlo."), len(p.String()))
		texts = append(texts, p.String())
	}
	verifies(t, texts)
}

// evaluated is the most operations of a network that the evaluator computes on every change.
const evaluated = 2e7

// flopsOf counts the operations of a graph for sizes.
func flopsOf(m *graph.Module, dims map[string]int) (flops int) {
	for n := range m.Graph.Nodes() {
		f, err := count.Flops(n).Eval(func(s string) (int, bool) { return dims[s], true })
		if err == nil {
			flops += f
		}
	}
	return flops
}

// TestModelsEqualTheirFixtures evaluates networks: the small ones on every change.
func TestModelsEqualTheirFixtures(t *testing.T) {
	var small []string
	for _, model := range models.All() {
		module := model.New()
		m := traceModel(t, model, module)
		flops := flopsOf(m, model.Dims)
		if flops <= evaluated {
			small = append(small, model.Name)
		}
		if flops > evaluated && (!fxtest.IsNightly() || flops > 50*evaluated) {
			continue
		}
		t.Run(model.Name, func(t *testing.T) {
			p, args, ref := fixtureProgram(t, model, module)
			ref.Check(t, evaluate(t, p, args))
		})
	}
	require.Equal(t, zoo.Lookup("xla").Always, small)
}

const flow = `gofx 1
graph flow(%x: f32[N,4], %limit: f32[]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,4]
  %s = call_function[sum](%x) : f32[]
  %big = call_function[gt](%s, %limit) : bool[]
  %c = call_function[cond](%big, %x, %w) : (f32[N,4]) {
    region yes(%a: f32[N,4], %b: f32[4,4]) {
      %m = call_function[matmul](%a, %b) : f32[N,4]
      return (%m)
    }
    region no(%a: f32[N,4], %b: f32[4,4]) {
      %u = get_attr[w] : f32[4,4]
      %v = call_function[matmul](%b, %u) : f32[4,4]
      %m = call_function[matmul](%a, %v) : f32[N,4]
      return (%m)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[N,4]
  %l = call_function[while](%c0, %s, %limit) {carry=2} : (f32[N,4], f32[]) {
    region cond(%a: f32[N,4], %t: f32[], %max: f32[]) {
      %lt = call_function[lt](%t, %max) : bool[]
      return %lt
    }
    region body(%a: f32[N,4], %t: f32[], %max: f32[]) {
      %u = get_attr[w] : f32[4,4]
      %d = call_function[matmul](%a, %u) : f32[N,4]
      %e = call_function[add](%t, %max) : f32[]
      return (%d, %e)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[N,4]
  %zero = call_function[zeros]() {size=[4]} : f32[4]
  %n = call_function[scan](%zero, %l0, %limit) {carry=1, seqs=1} : (f32[4], f32[N,4]) {
    region body(%acc: f32[4], %row: f32[4], %k: f32[]) {
      %sum = call_function[add](%acc, %row) : f32[4]
      %scaled = call_function[mul](%sum, %k) : f32[4]
      return (%sum, %scaled)
    }
  }
  %n0 = call_function[getitem](%n) {index=0} : f32[4]
  %n1 = call_function[getitem](%n) {index=1} : f32[N,4]
  return (%n0, %n1, %c0)
}
param w : f32[4,4]
`

func TestControlFlow(t *testing.T) {
	m, err := graph.Parse([]byte(flow), "flow.fx")
	require.NoError(t, err)
	var g op.Gen
	m.Param("w").Value = g.Normal(4, 4)
	require.Empty(t, lowering.Query(target{}, m.Graph))
	for _, n := range []int{3, 1, 0} {
		p, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
		require.NoError(t, err)
		require.Equal(t, n > 0, strings.Contains(p.String(), `"stablehlo.while"`), "nothing asks for the loop of 0 rows")
		require.Contains(t, p.String(), `"stablehlo.if"`)
		for _, limit := range []float32{100, 2, -100} {
			in := []*array.Array{g.Uniform(0.1, 1, n, 4), array.Scalar(limit)}
			run := interp.Interpreter{State: interp.NewState(m)}
			want, err := run.RunArrays(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, "flow", want, evaluate(t, p, arguments(p, m, in)))
		}
		verifies(t, []string{p.String()})
	}
}

func TestModels_obstaclesAreListed(t *testing.T) {
	src := `gofx 1
graph g(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %b = get_attr[b] : f32[2]
  %one = call_function[assign](%b, %b) : f32[2]
  %two = call_function[observe](%x, %x) : f32[N,4]
  return (%one, %two)
}
param b : f32[2] buffer
`
	m, err := graph.Parse([]byte(src), "g.fx")
	if err != nil {
		src = strings.Replace(src, "observe](%x, %x) : f32[N,4]", "nonzero](%x)", 1)
		m, err = graph.Parse([]byte(src), "g.fx")
	}
	require.NoError(t, err)
	_, err = xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": 2}})
	require.ErrorIs(t, err, lowering.Unsupported)
	require.Contains(t, err.Error(), "assign")
	require.Contains(t, err.Error(), "nonzero")

	m, err = graph.Parse([]byte("gofx 1\ngraph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[relu](%x) : f32[N,4]\n  return %y\n}\n"), "g.fx")
	require.NoError(t, err)
	_, err = xla.Emit(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.UnknownSize)
	require.Contains(t, err.Error(), "pin N")
}

// fixtureProgram returns the program of a network with its arguments, and the fixture that has the results.
func fixtureProgram(t *testing.T, model *models.Model, module any) (*xla.Program, []*array.Array, *fxtest.Fixture) {
	t.Helper()
	ref := fxtest.LoadFixture(t, model.Name)
	models.Synthetic(model, module, "gofx-1")
	m := traceModel(t, model, module)
	x, err := model.SyntheticInputs("gofx-1")
	require.NoError(t, err)
	var in []*array.Array
	for i := range x {
		in = append(in, x[i].Array())
	}
	p, err := xla.Emit(m, lowering.Options{Shapes: model.Dims})
	require.NoError(t, err)
	return p, arguments(p, m, in), ref
}

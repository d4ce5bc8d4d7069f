package parity

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.3", moduleRows, stateRows) }

// net is a model of a user's.
type net struct {
	Fc1, Fc2 *nn.Linear
	Spare    *tensor.Tensor
}

func newNet() *net { return &net{Fc1: nn.NewLinear(2, 2), Fc2: nn.NewLinear(2, 2), Spare: vector(1)} }

func (m *net) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Fc2.Forward(m.Fc1.Forward(x).Relu()) }

// trace captures with an input f32[N,2].
func trace(t *testing.T, fn any, opts ...fx.Option) *fx.GraphModule {
	t.Helper()
	gm, err := fx.Trace(context.Background(), fn, append(opts, fx.Input("x", "f32[N,2]"))...)
	require.NoError(t, err)
	return gm
}

// call runs a GraphModule.
func call(t *testing.T, gm *fx.GraphModule, x *tensor.Tensor) []float32 {
	t.Helper()
	out, err := gm.Run(context.Background(), x)
	require.NoError(t, err)
	return tensor.Data[float32](out[0])
}

var twoByTwo = tensor.FromSlice([]float32{1, -2, 3, -4}, 2, 2)

var moduleRows = []row{
	{id: "66", input: "plans of chains of 10 and of 100 products of matrices", outcome: "the same memory: what no step reads any more is used again", on: in((*cpu.Executable).PeakBytes, cpu.Compile), test: func(t *testing.T) {
		peak := func(length int) int64 {
			g := graph.New("chain")
			x := g.At().Placeholder("x", pair, nil)
			n := g.At().Function(std.Unsqueeze, tensor.DimAttrs{Dim: 0}, x)
			n = g.At().Function(std.Matmul, nil, g.At().Function(std.Transpose, tensor.TransposeAttrs{Dim1: 1}, n), n)
			for range length {
				n = g.At().Function(std.Softmax, tensor.DimAttrs{Dim: 1}, g.At().Function(std.Matmul, nil, n, n))
			}
			g.At().Output(nil, n)
			exe, err := cpu.Compile(graph.NewModule(g), lowering.Options{})
			require.NoError(t, err)
			defer exe.Close()
			bytes, err := exe.PeakBytes(nil)
			require.NoError(t, err)
			return bytes
		}
		require.Positive(t, peak(10))
		require.Equal(t, peak(10), peak(100))
	}},
	{id: "67", input: "a table of the lines of generated code and the nodes that they are of", none: "generated code is compiled: its lines are known to Go's tools, and a run of the graph names lines of the model"},
	{id: "68", input: "a code generator of the user's for a graph", none: "the graph runs, not its text; your own printer is a loop over Nodes"},
	{id: "69", input: "a module with leaf, parameter, sizes and a region, printed", outcome: "types, scopes and regions are shown, no line ends in a blank", on: in(graph.Print), test: func(t *testing.T) {
		m := parse(t, "graph g(%p: bool[], %x: f32[N]) {\n  symbol N = dim(%x, 0)\n  %c = call_function[cond](%p, %x) : f32[N] in \"branch\" \"Branch\" {\n    region(%a: f32[N]) {\n      %n = call_function[neg](%a) : f32[N]\n      return %n\n    }\n    region(%a: f32[N]) {\n      return %a\n    }\n  }\n  return %c\n}\n")
		text := graph.Print(m, graph.PrintOptions{})
		require.Contains(t, text, "      %n = call_function[neg](%a) : f32[N]\n")
		require.Contains(t, text, `in "branch" "Branch"`)
		for line := range strings.Lines(text) {
			require.Equal(t, strings.TrimRight(line, " \t\n"), strings.TrimSuffix(line, "\n"))
		}
	}},
	{id: "70", input: "`x.MulInPlace(y)` traced", outcome: "a value of its own; the same numbers as in Go", on: in(fx.Trace), test: func(t *testing.T) {
		f := func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Neg()
			y.MulInPlace(x)
			return y
		}
		gm := trace(t, f)
		require.Equal(t, tensor.Data[float32](f(twoByTwo)), call(t, gm, twoByTwo))
		for n := range gm.Graph.Calls(std.Mul) {
			require.Equal(t, gm.Graph.Output().Arg(0), n)
		}
	}},
	{id: "71", input: "a graph inside of a graph fails at a line of the user's", outcome: "one error, with node and line of the inner call", on: in((*fx.GraphModule).Run, (*fx.GraphModule).Call), test: func(t *testing.T) {
		inner := fx.NewGraphModule(linear(t))
		_, err := inner.Run(context.Background(), tensor.Ones(2, 3))
		var e *diag.Error
		require.True(t, errors.As(err, &e))
		require.Equal(t, "x", e.Node)
		require.Panics(t, func() { inner.Call(tensor.Ones(2, 3)) })
		_, err = fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return inner.Forward(x.Neg()) }, fx.Input("x", "f32[N,3]"))
		require.ErrorContains(t, err, "module_test.go")
	}},
	{id: "72", input: "a model with a tensor that Forward does not use", outcome: "the graph has what it reads and nothing else", on: in(fx.Trace), test: func(t *testing.T) {
		gm := trace(t, newNet())
		var paths []string
		for _, p := range gm.Params() {
			paths = append(paths, p.Path)
		}
		require.ElementsMatch(t, []string{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}, paths)
	}},
	{id: "73a", input: "a GraphModule as a layer of another model, captured", outcome: "it is traced through; the same numbers", on: in((*fx.GraphModule).Forward), test: func(t *testing.T) {
		m := newNet()
		inner := trace(t, m)
		outer := trace(t, func(x *tensor.Tensor) *tensor.Tensor { return inner.Forward(x).Neg() })
		require.Equal(t, tensor.Data[float32](m.Forward(twoByTwo).Neg()), call(t, outer, twoByTwo))
		require.Len(t, collect(outer.Graph.Calls(std.Linear)), 2)
	}},
	{id: "73b", input: "a GraphModule captured again", outcome: "an equal graph", on: in((*fx.GraphModule).Walk), test: func(t *testing.T) {
		first := trace(t, newNet(), fx.Name("net"))
		second := trace(t, first, fx.Name("net"))
		equal, diff := graph.Equal(first.Graph, second.Graph)
		require.True(t, equal, diff)
		require.Len(t, second.Params(), len(first.Params()))
		require.NotNil(t, second.Param("fc1.weight"))
	}},
	{id: "76", input: "module-style code of a graph", outcome: "Go source of a function with the calls of the model", on: in(codegen.Module), test: func(t *testing.T) {
		files, err := codegen.Module(trace(t, func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Relu() }).Module, codegen.ModuleOptions{Package: "p"})
		require.NoError(t, err)
		require.Contains(t, string(files.List[0].Data), ".Neg()")
		require.Contains(t, string(files.List[0].Data), ".Relu()")
	}},
	{id: "77", input: "a module that is compiled at its first call", none: "an edit needs no compilation: the graph is what runs"},
	{id: "81", input: "a snapshot of every public name", none: "before version 1; examples are demanded of every exported function instead"},
}

func collect(nodes func(func(*graph.Node) bool)) (list []*graph.Node) {
	nodes(func(n *graph.Node) bool { list = append(list, n); return true })
	return list
}

var stateRows = []row{
	{id: "74a", input: "a leaf added and called, another taken out, what nothing uses dropped", outcome: "the module has what the graph calls", on: in((*graph.Module).SetBound, (*graph.Module).DropUnused, (*graph.Module).Bound), test: func(t *testing.T) {
		m := linear(t)
		g := m.Graph
		m.SetBound("act", graph.Bound{Op: std.Relu})
		act := g.After(g.Find("y")).Module("act", g.Find("y"))
		g.Output().SetArg(0, act)
		g.Find("fc").ReplaceUses(g.Find("x"), nil)
		require.NoError(t, g.Erase(g.Find("fc")))
		require.Equal(t, 2, m.DropUnused(), "fc.weight and spare")
		require.Nil(t, m.Bound("fc"))
		require.Equal(t, std.Relu, m.Bound("act").Op)
		require.Equal(t, []float32{10, 0}, values(t, m, tensor.FromSlice([]float32{1, -1}, 1, 2)))
	}},
	{id: "74b", input: "a parameter and a leaf that are not there", outcome: "nil", on: in((*graph.Module).Param), test: func(t *testing.T) {
		m := linear(t)
		require.NotNil(t, m.Param("scale"))
		require.Nil(t, m.Param("none"))
		require.Nil(t, m.Bound("none"))
	}},
	{id: "74c", input: "a leaf replaced by a module of the user's", outcome: "it is traced in the leaf's place, below its path; a wrong one changes nothing", on: in((*fx.GraphModule).ReplaceModule), test: func(t *testing.T) {
		m, other := newNet(), newNet()
		gm := trace(t, m)
		require.NoError(t, gm.ReplaceModule(context.Background(), "fc1", other))
		require.InDeltaSlice(t, tensor.Data[float32](m.Fc2.Forward(other.Forward(twoByTwo).Relu())), call(t, gm, twoByTwo), 1e-6)
		require.NotNil(t, gm.Param("fc1.fc2.weight"))
		text := gm.Module.String()
		require.Error(t, gm.ReplaceModule(context.Background(), "fc2", nn.NewLinear(3, 2)))
		require.Equal(t, text, gm.Module.String())
	}},
	{id: "75", input: "`fx.Save`, `fx.Load`", outcome: "an equal module, the same numbers; saved again, the same bytes", on: in(fx.Save, fx.Load), test: func(t *testing.T) {
		gm, dir := trace(t, newNet()), t.TempDir()
		require.NoError(t, fx.Save(dir, gm))
		again, err := fx.Load(dir)
		require.NoError(t, err)
		equal, diff := graph.EqualModules(gm.Module, again.Module)
		require.True(t, equal, diff)
		require.Equal(t, call(t, gm, twoByTwo), call(t, again, twoByTwo))
	}},
	{id: "78", input: "a copy with another array for a parameter", outcome: "it computes with it, the original does not", on: in((*graph.Module).SetParam), test: func(t *testing.T) {
		m := linear(t)
		c := graph.Clone(m)
		p := *c.Param("scale")
		p.Value = array.FromSlice([]float32{0, 1})
		c.SetParam(p)
		x := tensor.Ones(1, 2)
		require.Equal(t, []float32{30, 7}, values(t, m, x))
		require.Equal(t, []float32{0, 7}, values(t, c, x))
	}},
	{id: "79", input: "a module with notes of what capture fixed, copied", outcome: "type and notes are there", on: in(graph.Clone), test: func(t *testing.T) {
		gm := trace(t, func(x *tensor.Tensor, k float64) *tensor.Tensor { return x.MulScalar(k) }, fx.Args(nil, 2.0))
		require.NotEmpty(t, gm.Graph.Specialisations())
		c := graph.Clone(gm.Module)
		require.Equal(t, gm.Graph.Specialisations(), c.Graph.Specialisations())
		require.Equal(t, gm.Type, c.Type)
	}},
	{id: "80", input: "one GraphModule run by eight goroutines", outcome: "each has its own results", on: in((*fx.GraphModule).Run), test: func(t *testing.T) {
		gm := fx.NewGraphModule(linear(t))
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 50 {
					out, err := gm.Run(context.Background(), tensor.FromSlice([]float32{float32(i), 0}, 1, 2))
					if err != nil || tensor.Data[float32](out[0])[0] != float32(10*i) {
						t.Errorf("goroutine %d: %v %v", i, out, err)
					}
				}
			})
		}
		wg.Wait()
	}},
	{id: "79b", input: "a copy's buffer written", outcome: "the original's is another; parameters that are no buffers are shared", on: in(graph.Clone), test: func(t *testing.T) {
		m := linear(t)
		p := *m.Param("scale")
		p.Buffer = true
		m.SetParam(p)
		c := graph.Clone(m)
		array.Data[float32](c.Param("scale").Value)[0] = 99
		require.Equal(t, float32(10), array.Data[float32](m.Param("scale").Value)[0])
		require.Same(t, m.Param("fc.weight").Value, c.Param("fc.weight").Value)
	}},
}

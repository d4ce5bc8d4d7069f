package parity

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.4", interpRows, transformRows) }

// run interprets a module and returns its first result.
func run(t *testing.T, p *interp.Interpreter, in ...*tensor.Tensor) []float32 {
	t.Helper()
	out, err := p.Run(context.Background(), in...)
	require.NoError(t, err)
	return tensor.Data[float32](out[0])
}

type next = func([]interp.Result) (interp.Result, error)

var interpRows = []row{
	{id: "82a", input: "a function run as Go, and its graph interpreted", outcome: "the same values", on: in(fx.Trace, (*interp.Interpreter).Run), test: func(t *testing.T) {
		f := func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Exp().Add(x.Relu()) }
		gm, err := fx.Trace(context.Background(), f, fx.Input("x", "f32[N]"))
		require.NoError(t, err)
		x := vector(1, -2, 3)
		require.Equal(t, tensor.Data[float32](f(x)), run(t, &interp.Interpreter{State: gm.State()}, x))
	}},
	{id: "82b", input: "`Known` has the value of a node", outcome: "the node is not run, its users see the value", on: in((*interp.Interpreter).Run), test: func(t *testing.T) {
		m := parse(t, chain)
		var ran []string
		p := &interp.Interpreter{State: interp.NewState(m), Known: map[*graph.Node]interp.Result{m.Graph.Find("b"): {T: vector(10, 20)}}}
		p.Node = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
			ran = append(ran, n.Name())
			return next(in)
		}
		require.Equal(t, []float32{9, 18}, run(t, p, vector(1, 2)))
		require.Equal(t, []string{"x", "a", "c", "output"}, ran)
	}},
	{id: "82c", input: "an input with a default left out, and given as nil", outcome: "the default is used", on: in((*interp.Interpreter).Run), test: func(t *testing.T) {
		gm, err := fx.Trace(context.Background(), func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) },
			fx.Input("x", "f32[1]"), fx.InputDefault("y", "f32[1]", array.FromSlice([]float32{5})))
		require.NoError(t, err)
		p := &interp.Interpreter{State: gm.State()}
		require.Equal(t, []float32{6}, run(t, p, vector(1)))
		require.Equal(t, []float32{6}, run(t, p, vector(1), nil))
		require.Equal(t, []float32{3}, run(t, p, vector(1), vector(2)))
	}},
	{id: "83", input: "an input left out; one too many; one of another type", outcome: "FX1020, FX1021, FX1022, naming the input", on: in((*interp.Interpreter).Run), test: func(t *testing.T) {
		p := &interp.Interpreter{State: interp.NewState(parse(t, chain))}
		for want, in := range map[string][]*tensor.Tensor{
			`input "x" is missing`: nil,
			"the graph takes 1":    {vector(1, 2), vector(1, 2)},
			`input "x" is f32[3]`:  {vector(1, 2, 3)},
		} {
			_, err := p.Run(context.Background(), in...)
			require.ErrorContains(t, err, want)
		}
	}},
	{id: "84a", input: "a hook of all nodes that runs another operator for `neg`", outcome: "its value is used", on: in((*interp.Interpreter).Run), test: func(t *testing.T) {
		p := &interp.Interpreter{State: interp.NewState(parse(t, chain))}
		p.Node = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
			if n.Op() == std.Neg {
				return interp.Result{T: in[0].T.Sub(in[0].T)}, nil
			}
			return next(in)
		}
		require.Equal(t, []float32{1, 1}, run(t, p, vector(1, 2)))
	}},
	{id: "84b", input: "a hook for each opcode", outcome: "each sees its own nodes", on: in((*interp.Interpreter).Run), test: func(t *testing.T) {
		p := &interp.Interpreter{State: interp.NewState(linear(t))}
		seen := map[string]graph.Opcode{}
		hook := func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
			seen[n.Name()] = n.Opcode()
			return next(in)
		}
		p.Placeholder, p.GetAttr, p.CallModule = hook, hook, hook
		run(t, p, tensor.Ones(1, 2))
		require.Equal(t, map[string]graph.Opcode{"x": graph.Placeholder, "w": graph.GetAttr, "fc": graph.CallModule}, seen)
	}},
	{id: "85", input: "a chain of calls; at each, what is held of the values before", outcome: "a value is free when its last user has run; an unused one at once", on: in(graph.Fold[*[1 << 12]byte]), test: func(t *testing.T) {
		g := parse(t, "graph g(%x: f32[2]) {\n  %a = call_function[neg](%x)\n  %dead = call_function[neg](%a)\n  %b = call_function[neg](%a)\n  %c = call_function[neg](%b)\n  return %c\n}").Graph
		last := map[string]string{"x": "a", "a": "b", "dead": "dead", "b": "c", "c": "output"}
		held := map[string]weak.Pointer[[1 << 12]byte]{}
		visited := 0
		_, err := graph.Fold(context.Background(), g, func(n *graph.Node, _ []*[1 << 12]byte) (*[1 << 12]byte, error) {
			visited++
			runtime.GC()
			for name, p := range held {
				free := last[name] == name || g.Find(last[name]).Precedes(n)
				require.Equal(t, free, p.Value() == nil, "%s while %s runs", name, n)
			}
			v := new([1 << 12]byte)
			held[n.Name()] = weak.Make(v)
			return v, nil
		})
		require.NoError(t, err)
		require.Equal(t, 6, visited)
	}},
	{id: "86", input: "a list of inputs that the run empties", none: "a run keeps an input until its last user has run, and the caller's slice is the caller's to clear"},
	{id: "87", input: "another graph run with the state of a module", outcome: "it computes with the module's tensors", on: in((*graph.Module).WithGraph, interp.NewState), test: func(t *testing.T) {
		m := linear(t)
		other := parse(t, "graph other(%x: f32[2]) {\n  %w = get_attr[scale]\n  %y = call_function[add](%x, %w)\n  return %y\n}\nparam scale : f32[2]\n").Graph.Clone()
		p := &interp.Interpreter{State: interp.NewState(m.WithGraph(other))}
		require.Equal(t, []float32{11, 2}, run(t, p, vector(1, 1)))
	}},
	{id: "88", input: "a hook that fails, and an operator that panics, at a node with a line", outcome: "the error has the node, its operator and the line", on: in(graph.Fold[interp.Result]), test: func(t *testing.T) {
		p := &interp.Interpreter{State: interp.NewState(linear(t))}
		p.CallModule = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
			return interp.Result{}, context.DeadlineExceeded
		}
		_, err := p.Run(context.Background(), tensor.Ones(1, 2))
		var e *diag.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "fc", e.Node)
		require.Equal(t, "linear", e.Op)
		require.Equal(t, 41, e.Pos.Line)
		p.CallModule = func(n *graph.Node, in []interp.Result, next next) (interp.Result, error) {
			return next([]interp.Result{{T: tensor.Ones(1, 3)}})
		}
		_, err = p.Run(context.Background(), tensor.Ones(1, 2))
		require.ErrorAs(t, err, &e)
		require.Equal(t, "fc", e.Node)
		require.Equal(t, 41, e.Pos.Line)
	}},
	{id: "90", input: "a call of a function with effects whose result nobody uses, dead-code elimination", outcome: "it stays; a pure one goes", on: in((*graph.Node).Effect), test: func(t *testing.T) {
		gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor {
			mark(x)
			x.Exp()
			return x.Neg()
		}, fx.Input("x", "f32[2]"))
		require.NoError(t, err)
		_, err = gm.Apply(context.Background(), []fx.Pass{simplify.DCE}, fx.PassOptions{})
		require.NoError(t, err)
		require.Equal(t, 4, gm.Graph.Len(), "%s", gm.Graph)
		require.NotNil(t, gm.Graph.Find("neg"))
		require.Nil(t, gm.Graph.Find("exp"))
	}},
}

var mark = tensor.Wrap(Mark)

// Mark stands for the call that marks a range for a profiler.
func Mark(x *tensor.Tensor) *tensor.Tensor { return x }

// transform runs a Transformer.
func transform(t *testing.T, m *graph.Module, node func(c *graph.Cursor, n *graph.Node, args []*graph.Node, copy func() *graph.Node) *graph.Node) *graph.Module {
	t.Helper()
	out, err := (&interp.Transformer{Node: node}).Run(m)
	require.NoError(t, err)
	require.Empty(t, graph.Lint(out.Graph))
	return out
}

var transformRows = []row{
	{id: "89a", input: "a Transformer that changes nothing", outcome: "an equal module; the old one is as it was", on: in((*interp.Transformer).Run), test: func(t *testing.T) {
		m := linear(t)
		m.DropUnused()
		text := m.String()
		out := transform(t, m, nil)
		equal, diff := graph.EqualModules(m, out)
		require.True(t, equal, diff)
		require.False(t, m.Graph == out.Graph)
		require.Equal(t, text, m.String())
	}},
	{id: "89b", input: "`neg` becomes `relu`", outcome: "the new graph has it, the old one does not", on: in((*interp.Transformer).Run), test: func(t *testing.T) {
		m := parse(t, chain)
		out := transform(t, m, func(c *graph.Cursor, n *graph.Node, args []*graph.Node, copy func() *graph.Node) *graph.Node {
			if n.Op() == std.Neg {
				return c.Function(std.Relu, nil, args...)
			}
			return copy()
		})
		require.Equal(t, []float32{1, 1}, values(t, out, vector(-1, -2)))
		require.NotNil(t, m.Graph.Find("a"))
	}},
	{id: "89c", input: "a graph with several results, packed in a map", outcome: "they are packed in the same way", on: in((*interp.Transformer).Run), test: func(t *testing.T) {
		m := parse(t, "graph g(%x: f32[2]) {\n  %a = call_function[neg](%x)\n  return {first: %a, second: (%x, %a)}\n}")
		require.Equal(t, m.Graph.Output().Text(), transform(t, m, nil).Graph.Output().Text())
	}},
	{id: "89d", input: "a key, a position and a scope on an input and on a call", outcome: "the new nodes have them", on: in((*graph.Copier).Copy, (*graph.Copier).At), test: func(t *testing.T) {
		key := graph.NewKey[int]("key")
		m := linear(t)
		key.Set(m.Graph.Find("x"), 1)
		key.Set(m.Graph.Find("fc"), 2)
		out := transform(t, m, nil).Graph
		for name, want := range map[string]int{"x": 1, "fc": 2} {
			have, ok := key.Get(out.Find(name))
			require.True(t, ok)
			require.Equal(t, want, have)
		}
		require.Equal(t, 41, out.Find("fc").Pos().Line)
		require.Equal(t, "fc", out.Find("fc").Scope().Path)
	}},
	{id: "89e", input: "a Transformer that drops a value which is used", outcome: "FX3010 at the user", on: in((*interp.Transformer).Run), test: func(t *testing.T) {
		drop := interp.Transformer{Node: func(_ *graph.Cursor, n *graph.Node, _ []*graph.Node, copy func() *graph.Node) *graph.Node {
			if n.Name() == "a" {
				return nil
			}
			return copy()
		}}
		_, err := drop.Run(parse(t, chain))
		require.ErrorIs(t, err, interp.Dropped)
		require.ErrorContains(t, err, "its operand %a was dropped")
	}},
}

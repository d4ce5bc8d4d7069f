package parity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func init() { area("2.1", policyRows) }

// wide branches on a size of its input and on one of its weight.
func wide(w *tensor.Tensor) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		if w.Dim(0) > 2 {
			x = x.Exp()
		}
		if x.Dim(0) > x.Dim(1) {
			return x.Neg()
		}
		return x.Relu()
	}
}

// twice calls one layer two times.
type twice struct{ Fc *nn.Linear }

func (m *twice) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.Run(m.Fc, nn.Run(m.Fc, x))
}

// Heads are results with names.
type Heads struct{ Left, Right *tensor.Tensor }

var policyRows = []row{
	{id: "29", input: "a flag, a number and a function among the arguments", outcome: "fixed and noted; another value gives another graph", on: in(fx.Args, (*graph.Graph).Specialisations), test: func(t *testing.T) {
		f := func(x *tensor.Tensor, deep bool, times int, act func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
			for range times {
				x = act(x)
			}
			if deep {
				x = x.Neg()
			}
			return x
		}
		gm := trace(t, f, fx.Args(nil, true, 2, (*tensor.Tensor).Exp))
		require.Equal(t, map[string]int{"exp": 2, "neg": 1}, opcounts(gm.Graph))
		require.Len(t, gm.Graph.Specialisations(), 3)
		require.Equal(t, map[string]int{"relu": 3}, opcounts(trace(t, f, fx.Args(nil, false, 3, (*tensor.Tensor).Relu)).Graph))
	}},
	{id: "30", input: "a nest of arguments with fixed values in it, captured, saved, loaded, captured again", outcome: "the same flat inputs and values", on: in(fx.Args, fx.Save, fx.Load, (*fx.GraphModule).Run), test: func(t *testing.T) {
		type config struct {
			Scale  float64
			Inputs map[string][]*tensor.Tensor
		}
		m := fx.Meta("f32[1]")
		gm := capture(t, func(c config) *tensor.Tensor {
			return c.Inputs["a"][0].MulScalar(c.Scale).Add(c.Inputs["b"][0])
		}, fx.Args(config{3, map[string][]*tensor.Tensor{"b": {m}, "a": {m}}}))
		dir := t.TempDir()
		require.NoError(t, fx.Save(dir, gm))
		loaded, err := fx.Load(dir)
		require.NoError(t, err)
		again := capture(t, func(a, b *tensor.Tensor) *tensor.Tensor { return loaded.Call(a, b)[0] }, fx.Args(m, m))
		for _, g := range []*fx.GraphModule{gm, loaded, again} {
			require.Equal(t, [][]float32{{10}}, results(t, g, vector(2), vector(4)))
		}
	}},
	{id: "31", input: "a branch on a size of a parameter; on a size of an input that is not known", outcome: "taken, as the size is; refused at its line with the way out", on: in((*tensor.Tensor).Dim), test: func(t *testing.T) {
		w := tensor.Param(array.FromSlice([]float32{1, 2, 3}))
		gm := capture(t, wide(w), fx.Input("x", "f32[3,2]"))
		require.Equal(t, map[string]int{"exp": 1, "neg": 1}, opcounts(gm.Graph))
		refused(t, tracer.UnknownSize, "policy_test.go", wide(w), fx.Input("x", "f32[N,2]"))
	}},
	{id: "32", input: "a model that branches on the shape of its input, with two input types, saved", outcome: "the branch of that shape; a run with the other shape is refused", on: in(fx.Input, (*fx.GraphModule).Run), test: func(t *testing.T) {
		w := tensor.Param(array.FromSlice([]float32{1}))
		tall, flat := capture(t, wide(w), fx.Input("x", "f32[2,1]")), capture(t, wide(w), fx.Input("x", "f32[1,2]"))
		require.Equal(t, map[string]int{"neg": 1}, opcounts(tall.Graph))
		require.Equal(t, map[string]int{"relu": 1}, opcounts(flat.Graph))
		dir := t.TempDir()
		require.NoError(t, fx.Save(dir, tall))
		loaded, err := fx.Load(dir)
		require.NoError(t, err)
		_, err = loaded.Run(context.Background(), tensor.Ones(1, 2))
		require.ErrorIs(t, err, diag.Code("FX1022"))
	}},
	{id: "33", input: "writes in place to an input, to a view of an input, and to a value", outcome: "refused, refused, a new value", on: in((*tensor.Tensor).AddScalarInPlace, (*tensor.Tensor).NegInPlace), test: func(t *testing.T) {
		refused(t, tracer.InputWrite, "policy_test.go", func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalarInPlace(1) }, fx.Input("x", "f32[2]"))
		refused(t, tracer.InputWrite, "policy_test.go", func(x *tensor.Tensor) *tensor.Tensor { x.Select(0, 1).NegInPlace(); return x }, fx.Input("x", "f32[2]"))
		gm := capture(t, func(x *tensor.Tensor) *tensor.Tensor { y := x.Exp(); y.Select(0, 1).NegInPlace(); return y }, fx.Input("x", "f32[2]"))
		require.Equal(t, [][]float32{{1, -1}}, results(t, gm, vector(0, 0)))
	}},
	{id: "34", input: "a call in a function that the model calls; the graph through a Transformer, printed", outcome: "each node has its line and those of its callers; the text groups nodes of a line", on: in((*graph.Node).Pos, (*graph.Node).Stack, (*interp.Transformer).Run), test: func(t *testing.T) {
		helper := func(x *tensor.Tensor) *tensor.Tensor { return x.Neg() }
		gm := capture(t, func(x *tensor.Tensor) *tensor.Tensor { return helper(x).Exp() }, fx.Input("x", "f32[2]"))
		out := transform(t, gm.Module, nil).Graph
		neg, exp := out.Find("neg"), out.Find("exp")
		require.Equal(t, exp.Pos().Line, neg.Pos().Line+1)
		require.Len(t, neg.Stack(), len(exp.Stack())+1)
		require.Equal(t, exp.Pos().Line, neg.Stack()[1].Line)
		require.Contains(t, graph.PrintGraph(out, graph.PrintOptions{Positions: true}), "policy_test.go:")
	}},
	{id: "35", input: "a layer that is called twice, in a module in a list", outcome: "path and type of the module around each call; two calls of one path", on: in((*graph.Node).Scope, nn.Run), test: func(t *testing.T) {
		m := nn.NewSequential(&twice{nn.NewLinear(2, 2)})
		gm := trace(t, m)
		var scopes []graph.Scope
		for n := range gm.Graph.Nodes() {
			if n.Opcode() == graph.CallModule {
				require.Equal(t, "0.fc", n.Target())
				scopes = append(scopes, n.Scope())
			}
		}
		module := graph.Scope{Path: "0", Type: "github.com/gofx-dev/gofx/internal/testkit/parity.twice"}
		require.Equal(t, []graph.Scope{module, module}, scopes)
		require.Contains(t, gm.Bound("0.fc").Type, "nn.Linear")
		require.Len(t, gm.Params(), 2)
	}},
	{id: "36", input: "every operator, with each of its samples, called on traced tensors of the samples' types", outcome: "captured, with the type that the operator gives eagerly", on: in(op.All, tensor.Apply), test: func(t *testing.T) {
		captured := 0
		for _, o := range op.All() {
			if o.Structural() {
				continue
			}
			for _, s := range o.Samples() {
				captureSample(t, o, s)
				captured++
			}
		}
		require.Greater(t, captured, 2000)
	}},
	{id: "37", input: "a capture inside of a captured function, and one that uses values of the outer one", outcome: "a graph of its own; refused", on: in((*fx.GraphModule).Forward), test: func(t *testing.T) {
		gm := trace(t, func(x *tensor.Tensor) *tensor.Tensor {
			return trace(t, (*tensor.Tensor).Exp).Forward(x).Neg()
		})
		require.Equal(t, map[string]int{"exp": 1, "neg": 1}, opcounts(gm.Graph))
		var inner error
		_, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor {
			_, inner = fx.Trace(context.Background(), func(y *tensor.Tensor) *tensor.Tensor { return y.Add(x) }, fx.Input("y", "f32[2]"))
			return x.Neg()
		}, fx.Input("x", "f32[2]"))
		require.NoError(t, err)
		require.ErrorContains(t, inner, "policy_test.go")
	}},
	{id: "38", input: "a copy of a tracer, changed", outcome: "each captures as it says", on: in((*tracer.Tracer).Trace), test: func(t *testing.T) {
		first := tracer.Tracer{Name: "first", Inputs: []tracer.Input{{Name: "x", Type: pair}}}
		second := first
		second.Name, second.Frames = "second", -1
		a, err := first.Trace(context.Background(), tensor.Neg)
		require.NoError(t, err)
		b, err := second.Trace(context.Background(), tensor.Neg)
		require.NoError(t, err)
		require.Contains(t, a.Graph.String(), "graph first(")
		require.Contains(t, b.Graph.String(), "graph second(")
	}},
	{id: "39", input: "a model that returns a constant; a string; nothing", outcome: "a read of the constant; refused; refused", on: in(fx.Trace), test: func(t *testing.T) {
		w := vector(7)
		gm := trace(t, func(x *tensor.Tensor) *tensor.Tensor { return w })
		require.Equal(t, graph.GetAttr, gm.Graph.Output().Arg(0).Opcode())
		require.Equal(t, [][]float32{{7}}, results(t, gm, twoByTwo))
		for _, f := range []any{func(x *tensor.Tensor) string { return "neg" }, func(x *tensor.Tensor) {}} {
			_, err := fx.Trace(context.Background(), f)
			require.ErrorIs(t, err, tracer.BadResult)
		}
	}},
	{id: "40", input: "a function of a struct of results and of a slice, printed as Go", outcome: "the generated function has their types", on: in(codegen.Module), test: func(t *testing.T) {
		for want, f := range map[string]any{
			"Heads":                            func(x *tensor.Tensor) Heads { return Heads{x.Neg(), x.Exp()} },
			"[]*tensor.Tensor":                 func(x *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.Neg(), x.Exp()} },
			"(*tensor.Tensor, *tensor.Tensor)": func(x *tensor.Tensor) (a, b *tensor.Tensor) { return x.Neg(), x.Exp() },
		} {
			gm := capture(t, f, fx.Input("x", "f32[2]"))
			files, err := codegen.Module(gm.Module, codegen.ModuleOptions{Package: "p"})
			require.NoError(t, err)
			require.Contains(t, string(files.List[0].Data), want)
		}
	}},
}

// captureSample captures one sample of an operator and runs it eagerly.
func captureSample(t *testing.T, o *op.Op, s op.Sample) {
	t.Helper()
	traced, eager := make([]*tensor.Tensor, len(s.In)), make([]*tensor.Tensor, len(s.In))
	for i, a := range s.In {
		if a != nil {
			traced[i], eager[i] = tracer.Meta(shape.TypeOf(a)), tensor.New(array.Clone(a))
		}
	}
	f := func(in []*tensor.Tensor) []*tensor.Tensor { return tensor.Apply(o, s.Attrs, in...) }
	gm, err := fx.Trace(context.Background(), f, fx.Args(traced))
	require.NoError(t, err, "%s, %s", o, s.Name)
	for i, want := range f(eager) {
		require.True(t, gm.Graph.Output().Arg(i).Type().Compatible(want.Type()), "%s, %s: result %d is %s, not %s", o, s.Name, i, gm.Graph.Output().Arg(i).Type(), want.Type())
	}
}

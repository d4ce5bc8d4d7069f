package parity

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func init() { area("2.1", callRows) }

// capture traces without inputs of its own.
func capture(t *testing.T, fn any, opts ...fx.Option) *fx.GraphModule {
	t.Helper()
	gm, err := fx.Trace(context.Background(), fn, opts...)
	require.NoError(t, err)
	require.Empty(t, graph.Lint(gm.Graph))
	return gm
}

// results runs a GraphModule and returns all its results.
func results(t *testing.T, gm *fx.GraphModule, in ...*tensor.Tensor) (list [][]float32) {
	t.Helper()
	out, err := gm.Run(context.Background(), in...)
	require.NoError(t, err)
	for _, x := range out {
		list = append(list, tensor.Data[float32](x))
	}
	return list
}

// floats are the elements of tensors.
func floats(in ...*tensor.Tensor) (list [][]float32) {
	for _, x := range in {
		list = append(list, tensor.Data[float32](x))
	}
	return list
}

// refused demands that a capture ends with an error of a code at a line of a test here.
func refused(t *testing.T, code diag.Code, want string, fn any, opts ...fx.Option) {
	t.Helper()
	gm, err := fx.Trace(context.Background(), fn, opts...)
	require.ErrorIs(t, err, code)
	require.ErrorContains(t, err, want)
	require.ErrorContains(t, err, "internal/testkit/parity/")
	require.Nil(t, gm)
}

// opcounts is the number of calls of each operator, by its name.
func opcounts(g *graph.Graph) map[string]int {
	m := map[string]int{}
	for n := range g.All() {
		if n.Op() != nil {
			m[n.Op().Name]++
		}
	}
	return m
}

// scaled has a parameter, a sub-module, and operators of its own.
type scaled struct {
	Scale *tensor.Tensor
	Fc    *nn.Linear
}

func (m *scaled) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Fc.Forward(x.Mul(m.Scale)).Relu().AddScalar(1)
}

// summing has a Forward of any number of tensors.
type summing struct{ Bias *tensor.Tensor }

func (m *summing) Forward(xs ...*tensor.Tensor) *tensor.Tensor {
	y := m.Bias
	for _, x := range xs {
		y = x.Add(y)
	}
	return y
}

var half = tensor.WrapPure(Half, tensor.Signature("f32[N] -> f32[N]"))

// Half is a Go function that reads data.
func Half(x *tensor.Tensor) *tensor.Tensor {
	data := tensor.Data[float32](x)
	out := make([]float32, len(data))
	for i, v := range data {
		out[i] = v / 2
	}
	return tensor.FromSlice(out)
}

var callRows = []row{
	{id: "1", input: "a module with a parameter, a sub-module and operators", outcome: "a node for each; the same values", on: in(fx.Trace, (*tensor.Tensor).Mul, nn.NewLinear), test: func(t *testing.T) {
		m := &scaled{vector(2, 3), nn.NewLinear(2, 2)}
		gm := trace(t, m)
		require.Equal(t, "x scale mul fc relu add output", order(gm.Graph))
		require.Equal(t, floats(m.Forward(twoByTwo)), results(t, gm, twoByTwo))
	}},
	{id: "2", input: "an input with a default, printed and read, then run with and without it", outcome: "name, type and default are there", on: in(fx.InputDefault, graph.Parse), test: func(t *testing.T) {
		gm := capture(t, func(x, bias *tensor.Tensor) *tensor.Tensor { return x.Add(bias) },
			fx.Input("x", "f32[N]"), fx.InputDefault("bias", "f32[1]", array.FromSlice([]float32{10})))
		m, err := graph.Parse([]byte(gm.Module.String()), "default.fx")
		require.NoError(t, err)
		require.Equal(t, "bias", m.Graph.Inputs()[1].Target())
		again := fx.NewGraphModule(m)
		require.Equal(t, [][]float32{{11}}, results(t, again, vector(1)))
		require.Equal(t, [][]float32{{3}}, results(t, again, vector(1), vector(2)))
	}},
	{id: "3", input: "a function of `...*tensor.Tensor` with three examples, and with options", outcome: "an input for each tensor; the options are fixed", on: in(fx.Args, fx.Meta), test: func(t *testing.T) {
		m := fx.Meta("f32[N]")
		gm := capture(t, func(xs ...*tensor.Tensor) *tensor.Tensor { return tensor.Cat(xs, 0) }, fx.Args(m, m, m))
		require.Len(t, gm.Graph.Inputs(), 3)
		require.Equal(t, [][]float32{{1, 2, 3}}, results(t, gm, vector(1), vector(2), vector(3)))
		gelu := capture(t, tensor.Gelu, fx.Args(m, tensor.GeluAttrs{Approximate: "tanh"}))
		require.Equal(t, floats(vector(1).Gelu(tensor.GeluAttrs{Approximate: "tanh"})), results(t, gelu, vector(1)))
	}},
	{id: "4", input: "a method with a variadic parameter, of a module with a parameter", outcome: "the receiver is the module, not one of the inputs", on: in(fx.Trace, fx.Args), test: func(t *testing.T) {
		m, x := &summing{vector(5)}, fx.Meta("f32[1]")
		gm := capture(t, m, fx.Args(x, x))
		require.Len(t, gm.Graph.Inputs(), 2)
		require.NotNil(t, gm.Param("bias"))
		require.Equal(t, [][]float32{{8}}, results(t, gm, vector(1), vector(2)))
	}},
	{id: "5", input: "3 − x, 3 / x, 3 ^ x, 3 % x, and a constant matrix times x", outcome: "the constant is on the left",
		on: in((*tensor.Tensor).RSubScalar, (*tensor.Tensor).RDivScalar, (*tensor.Tensor).RPowScalar, (*tensor.Tensor).RRemainderScalar, (*tensor.Tensor).Matmul), test: func(t *testing.T) {
			w := tensor.FromSlice([]float32{1, 2, 0, 1}, 2, 2)
			gm := capture(t, func(x *tensor.Tensor) (a, b, c, d, e *tensor.Tensor) {
				return x.RSubScalar(3), x.RDivScalar(3), x.RPowScalar(3), x.RRemainderScalar(3), w.Matmul(x)
			}, fx.Input("x", "f32[2]"))
			require.Equal(t, [][]float32{{1, -1}, {1.5, 0.75}, {9, 81}, {1, 3}, {10, 4}}, results(t, gm, vector(2, 4)))
		}},
	{id: "6", input: "and, or, xor, shifts, power, floor division, remainder, comparisons of integers", outcome: "one call each, with Go's values",
		on: in((*tensor.Tensor).BitwiseAndScalar, (*tensor.Tensor).BitwiseOrScalar, (*tensor.Tensor).BitwiseXorScalar, (*tensor.Tensor).BitwiseLeftShiftScalar, (*tensor.Tensor).BitwiseRightShiftScalar, (*tensor.Tensor).FloorDivideScalar, (*tensor.Tensor).GeScalar), test: func(t *testing.T) {
			gm := capture(t, func(x *tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{x.BitwiseAndScalar(6), x.BitwiseOrScalar(1), x.BitwiseXorScalar(3), x.BitwiseLeftShiftScalar(2), x.BitwiseRightShiftScalar(1), x.FloorDivideScalar(-4), x.GeScalar(10).Cast(array.I64)}
			}, fx.Input("x", "i64[N]"))
			require.Len(t, gm.Graph.Output().Args(), 7)
			out, err := gm.Run(context.Background(), tensor.FromSlice([]int64{5, 10}))
			require.NoError(t, err)
			for i, want := range [][]int64{{4, 2}, {5, 11}, {6, 9}, {20, 40}, {2, 5}, {-2, -3}, {0, 1}} {
				require.Equal(t, want, tensor.Data[int64](out[i]), "result %d", i)
			}
		}},
	{id: "7", input: "structs, slices, arrays and maps of tensors, one in the other, as argument and as result", outcome: "an input and a result for each tensor, named by its way; the shape of the result is kept", on: in(fx.Args, (*graph.Node).Structure), test: func(t *testing.T) {
		type pairOf struct{ A, B *tensor.Tensor }
		type deep struct {
			List []pairOf
			Dict map[string]*tensor.Tensor
		}
		m := fx.Meta("f32[1]")
		gm := capture(t, func(d deep) deep {
			return deep{[]pairOf{{d.List[0].B, d.List[0].A}}, map[string]*tensor.Tensor{"sum": d.List[0].A.Add(d.Dict["k"])}}
		}, fx.Args(deep{[]pairOf{{m, m}}, map[string]*tensor.Tensor{"k": m}}))
		require.Len(t, gm.Graph.Inputs(), 3)
		require.Equal(t, [][]float32{{2}, {1}, {4}}, results(t, gm, vector(1), vector(2), vector(3)))
		require.Contains(t, gm.Graph.Output().Text(), "sum: %add")
	}},
	{id: "8", input: "a tracer that forbids an operator, called as method, as function, and with a traced operand last", outcome: "refused at the call", on: in(fx.With, tensor.Neg, (*tensor.Tensor).Neg), test: func(t *testing.T) {
		forbid := fx.With(func(p *tracer.Tracer) {
			p.OnCall = func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
				if c.Op == std.Neg {
					panic(diag.New("FX2000", "neg is not supported here"))
				}
				return record(c)
			}
		})
		for _, f := range []any{func(x *tensor.Tensor) *tensor.Tensor { return x.Neg() }, tensor.Neg,
			func(x *tensor.Tensor) *tensor.Tensor { return vector(1).Add(x).Neg() }} {
			_, err := fx.Trace(context.Background(), f, forbid, fx.Input("x", "f32[1]"))
			require.ErrorContains(t, err, "neg is not supported here")
		}
		capture(t, tensor.Relu, forbid)
	}},
	{id: "9", input: "`fx.Flat`", outcome: "no call of a module; every parameter is read by its path; the same values", on: in(fx.Flat), test: func(t *testing.T) {
		m := newNet()
		gm := trace(t, m, fx.Flat())
		for n := range gm.Graph.Nodes() {
			require.NotEqual(t, graph.CallModule, n.Opcode())
		}
		require.Len(t, collect(gm.Graph.Calls(std.Linear)), 2)
		require.Equal(t, floats(m.Forward(twoByTwo)), results(t, gm, twoByTwo))
	}},
	{id: "10", input: "a Go function wrapped, captured, captured again, and after a failed capture", outcome: "one node that names it; outside of a trace it is the function", on: in(tensor.WrapPure[func(*tensor.Tensor) *tensor.Tensor]), test: func(t *testing.T) {
		f := func(x *tensor.Tensor) *tensor.Tensor { return half(x).Neg() }
		for range 2 {
			gm := capture(t, f, fx.Input("x", "f32[N]"))
			n := gm.Graph.Find("Half")
			require.NotNil(t, n, "%s", gm.Graph)
			require.Equal(t, "f32[N]", n.Type().String())
			require.Equal(t, [][]float32{{-2}}, results(t, gm, vector(4)))
		}
		refused(t, tracer.DataRead, "", func(x *tensor.Tensor) *tensor.Tensor { half(x).Item(); return x }, fx.Input("x", "f32[N]"))
		require.Equal(t, [][]float32{{2}}, floats(half(vector(4))))
		require.Equal(t, half(vector(4)).Shape(), Half(vector(4)).Shape())
	}},
	{id: "11", input: "a graph with a wrapped function and a leaf, through a Transformer, and captured again", outcome: "the call is there, of the same function", on: in((*fx.GraphModule).Forward, tensor.WrapPure[func(*tensor.Tensor) *tensor.Tensor]), test: func(t *testing.T) {
		gm := capture(t, func(x *tensor.Tensor) *tensor.Tensor { return half(x.Neg()) }, fx.Input("x", "f32[N]"))
		again := fx.NewGraphModule(transform(t, gm.Module, nil))
		twice := capture(t, again, fx.Input("x", "f32[N]"))
		require.Equal(t, gm.Graph.Find("Half").Op(), twice.Graph.Find("Half").Op())
		require.Equal(t, [][]float32{{-1}}, results(t, twice, vector(2)))
	}},
	{id: "12", input: "`len` of a list of tensors; arithmetic of sizes; a size as a float64", outcome: "a fixed number; an expression that serves all sizes; refused with the way to do it", on: in((*tensor.Tensor).Size, tensor.Size.Mul, tensor.Size.Div), test: func(t *testing.T) {
		m := fx.Meta("f32[N]")
		gm := capture(t, func(xs []*tensor.Tensor) *tensor.Tensor {
			return xs[0].Reshape(xs[0].Size(0).Mul(len(xs)).Div(len(xs)), 1)
		}, fx.Args([]*tensor.Tensor{m, m}))
		require.Equal(t, "f32[N,1]", gm.Graph.Output().Arg(0).Type().String())
		refused(t, tracer.UnknownSize, "x.Size", func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(math.Sqrt(float64(x.Dim(0)))) }, fx.Input("x", "f32[N]"))
		capture(t, func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(math.Sqrt(float64(x.Dim(0)))) }, fx.Input("x", "f32[4]"))
	}},
	{id: "13", input: "a policy, given to the tracer, that keeps a module of the user's whole", outcome: "one call of it; other traces are not concerned", on: in(fx.Leaf, nn.Run), test: func(t *testing.T) {
		m := &outerNet{Inner: newNet()}
		whole := trace(t, m, fx.Leaf(func(m any, path string, library bool) bool { return path == "inner" || library }))
		require.Equal(t, "x inner neg output", order(whole.Graph))
		require.Equal(t, floats(m.Forward(twoByTwo)), results(t, whole, twoByTwo))
		require.Equal(t, "x inner_fc1 relu inner_fc2 neg output", strings.ReplaceAll(order(trace(t, m).Graph), ".", "_"))
	}},
}

type outerNet struct{ Inner *net }

func (m *outerNet) Forward(x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.Inner, x).Neg() }

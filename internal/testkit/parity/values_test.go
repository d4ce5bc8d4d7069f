package parity

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func init() { area("2.1", valueRows) }

// tables is a model with a buffer, a nested module, and methods besides Forward.
type tables struct {
	Table *tensor.Tensor `fx:",buffer"`
	Inner struct{ Bias *tensor.Tensor }
	Steps *nn.Sequential
	More  []*nn.Linear
	shift *tensor.Tensor
}

func newTables() *tables {
	m := &tables{Table: vector(10, 20, 30), Steps: nn.NewSequential(nn.NewLinear(2, 2), nn.NewReLU()), More: []*nn.Linear{nn.NewLinear(2, 2), nn.NewLinear(2, 2)}, shift: vector(1, 1)}
	m.Inner.Bias = vector(1, 2)
	return m
}

func (m *tables) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Steps.Forward(x)
	for _, l := range m.More {
		x = l.Forward(x)
	}
	return x.Add(m.Inner.Bias)
}

// Pick looks up a buffer with traced indices.
func (m *tables) Pick(i *tensor.Tensor) *tensor.Tensor { return m.Table.IndexSelect(i, 0) }

// point is a type of a user's that the tracer is told how to take apart.
type point struct{ hidden *tensor.Tensor }

// span is made from traced values in traced code.
type span struct{ lo, hi *tensor.Tensor }

func newSpan(a, b *tensor.Tensor, sorted bool) span {
	if sorted {
		return span{a.Minimum(b), a.Maximum(b)}
	}
	return span{a, b}
}

func newCheckedSpan(a, b *tensor.Tensor) span {
	if a.Item() > b.Item() {
		return span{b, a}
	}
	return span{a, b}
}

func (s span) length() *tensor.Tensor { return s.hi.Sub(s.lo) }

// integers are indices.
func integers(v ...int64) *tensor.Tensor { return tensor.FromSlice(v) }

var valueRows = []row{
	{id: "15", input: "`Clone` of a traced value, a write in place to the copy", outcome: "the original keeps its value", on: in((*tensor.Tensor).Clone, (*tensor.Tensor).AddScalarInPlace), test: func(t *testing.T) {
		f := func(x *tensor.Tensor) (a, b *tensor.Tensor) {
			y := x.Neg()
			z := y.Clone()
			z.AddScalarInPlace(5)
			return y, z
		}
		require.Equal(t, [][]float32{{-1}, {4}}, results(t, capture(t, f, fx.Input("x", "f32[1]")), vector(1)))
	}},
	{id: "16", input: "a nil tensor among the arguments, and a number, fixed by the capture", outcome: "no input for them; each is noted with its value", on: in((*graph.Graph).Specialisations, fx.Args), test: func(t *testing.T) {
		gm := capture(t, func(xs []*tensor.Tensor, k float64) *tensor.Tensor {
			if xs[1] == nil {
				return xs[0].MulScalar(k)
			}
			return xs[1]
		}, fx.Args([]*tensor.Tensor{fx.Meta("f32[1]"), nil}, 3.0))
		require.Len(t, gm.Graph.Inputs(), 1)
		notes := gm.Graph.Specialisations()
		require.Len(t, notes, 2)
		require.Contains(t, notes[0].What, "nil")
		require.Equal(t, "arg1 = 3", notes[1].What)
		require.Equal(t, [][]float32{{6}}, results(t, gm, vector(2)))
	}},
	{id: "17", input: "two methods of one module, and one that it has not", outcome: "a graph of each; refused with the name", on: in(fx.Method), test: func(t *testing.T) {
		m := newTables()
		require.Equal(t, "f32[N]", capture(t, m, fx.Method("Pick"), fx.Input("i", "i64[N]")).Graph.Output().Arg(0).Type().String())
		require.NotNil(t, trace(t, m).Graph.Find("steps_0"))
		_, err := fx.Trace(context.Background(), m, fx.Method("Backward"))
		require.ErrorIs(t, err, tracer.BadTarget)
		require.ErrorContains(t, err, "Backward")
	}},
	{id: "18", input: "a tensor of a closure that is used three times", outcome: "one tensor of the module, read once", on: in((*graph.Module).Params), test: func(t *testing.T) {
		w := vector(1, 2)
		gm := capture(t, func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(w).Add(w).Sub(w) }, fx.Input("x", "f32[2]"))
		require.Len(t, gm.Params(), 1)
		require.Equal(t, 3, gm.Graph.Find("mul").Arg(1).NumUses())
		require.Equal(t, [][]float32{{3, 8}}, results(t, gm, vector(3, 4)))
	}},
	{id: "19", input: "tensors of the module, of a struct in it, and an unexported one", outcome: "each is read by its path, whatever the way to it", on: in((*graph.Module).Param, tensor.Walk), test: func(t *testing.T) {
		gm := trace(t, newTables())
		require.NotNil(t, gm.Param("inner.bias"))
		require.Equal(t, "inner.bias", gm.Graph.Find("add").Arg(1).Target())
		paths := map[string]bool{}
		tensor.Walk(newTables(), func(i tensor.Item) bool { paths[i.Path] = true; return true })
		require.True(t, paths["table"] && paths["inner.bias"] && paths["more.1.weight"], "%v", paths)
	}},
	{id: "20", input: "a buffer indexed by a traced tensor", outcome: "the buffer is read, and looked up at each run", on: in((*tensor.Tensor).IndexSelect), test: func(t *testing.T) {
		gm := capture(t, newTables(), fx.Method("Pick"), fx.Input("i", "i64[N]"))
		require.True(t, gm.Param("table").Buffer)
		require.Equal(t, [][]float32{{30, 10}}, results(t, gm, integers(2, 0)))
	}},
	{id: "21", input: "a Sequential and a slice of modules", outcome: "the layers, by the paths that PyTorch gives them", on: in((*nn.Sequential).Forward, nn.NewSequential), test: func(t *testing.T) {
		m := newTables()
		gm := trace(t, m)
		var paths []string
		for n := range gm.Graph.Nodes() {
			if n.Opcode() == graph.CallModule {
				paths = append(paths, n.Target())
			}
		}
		require.Equal(t, []string{"steps.0", "steps.1", "more.0", "more.1"}, paths)
		require.Equal(t, floats(m.Forward(twoByTwo)), results(t, gm, twoByTwo))
	}},
	{id: "22", input: "the parts of a `Split` taken from a Go slice, in a loop; the parts of an unknown number", outcome: "one call and a getitem for each part; refused", on: in((*tensor.Tensor).Split, (*tensor.Tensor).UnbindDim), test: func(t *testing.T) {
		gm := capture(t, func(x *tensor.Tensor) *tensor.Tensor {
			var y *tensor.Tensor
			for i, p := range x.Split([]int{1, 2, 1}, 0) {
				if i == 0 {
					y = p
				} else {
					y = y.Add(p.Sum())
				}
			}
			return y
		}, fx.Input("x", "f32[4]"))
		require.Equal(t, 3, opcounts(gm.Graph)["getitem"])
		require.Equal(t, [][]float32{{10}}, results(t, gm, vector(1, 2, 3, 4)))
		refused(t, tracer.UnknownSize, "", func(x *tensor.Tensor) *tensor.Tensor { return x.UnbindDim(0)[0] }, fx.Input("x", "f32[N]"))
		capture(t, func(x *tensor.Tensor) *tensor.Tensor { return x.UnbindDim(0)[0] }, fx.Input("x", "f32[3]"))
	}},
	{id: "23", input: "one operator called as method, as function, by its record, and under the record's name", outcome: "one operator: equal graphs", on: in(tensor.CallOp, op.Lookup, (*graph.Node).Op), test: func(t *testing.T) {
		var all []*graph.Graph
		for _, f := range []func(x *tensor.Tensor) *tensor.Tensor{
			(*tensor.Tensor).Relu, tensor.Relu,
			func(x *tensor.Tensor) *tensor.Tensor { return tensor.CallOp(std.Relu, nil, x) },
			func(x *tensor.Tensor) *tensor.Tensor { return tensor.CallOp(op.Lookup("relu"), nil, x) },
		} {
			gm := capture(t, f, fx.Input("x", "f32[N]"))
			require.Equal(t, std.Relu, gm.Graph.Output().Arg(0).Op())
			all = append(all, gm.Graph)
		}
		require.Equal(t, graph.Hash(all[1]), graph.Hash(all[2]))
		require.Equal(t, graph.Hash(all[1]), graph.Hash(all[3]))
	}},
	{id: "24", input: "a Go value that traced code makes of traced tensors, with a constructor that branches on a flag, and one that branches on data", outcome: "traced through; refused at the branch", on: in((*tensor.Tensor).Item, (*tensor.Tensor).Maximum), test: func(t *testing.T) {
		gm := capture(t, func(a, b *tensor.Tensor, sorted bool) *tensor.Tensor { return newSpan(a, b, sorted).length() }, fx.Args(fx.Meta("f32[1]"), fx.Meta("f32[1]"), true))
		require.Equal(t, [][]float32{{3}}, results(t, gm, vector(5), vector(2)))
		refused(t, tracer.DataRead, "values_test.go", func(a, b *tensor.Tensor) *tensor.Tensor { return newCheckedSpan(a, b).length() })
	}},
	{id: "25", input: "a type with an unexported tensor, with and without a `Flattener`", outcome: "its tensors are inputs and results; refused", on: in(fx.With), test: func(t *testing.T) {
		f := func(p point) point { return point{p.hidden.Neg()} }
		opened := map[reflect.Type]tracer.Flattener{reflect.TypeFor[point](): {
			Tensors: func(v any) []*tensor.Tensor { return []*tensor.Tensor{v.(point).hidden} },
			With:    func(_ any, t []*tensor.Tensor) any { return point{t[0]} },
		}}
		gm := capture(t, f, fx.Args(point{tracer.Meta(pair)}), fx.With(func(p *tracer.Tracer) { p.Flatten = opened }))
		require.Equal(t, [][]float32{{-1, 2}}, results(t, gm, vector(1, -2)))
		_, err := fx.Trace(context.Background(), f, fx.Args(point{tracer.Meta(pair)}))
		require.ErrorIs(t, err, tracer.BadArgument)
	}},
	{id: "26", input: "element types, ∞ and NaN as attributes, and nodes called `inf` and `nan`, printed and read", outcome: "the same attributes, bit by bit; the same names", on: in((*op.Codec).Print, (*op.Codec).Parse, graph.Parse), test: func(t *testing.T) {
		gm := capture(t, func(x *tensor.Tensor) *tensor.Tensor {
			return x.MaskedFill(x.GtScalar(math.Inf(1)), math.NaN()).Clamp(math.Inf(-1), 0.1).Cast(array.F64)
		}, fx.Input("x", "f32[2]"))
		gm.Graph.Find("gt").Rename("inf")
		gm.Graph.Find("clamp").Rename("nan")
		m, err := graph.Parse([]byte(gm.Module.String()), "names.fx")
		require.NoError(t, err)
		equal, diff := graph.Equal(gm.Graph, m.Graph)
		require.True(t, equal, diff)
		require.NotNil(t, m.Graph.Find("inf"))
		require.Equal(t, gm.Graph.Find("nan").Attrs(), m.Graph.Find("nan").Attrs())
		require.Contains(t, m.Graph.Find("nan").Text(), "-inf")
	}},
	{id: "27", input: "maps with integer keys, and with tensors as keys", outcome: "an input for each entry, in the order of the keys; refused", on: in(fx.Args), test: func(t *testing.T) {
		m := fx.Meta("f32[1]")
		gm := capture(t, func(d map[int]*tensor.Tensor) *tensor.Tensor { return d[7].Sub(d[2]) }, fx.Args(map[int]*tensor.Tensor{7: m, 2: m}))
		require.Equal(t, [][]float32{{4}}, results(t, gm, vector(1), vector(5)))
		_, err := fx.Trace(context.Background(), func(d map[*tensor.Tensor]*tensor.Tensor) *tensor.Tensor { return nil }, fx.Args(map[*tensor.Tensor]*tensor.Tensor{m: m}))
		var e *diag.Error
		require.True(t, errors.As(err, &e), "%v", err)
	}},
	{id: "28", input: "what the model demands of its sizes, a run that does not meet it", outcome: "the demand is a guard; FX1022 with both sizes, before anything runs", on: in(tensor.Size.MustEqual, tensor.Size.MustBeMultiple, (*graph.Graph).Guards), test: func(t *testing.T) {
		gm := capture(t, func(x, y *tensor.Tensor) *tensor.Tensor {
			x.Size(0).MustEqual(y.Size(0).Mul(2))
			y.Size(0).MustBeMultiple(3)
			return x.Sum().Add(y.Sum())
		}, fx.Input("x", "f32[N]"), fx.Input("y", "f32[M]"))
		require.Len(t, gm.Graph.Guards(), 2)
		require.Equal(t, [][]float32{{24}}, results(t, gm, vector(1, 2, 3, 4, 5, 6), vector(1, 1, 1)))
		_, err := gm.Run(context.Background(), vector(1, 2, 3, 4), vector(1, 1, 1))
		require.ErrorIs(t, err, diag.Code("FX1022"))
		_, err = gm.Run(context.Background(), vector(1, 2), vector(1))
		require.ErrorIs(t, err, diag.Code("FX1022"))
		require.ErrorContains(t, err, "divisible by 3")
	}},
}

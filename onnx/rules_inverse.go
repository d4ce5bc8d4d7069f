package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var inverseRules = map[string][]rule{"Inverse": {{since: 1, run: inverse}}}

// mostOrder bounds the matrices that are inverted: each column is a round of a scan.
const mostOrder = 1 << 12

// inverse reduces [x | identity] to [identity | inverse], a column in each round of a scan,
// with the greatest element left in the column as the pivot.
func inverse(c *call) []*value {
	rank := c.rank(0)
	t := c.typ(0)
	n, ok := t.Dim(-1).Int()
	if !ok || rank < 2 || n < 1 || n > mostOrder || !t.Dim(-2).Is(n) {
		panic(refuse(CodeModel, "the input is "+t.String()+", expected square matrices of a known size"))
	}
	c.b = builder{c.scope.cur, c.im}
	x := c.reshape(c.x(0), t.Dims().Sub(0, rank-2).Prod(), shape.Const(n), shape.Const(n))
	one := c.do(std.Eye, std.EyeAttrs{N: shape.Const(n), M: shape.Const(n), DType: t.DType()})
	one = c.do(std.Expand, std.ExpandAttrs{Shape: x.Type().Dims()}, one)
	wide := c.do(std.Cat, std.DimAttrs{Dim: 2}, x, one)
	steps := c.do(std.Arange, std.ArangeAttrs{End: shape.Const(n)})
	s := c.region("column")
	own := c.im.bodies[s.cur.Graph()]
	m := own.input(s.cur.Graph(), "m", wide.Type())
	k := own.input(s.cur.Graph(), "k", shape.TensorType(array.I64, shape.Dims{}))
	next := reduceColumn(cellWriter{b: builder{s.cur, c.im}}, m, k, n)
	c.im.finish(s, []*value{{node: next.(*graph.Node)}})
	args := []*graph.Node{wide.(*graph.Node), steps.(*graph.Node)}
	reduced := c.scope.cur.Region(op.Scan, op.LoopAttrs{Carry: 1, Seqs: 1}, []*graph.Graph{s.cur.Graph()}, args...)
	y := c.do(std.Slice, std.SliceAttrs{Dim: 2, Start: shape.Const(n), Stop: std.End}, c.results(reduced, 1)[0].node)
	return c.values([]op.Value{c.reshape(y, t.Dims().Slice()...)})
}

// reduceColumn makes column k of the matrices m [batch, n, 2n] that of the identity.
func reduceColumn(w cellWriter, m, k op.Value, n int) op.Value {
	arange := func(count int) op.Value { return w.do(std.Arange, std.ArangeAttrs{End: shape.Const(count)}) }
	down := func(v op.Value) op.Value { return w.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v) }
	sum := func(v op.Value, dim int) op.Value {
		return w.do(std.Sum, std.ReduceAttrs{Dim: op.IntList(dim), KeepDim: true}, v)
	}
	rows, inColumn := arange(n), w.do(std.Eq, nil, arange(2*n), k)
	column := func(m op.Value) op.Value { // [batch, n, 1]
		return sum(w.do(std.Where, nil, inColumn, m, w.do(std.ZerosLike, nil, m)), 2)
	}
	size := w.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(2)}, w.do(std.Abs, nil, column(m)))
	left := w.do(std.Where, nil, w.do(std.Ge, nil, rows, k), size, w.do(std.FullLike, std.FullLikeAttrs{Value: op.Int(-1)}, size))
	pivot := w.do(std.Argmax, std.ArgAttrs{Dim: op.IntList(1), KeepDim: true}, left) // [batch, 1]
	from := w.do(std.Where, nil, w.do(std.Eq, nil, rows, pivot), k, rows)
	isRow := w.do(std.Eq, nil, rows, k)
	from = down(w.do(std.Where, nil, isRow, pivot, from))
	m = w.do(std.Gather, std.DimAttrs{Dim: 1}, m, w.do(std.Expand, std.ExpandAttrs{Shape: m.Type().Dims()}, from))
	isRow = down(isRow)
	row := sum(w.do(std.Where, nil, isRow, m, w.do(std.ZerosLike, nil, m)), 1) // [batch, 1, 2n]
	row = w.do(std.Div, nil, row, sum(w.do(std.Where, nil, inColumn, row, w.do(std.ZerosLike, nil, row)), 2))
	rest := w.do(std.Sub, nil, m, w.mul(column(m), row))
	return w.do(std.Where, nil, isRow, row, rest)
}

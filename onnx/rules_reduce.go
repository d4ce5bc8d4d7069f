package onnx

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// reduceRules are the reductions and softmaxes.
var reduceRules = map[string][]rule{
	"ReduceSum": reduction(std.Sum, nil, nil), "ReduceMean": reduction(std.Mean, nil, nil), "ReduceProd": reduction(std.Prod, nil, nil),
	"ReduceMax": reduction(std.Amax, nil, nil), "ReduceMin": reduction(std.Amin, nil, nil),
	"ReduceSumSquare": reduction(std.Sum, square, nil), "ReduceL1": reduction(std.Sum, absolute, nil),
	"ReduceL2": reduction(std.Sum, square, std.Sqrt), "ReduceLogSum": reduction(std.Sum, nil, std.Log),
	"ReduceLogSumExp": reduction(std.Logsumexp, nil, nil),
	"ArgMax":          from(1, func(c *call) []op.Value { return arg(c, std.Argmax) }),
	"ArgMin":          from(1, func(c *call) []op.Value { return arg(c, std.Argmin) }),
	"Softmax":         softmax(std.Softmax), "LogSoftmax": softmax(std.LogSoftmax),
	"CumSum":  from(11, func(c *call) []op.Value { return cumulative(c, std.Cumsum, 0) }),
	"CumProd": from(26, func(c *call) []op.Value { return cumulative(c, std.Cumprod, 1) }),
	"Hardmax": {{since: 1, build: func(c *call) []op.Value { return hardmax(c, true) }}, {since: 13, build: func(c *call) []op.Value { return hardmax(c, false) }}},
	"TopK":    from(1, topk),
}

func square(c *call, x op.Value) op.Value   { return c.do(std.Mul, nil, x, x) }
func absolute(c *call, x op.Value) op.Value { return c.do(std.Abs, nil, x) }

// reduction reduces over axes that are an attribute or an operand; all when there
// are none, unless noop_with_empty_axes says to reduce none.
func reduction(o *op.Op, before func(*call, op.Value) op.Value, after *op.Op) []rule {
	return from(1, func(c *call) []op.Value {
		axes, keep := axesOf(c, 1), c.flag("keepdims", true)
		noop := c.flag("noop_with_empty_axes", false)
		x, d := c.x(0), c.typ(0).DType()
		if before != nil {
			x = before(c, x)
		}
		if len(axes) > 0 || !noop {
			x = reduce(c, o, x, axes, keep)
		}
		if after != nil {
			x = c.do(after, nil, x)
		}
		if x.Type().DType() != d {
			x = c.do(std.Cast, std.CastAttrs{DType: d}, x)
		}
		return []op.Value{x}
	})
}

func reduce(c *call, o *op.Op, x op.Value, axes []int, keep bool) op.Value {
	d := x.Type().DType()
	switch o {
	case std.Logsumexp:
		if !d.IsFloat() {
			x = c.do(std.Cast, std.CastAttrs{DType: array.F64}, x)
		}
		return c.do(o, std.LogsumexpAttrs{Dim: op.IntList(axes...), KeepDim: keep}, x)
	case std.Amax, std.Amin:
		if dims, ok := emptied(c, x, axes, keep); ok {
			return c.do(std.Full, std.FullAttrs{Size: shape.Of(dims...), Value: extreme(d, o == std.Amax), DType: d})
		}
		return c.do(o, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: keep}, x)
	}
	a := std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: keep}
	if o == std.Mean && d.IsInt() {
		x = c.do(std.Cast, std.CastAttrs{DType: array.F64}, x)
	}
	return c.do(o, a, x)
}

// emptied returns the sizes of a reduction of nothing, false where there is something.
func emptied(c *call, x op.Value, axes []int, keep bool) (dims []shape.Dim, ok bool) {
	rank := c.rank(0)
	gone := make([]bool, rank)
	for _, a := range axes {
		gone[c.axis(a, rank)] = true
	}
	for i := range rank {
		d := x.Type().Dim(i)
		if !gone[i] && len(axes) > 0 {
			dims = append(dims, d)
			continue
		}
		ok = ok || d.Equal(shape.Const(0))
		if keep {
			dims = append(dims, shape.Const(1))
		}
	}
	return dims, ok
}

// extreme is the least or the greatest value of a type.
func extreme(d array.DType, least bool) op.Scalar {
	bits, low := 8*d.Size(), int64(0)
	if d.IsSigned() {
		bits, low = bits-1, -1<<(bits-1)
	}
	switch {
	case d.IsFloat() && least:
		return op.Float(math.Inf(-1))
	case d.IsFloat():
		return op.Float(math.Inf(1))
	case d == array.Bool:
		bits = 1
	case d == array.U64 && !least:
		return op.Int(-1) // converted as Cast converts
	}
	if least {
		return op.Int(low)
	}
	return op.Int(int64(1)<<bits - 1)
}

func arg(c *call, o *op.Op) []op.Value {
	rank := c.rank(0)
	axis, keep := c.axis(c.int("axis", 0), rank), c.flag("keepdims", true)
	a := std.ArgAttrs{Dim: op.IntList(axis), KeepDim: keep}
	if !c.flag("select_last_index", false) {
		return c.one(o, a, c.x(0))
	}
	n := c.typ(0).Dim(axis)
	v := c.do(o, a, c.do(std.Flip, std.FlipAttrs{Dims: op.IntList(axis)}, c.x(0)))
	last := c.on(sized(sizeNumber(n.AddInt(-1), array.I64)))
	return c.one(std.Sub, nil, last, v)
}

// softmax is over one axis since set 13, and over all from an axis on before.
func softmax(o *op.Op) []rule {
	before := func(c *call) []op.Value {
		rank := c.rank(0)
		axis := c.axis(c.int("axis", 1), rank)
		if axis == rank-1 {
			return c.one(o, std.DimAttrs{Dim: -1}, c.x(0))
		}
		dims := c.typ(0).Dims()
		flat := shape.Of(dims.Sub(0, axis).Prod(), dims.Sub(axis, rank).Prod())
		v := c.do(o, std.DimAttrs{Dim: -1}, c.do(std.Reshape, std.ReshapeAttrs{Shape: flat}, c.x(0)))
		return c.one(std.Reshape, std.ReshapeAttrs{Shape: dims}, v)
	}
	return []rule{{since: 1, build: before}, {since: 13, build: func(c *call) []op.Value {
		return c.one(o, std.DimAttrs{Dim: c.axis(c.int("axis", -1), c.rank(0))}, c.x(0))
	}}}
}

// cumulative is a sum or product of the elements before; neutral is that of no
// elements.
func cumulative(c *call, o *op.Op, neutral float64) []op.Value {
	if c.value(1).arr == nil { // one of a few
		var v op.Value
		for axis := range c.rank(0) {
			w := cumulativeAlong(c, o, neutral, axis)
			if v == nil {
				v = w
				continue
			}
			is := c.do(std.LogicalOr, nil, c.do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(axis))}, element(c, 1, 0)),
				c.do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(axis - c.rank(0)))}, element(c, 1, 0)))
			v = c.do(std.Where, nil, is, w, v)
		}
		if v == nil {
			panic(diag.New(CodeModel, "the input has no axes"))
		}
		return []op.Value{v}
	}
	return []op.Value{cumulativeAlong(c, o, neutral, c.axis(c.index(1), c.rank(0)))}
}

func cumulativeAlong(c *call, o *op.Op, neutral float64, axis int) op.Value {
	exclusive, reverse := c.flag("exclusive", false), c.flag("reverse", false)
	x, d := c.x(0), c.typ(0).DType()
	flip := func(v op.Value) op.Value {
		if !reverse {
			return v
		}
		return c.do(std.Flip, std.FlipAttrs{Dims: op.IntList(axis)}, v)
	}
	v := c.do(o, std.ScanAttrs{Dim: axis, DType: d}, flip(x))
	if exclusive {
		pad := make([]int, 2*(c.rank(0)-axis))
		pad[len(pad)-2], pad[len(pad)-1] = 1, -1
		v = c.do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(pad...), Value: neutral}, v)
	}
	return flip(v)
}

func topk(c *call) []op.Value {
	a := std.TopkAttrs{Dim: c.axis(c.int("axis", -1), c.rank(0)), Smallest: !c.flag("largest", true), Unsorted: !c.flag("sorted", true)}
	switch {
	case c.given("k"):
		a.K = c.int("k", 0)
	case c.value(1).arr != nil:
		a.K = c.index(1)
	case c.in[1].sizes != nil:
		out := c.items(c.do(std.Sort, std.SortAttrs{Dim: a.Dim, Descending: !a.Smallest}, c.x(0)), 2)
		for i := range out {
			out[i] = c.do(std.Narrow, std.NarrowAttrs{Dim: a.Dim, Length: c.dim(1)}, out[i])
		}
		return out
	default: // how many is known when the model runs
		k := element(c, 1, 0)
		out := c.items(c.do(std.Sort, std.SortAttrs{Dim: a.Dim, Descending: !a.Smallest}, c.x(0)), 2)
		return []op.Value{first(c, out[0], a.Dim, k), first(c, out[1], a.Dim, k)}
	}
	return c.items(c.do(std.Topk, a, c.x(0)), 2)
}

// hardmax is 1 at the first greatest element of an axis; old sets take all from an axis on as one.
func hardmax(c *call, old bool) []op.Value {
	rank := c.rank(0)
	def := -1
	if old {
		def = 1
	}
	axis := c.axis(c.int("axis", def), rank)
	dims := c.typ(0).Dims()
	x := c.x(0)
	if old {
		x = reshape(c, x, dims.Sub(0, axis).Prod(), dims.Sub(axis, rank).Prod())
		axis = 1
	}
	t := x.Type()
	first := c.do(std.Argmax, std.ArgAttrs{Dim: op.IntList(axis), KeepDim: true}, x)
	at := c.do(std.Arange, std.ArangeAttrs{End: t.Dim(axis)})
	for range t.Rank() - 1 - axis {
		at = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, at)
	}
	v := c.do(std.Cast, std.CastAttrs{DType: t.DType()}, c.do(std.Eq, nil, at, first))
	if old {
		v = reshape(c, v, dims.Slice()...)
	}
	return []op.Value{v}
}

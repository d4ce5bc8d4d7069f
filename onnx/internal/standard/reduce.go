package standard

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// reduceRules are the reductions and softmaxes.
var reduceRules = map[string][]rule.Rule{
	"ReduceSum": reduction(std.Sum, nil, nil), "ReduceMean": reduction(std.Mean, nil, nil), "ReduceProd": reduction(std.Prod, nil, nil),
	"ReduceMax": reduction(std.Amax, nil, nil), "ReduceMin": reduction(std.Amin, nil, nil),
	"ReduceSumSquare": reduction(std.Sum, square, nil), "ReduceL1": reduction(std.Sum, absolute, nil),
	"ReduceL2": reduction(std.Sum, square, std.Sqrt), "ReduceLogSum": reduction(std.Sum, nil, std.Log),
	"ReduceLogSumExp": reduction(std.Logsumexp, nil, nil),
	"ArgMax":          rule.From(1, func(c *rule.Call) []op.Value { return arg(c, std.Argmax) }),
	"ArgMin":          rule.From(1, func(c *rule.Call) []op.Value { return arg(c, std.Argmin) }),
	"Softmax":         softmax(std.Softmax), "LogSoftmax": softmax(std.LogSoftmax),
	"CumSum":  rule.From(11, func(c *rule.Call) []op.Value { return cumulative(c, std.Cumsum, 0) }),
	"CumProd": rule.From(26, func(c *rule.Call) []op.Value { return cumulative(c, std.Cumprod, 1) }),
	"Hardmax": {{Since: 1, Build: func(c *rule.Call) []op.Value { return hardmax(c, true) }}, {Since: 13, Build: func(c *rule.Call) []op.Value { return hardmax(c, false) }}},
	"TopK":    rule.From(1, topk),
}

func square(c *rule.Call, x op.Value) op.Value   { return c.Do(std.Mul, nil, x, x) }
func absolute(c *rule.Call, x op.Value) op.Value { return c.Do(std.Abs, nil, x) }

// reduction reduces over axes that are an attribute or an operand; all when there
// are none, unless noop_with_empty_axes says to reduce none.
func reduction(o *op.Op, before func(*rule.Call, op.Value) op.Value, after *op.Op) []rule.Rule {
	return rule.From(1, func(c *rule.Call) []op.Value {
		axes, keep := axesOf(c, 1), c.Flag("keepdims", true)
		noop := c.Flag("noop_with_empty_axes", false)
		x, d := c.X(0), c.Type(0).DType()
		if before != nil {
			x = before(c, x)
		}
		if len(axes) > 0 || !noop {
			x = reduce(c, o, x, axes, keep)
		}
		if after != nil {
			x = c.Do(after, nil, x)
		}
		if x.Type().DType() != d {
			x = c.Do(std.Cast, std.CastAttrs{DType: d}, x)
		}
		return []op.Value{x}
	})
}

func reduce(c *rule.Call, o *op.Op, x op.Value, axes []int, keep bool) op.Value {
	d := x.Type().DType()
	switch o {
	case std.Logsumexp:
		if !d.IsFloat() {
			x = c.Do(std.Cast, std.CastAttrs{DType: array.F64}, x)
		}
		return c.Do(o, std.LogsumexpAttrs{Dim: op.IntList(axes...), KeepDim: keep}, x)
	case std.Amax, std.Amin:
		if dims, ok := emptied(c, x, axes, keep); ok {
			return c.Do(std.Full, std.FullAttrs{Size: shape.Of(dims...), Value: extreme(d, o == std.Amax), DType: d})
		}
		return c.Do(o, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: keep}, x)
	}
	a := std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: keep}
	if o == std.Mean && d.IsInt() {
		x = c.Do(std.Cast, std.CastAttrs{DType: array.F64}, x)
	}
	return c.Do(o, a, x)
}

// emptied returns the sizes of a reduction of nothing, false where there is something.
func emptied(c *rule.Call, x op.Value, axes []int, keep bool) (dims []shape.Dim, ok bool) {
	rank := c.Rank(0)
	gone := make([]bool, rank)
	for _, a := range axes {
		gone[c.Axis(a, rank)] = true
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

func arg(c *rule.Call, o *op.Op) []op.Value {
	rank := c.Rank(0)
	axis, keep := c.Axis(c.Int("axis", 0), rank), c.Flag("keepdims", true)
	a := std.ArgAttrs{Dim: op.IntList(axis), KeepDim: keep}
	if !c.Flag("select_last_index", false) {
		return c.One(o, a, c.X(0))
	}
	n := c.Type(0).Dim(axis)
	v := c.Do(o, a, c.Do(std.Flip, std.FlipAttrs{Dims: op.IntList(axis)}, c.X(0)))
	last := c.On(rule.Sized(rule.SizeNumber(n.AddInt(-1), array.I64)))
	return c.One(std.Sub, nil, last, v)
}

// softmax is over one axis since set 13, and over all from an axis on before.
func softmax(o *op.Op) []rule.Rule {
	before := func(c *rule.Call) []op.Value {
		rank := c.Rank(0)
		axis := c.Axis(c.Int("axis", 1), rank)
		if axis == rank-1 {
			return c.One(o, std.DimAttrs{Dim: -1}, c.X(0))
		}
		dims := c.Type(0).Dims()
		flat := shape.Of(dims.Sub(0, axis).Prod(), dims.Sub(axis, rank).Prod())
		v := c.Do(o, std.DimAttrs{Dim: -1}, c.Do(std.Reshape, std.ReshapeAttrs{Shape: flat}, c.X(0)))
		return c.One(std.Reshape, std.ReshapeAttrs{Shape: dims}, v)
	}
	return []rule.Rule{{Since: 1, Build: before}, {Since: 13, Build: func(c *rule.Call) []op.Value {
		return c.One(o, std.DimAttrs{Dim: c.Axis(c.Int("axis", -1), c.Rank(0))}, c.X(0))
	}}}
}

// cumulative is a sum or product of the elements before; neutral is that of no
// elements.
func cumulative(c *rule.Call, o *op.Op, neutral float64) []op.Value {
	if c.Value(1).Arr == nil { // one of a few
		var v op.Value
		for axis := range c.Rank(0) {
			w := cumulativeAlong(c, o, neutral, axis)
			if v == nil {
				v = w
				continue
			}
			is := c.Do(std.LogicalOr, nil, c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(axis))}, element(c, 1, 0)),
				c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(axis - c.Rank(0)))}, element(c, 1, 0)))
			v = c.Do(std.Where, nil, is, w, v)
		}
		if v == nil {
			panic(diag.New(spec.CodeModel, "the input has no axes"))
		}
		return []op.Value{v}
	}
	return []op.Value{cumulativeAlong(c, o, neutral, c.Axis(c.Index(1), c.Rank(0)))}
}

func cumulativeAlong(c *rule.Call, o *op.Op, neutral float64, axis int) op.Value {
	exclusive, reverse := c.Flag("exclusive", false), c.Flag("reverse", false)
	x, d := c.X(0), c.Type(0).DType()
	flip := func(v op.Value) op.Value {
		if !reverse {
			return v
		}
		return c.Do(std.Flip, std.FlipAttrs{Dims: op.IntList(axis)}, v)
	}
	v := c.Do(o, std.ScanAttrs{Dim: axis, DType: d}, flip(x))
	if exclusive {
		pad := make([]int, 2*(c.Rank(0)-axis))
		pad[len(pad)-2], pad[len(pad)-1] = 1, -1
		v = c.Do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(pad...), Value: neutral}, v)
	}
	return flip(v)
}

func topk(c *rule.Call) []op.Value {
	a := std.TopkAttrs{Dim: c.Axis(c.Int("axis", -1), c.Rank(0)), Smallest: !c.Flag("largest", true), Unsorted: !c.Flag("sorted", true)}
	switch {
	case c.Given("k"):
		a.K = c.Int("k", 0)
	case c.Value(1).Arr != nil:
		a.K = c.Index(1)
	case c.In[1].Sizes != nil:
		out := c.Items(c.Do(std.Sort, std.SortAttrs{Dim: a.Dim, Descending: !a.Smallest}, c.X(0)), 2)
		for i := range out {
			out[i] = c.Do(std.Narrow, std.NarrowAttrs{Dim: a.Dim, Length: c.Dim(1)}, out[i])
		}
		return out
	default: // how many is known when the model runs
		k := element(c, 1, 0)
		out := c.Items(c.Do(std.Sort, std.SortAttrs{Dim: a.Dim, Descending: !a.Smallest}, c.X(0)), 2)
		return []op.Value{first(c, out[0], a.Dim, k), first(c, out[1], a.Dim, k)}
	}
	return c.Items(c.Do(std.Topk, a, c.X(0)), 2)
}

// hardmax is 1 at the first greatest element of an axis; old sets take all from an axis on as one.
func hardmax(c *rule.Call, old bool) []op.Value {
	rank := c.Rank(0)
	def := -1
	if old {
		def = 1
	}
	axis := c.Axis(c.Int("axis", def), rank)
	dims := c.Type(0).Dims()
	x := c.X(0)
	if old {
		x = Reshape(c, x, dims.Sub(0, axis).Prod(), dims.Sub(axis, rank).Prod())
		axis = 1
	}
	t := x.Type()
	first := c.Do(std.Argmax, std.ArgAttrs{Dim: op.IntList(axis), KeepDim: true}, x)
	at := c.Do(std.Arange, std.ArangeAttrs{End: t.Dim(axis)})
	for range t.Rank() - 1 - axis {
		at = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, at)
	}
	v := c.Do(std.Cast, std.CastAttrs{DType: t.DType()}, c.Do(std.Eq, nil, at, first))
	if old {
		v = Reshape(c, v, dims.Slice()...)
	}
	return []op.Value{v}
}

package expand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// reductions are the operators that reduce dimensions, except pools and norms.
var reductions = merge(
	one(std.Mean, func(c *maker, a std.ReduceAttrs, in []op.Value) op.Value {
		x := in[0]
		if d := wide(c.result(0).DType()); d.Size() > wide(x.Type().DType()).Size() || !x.Type().DType().IsFloat() {
			x = c.cast(x, d)
		}
		x = c.widened(x)
		return c.back(over(c, c.sum(x, a.Dim, a.KeepDim), reduced(c, x, a.Dim), 0), 0)
	}),
	one(std.Var, func(c *maker, a std.VarAttrs, in []op.Value) op.Value {
		x := c.widened(in[0])
		return c.back(c.variance(deviation(c, x, a.Dim), a), 0)
	}),
	one(std.Std, deviated),
	each(func(c *maker, _ op.None, in []op.Value) op.Value {
		return extreme(c, std.Amax, in[0], op.Ints{}, false)
	}, std.Max),
	each(func(c *maker, _ op.None, in []op.Value) op.Value {
		return extreme(c, std.Amin, in[0], op.Ints{}, false)
	}, std.Min),
	one(std.All, func(c *maker, a std.ReduceAttrs, in []op.Value) op.Value {
		return c.compareN(std.Eq, c.sum(c.compareN(std.Eq, plain(c, in[0]), 0), a.Dim, a.KeepDim), 0)
	}),
	one(std.Any, func(c *maker, a std.ReduceAttrs, in []op.Value) op.Value {
		return c.compareN(std.Ne, c.sum(c.compareN(std.Ne, plain(c, in[0]), 0), a.Dim, a.KeepDim), 0)
	}),
	one(std.Argmax, func(c *maker, a std.ArgAttrs, in []op.Value) op.Value { return arg(c, std.Amax, a, in[0]) }),
	one(std.Argmin, func(c *maker, a std.ArgAttrs, in []op.Value) op.Value { return arg(c, std.Amin, a, in[0]) }),
	entry(std.MaxDim, func(c *maker, a std.MinMaxAttrs, in []op.Value) []op.Value { return withIndex(c, std.Amax, a, in[0]) }),
	entry(std.MinDim, func(c *maker, a std.MinMaxAttrs, in []op.Value) []op.Value { return withIndex(c, std.Amin, a, in[0]) }),
	one(std.Softmax, func(c *maker, a std.DimAttrs, in []op.Value) op.Value {
		e := c.apply(std.Exp, lowered(c, c.widened(in[0]), a.Dim))
		return c.back(c.div(e, c.sum(e, op.IntList(a.Dim), true)), 0)
	}),
	one(std.LogSoftmax, func(c *maker, a std.DimAttrs, in []op.Value) op.Value {
		x := lowered(c, c.widened(in[0]), a.Dim)
		return c.back(c.sub(x, c.apply(std.Log, c.sum(c.apply(std.Exp, x), op.IntList(a.Dim), true))), 0)
	}),
	one(std.Cumsum, func(c *maker, a std.ScanAttrs, in []op.Value) op.Value { return running(c, a, in[0], 0, c.add) }),
	one(std.Cumprod, func(c *maker, a std.ScanAttrs, in []op.Value) op.Value { return running(c, a, in[0], 1, c.mul) }),
)

func (c *maker) sum(x op.Value, dims op.Ints, keep bool) op.Value {
	return c.call(std.Sum, std.ReduceAttrs{Dim: dims, KeepDim: keep}, x)
}

// extreme is amax or amin.
func extreme(c *maker, o *op.Op, x op.Value, dims op.Ints, keep bool) op.Value {
	return c.call(o, std.ReduceAttrs{Dim: dims, KeepDim: keep}, x)
}

// plain is x as numbers: bools count as 0 and 1.
func plain(c *maker, x op.Value) op.Value {
	if x.Type().DType() == array.Bool {
		return c.cast(x, array.U8)
	}
	return x
}

// reduced is how many elements of x one of the result stands for.
func reduced(c *maker, x op.Value, dims op.Ints) shape.Dim {
	d := c.dims(x)
	if dims.Len() == 0 || len(d) == 0 {
		return prod(d...)
	}
	n := shape.Const(1)
	for _, i := range dims.Slice() {
		n = n.Mul(d[axis(i, len(d))])
	}
	return n
}

// over divides floats by a count less some.
func over(c *maker, x op.Value, n shape.Dim, less float64) op.Value {
	if v, ok := n.Int(); ok {
		return c.call(std.Div, std.DivAttrs{Other: op.Float(math.Max(float64(v)-less, 0))}, x)
	}
	count := c.cast(c.number(n), x.Type().DType())
	if less != 0 {
		count = c.call(std.Maximum, std.BinaryAttrs{Other: op.Float(0)}, c.addF(count, -less))
	}
	return c.div(x, count)
}

// mean is the mean over dims, which are kept.
func (c *maker) mean(x op.Value, dims op.Ints) op.Value {
	return over(c, c.sum(x, dims, true), reduced(c, x, dims), 0)
}

// deviation is x less its mean over dims.
func deviation(c *maker, x op.Value, dims op.Ints) op.Value {
	left, _ := shifted(c, x, dims)
	return c.sub(left, c.mean(left, dims))
}

// shifted is x less its first element over dims, and that element: sums of what is left
// round by what elements differ, not by what they have in common, and elements that are
// equal leave nothing. It is 0 in place of a first element that is not finite or not there.
func shifted(c *maker, x op.Value, dims op.Ints) (left, first op.Value) {
	first = x
	for i, n := range c.dims(x) {
		if !reduces(dims, i, x.Type().Rank()) {
			continue
		}
		if size, ok := n.Int(); !ok || size == 0 {
			first = c.padAxis(first, i, 0, 1, 0)
		}
		first = c.slice(first, i, shape.Const(0), shape.Const(1))
	}
	first = c.where(c.apply(std.Isfinite, first), first, c.zeros(x.Type().DType()))
	return c.sub(x, first), first
}

// variance is the mean square of deviations.
func (c *maker) variance(dev op.Value, a std.VarAttrs) op.Value {
	less := 1.0
	if a.Correction.Present() {
		less = a.Correction.Float64()
	}
	return over(c, c.sum(c.mul(dev, dev), a.Dim, a.KeepDim), reduced(c, dev, a.Dim), less)
}

// deviated is the standard deviation. The squares are those of deviations divided by the
// greatest, so that they stay in range.
func deviated(c *maker, a std.VarAttrs, in []op.Value) op.Value {
	dev := deviation(c, c.widened(in[0]), a.Dim)
	d := c.dims(dev)
	pads := make([]int, 2*len(d)) // the greatest of nothing is 0
	for i := range d {
		if _, ok := d[i].Int(); !ok || d[i].Is(0) {
			pads[2*(len(d)-1-i)+1] = 1
		}
	}
	most := c.apply(std.Abs, dev)
	if n, ok := reduced(c, dev, a.Dim).Int(); !ok || n == 0 {
		for i := range d { // only what is reduced
			if !reduces(a.Dim, i, len(d)) {
				pads[2*(len(d)-1-i)+1] = 0
			}
		}
		most = c.call(std.Pad, std.PadAttrs{Pad: shape.ConstDims(pads...)}, most)
	}
	scale := extreme(c, std.Amax, most, a.Dim, true)
	usual := c.and(c.compareN(std.Gt, scale, 0), c.call(std.Lt, std.BinaryAttrs{Other: op.Float(math.Inf(1))}, scale))
	scale = c.call(std.Where, std.WhereAttrs{Other: op.Float(1)}, usual, scale)
	root := c.apply(std.Sqrt, c.variance(c.div(dev, scale), a))
	return c.back(c.mul(root, c.reshape(scale, c.dims(root)...)), 0)
}

// reduces tells whether a reduction over dims, all when there are none, is over axis i.
func reduces(dims op.Ints, i, rank int) bool {
	for _, d := range dims.Slice() {
		if axis(d, rank) == i {
			return true
		}
	}
	return dims.Len() == 0
}

// first is the index along an axis of the first element that is the extreme one, kept as
// a dimension of size 1.
func first(c *maker, o *op.Op, x op.Value, dim int) op.Value {
	d := c.dims(x)
	at := op.IntList(dim)
	hit := c.compare(std.Eq, x, extreme(c, o, x, at, true))
	if x.Type().DType().IsFloat() { // NaN is extreme and equals nothing
		hit = c.or(hit, c.apply(std.Isnan, x))
	}
	places := c.along(c.iota(d[dim]), dim, len(d))
	return extreme(c, std.Amin, c.where(hit, places, c.number(d[dim])), at, true)
}

// arg is argmax or argmin.
func arg(c *maker, o *op.Op, a std.ArgAttrs, x op.Value) op.Value {
	x = plain(c, x)
	d, dim := c.dims(x), 0
	if a.Dim.Len() == 0 || len(d) == 0 {
		x = c.reshape(x, prod(d...))
	} else {
		dim = axis(a.Dim.At(0), len(d))
	}
	return c.reshape(first(c, o, x, dim), c.outDims(0)...)
}

// withIndex is max_dim or min_dim. The values are read at the indices, so that the zeros
// have their signs.
func withIndex(c *maker, o *op.Op, a std.MinMaxAttrs, in op.Value) []op.Value {
	x := in
	if x.Type().Rank() == 0 {
		x = c.reshape(x, shape.Const(1))
	}
	dim := axis(a.Dim, x.Type().Rank())
	at := first(c, o, plain(c, x), dim)
	values := c.call(std.Gather, std.DimAttrs{Dim: dim}, x, at)
	return []op.Value{c.reshape(values, c.outDims(0)...), c.reshape(at, c.outDims(1)...)}
}

// lowered is x less its greatest element along an axis, which may have none.
func lowered(c *maker, x op.Value, dim int) op.Value {
	most := x
	if n := x.Type().Rank(); n > 0 {
		if size, ok := c.dims(x)[axis(dim, n)].Int(); !ok || size == 0 {
			most = c.padAxis(x, axis(dim, n), 0, 1, math.Inf(-1))
		}
	}
	return c.sub(x, extreme(c, std.Amax, most, op.IntList(dim), true))
}

// running combines every element with all before it, in rounds in which it is combined
// with what lies 1, 2, 4 ... before it.
func running(c *maker, a std.ScanAttrs, x op.Value, start float64, combine func(x, y op.Value) op.Value) op.Value {
	to := c.result(0).DType()
	if d := x.Type().DType(); !d.IsFloat() || to.Size() > d.Size() {
		x = c.cast(x, to)
	}
	x = c.widened(x)
	if rank := x.Type().Rank(); rank > 0 {
		dim := axis(a.Dim, rank)
		n := c.int(c.dims(x)[dim], "the size of dimension "+op.Int(int64(dim)).String())
		for step := 1; step < n; step *= 2 {
			shifted := c.slice(c.padAxis(x, dim, step, 0, start), dim, shape.Const(0), shape.Const(n))
			x = combine(shifted, x)
		}
	}
	return c.back(x, 0)
}

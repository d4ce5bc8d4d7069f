package expand

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// scattering are the operators that write into a copy of x.
var scattering = merge(
	one(std.Scatter, func(c *maker, a std.ScatterAttrs, in []op.Value) op.Value {
		switch a.Reduce {
		case "add":
			return scattered(c, a.Dim, "sum", in)
		case "multiply":
			return scattered(c, a.Dim, "prod", in)
		}
		return nil
	}),
	one(std.ScatterAdd, func(c *maker, a std.DimAttrs, in []op.Value) op.Value { return scattered(c, a.Dim, "sum", in) }),
	one(std.SelectScatter, selectScatter),
	one(std.SliceScatter, sliceScatter),
	one(std.DiagonalScatter, diagonalScatter),
)

// scattered combines the elements of src with those of x at index.
func scattered(c *maker, dim int, how string, in []op.Value) op.Value {
	return c.call(std.ScatterReduce, std.ScatterReduceAttrs{Dim: dim, Reduce: how}, in[:3]...)
}

func selectScatter(c *maker, a std.SelectAttrs, in []op.Value) op.Value {
	d := c.dims(in[0])
	i := axis(a.Dim, len(d))
	src := c.reshape(in[1], set(d, i, shape.Const(1))...)
	behind := op.Value(nil)
	if a.Index != -1 {
		behind = c.call(std.Slice, std.SliceAttrs{Dim: i, Start: shape.Const(a.Index + 1), Stop: std.End}, in[0])
	}
	before := c.call(std.Slice, std.SliceAttrs{Dim: i, Stop: shape.Const(a.Index)}, in[0])
	if a.Index == 0 {
		before = nil
	}
	return c.cat(i, before, src, behind)
}

// sliceScatter joins what lies before, src and what lies after; of a slice with steps
// it finds for every element the one of src that is to be there.
func sliceScatter(c *maker, a std.SliceAttrs, in []op.Value) op.Value {
	x, src, d := in[0], in[1], c.dims(in[0])
	i := axis(a.Dim, len(d))
	start, stop := bound(a.Start, d[i]), bound(a.Stop, d[i])
	stop = stop.Max(start) // no elements otherwise
	if n, ok := stop.Sub(start).Int(); ok && n <= 0 {
		return x
	}
	if a.Step <= 1 {
		return c.cat(i, c.slice(x, i, shape.Const(0), start), src, c.slice(x, i, stop, std.End))
	}
	at := c.iota(d[i])
	k := c.sub(at, c.number(start))
	step := c.full(array.I64, op.Int(int64(a.Step)))
	inside := c.and(c.compareN(std.Ge, k, 0), c.compare(std.Lt, at, c.number(stop)))
	inside = c.and(inside, c.compareN(std.Eq, c.modulo(k, step), 0))
	k = c.where(inside, c.quotient(k, step), c.zeros(array.I64))
	// One element more, which nothing reads: src may be empty.
	more := c.take(c.padAxis(src, i, 0, 1, 0), i, k)
	return c.where(c.along(inside, i, len(d)), more, x)
}

// bound is a bound of a slice as a position: negative ones count from the end, and what
// lies beyond an end is the end.
func bound(b, n shape.Dim) shape.Dim {
	if b.Equal(std.End) {
		return n
	}
	v, ok := b.Int()
	if ok && v < 0 {
		b = n.AddInt(v)
	}
	size, sized := n.Int()
	switch at, known := b.Int(); {
	case known && sized:
		return shape.Const(min(max(at, 0), size))
	case known:
		return n.Min(b)
	case ok:
		return b.Max(shape.Const(0))
	}
	return b
}

func diagonalScatter(c *maker, a std.DiagonalAttrs, in []op.Value) op.Value {
	n := in[0].Type().Rank()
	d1, d2 := plane(a, n)
	perm, back := last(d1, d2, n)
	x := c.permute(in[0], perm...)
	d := c.dims(x)
	row, col := c.iota(d[n-2]), c.iota(d[n-1])
	on := c.compareN(std.Eq, c.sub(c.along(col, 1, 2), c.along(row, 0, 2)), a.Offset)
	length := c.dims(in[1])[n-2]
	_, rows := d[n-2].Int()
	_, cols := d[n-1].Int()
	if !(rows && cols) && !(a.Offset == 0 && d[n-2].Equal(d[n-1]) && length.Equal(d[n-1])) {
		c.refuse("the length of the diagonal of sizes " + d[n-2].String() + " and " + d[n-1].String() + " is not known")
	}
	at := c.min(c.maxN(c.addN(row, min(a.Offset, 0)), 0), c.number(length))
	src := c.take(c.padAxis(in[1], n-2, 0, 1, 0), n-2, at) // one more element, which nothing reads
	src = c.reshape(src, append(c.dims(src), shape.Const(1))...)
	return c.permute(c.where(on, src, x), back...)
}

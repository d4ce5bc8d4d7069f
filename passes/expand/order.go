package expand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// orders are the operators on sorted values, and bags of rows.
var orders = merge(
	entry(std.Topk, func(c *maker, a std.TopkAttrs, in []op.Value) []op.Value {
		pair := c.call(std.Sort, std.SortAttrs{Dim: a.Dim, Descending: !a.Smallest}, in[0])
		out := []op.Value{c.item(pair, 0), c.item(pair, 1)}
		if rank := in[0].Type().Rank(); rank > 0 {
			for i, v := range out {
				out[i] = c.slice(v, axis(a.Dim, rank), shape.Const(0), shape.Const(a.K))
			}
		}
		return out
	}),
	one(std.Searchsorted, searchsorted),
	one(std.EmbeddingBag, embeddingBag),
)

// searchsorted halves the range in which each value belongs, as the kernel does, so that
// it finds the same in sequences that are out of order.
func searchsorted(c *maker, a std.SearchsortedAttrs, in []op.Value) op.Value {
	seq, d := plain(c, in[0]), c.dims(in[0])
	n := c.int(d[len(d)-1], "the size of the last dimension of sorted_sequence")
	v, out := plain(c, in[1]), c.outDims(0)
	if len(d) == 1 { // one sequence for all
		v = c.reshape(v, prod(out...))
	}
	lo, hi := c.zeros(array.I64, c.dims(v)...), c.full(array.I64, op.Int(int64(n)), c.dims(v)...)
	beyond := std.Ge
	if a.Right {
		beyond = std.Gt
	}
	for left := n; left > 0; left /= 2 {
		mid := c.quotient(c.add(lo, hi), c.full(array.I64, op.Int(2)))
		there := c.call(std.Gather, std.DimAttrs{Dim: -1}, seq, c.minN(mid, n-1))
		isBeyond := c.compare(beyond, there, v)
		open := c.compare(std.Lt, lo, hi)
		up := c.and(open, c.apply(std.LogicalNot, isBeyond))
		down := c.and(open, isBeyond)
		lo, hi = c.where(up, c.addN(mid, 1), lo), c.where(down, mid, hi)
	}
	return c.reshape(lo, out...)
}

// embeddingBag adds up, or takes the greatest of, the rows of each bag.
func embeddingBag(c *maker, a std.EmbeddingBagAttrs, in []op.Value) op.Value {
	rows := c.widened(c.take(in[1], 0, in[0]))
	if in[3] != nil {
		w := c.widened(in[3])
		rows = c.mul(rows, c.reshape(w, append(c.dims(w), shape.Const(1))...))
	}
	if in[2] != nil && in[0].Type().Rank() == 1 {
		return c.back(bags(c, a, rows, c.cast(in[2], array.I64)), 0)
	}
	d := c.dims(rows)
	one := op.IntList(1)
	switch a.Mode {
	case "sum":
		return c.back(c.sum(rows, one, false), 0)
	case "max":
		if n, ok := d[1].Int(); ok && n == 0 {
			return c.zeros(c.result(0).DType(), c.outDims(0)...)
		} else if !ok {
			c.refuse("the size of a bag is " + d[1].String() + ", expected a number: the greatest of nothing is 0")
		}
		return c.back(extreme(c, std.Amax, rows, one, false), 0)
	}
	n := d[1]
	if n.Is(0) {
		n = shape.Const(1)
	} else if _, ok := n.Int(); !ok { // the mean of nothing is 0
		count := c.cast(c.maxN(c.number(n), 1), rows.Type().DType())
		return c.back(c.div(c.sum(rows, one, false), count), 0)
	}
	return c.back(over(c, c.sum(rows, one, false), n, 0), 0)
}

// bags reduces ranges of rows that begin at offsets.
func bags(c *maker, a std.EmbeddingBagAttrs, rows, offsets op.Value) op.Value {
	d := c.dims(rows)
	starts := c.dims(offsets)[0]
	place := c.along(c.iota(d[0]), 0, 2)
	// A place before the first offset would be in bag -1, which the kernel refuses.
	bag := c.addN(c.sum(c.compare(std.Le, c.along(offsets, 1, 2), place), op.IntList(1), false), -1)
	t := rows.Type().DType()
	index := c.expand(c.reshape(bag, d[0], shape.Const(1)), d...)
	reduce, start := "sum", op.Float(0)
	if a.Mode == "max" {
		reduce, start = "amax", op.Float(math.Inf(-1))
	}
	y := scattered(c, 0, reduce, []op.Value{c.full(t, start, starts, d[1]), index, rows})
	if a.Mode != "sum" {
		ones := c.full(t, op.Float(1), d[0])
		count := scattered(c, 0, "sum", []op.Value{c.zeros(t, starts), bag, ones})
		count = c.reshape(count, starts, shape.Const(1))
		if a.Mode == "max" {
			y = c.where(c.compareN(std.Eq, count, 0), c.zeros(t), y)
		} else {
			y = c.div(y, c.maxN(count, 1))
		}
	}
	// What lies after the last offset is left out. Offsets that the kernel refuses ask for
	// a bag that is not there.
	bags := c.where(wrong(c, offsets, d[0]), c.full(array.I64, op.Int(-1)), c.iota(c.outDims(0)[0]))
	return c.take(y, 0, bags)
}

// wrong tells whether offsets do not begin with 0, do not ascend, or go beyond n rows.
func wrong(c *maker, offsets op.Value, n shape.Dim) op.Value {
	count := func(cond op.Value) op.Value { return c.sum(cond, op.Ints{}, false) }
	some := count(c.compare(std.Gt, offsets, c.number(n)))
	starts := c.dims(offsets)[0]
	if k, ok := starts.Int(); ok && k == 0 {
		return c.compareN(std.Gt, some, 0)
	}
	first := c.call(std.Slice, std.SliceAttrs{Stop: shape.Const(1)}, offsets)
	before := c.slice(offsets, 0, shape.Const(0), starts.AddInt(-1))
	behind := c.slice(offsets, 0, shape.Const(1), std.End)
	some = c.add(some, c.add(count(c.compareN(std.Ne, first, 0)), count(c.compare(std.Gt, before, behind))))
	return c.compareN(std.Gt, some, 0)
}

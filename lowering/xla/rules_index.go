package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// coordinates returns, for every element of idx, its own coordinates in a last dimension, but
// along dim what idx says.
func (c *call) coordinates(idx *value, dim int) *value {
	var parts []*value
	one := append(slices.Clone(idx.Type.Dims), 1)
	for i := range idx.Type.Dims {
		v := idx
		if i != dim {
			v = c.Iota(idx.Type, i)
		}
		parts = append(parts, c.Reshape(v, one...))
	}
	return c.Concat(len(one)-1, parts...)
}

func gather(c *call) *value {
	dim, x, idx := step[*kernel.Gather](c).Dim, c.in[0], c.in[1]
	switch {
	case c.out[0].Len() == 0:
		return c.Const(c.out[0], 0)
	case x.Type.Rank() == 0:
		return c.Reshape(x, c.out[0].Dims...)
	}
	return c.at(x, c.coordinates(idx, dim))
}

func indexSelect(c *call) *value {
	dim, x, idx := step[*kernel.IndexSelect](c).Dim, c.in[0], c.in[1]
	if x.Type.Rank() == 0 {
		x = c.Reshape(x, 1)
	}
	return c.Reshape(c.take(x, c.Reshape(idx, idx.Type.Len()), dim), c.out[0].Dims...)
}

func embedding(c *call) *value {
	return c.take(c.in[1], c.in[0], 0)
}

// scatter writes or combines elements at positions. Where several write to one place, a
// device takes any of them.
func scatter(c *call) *value {
	s, x, idx, src := step[*kernel.Scatter](c), c.in[0], c.in[1], c.in[2]
	if idx.Type.Len() == 0 {
		return x
	}
	if x.Type.Rank() == 0 {
		x, idx, src = c.Reshape(x, 1), c.Reshape(idx, 1), c.Reshape(src, 1)
	}
	if src.Type.Rank() == 0 {
		src = c.Broadcast(src, idx.Type.Dims)
	} else if !slices.Equal(src.Type.Dims, idx.Type.Dims) {
		src = c.Slice(src, repeated(0, src.Type.Rank()), idx.Type.Dims, nil)
	}
	d := wide(x.Type.Elem)
	if s.Reduce == "" {
		d = x.Type.Elem
	}
	o := c.With("scatter", []*value{c.Convert(x, d), c.coordinates(idx, s.Dim), c.Convert(src, d)}, "scatter_dimension_numbers",
		stablehlo.Scatter{InsertedWindowDims: upto(x.Type.Rank()), ScatterDimsToOperandDims: upto(x.Type.Rank()), IndexVectorDim: idx.Type.Rank()})
	o.Regions = []*stablehlo.Region{combine(s.Reduce, d)}
	return c.Convert(c.Reshape(c.Add(o)[0], c.out[0].Dims...), c.out[0].Elem)
}

// combine is the region of a scatter: the new value, or what is made of both.
func combine(how string, d array.DType) *stablehlo.Region {
	name := map[string]string{"add": "add", "multiply": "multiply", "amax": "maximum", "amin": "minimum"}[how]
	if d == array.Bool {
		name = map[string]string{"add": "or", "multiply": "and", "amax": "or", "amin": "and"}[how]
	}
	if name != "" {
		return stablehlo.Binary(name, d)
	}
	b := stablehlo.NewBuilder(stablehlo.Of(d), stablehlo.Of(d))
	return b.Return(b.Arg(1))
}

// ordered sorts x along a dimension with the indices of its elements; NaN counts as the greatest.
func (c *call) ordered(x *value, dim int, descending bool) []*value {
	t, i := stablehlo.Of(x.Type.Elem), stablehlo.Of(array.I64)
	k := &call{Builder: stablehlo.NewBuilder(t, t, i, i)}
	a, b := k.Arg(0), k.Arg(1)
	if descending {
		a, b = b, a
	}
	less := k.Compare("LT", a, b)
	if t.Elem.IsFloat() {
		less = k.Op("or", less, k.Op("and", k.isNaN(b), k.Op("not", k.isNaN(a))))
	}
	o := c.With("sort", []*value{x, c.Iota(x.Type.As(array.I64), dim)}, "dimension", stablehlo.Int(dim), "is_stable", stablehlo.Bool(true))
	o.Regions = []*stablehlo.Region{k.Return(less)}
	return c.Add(o)
}

func sort(c *call) []*value {
	s, x := step[*kernel.Sort](c), c.in[0]
	if x.Type.Rank() == 0 {
		return []*value{x, c.Const(c.out[1], 0)}
	}
	return c.ordered(x, s.Dim, s.Descending)
}

func topK(c *call) []*value {
	s, x := step[*kernel.TopK](c), c.in[0]
	if x.Type.Rank() == 0 {
		return []*value{c.Reshape(x, c.out[0].Dims...), c.Const(c.out[1], 0)}
	}
	out := c.ordered(x, s.Dim, s.Largest)
	for i, v := range out {
		out[i] = c.part(v, s.Dim, 0, s.K, 1)
	}
	return out
}

// searchsorted counts what comes before a value: less, or with Right not greater; NaN is
// behind all numbers.
func searchsorted(c *call) *value {
	s, seq, x := step[*kernel.SearchSorted](c), c.in[0], c.in[1]
	r := x.Type.Rank()
	dims := append(slices.Clone(x.Type.Dims), seq.Type.Dims[seq.Type.Rank()-1])
	place := []int{r}
	if seq.Type.Rank() > 1 {
		place = append(upto(r-1), r)
	}
	a, b := c.Broadcast(seq, dims, place...), c.Broadcast(x, dims, upto(r)...)
	var before *value
	switch {
	case s.Right:
		before = c.Compare("LE", a, b)
		if a.Type.Elem.IsFloat() {
			before = c.Op("or", before, c.isNaN(b))
		}
	default:
		before = c.Compare("LT", a, b)
		if a.Type.Elem.IsFloat() {
			before = c.Op("or", before, c.Op("and", c.isNaN(b), c.Op("not", c.isNaN(a))))
		}
	}
	return c.total(c.Convert(before, array.I64), r)
}

// embeddingBag reduces rows by bag. Positions of a vector belong to the last bag that starts
// at or before them.
func embeddingBag(c *call) *value {
	s, idx, w := step[*kernel.EmbeddingBag](c), c.in[0], c.in[1]
	n, bags, width := idx.Type.Len(), c.out[0].Dims[0], w.Type.Dims[1]
	rows := c.widen(c.take(w, c.Reshape(idx, n), 0)) // [n, E]
	if scale := c.operand(3); scale != nil {
		rows = c.Op("multiply", rows, c.Broadcast(c.Convert(c.Reshape(scale, n), rows.Type.Elem), rows.Type.Dims, 0))
	}
	var bag *value // [n]
	i64 := stablehlo.Of(array.I64, n)
	if starts := c.operand(2); starts != nil {
		k := starts.Type.Dims[0]
		dims := []int{n, k}
		begun := c.Compare("LE", c.Broadcast(c.Convert(starts, array.I64), dims, 1), c.Broadcast(c.Iota(i64, 0), dims, 0))
		bag = c.Op("subtract", c.total(c.Convert(begun, array.I64), 1), c.Const(i64, 1))
	} else {
		bag = c.Op("divide", c.Iota(i64, 0), c.Const(i64, uint64(max(idx.Type.Dims[1], 1))))
	}
	mine := c.Compare("EQ", c.Broadcast(bag, []int{bags, n}, 1), c.Iota(stablehlo.Of(array.I64, bags, n), 0))
	all := []int{bags, n, width}
	fill := c.Const(rows.Type.With(all...), 0)
	if s.Mode == "max" {
		fill = c.Const(rows.Type.With(all...), lowest(rows.Type.Elem))
	}
	x := c.Op("select", c.Broadcast(mine, all, 0, 1), c.Broadcast(rows, all, 1, 2), fill)
	members := c.total(c.Convert(mine, rows.Type.Elem), 1) // [bags]
	var y *value
	switch s.Mode {
	case "max":
		y = c.extremes("max", x, []int{1})
		empty := c.Compare("EQ", members, c.Const(members.Type, 0))
		y = c.Op("select", c.Broadcast(empty, y.Type.Dims, 0), c.Const(y.Type, 0), y)
	case "mean":
		y = c.total(x, 1)
		y = c.Op("divide", y, c.Broadcast(c.Op("maximum", members, c.number(members.Type, 1)), y.Type.Dims, 0))
	default:
		y = c.total(x, 1)
	}
	return c.Convert(y, c.out[0].Elem)
}

package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// places is where an index of one dimension reads or writes: at has the coordinates of slices
// along the dimensions dims, in its last dimension. Along the others the index is everywhere
// the same, and slices are as long as it is.
type places struct {
	at    *value
	dims  []int
	along int // which of dims the index is of

	parts []*value // the coordinates, apart
}

// places returns those of idx, which says where along dim.
func (c *call) places(idx *value, dim int) places {
	sizes := idx.Type.Dims
	from, along := idx.Broadcasted()
	if from == nil || !slices.IsSorted(along) {
		from, along = idx, upto(len(sizes))
	}
	var p places
	var left []int
	for d, n := range sizes {
		i := slices.Index(along, d)
		if d == dim || i >= 0 && from.Type.Dims[i] > 1 {
			p.dims, left = append(p.dims, d), append(left, n)
		}
	}
	if from.Type.Len() != idx.Type.With(left...).Len() { // the same all along dim
		from, p.dims, left = idx, upto(len(sizes)), sizes
	}
	from = c.Reshape(from, left...)
	for i, d := range p.dims {
		v := from
		if d == dim {
			p.along = i
		} else {
			v = c.Iota(from.Type, i)
		}
		p.parts = append(p.parts, v)
	}
	p.at = c.joined(p.parts)
	return p
}

// joined are coordinates next to each other.
func (c *call) joined(parts []*value) *value {
	var list []*value
	for _, v := range parts {
		list = append(list, c.Reshape(v, append(slices.Clone(v.Type.Dims), 1)...))
	}
	return c.Concat(len(list), list...)
}

// last are the places in x of which each is written once: those of elements that a later one along the index replaces are
// outside x, where nothing is written. A device writes in any order.
func (c *call) last(x *value, p places) *value {
	from := p.parts[p.along]
	if from.Type.Dims[p.along] == 1 {
		return p.at
	}
	var sizes []int
	for _, d := range p.dims {
		sizes = append(sizes, x.Type.Dims[d])
	}
	all, order := upto(len(sizes)), c.Iota(from.Type.As(array.I32), p.along)
	o := c.With("scatter", []*value{c.number(stablehlo.Of(array.I32, sizes...), -1), p.at, order}, "scatter_dimension_numbers",
		stablehlo.Scatter{InsertedWindowDims: all, ScatterDimsToOperandDims: all, IndexVectorDim: len(all)})
	o.Regions = []*stablehlo.Region{stablehlo.Binary("maximum", array.I32)}
	latest := c.Add(c.With("gather", []*value{c.Add(o)[0], p.at},
		"dimension_numbers", stablehlo.Gather{CollapsedSliceDims: all, StartIndexMap: all, IndexVectorDim: len(all)},
		"slice_sizes", stablehlo.Ints(repeated(1, len(all)))))[0]
	parts := make([]*value, len(p.parts))
	for i, v := range p.parts {
		parts[i] = c.Convert(v, array.I64)
	}
	at := parts[p.along]
	parts[p.along] = c.Op("select", c.Compare("EQ", latest, order), at, c.number(at.Type, -1))
	return c.joined(parts)
}

func gather(c *call) *value {
	dim, x, idx := step[*kernel.Gather](c).Dim, c.in[0], c.in[1]
	if x.Type.Rank() == 0 {
		return c.Reshape(x, c.out[0].Dims...)
	}
	if none := c.nothing(x, c.out[0]); none != nil {
		return none
	}
	p, sizes := c.places(idx, dim), slices.Clone(idx.Type.Dims)
	for _, d := range p.dims {
		sizes[d] = 1
	}
	return c.Add(c.With("gather", []*value{x, p.at},
		"dimension_numbers", stablehlo.Gather{OffsetDims: others(len(sizes), p.dims), CollapsedSliceDims: p.dims, StartIndexMap: p.dims, IndexVectorDim: len(p.dims)},
		"slice_sizes", stablehlo.Ints(sizes)))[0]
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

// scatter writes or combines elements at positions.
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
	p := c.places(idx, s.Dim)
	if s.Reduce == "" {
		p.at = c.last(x, p)
	}
	o := c.With("scatter", []*value{c.Convert(x, d), p.at, c.Convert(src, d)}, "scatter_dimension_numbers",
		stablehlo.Scatter{UpdateWindowDims: others(x.Type.Rank(), p.dims), InsertedWindowDims: p.dims, ScatterDimsToOperandDims: p.dims, IndexVectorDim: len(p.dims)})
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

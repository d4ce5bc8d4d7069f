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
	if x.Type.Rank() == 0 {
		return c.Reshape(x, c.out[0].Dims...)
	}
	if none := c.nothing(x, c.out[0]); none != nil {
		return none
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

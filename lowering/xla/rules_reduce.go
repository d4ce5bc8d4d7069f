package xla

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// whole returns dims, or all of a rank where there are none.
func whole(dims []int, rank int) []int {
	if len(dims) == 0 {
		return upto(rank)
	}
	return dims
}

// reduce folds from the neutral element on, halves in f32.
func reduce(c *call) *value {
	s, x := step[*kernel.Reduce](c), c.in[0]
	dims, d := whole(s.Dims, x.Type.Rank()), c.out[0].Elem
	var r *value
	switch s.Kind {
	case "any", "all":
		x = c.cast(x, array.Bool)
		r = c.Reduce(map[string]string{"any": "or", "all": "and"}[s.Kind], x, c.Const(stablehlo.Of(array.Bool), map[string]uint64{"all": 1}[s.Kind]), dims...)
	case "max", "min":
		r = c.extremes(s.Kind, x, dims)
	case "prod":
		x = c.Convert(x, wide(d))
		r = c.Reduce("multiply", x, c.number(stablehlo.Of(x.Type.Elem), 1), dims...)
	default:
		r = c.total(c.Convert(x, wide(d)), dims...)
	}
	return c.Reshape(c.Convert(r, d), c.out[0].Dims...)
}

// extremes is the greatest or least element over dims.
func (c *call) extremes(kind string, x *value, dims []int) *value {
	name, init := map[string]string{"max": "maximum", "min": "minimum"}[kind], lowest(x.Type.Elem)
	if kind == "min" {
		init = highest(x.Type.Elem)
	}
	if x.Type.Elem == array.Bool {
		name = map[string]string{"max": "or", "min": "and"}[kind]
	}
	r := c.Reduce(name, x, c.Const(stablehlo.Of(x.Type.Elem), init), dims...)
	return c.keepNaN(x, r, func(nan, none *value) *value { return c.Reduce("or", nan, none, dims...) })
}

// keepNaN returns r, maxima or minima of elements of x, with NaN where any of these is: XLA loses it in reductions by
// maximum and minimum that compute several elements at once, as it does on processors for all but small ones. The
// function folds where there is NaN as r was folded.
func (c *call) keepNaN(x, r *value, fold func(nan, none *value) *value) *value {
	if !x.Type.Elem.IsFloat() {
		return r
	}
	has := fold(c.isNaN(x), c.Const(stablehlo.Of(array.Bool), 0))
	return c.Op("select", has, c.number(r.Type, math.NaN()), r)
}

// first is the region that keeps the greater (or lesser) of two values with their i64
// indices; NaN wins, and of equal values the lower index, of NaNs the higher with lastNaN.
func first(kind string, d array.DType, lastNaN bool) *stablehlo.Region {
	t, i := stablehlo.Of(d), stablehlo.Of(array.I64)
	c := &call{Builder: stablehlo.NewBuilder(t, i, t, i)}
	a, ai, b, bi := c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3)
	better, equal := c.Compare(map[string]string{"max": "GT", "min": "LT"}[kind], b, a), c.Compare("EQ", a, b)
	lower := c.Compare("LT", bi, ai)
	swap := c.Op("or", better, c.Op("and", equal, lower))
	if d.IsFloat() {
		an, bn := c.isNaN(a), c.isNaN(b)
		among := lower
		if lastNaN {
			among = c.Compare("GT", bi, ai)
		}
		swap = c.Op("or", swap, c.Op("and", bn, c.Op("or", c.Op("not", an), among)))
	}
	return c.Return(c.Op("select", swap, b, a), c.Op("select", swap, bi, ai))
}

// pair returns x with the scalars that a search for its extremes starts from.
func (c *call) pair(kind string, x, idx *value) []*value {
	init := lowest(x.Type.Elem)
	if kind == "min" {
		init = highest(x.Type.Elem)
	}
	return []*value{x, idx, c.Const(stablehlo.Of(x.Type.Elem), init), c.Const(stablehlo.Of(array.I64), math.MaxInt64)}
}

// best returns the extremes over dims and what idx says of them.
func (c *call) best(kind string, x, idx *value, dims []int, lastNaN bool) []*value {
	o := c.With("reduce", c.pair(kind, x, idx), "dimensions", stablehlo.Ints(dims))
	o.Regions = []*stablehlo.Region{first(kind, x.Type.Elem, lastNaN)}
	return c.Add(o)
}

func arg(c *call) *value {
	s, x := step[*kernel.ArgReduce](c), c.in[0]
	dim := s.Dim
	if s.Flat || x.Type.Rank() == 0 {
		x, dim = c.Reshape(x, x.Type.Len()), 0
	}
	idx := c.Iota(x.Type.As(array.I64), dim)
	return c.Reshape(c.best(s.Kind[len("arg"):], x, idx, []int{dim}, false)[1], c.out[0].Dims...)
}

func minMaxDim(c *call) []*value {
	s, x := step[*kernel.MinMaxDim](c), c.in[0]
	if x.Type.Rank() == 0 {
		return []*value{x, c.Const(c.out[1], 0)}
	}
	out := c.best(s.Kind, x, c.Iota(x.Type.As(array.I64), s.Dim), []int{s.Dim}, false)
	return []*value{c.Reshape(out[0], c.out[0].Dims...), c.Reshape(out[1], c.out[1].Dims...)}
}

// cumulate is a window that reaches back to the beginning.
func cumulate(c *call) *value {
	s := step[*kernel.Scan](c)
	x := c.Convert(c.in[0], wide(c.out[0].Elem))
	if x.Type.Len() == 0 || x.Type.Rank() == 0 {
		return c.Convert(x, c.out[0].Elem)
	}
	n, r := x.Type.Dims[s.Dim], x.Type.Rank()
	size, lo := repeated(1, r), repeated(0, r)
	size[s.Dim], lo[s.Dim] = n, n-1
	name, init := "add", 0.0
	if s.Kind == "cumprod" {
		name, init = "multiply", 1
	}
	o := c.With("reduce_window", []*value{x, c.number(stablehlo.Of(x.Type.Elem), init)}, "window_dimensions", stablehlo.Ints(size),
		"padding", stablehlo.Pairs(lo, repeated(0, r)))
	o.Regions = []*stablehlo.Region{stablehlo.Binary(name, x.Type.Elem)}
	return c.Convert(c.Add(o)[0], c.out[0].Elem)
}

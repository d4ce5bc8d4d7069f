package expand

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// sampling are the operators that read images at points which tensors give.
var sampling = merge(one(std.GridSample, gridSample), one(std.RoiAlign, roiAlign))

// points are the taps of coordinates along an axis: at [...,taps], their weights, and
// which of them are there.
type points struct{ at, weight, inside op.Value }

func gridSample(c *maker, a std.GridSampleAttrs, in []op.Value) op.Value {
	x, grid := c.image(in[0]), c.image(in[1])
	r, d, out := reals{c, x.Type().DType()}, c.dims(x), c.outDims(0)
	n := len(d) - 2
	places := prod(out[2:]...)
	grid = c.reshape(grid, d[0], places, shape.Const(n))
	axes := make([]points, n)
	for i := range n { // the last coordinate is of the first axis
		axes[i] = r.grid(a, c.pick(grid, 2, n-1-i), d[2+i])
	}
	at, weight, inside := crossed(c, axes, d[2:])
	taps := c.dims(at)[2]
	// Every tap of every point, for all channels: [N,C,P*taps].
	index := c.expand(c.reshape(at, d[0], shape.Const(1), places.Mul(taps)), d[0], d[1], places.Mul(taps))
	plane := c.padAxis(c.reshape(x, d[0], d[1], prod(d[2:]...)), 2, 0, 1, 0) // what is not there is the one more
	y := c.reshape(c.call(std.Gather, std.DimAttrs{Dim: 2}, plane, index), d[0], d[1], places, taps)
	flat := func(v op.Value) op.Value { return c.reshape(v, d[0], shape.Const(1), places, taps) }
	y = c.where(flat(inside), c.mul(y, flat(weight)), r.lit(0))
	return c.cast(c.reshape(c.sum(y, op.IntList(3), false), out...), c.result(0).DType())
}

// crossed combines the taps of all axes of a plane: places in it [...,taps], one after
// the plane for what is not there, and the products of the weights.
func crossed(c *maker, axes []points, sizes []shape.Dim) (at, weight, inside op.Value) {
	for i, p := range axes {
		place := c.mul(p.at, c.number(prod(sizes[i+1:]...)))
		if at == nil {
			at, weight, inside = place, p.weight, p.inside
			continue
		}
		before, now := c.dims(at), c.dims(place)
		last := len(before) - 1
		cross := func(v, w op.Value, combine func(x, y op.Value) op.Value) op.Value {
			v = c.reshape(v, append(append([]shape.Dim{}, before...), shape.Const(1))...)
			w = c.reshape(w, put(now, last, shape.Const(1))...)
			return c.reshape(combine(v, w), append(append([]shape.Dim{}, before[:last]...), before[last].Mul(now[last]))...)
		}
		at, weight, inside = cross(at, place, c.add), cross(weight, p.weight, c.mul), cross(inside, p.inside, c.and)
	}
	return c.where(inside, at, c.number(prod(sizes...))), weight, inside
}

// grid are the taps of coordinates between -1 and 1 along an axis of a size.
func (r reals) grid(a std.GridSampleAttrs, x op.Value, size shape.Dim) points {
	n := r.count(size)
	if a.AlignCorners {
		x = r.mul(r.div(r.addF(x, 1), r.lit(2)), r.addF(n, -1))
	} else {
		x = r.div(r.addF(r.mul(r.addF(x, 1), n), -1), r.lit(2))
	}
	there := r.compare(std.Eq, x, x) // points that are NaN read nothing
	var at, weight []op.Value
	switch a.Mode {
	case "nearest":
		x = r.apply(std.Round, r.bordered(a, x, n))
		at, weight = []op.Value{x}, []op.Value{r.addF(r.call(std.ZerosLike, std.LikeAttrs{}, x), 1)}
	case "bicubic":
		low := r.floor(x)
		weight = r.cubicWeights(r.sub(x, low))
		for t := range weight {
			at = append(at, r.bordered(a, r.addF(low, float64(t-1)), n))
		}
	default:
		x = r.bordered(a, x, n)
		low := r.floor(x)
		at = []op.Value{low, r.addF(low, 1)}
		weight = []op.Value{r.sub(r.addF(low, 1), x), r.sub(x, low)}
	}
	last := x.Type().Rank()
	places := r.stack(last, at)
	inside := r.and(r.compareN(std.Ge, places, 0), r.compare(std.Lt, places, n))
	inside = r.and(inside, r.reshape(there, append(r.dims(there), shape.Const(1))...))
	index := r.index(r.where(inside, places, r.lit(0)))
	return points{at: index, weight: r.stack(last, weight), inside: inside}
}

// bordered moves coordinates into the image as the padding mode says.
func (r reals) bordered(a std.GridSampleAttrs, x, n op.Value) op.Value {
	switch a.PaddingMode {
	case "", "zeros":
		return x
	case "reflection":
		x = r.reflected(a.AlignCorners, x, n)
	}
	return r.clamp(x, r.addF(n, -1))
}

// reflected mirrors at the centres of the outermost elements, or at their outer edges.
func (r reals) reflected(align bool, x, n op.Value) op.Value {
	low, span := -0.5, n
	if align {
		low, span = 0, r.addF(n, -1)
	}
	d := r.apply(std.Abs, r.addF(x, -low))
	some := r.compareN(std.Gt, span, 0)
	far := r.call(std.Eq, std.BinaryAttrs{Other: op.Float(infinity)}, d)
	safe := r.where(r.or(far, r.apply(std.LogicalNot, some)), r.lit(0), d)
	unit := r.where(some, span, r.lit(1))
	extra := r.call(std.Fmod, std.ReversibleAttrs{}, safe, unit)
	// What is left is a multiple of the span, so that the quotient is whole.
	turns := r.apply(std.Round, r.div(r.sub(safe, extra), unit))
	odd := r.call(std.Fmod, std.ReversibleAttrs{Other: op.Float(2)}, turns)
	y := r.where(r.compareN(std.Eq, odd, 0), r.addF(extra, low), r.addF(r.sub(span, extra), low))
	y = r.where(far, r.lit(0), y)
	return r.where(some, y, r.lit(0))
}

// roiAlign takes means at as many points a part of a region as the attributes say.
func roiAlign(c *maker, a std.RoiAlignAttrs, in []op.Value) op.Value {
	switch {
	case a.SamplingRatio == 0:
		c.refuse("sampling_ratio is 0: the number of points follows from the regions")
	case a.Mode == "max":
		c.refuse("mode is max: which NaN counts follows from the order of the points")
	}
	x, rois := c.image(in[0]), c.image(in[1])
	r, d, out := reals{c, x.Type().DType()}, c.dims(x), c.outDims(0)
	regions := out[0]
	axes := make([]points, 2)
	for i := range axes {
		axes[i] = r.region(a, c.pick(rois, 1, 1-i), c.pick(rois, 1, 3-i), out[2+i], d[2+i])
	}
	y, xs := axes[0], axes[1]
	// [R,h,1,taps,1] next to [R,1,w,1,taps].
	high, wide := c.dims(y.at), c.dims(xs.at)
	one := shape.Const(1)
	down := func(v op.Value) op.Value { return c.reshape(v, regions, high[1], one, high[2], one) }
	along := func(v op.Value) op.Value { return c.reshape(v, regions, one, wide[1], one, wide[2]) }
	place := c.add(c.mul(down(y.at), c.number(d[3])), along(xs.at))
	image := c.mul(c.cast(in[2], array.I64), c.number(d[2].Mul(d[3])))
	place = c.add(place, c.reshape(image, regions, one, one, one, one))
	planes := c.reshape(c.swap(x, 0, 1), d[1], d[0].Mul(d[2]).Mul(d[3]))
	taps := c.take(planes, 1, place) // [C,R,h,w,taps,taps]
	weight, inside := c.mul(down(y.weight), along(xs.weight)), c.and(down(y.inside), along(xs.inside))
	taps = c.where(inside, c.mul(taps, weight), r.lit(0))
	mean := c.div(c.sum(taps, op.IntList(4, 5), false), r.lit(float64(a.SamplingRatio*a.SamplingRatio)))
	return c.cast(c.swap(mean, 0, 1), c.result(0).DType())
}

// region are the taps of the points of regions [R] from one corner to the other along an
// axis: [R,parts,2*points].
func (r reals) region(a std.RoiAlignAttrs, from, to op.Value, parts, size shape.Dim) points {
	offset := 0.0
	if a.Aligned {
		offset = -0.5
	}
	start := r.addF(r.mulF(from, a.SpatialScale), offset)
	extent := r.sub(r.addF(r.mulF(to, a.SpatialScale), offset), start)
	if !a.Aligned {
		extent = r.max(extent, r.lit(1))
	}
	samples := shape.Const(a.SamplingRatio)
	lay := func(v op.Value, at int) op.Value { return r.along(v, at, 3) }
	part := r.div(lay(extent, 0), r.count(parts))
	i, p := lay(r.of(r.iota(parts)), 1), lay(r.of(r.iota(samples)), 2)
	v := r.add(lay(start, 0), r.mul(i, part))
	v = r.add(v, r.div(r.mul(r.addF(p, 0.5), part), r.count(samples)))
	n := r.count(size)
	inside := r.and(r.call(std.Ge, std.BinaryAttrs{Other: op.Float(-1)}, v), r.compare(std.Le, v, n))
	v = r.where(inside, r.max(v, r.lit(0)), r.lit(0))
	end := r.addN(r.number(size), -1)
	low := r.index(v)
	last := r.compare(std.Ge, low, end)
	f := r.where(last, r.lit(0), r.sub(v, r.of(low)))
	both := func(x, y op.Value) op.Value { // [R,parts,points,2] together
		d := r.dims(x)
		return r.reshape(r.stack(3, []op.Value{x, y}), d[0], d[1], d[2].MulInt(2))
	}
	return points{at: both(r.min(low, end), r.min(r.addN(low, 1), end)), weight: both(r.sub(r.lit(1), f), f), inside: both(inside, inside)}
}

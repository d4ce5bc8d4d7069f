package expand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// resize is ONNX's Resize: every axis has a table of places and weights, which is
// computed in f64.
func resize(c *maker, a std.ResizeAttrs, in []op.Value) op.Value {
	x, out := in[0], c.outDims(0)
	n := a.Size.Len()
	nearest := a.Mode == "" || a.Mode == "nearest"
	if !nearest {
		x = c.image(x)
	}
	var outside op.Value
	positions := array.F64
	if nearest {
		positions = array.F32 // which decide what is taken, as kernel.Resample says
	}
	for i := range n {
		axis := len(out) - n + i
		t := sampled{reals: reals{c, positions}, a: a, size: c.dims(in[0])[axis], count: out[axis], end: 1}
		if a.ScaleFactor.Len() > 0 {
			t.given = a.ScaleFactor.At(i)
		}
		if a.Roi.Len() > 0 {
			t.start, t.end = a.Roi.At(i), a.Roi.At(n+i)
		}
		if t.copies() {
			continue
		}
		pos := t.position()
		if a.CoordinateTransformationMode == cropping {
			inside := c.and(c.compareN(std.Ge, pos, 0), c.compare(std.Le, pos, t.last()))
			pos = c.where(inside, pos, t.lit(0))
			outside = plus(c, outside, c.along(c.apply(std.LogicalNot, inside), i, n), c.or)
		}
		if nearest {
			x = resampled(c, x, axis, t.nearest(pos), nil)
			continue
		}
		index, weight := t.taps(pos)
		x = resampled(c, x, axis, index, c.cast(weight, x.Type().DType()))
	}
	if !nearest {
		x = imageBack(c, x)
	}
	if outside != nil {
		d := c.result(0).DType()
		x = c.where(outside, c.cast(c.full(array.F64, op.Float(a.ExtrapolationValue)), d), x)
	}
	return x
}

const cropping = "tf_crop_and_resize"

// sampled is how resize reads an axis of a size for count positions.
type sampled struct {
	reals
	a           std.ResizeAttrs
	size, count shape.Dim
	given       float64 // the scale, 0 for the ratio of the sizes
	start, end  float64 // of the region
}

// copies reports whether the axis certainly stays as it is.
func (t sampled) copies() bool {
	mode := t.a.CoordinateTransformationMode
	return t.size.Equal(t.count) && (t.given == 0 || t.given == 1) && mode != cropping && mode != "tf_half_pixel_for_nn"
}

// scale is the factor by which the axis grows.
func (t sampled) scale() op.Value {
	if t.given != 0 {
		return t.lit(t.given)
	}
	return t.div(t.reals.count(t.count), t.reals.count(t.size))
}

// last is the place of the last element.
func (t sampled) last() op.Value { return t.addF(t.reals.count(t.size), -1) }

// alone chooses by whether there is one result.
func (t sampled) alone(yes, no op.Value) op.Value {
	if n, ok := t.count.Int(); ok {
		if n == 1 {
			return yes
		}
		return no
	}
	return t.where(t.compareN(std.Eq, t.number(t.count), 1), yes, no)
}

// position is where each result lies in the source.
func (t sampled) position() op.Value {
	x, last := t.of(t.iota(t.count)), t.last()
	less := t.max(t.addF(t.reals.count(t.count), -1), t.lit(1)) // one result does not ask
	zero := t.mulF(x, 0)
	switch t.a.CoordinateTransformationMode {
	case "align_corners":
		return t.alone(zero, t.div(t.mul(x, last), less))
	case "asymmetric":
		return t.div(x, t.scale())
	case "tf_half_pixel_for_nn":
		return t.div(t.addF(x, 0.5), t.scale())
	case cropping:
		middle := t.add(zero, t.mulF(t.mulF(last, t.start+t.end), 0.5))
		along := t.div(t.mul(t.mulF(x, t.end-t.start), last), less)
		return t.alone(middle, t.add(t.mulF(last, t.start), along))
	}
	half := t.div(t.addF(x, 0.5), t.scale())
	switch t.a.CoordinateTransformationMode {
	case "pytorch_half_pixel":
		return t.alone(zero, t.addF(half, -0.5))
	case "half_pixel_symmetric":
		size := t.reals.count(t.size)
		part := t.div(t.reals.count(t.count), t.mul(t.scale(), size))
		half = t.add(half, t.mul(t.mulF(size, 0.5), t.sub(t.lit(1), part)))
	}
	return t.addF(half, -0.5)
}

// base is the left neighbour of each position, at a distance of more than 0.
func (t sampled) base(pos op.Value) op.Value { return t.addF(t.apply(std.Ceil, pos), -1) }

// inRange limits places to those of the axis.
func (t sampled) inRange(k op.Value) op.Value {
	return t.min(t.maxN(k, 0), t.addN(t.number(t.size), -1))
}

func (t sampled) nearest(pos op.Value) op.Value {
	base := t.base(pos)
	ratio := t.sub(pos, base)
	compare, bound := std.Le, 0.5
	switch t.a.NearestMode {
	case "round_prefer_ceil":
		compare = std.Lt
	case "floor":
		compare, bound = std.Lt, 1
	case "ceil":
		compare, bound = std.Lt, 0
	}
	left := t.compare(compare, ratio, t.lit(bound))
	k := t.index(t.where(left, base, t.addF(base, 1)))
	return sideBySide(t.maker, t.inRange(k))
}

// taps are the places and weights of what is combined, [count,taps].
func (t sampled) taps(pos op.Value) (index, weight op.Value) {
	support, step := 1.0, 1.0
	if t.a.Mode == "cubic" {
		support = 2
	}
	if t.a.Antialias {
		step = min(t.knownScale(), 1)
	}
	first := int(math.Floor(-support/step)) + 1
	base := t.base(pos)
	offsets := t.addN(t.iota(shape.Const(2-2*first)), first)
	k := t.add(t.along(base, 0, 2), t.of(t.along(offsets, 1, 2)))
	weight = t.weight(t.mulF(t.sub(k, t.along(pos, 0, 2)), step))
	at := t.index(k)
	if t.a.ExcludeOutside {
		inside := t.and(t.compareN(std.Ge, at, 0), t.compare(std.Lt, at, t.number(t.size)))
		weight = t.where(inside, weight, t.lit(0))
	}
	if t.a.Antialias || t.a.ExcludeOutside {
		sum := t.sum(weight, op.IntList(1), true)
		weight = t.div(weight, t.where(t.compareN(std.Eq, sum, 0), t.lit(1), sum))
	}
	return t.inRange(at), weight
}

// knownScale is the scale as a number, from which the number of taps follows.
func (t sampled) knownScale() float64 {
	if t.given != 0 {
		return t.given
	}
	n, m := t.int(t.count, "the size of the result"), t.int(t.size, "the size of the image")
	return float64(n) / float64(m)
}

// weight is the interpolating function at a distance.
func (t sampled) weight(x op.Value) op.Value {
	x = t.apply(std.Abs, x)
	if t.a.Mode == "linear" {
		return t.max(t.sub(t.lit(1), x), t.lit(0))
	}
	a := -0.75
	if t.a.CubicCoeffA.Present() {
		a = t.a.CubicCoeffA.Float64()
	}
	far := t.where(t.compareN(std.Lt, x, 2), t.cubicFar(x, a), t.lit(0))
	return t.where(t.compareN(std.Le, x, 1), t.cubicNear(x, a), far)
}

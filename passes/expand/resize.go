package expand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// resizing are the operators that interpolate images.
var resizing = merge(one(std.Interpolate, interpolate), one(std.Resize, resize))

// reals is arithmetic in one float type.
type reals struct {
	*maker
	d array.DType
}

func (c reals) of(x op.Value) op.Value     { return c.cast(x, c.d) }
func (c reals) count(n shape.Dim) op.Value { return c.of(c.number(n)) }
func (c reals) lit(f float64) op.Value     { return c.full(c.d, op.Float(f)) }
func (c reals) floor(x op.Value) op.Value  { return c.apply(std.Floor, x) }
func (c reals) index(x op.Value) op.Value  { return c.cast(x, array.I64) }

// clamp limits x to [0, most].
func (c reals) clamp(x, most op.Value) op.Value { return c.min(c.max(x, c.lit(0)), most) }

// resampled combines taps of an axis: index and weight are [count,taps]. Without weights
// there is one tap.
func resampled(c *maker, x op.Value, axis int, index, weight op.Value) op.Value {
	x = c.take(x, axis, index)
	if weight == nil {
		d := c.dims(x)
		return c.reshape(x, drop(d, axis+1)...)
	}
	d := make([]shape.Dim, x.Type().Rank())
	for i := range d {
		d[i] = shape.Const(1)
	}
	d[axis], d[axis+1] = weight.Type().Dim(0), weight.Type().Dim(1)
	return c.sum(c.mul(x, c.reshape(weight, d...)), op.IntList(axis+1), false)
}

// sideBySide lays vectors side by side, as [count,taps].
func sideBySide(c *maker, list ...op.Value) op.Value {
	return c.stack(1, list)
}

// imageType is the type that images of type d are interpolated in.
func imageType(d array.DType) array.DType {
	if d == array.F32 || wide(d) == array.F32 {
		return array.F32
	}
	return array.F64
}

// image is x in the type that it is interpolated in.
func (c *maker) image(x op.Value) op.Value { return c.cast(x, imageType(x.Type().DType())) }

// imageBack rounds and saturates what an image of integers becomes.
func imageBack(c *maker, x op.Value) op.Value {
	d := c.result(0).DType()
	if d.IsFloat() {
		return c.cast(x, d)
	}
	bits := 8 * d.Size()
	lo, hi := 0.0, math.Ldexp(1, bits)-1
	if d.IsSigned() {
		lo, hi = -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)-1
	}
	r := reals{c, x.Type().DType()}
	x = c.min(c.max(c.apply(std.Round, x), r.lit(lo)), r.lit(hi))
	return c.cast(x, d)
}

func interpolate(c *maker, a std.InterpolateAttrs, in []op.Value) op.Value {
	x, out := in[0], c.outDims(0)
	nearest := a.Mode == "" || a.Mode == "nearest" || a.Mode == "nearest-exact"
	if !nearest {
		x = c.image(x)
	}
	n := len(out) - 2
	for i := 2; i < len(out); i++ {
		scale := 0.0
		if k := a.ScaleFactor.Len(); k > 0 {
			scale = a.ScaleFactor.At(min(i-2, k-1))
		}
		t := scaling{reals{c, x.Type().DType()}, a.AlignCorners, c.dims(in[0])[i], out[i], scale}
		var index, weight op.Value
		switch {
		case nearest:
			t.d = array.F32 // whatever the element type: another rounding may pick a neighbour
			index = t.nearest(a.Mode == "nearest-exact")
		case a.Mode == "bicubic":
			index, weight = t.cubic()
		default:
			index, weight = t.linear()
		}
		x = resampled(c, x, i, index, weight)
	}
	if nearest || n == 0 {
		return x
	}
	return imageBack(c, x)
}

// scaling is how interpolate reads an axis of a size for count positions.
type scaling struct {
	reals
	align       bool
	size, count shape.Dim
	scale       float64 // 0: the sizes decide
}

// same chooses by whether the sizes are equal, or one is so many times the other.
func (t scaling) same(times int, yes, no op.Value) op.Value {
	size := t.size.MulInt(times)
	if size.Equal(t.count) {
		return yes
	}
	_, a := size.Int()
	_, b := t.count.Int()
	if a && b {
		return no
	}
	return t.where(t.compare(std.Eq, t.number(size), t.number(t.count)), yes, no)
}

// step is the distance between neighbouring results in units of the source.
func (t scaling) step() op.Value {
	size, count := t.reals.count(t.size), t.reals.count(t.count)
	switch {
	case t.align:
		less := t.max(t.addF(count, -1), t.lit(1)) // of one result the distance is of no matter
		return t.where(t.compareN(std.Gt, count, 1), t.div(t.addF(size, -1), less), t.lit(0))
	case t.scale > 0:
		return t.lit(1 / t.scale)
	}
	return t.div(size, count)
}

// position is where each result lies in the source.
func (t scaling) position() op.Value {
	i := t.of(t.iota(t.count))
	if t.align {
		return t.mul(t.step(), i)
	}
	return t.addF(t.mul(t.step(), t.addF(i, 0.5)), -0.5)
}

func (t scaling) nearest(exact bool) op.Value {
	t.align = false
	i := t.iota(t.count)
	place := t.of(i)
	if exact {
		place = t.addF(place, 0.5)
	}
	k := t.index(t.floor(t.mul(place, t.step())))
	if !exact {
		k = t.same(2, t.quotient(i, t.full(array.I64, op.Int(2))), k)
		k = t.same(1, i, k)
	}
	return sideBySide(t.maker, t.min(t.maxN(k, 0), t.addN(t.number(t.size), -1)))
}

func (t scaling) linear() (index, weight op.Value) {
	most := t.addF(t.reals.count(t.size), -1)
	pos := t.same(1, t.of(t.iota(t.count)), t.clamp(t.position(), most))
	end := t.addN(t.number(t.size), -1)
	k := t.min(t.index(pos), end)
	f := t.sub(pos, t.of(k))
	return sideBySide(t.maker, k, t.min(t.addN(k, 1), end)), sideBySide(t.maker, t.sub(t.lit(1), f), f)
}

func (t scaling) cubic() (index, weight op.Value) {
	pos := t.position()
	low := t.floor(pos)
	f := t.clamp(t.sub(pos, low), t.lit(1))
	end := t.addN(t.number(t.size), -1)
	at := make([]op.Value, 4)
	for j := range at {
		at[j] = t.min(t.maxN(t.addN(t.index(low), j-1), 0), end)
	}
	return sideBySide(t.maker, at...), sideBySide(t.maker, t.cubicWeights(f)...)
}

// cubicWeights are those of the four places around a point f after the second one.
// Ref: Keys, Cubic convolution interpolation for digital image processing, 1981.
func (c reals) cubicWeights(f op.Value) []op.Value {
	one, two := c.lit(1), c.lit(2)
	return []op.Value{c.cubicFar(c.add(f, one), -0.75), c.cubicNear(f, -0.75), c.cubicNear(c.sub(one, f), -0.75), c.cubicFar(c.sub(two, f), -0.75)}
}

// cubicNear is the kernel at distances up to 1.
func (c reals) cubicNear(x op.Value, a float64) op.Value {
	p := c.addF(c.mulF(x, a+2), -(a + 3))
	return c.addF(c.mul(c.mul(p, x), x), 1)
}

// cubicFar is the kernel at distances from 1 to 2.
func (c reals) cubicFar(x op.Value, a float64) op.Value {
	p := c.addF(c.mulF(x, a), -5*a)
	p = c.addF(c.mul(p, x), 8*a)
	return c.addF(c.mul(p, x), -4*a)
}

// infinity is the greatest number.
var infinity = math.Inf(1)

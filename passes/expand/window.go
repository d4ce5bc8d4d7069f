package expand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// span says where the windows over one axis lie: at holds the positions [count,taps] of
// their elements, inside which of these are there (nil: all).
type span struct {
	size, count, taps shape.Dim
	at, inside        op.Value
}

// sliding are windows of k elements, dilation apart, of which one begins every stride
// elements, the first pad elements before the axis.
func sliding(c *maker, size, count shape.Dim, k, stride, pad, dilation int) span {
	s := span{size: size, count: count, taps: shape.Const(k)}
	begin := c.along(c.addN(c.mulN(c.iota(count), stride), -pad), 0, 2)
	s.at = c.add(begin, c.along(c.mulN(c.iota(s.taps), dilation), 1, 2))
	n, sized := size.Int()
	last, counted := count.Int()
	if sized && counted && pad == 0 && (last-1)*stride+(k-1)*dilation < n {
		return s
	}
	s.inside = c.and(c.compareN(std.Ge, s.at, 0), c.compare(std.Lt, s.at, c.number(size)))
	return s
}

// adaptive are the windows of an adaptive pool: window i begins at floor(i*size/count)
// and ends before ceil((i+1)*size/count).
func adaptive(c *maker, size, count shape.Dim) span {
	s := span{size: size, count: count, taps: size.AddInt(-1).FloorDiv(count).AddInt(2)}
	if q, ok := size.DivExact(count); ok {
		s.taps = q
	} else if n, ok := size.Int(); ok {
		s.taps = shape.Const(widest(n, count))
	}
	n, out, i := c.number(size), c.number(count), c.iota(count)
	begin := c.quotient(c.mul(i, n), out)
	end := c.quotient(c.addN(c.add(c.mul(c.addN(i, 1), n), out), -1), out)
	s.at = c.add(c.along(begin, 0, 2), c.along(c.iota(s.taps), 1, 2))
	if _, ok := size.DivExact(count); !ok {
		s.inside = c.compare(std.Lt, s.at, c.along(end, 0, 2))
	}
	return s
}

// widest is the size of the greatest window over n elements.
func widest(n int, count shape.Dim) int {
	out, _ := count.Int()
	most := 0
	for i := range out {
		most = max(most, ((i+1)*n+out-1)/out-i*n/out)
	}
	return most
}

// windows takes the windows over the last axes of x: a value [lead..., counts..., taps],
// and in the shape [counts..., taps] the places of its elements in the plane and which of
// them are there (nil: all). What is not there is fill.
func windows(c *maker, x op.Value, spans []span, fill op.Scalar) (taps, places, inside op.Value) {
	d := c.dims(x)
	lead, n := len(d)-len(spans), len(spans)
	for i, s := range spans {
		x = axisTaps(c, x, lead+2*i, s, fill)
		stride := c.number(prod(d[lead+i+1:]...))
		places = plus(c, places, spread(c, c.mul(s.at, stride), i, n), c.add)
		if s.inside != nil {
			inside = plus(c, inside, spread(c, s.inside, i, n), c.and)
		}
	}
	var counts, all []shape.Dim
	for _, s := range spans {
		counts, all = append(counts, s.count), append(all, s.taps)
	}
	flat := append(append([]shape.Dim{}, counts...), prod(all...))
	together := append(append([]shape.Dim{}, counts...), all...)
	order := sequence(lead)
	for k := range 2 {
		for i := range n {
			order = append(order, lead+2*i+k)
		}
	}
	taps = c.reshape(c.permute(x, order...), append(append([]shape.Dim{}, d[:lead]...), flat...)...)
	places = c.reshape(c.expand(places, together...), flat...)
	if inside != nil {
		inside = c.reshape(c.expand(inside, together...), flat...)
	}
	return taps, places, inside
}

// axisTaps replaces an axis by its windows and their elements, with fill in place of those
// that are not there: one more element of the axis.
func axisTaps(c *maker, x op.Value, i int, s span, fill op.Scalar) op.Value {
	at := s.at
	if s.inside != nil {
		x = c.padAxis(x, i, 0, 1, fill.Float64())
		at = c.where(s.inside, at, c.number(s.size))
	}
	return c.take(x, i, at)
}

// spread lays a value [count,taps] of axis i of n along [counts..., taps...].
func spread(c *maker, v op.Value, i, n int) op.Value {
	d := make([]shape.Dim, 2*n)
	for k := range d {
		d[k] = shape.Const(1)
	}
	d[i], d[n+i] = v.Type().Dim(0), v.Type().Dim(1)
	return c.reshape(v, d...)
}

// plus combines two values of which the first may be absent.
func plus(c *maker, x, y op.Value, combine func(x, y op.Value) op.Value) op.Value {
	if x == nil {
		return y
	}
	return combine(x, y)
}

// lowest is the least number of an element type.
func lowest(d array.DType) op.Scalar {
	switch {
	case d.IsFloat():
		return op.Float(math.Inf(-1))
	case !d.IsSigned():
		return op.Int(0)
	}
	return op.Int(-1 << (8*d.Size() - 1))
}

// greatest takes the greatest element of every window and its place: of equal ones the
// first, but of NaN the last. What is not inside is the lowest number. A window without elements has the lowest number, at the
// place none.
func greatest(c *maker, taps, places, inside, none op.Value) (values, at op.Value) {
	t := taps.Type()
	last := op.IntList(-1)
	most := extreme(c, std.Amax, taps, last, true)
	hit := c.compare(std.Eq, taps, most)
	if inside != nil {
		hit = c.and(hit, inside)
	}
	beyond := c.full(array.I64, op.Int(math.MaxInt64))
	first := extreme(c, std.Amin, c.where(hit, places, beyond), last, false)
	if t.DType().IsFloat() {
		nan := extreme(c, std.Amax, c.where(c.apply(std.Isnan, taps), places, c.full(array.I64, op.Int(-1))), last, false)
		first = c.where(c.compareN(std.Ge, nan, 0), nan, first)
	}
	if none != nil {
		first = c.where(c.compare(std.Eq, first, beyond), none, first)
	}
	d := c.dims(most)
	return c.reshape(most, d[:len(d)-1]...), first
}

// list is an attribute with one entry for each of n axes, or one for all.
func list(a op.Ints, n, def int) []int {
	out := make([]int, n)
	for i := range out {
		switch a.Len() {
		case 0:
			out[i] = def
		case 1:
			out[i] = a.At(0)
		default:
			out[i] = a.At(i)
		}
	}
	return out
}

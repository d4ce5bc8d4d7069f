package op

import "github.com/gofx-dev/gofx/shape"

// run is a sequence of dimensions that are one evenly spaced row of elements, whatever
// the sizes.
type run struct {
	total, stride shape.Dim
	from, to      int // its dimensions
}

// reshaped lays the elements of at, in their order, with other dimensions.
//
// Dimensions that are one evenly spaced row become any that have as many elements. Of
// several rows, each must be used up by some of the new dimensions: that is an identity of
// products, except one row, which has what is left.
func reshaped(at Layout, d shape.Dims, _ int) (Layout, shape.Truth) {
	l := Layout{Sizes: d.Slice(), Strides: make([]shape.Dim, d.Len()), Moved: at.Moved}
	rows := at.runs()
	if len(rows) == 0 { // one element, or none
		l.Strides = spread(l.Sizes, shape.Const(1))
		return l, shape.True
	}
	lo, hi, first, last := 0, d.Len(), 0, len(rows)-1
	for first < last {
		if i, ok := backward(l.Sizes[lo:hi], rows[last].total); ok {
			copy(l.Strides[lo+i:], spread(l.Sizes[lo+i:hi], rows[last].stride))
			hi, last = lo+i, last-1
			continue
		}
		i, ok := forward(l.Sizes[lo:hi], rows[first].total)
		if !ok {
			return l, at.torn(rows[first:last+1], l.Sizes[lo:hi])
		}
		copy(l.Strides[lo:], spread(l.Sizes[lo:lo+i], rows[first].stride))
		lo, first = lo+i, first+1
	}
	copy(l.Strides[lo:], spread(l.Sizes[lo:hi], rows[first].stride))
	return l, shape.True
}

// spread returns the strides of dimensions that are one row of elements.
func spread(sizes []shape.Dim, stride shape.Dim) []shape.Dim {
	out := make([]shape.Dim, len(sizes))
	for i := len(sizes) - 1; i >= 0; i-- {
		out[i] = stride
		stride = stride.Mul(sizes[i])
	}
	return out
}

// runs joins neighbouring dimensions that are one row. Those of size 1 are left out; it is
// empty where there are no others, or no elements.
func (l Layout) runs() (rows []run) {
	for i, n := range l.Sizes {
		switch {
		case n.Is(0):
			return nil
		case n.Is(1):
			continue
		}
		r := run{n, l.Strides[i], i, i + 1}
		if k := len(rows) - 1; k >= 0 && rows[k].stride.Equal(n.Mul(r.stride)) {
			r.total, r.from = rows[k].total.Mul(n), rows[k].from
			rows = rows[:k]
		}
		rows = append(rows, r)
	}
	return rows
}

// backward returns where the dimensions at the end begin whose product is total.
func backward(sizes []shape.Dim, total shape.Dim) (from int, ok bool) {
	n := shape.Const(1)
	for i := len(sizes) - 1; i >= 0; i-- {
		if n = n.Mul(sizes[i]); n.Equal(total) {
			return i, true
		}
	}
	return 0, false
}

// forward returns where the dimensions at the beginning end whose product is total.
func forward(sizes []shape.Dim, total shape.Dim) (to int, ok bool) {
	n := shape.Const(1)
	for i, d := range sizes {
		if n = n.Mul(d); n.Equal(total) {
			return i + 1, true
		}
	}
	return 0, false
}

// torn tells whether rows that could not be told apart in the new dimensions have no such
// view for any sizes: two neighbours that surely lie apart, both of more than one
// element, would have to become one. That is known where all goes into one dimension, and
// where all are numbers.
func (l Layout) torn(rows []run, to []shape.Dim) shape.Truth {
	var from []run // all dimensions, by themselves
	for i := rows[0].from; i < rows[len(rows)-1].to; i++ {
		if !l.Sizes[i].Is(1) {
			from = append(from, run{l.Sizes[i], l.Strides[i], i, i + 1})
		}
	}
	if len(to) == 1 {
		return separate(from)
	}
	for len(from) > 0 && len(to) > 0 {
		i, j, p, q := 1, 1, from[0].total, to[0]
		for !p.Equal(q) {
			a, known := p.Int()
			b, too := q.Int()
			switch {
			case !known || !too:
				return shape.Open
			case a < b && i < len(from):
				p, i = p.Mul(from[i].total), i+1
			case a > b && j < len(to):
				q, j = q.Mul(to[j]), j+1
			default:
				return shape.Open
			}
		}
		if separate(from[:i]) == shape.False {
			return shape.False
		}
		from, to = from[i:], to[j:]
	}
	return shape.Open
}

// separate is False where two neighbours surely are not one row.
func separate(from []run) shape.Truth {
	for i := 1; i < len(from); i++ {
		a, b := from[i-1], from[i]
		if several(a.total) && several(b.total) && alwaysDiffer(a.stride, b.total.Mul(b.stride)) {
			return shape.False
		}
	}
	return shape.Open
}

// several reports whether a size is more than 1 wherever there are elements at all.
func several(n shape.Dim) bool {
	if c, known := n.Int(); known {
		return c > 1
	}
	for k := 2; k <= 7; k++ { // k*N: N is at least 1
		if _, ok := n.DivExact(shape.Const(k)); ok {
			return true
		}
	}
	return shape.AtLeast(n, shape.Const(2)).Truth() == shape.True
}

// alwaysDiffer reports whether two strides differ wherever there are elements. Strides that are
// not 0 are products of sizes then, none of them 0.
func alwaysDiffer(a, b shape.Dim) bool {
	if a.IsUnknown() || b.IsUnknown() {
		return false
	}
	for _, p := range [][2]shape.Dim{{a, b}, {b, a}} {
		if p[1].Is(0) {
			return !p[0].Is(0)
		}
		if q, ok := p[0].DivExact(p[1]); ok {
			c, known := q.Int()
			return known && c != 1 || !known && several(q)
		}
	}
	return shape.Differ(a, b)
}

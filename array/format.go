package array

import (
	"math"
	"strconv"
	"strings"
)

// edge is the number of elements printed at each end of a shortened dimension.
const edge = 3

// Format returns a text for people in the manner of PyTorch:
//
//	tensor([[1.0000, 2.5000],
//	        [3.0000, 4.0000]])
//
// Arrays of more than maxElems elements are shortened to three at each end of
// every dimension. The element type follows unless it is f32, i64 or bool; the
// size follows when there is no element to show it.
func Format(a *Array, maxElems int) string {
	p := printer{a: a, short: a.Len() > maxElems}
	var b strings.Builder
	b.WriteString("tensor(")
	if a.Len() == 0 {
		b.WriteString("[]")
		if a.Rank() > 1 {
			b.WriteString(", size=" + strings.TrimPrefix(describe(a), a.dtype.String()))
		}
	} else {
		p.each(0, a.offset, func(i int) { p.look(i) })
		p.each(0, a.offset, func(i int) { p.width = max(p.width, len(p.text(i))) })
		p.write(&b, 0, a.offset)
	}
	if a.dtype != F32 && a.dtype != I64 && a.dtype != Bool {
		b.WriteString(", dtype=" + a.dtype.String())
	}
	b.WriteByte(')')
	return b.String()
}

// printer chooses one notation for all shown elements of a.
type printer struct {
	a          *Array
	short      bool
	fractional bool    // an element is no whole number
	least, top float64 // magnitudes of the finite elements that are not 0
	width      int
}

// shown calls f for the indices printed of a dimension, and with -1 for the gap.
func (p *printer) shown(n int, f func(i int)) {
	for i := 0; i < n; i++ {
		if p.short && n > 2*edge && i == edge {
			f(-1)
			i = n - edge
		}
		f(i)
	}
}

// each calls f with the place in the storage of every element shown.
func (p *printer) each(dim, at int, f func(i int)) {
	if dim == p.a.Rank() {
		f(at)
		return
	}
	p.shown(p.a.shape[dim], func(i int) {
		if i >= 0 {
			p.each(dim+1, at+i*p.a.strides[dim], f)
		}
	})
}

func (p *printer) value(i int) float64 {
	return Float64At(&Array{dtype: p.a.dtype, offset: i, store: p.a.store}, 0)
}

func (p *printer) look(i int) {
	if !p.a.dtype.IsFloat() && !p.a.dtype.IsNarrowFloat() {
		return
	}
	v := math.Abs(p.value(i))
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return
	}
	if p.top == 0 {
		p.least = v
	}
	p.least, p.top = min(p.least, v), max(p.top, v)
	p.fractional = p.fractional || v != math.Trunc(v)
}

func (p *printer) text(i int) string {
	e := &Array{dtype: p.a.dtype, offset: i, store: p.a.store}
	switch {
	case p.a.dtype == Bool:
		return strconv.FormatBool(Int64At(e, 0) != 0)
	case p.a.dtype == U64:
		return strconv.FormatUint(Raw[uint64](e)[i], 10)
	case !p.a.dtype.IsFloat() && !p.a.dtype.IsNarrowFloat():
		return strconv.FormatInt(Int64At(e, 0), 10)
	}
	v := p.value(i)
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'f', -1, 64)), "+")
	case p.top > 1e8 || p.fractional && (p.least < 1e-4 || p.top/p.least > 1000):
		return strconv.FormatFloat(v, 'e', 4, 64)
	case p.fractional:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + "."
}

func (p *printer) write(b *strings.Builder, dim, at int) {
	if dim == p.a.Rank() {
		s := p.text(at)
		b.WriteString(strings.Repeat(" ", p.width-len(s)))
		b.WriteString(s)
		return
	}
	b.WriteByte('[')
	inner := p.a.Rank() - dim - 1
	p.shown(p.a.shape[dim], func(i int) {
		if i != 0 {
			b.WriteByte(',')
			if inner == 0 {
				b.WriteByte(' ')
			} else {
				b.WriteString(strings.Repeat("\n", inner) + strings.Repeat(" ", len("tensor(")+dim+1))
			}
		}
		if i < 0 {
			b.WriteString("...")
			return
		}
		p.write(b, dim+1, at+i*p.a.strides[dim])
	})
	b.WriteByte(']')
}

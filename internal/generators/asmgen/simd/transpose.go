package simd

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Transpose8 transposes the matrix of 64-bit elements whose rows are the first
// registers, as many as one holds elements, with the help of as many more, and
// returns the registers that then hold its columns.
func (s ISA) Transpose8() []int {
	n := s.Lanes() / 2
	for i := 0; i < n; i += 2 {
		s.VUNPCKLPD(s.V(i+1), s.V(i), s.V(n+i))
		s.VUNPCKHPD(s.V(i+1), s.V(i), s.V(n+i+1))
	}
	// Register n+2g+c has columns c, c+2, ... of rows 2g and 2g+1, a part each.
	if !s.wide {
		for c := range 2 {
			s.VPERM2F128(U8(0x20), s.V(6+c), s.V(4+c), s.V(c))
			s.VPERM2F128(U8(0x31), s.V(6+c), s.V(4+c), s.V(2+c))
		}
		return []int{0, 1, 2, 3}
	}
	for c := range 2 {
		for half := range 2 {
			a, b := s.V(8+4*half+c), s.V(10+4*half+c)
			s.VSHUFF64X2(U8(0x88), b, a, s.V(4*half+c))   // columns c, c+4
			s.VSHUFF64X2(U8(0xdd), b, a, s.V(4*half+2+c)) // columns c+2, c+6
		}
	}
	out := make([]int, n)
	for c := range 4 {
		s.VSHUFF64X2(U8(0x88), s.V(4+c), s.V(c), s.V(8+c))
		s.VSHUFF64X2(U8(0xdd), s.V(4+c), s.V(c), s.V(12+c))
		out[c], out[4+c] = 8+c, 12+c
	}
	return out
}

// TransposeNarrow transposes eight rows of 8-bit or 16-bit elements, which are
// the first eight registers of 128 bits: the low eight elements of each. Eight
// more registers help. Of 16-bit elements the returned registers hold a column
// each, of 8-bit elements two.
func TransposeNarrow(c *build.Context, s ISA, size int) []int {
	x := func(i int) Op { return s.V(i).AsX() }
	if size == 1 {
		for i := range 4 {
			c.VPUNPCKLBW(x(2*i+1), x(2*i), x(8+i))
		}
		for i := range 2 {
			c.VPUNPCKLWD(x(9+2*i), x(8+2*i), x(2*i))
			c.VPUNPCKHWD(x(9+2*i), x(8+2*i), x(2*i+1))
		}
		for i := range 2 {
			c.VPUNPCKLDQ(x(2+i), x(i), x(8+2*i))
			c.VPUNPCKHDQ(x(2+i), x(i), x(9+2*i))
		}
		return []int{8, 9, 10, 11}
	}
	for i := range 4 {
		c.VPUNPCKLWD(x(2*i+1), x(2*i), x(8+2*i))
		c.VPUNPCKHWD(x(2*i+1), x(2*i), x(9+2*i))
	}
	// Pairs 8+4h+{0,1} and 8+4h+{2,3} have rows 4h to 4h+3.
	for h := range 2 {
		for part := range 2 {
			a, b := 8+4*h+part, 10+4*h+part
			c.VPUNPCKLDQ(x(b), x(a), x(4*h+2*part))
			c.VPUNPCKHDQ(x(b), x(a), x(4*h+2*part+1))
		}
	}
	for q := range 4 {
		c.VPUNPCKLQDQ(x(4+q), x(q), x(8+2*q))
		c.VPUNPCKHQDQ(x(4+q), x(q), x(9+2*q))
	}
	return []int{8, 9, 10, 11, 12, 13, 14, 15}
}

// Transpose4 transposes the matrix of floats whose rows are the first registers,
// as many as one has lanes, with the help of as many more, and returns the
// registers that then hold its columns.
func (s ISA) Transpose4() []int {
	n := s.Lanes()
	a, b := make([]int, n), make([]int, n) // registers of the rows, and spare ones
	for i := range n {
		a[i], b[i] = i, n+i
	}
	// Pairs of rows, then quadruples, within each 128-bit part.
	for i := 0; i < n; i += 2 {
		s.VUNPCKLPS(s.V(a[i+1]), s.V(a[i]), s.V(b[i]))
		s.VUNPCKHPS(s.V(a[i+1]), s.V(a[i]), s.V(b[i+1]))
	}
	for i := 0; i < n; i += 4 {
		s.VUNPCKLPD(s.V(b[i+2]), s.V(b[i]), s.V(a[i]))
		s.VUNPCKHPD(s.V(b[i+2]), s.V(b[i]), s.V(a[i+1]))
		s.VUNPCKLPD(s.V(b[i+3]), s.V(b[i+1]), s.V(a[i+2]))
		s.VUNPCKHPD(s.V(b[i+3]), s.V(b[i+1]), s.V(a[i+3]))
	}
	// a[4g+c] now has columns c, c+4, ... of rows 4g to 4g+3, a part each.
	out := make([]int, n)
	if !s.wide {
		for c := range 4 {
			s.VPERM2F128(U8(0x20), s.V(a[4+c]), s.V(a[c]), s.V(b[c]))
			s.VPERM2F128(U8(0x31), s.V(a[4+c]), s.V(a[c]), s.V(b[4+c]))
			out[c], out[4+c] = b[c], b[4+c]
		}
		return out
	}
	for c := range 4 {
		s.VSHUFF32X4(U8(0x88), s.V(a[4+c]), s.V(a[c]), s.V(b[c]))      // columns c, c+8 of rows 0-7
		s.VSHUFF32X4(U8(0xdd), s.V(a[4+c]), s.V(a[c]), s.V(b[4+c]))    // columns c+4, c+12
		s.VSHUFF32X4(U8(0x88), s.V(a[12+c]), s.V(a[8+c]), s.V(b[8+c])) // the same of rows 8-15
		s.VSHUFF32X4(U8(0xdd), s.V(a[12+c]), s.V(a[8+c]), s.V(b[12+c]))
	}
	for c := range 4 {
		s.VSHUFF32X4(U8(0x88), s.V(b[8+c]), s.V(b[c]), s.V(a[c]))
		s.VSHUFF32X4(U8(0x88), s.V(b[12+c]), s.V(b[4+c]), s.V(a[4+c]))
		s.VSHUFF32X4(U8(0xdd), s.V(b[8+c]), s.V(b[c]), s.V(a[8+c]))
		s.VSHUFF32X4(U8(0xdd), s.V(b[12+c]), s.V(b[4+c]), s.V(a[12+c]))
	}
	for c := range n {
		out[c] = a[c]
	}
	return out
}

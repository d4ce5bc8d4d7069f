package simd

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// FarAhead is how many bytes ahead weights are asked for that few rows read from memory: past the page
// that hardware stays in, and for the second cache (PREFETCHT1), since the first one has room for too few requests.
const FarAhead = 16384

// NextPage asks for the first two lines of the page after the one that p is in; a stream that is read in order and hardly computed
// with calls it once for 256 bytes. Hardware asks for the lines of a page by itself, but notices late that the next one has begun. FarAhead asks for all lines:
// the stream then gets no more than the first cache has requests for, 20 GB/s on Zen 4, but waits for none while it computes.
func NextPage(c *build.Context, p reg.Register) {
	t := c.GP64()
	c.MOVQ(p, t)
	c.ORQ(I32(page-1), t)
	for line := range 2 {
		c.PREFETCHT1(At(t, 1+64*line))
	}
}

const page = 4096

// Wholes repeats body while n is at least step, which it takes from n, and goes on at
// the label after.
func (s ISA) Wholes(label, after string, n reg.GPVirtual, step int, body func()) {
	s.Label(label)
	s.CMPQ(n, U8(step))
	s.JLT(LabelRef(after))
	body()
	s.SUBQ(U8(step), n)
	s.JMP(LabelRef(label))
	s.Label(after)
}

// Masked runs body for the rest, n lanes of a register, with a mask in opmask k or
// vector register y, if anything is; it goes on at the label after.
func (s ISA) Masked(after string, n reg.GPVirtual, k reg.Register, y int, body func(m *Mask)) {
	s.TESTQ(n, n)
	s.JEQ(LabelRef(after))
	m := s.LaneMask(n, k, y)
	body(&m)
	s.Label(after)
}

// Columns runs body for pairs of vectors of columns and then for the rest, whose
// last vector has the mask; next moves on by a pair, and the code before a pair
// follows the label tile.
func (s ISA) Columns(cols reg.GPVirtual, body func(name string, vecs int, m *Mask), next func()) {
	mask := func() *Mask {
		m := s.LaneMask(cols, reg.K1, s.Pick(16, 32)-1)
		return &m
	}
	s.CMPQ(cols, U8(2*s.Lanes()))
	s.JLT(LabelRef("tail"))
	body("whole", 2, nil)
	next()
	s.SUBQ(U8(2*s.Lanes()), cols)
	s.JNE(LabelRef("tile"))
	s.JMP(LabelRef("done"))
	s.Label("tail")
	s.CMPQ(cols, U8(s.Lanes()))
	s.JLE(LabelRef("one"))
	s.SUBQ(U8(s.Lanes()), cols)
	body("tail", 2, mask())
	s.JMP(LabelRef("done"))
	s.Label("one")
	body("one", 1, mask())
}

// Row is element u of row r of a matrix whose rows 4i are at base[i]; the registers ld
// and ld3 have one and three times the bytes between rows.
func Row(base []reg.GPVirtual, ld, ld3 reg.GPVirtual, r, u int) Mem {
	m := Mem{Base: base[r/4], Disp: 4 * u}
	switch r % 4 {
	case 1:
		m.Index, m.Scale = ld, 1
	case 2:
		m.Index, m.Scale = ld, 2
	case 3:
		m.Index, m.Scale = ld3, 1
	}
	return m
}

// Unpack4 transposes the four by four floats of each quarter of x[0] to x[3]; t is
// overwritten.
func (s ISA) Unpack4(x, t [4]reg.VecPhysical) {
	s.VUNPCKLPS(x[1], x[0], t[0])
	s.VUNPCKHPS(x[1], x[0], t[1])
	s.VUNPCKLPS(x[3], x[2], t[2])
	s.VUNPCKHPS(x[3], x[2], t[3])
	s.VUNPCKLPD(t[2], t[0], x[0])
	s.VUNPCKHPD(t[2], t[0], x[1])
	s.VUNPCKLPD(t[3], t[1], x[2])
	s.VUNPCKHPD(t[3], t[1], x[3])
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// softmax writes loops over rows of which one stores the exponentials and adds
// them, the other divides by the sum and finds the greatest element of the next
// row: loads of that one would wait, falsely, for stores of another place in the
// same page if they came after them all.
type softmax struct {
	isa
	c      func(i int) Op // constants of the exponentials
	high   reg.VecPhysical
	high4  [4]reg.VecPhysical // greatest elements so far
	sums   [4]reg.VecPhysical // lanes of 64 bits, as those of rowSums
	stream bool
}

// emitSoftmax writes softmax for AVX-512, whose registers hold all it takes.
func emitSoftmax(s isa) {
	table := s.expTable()
	for _, stream := range []bool{false, true} {
		m := &softmax{isa: s, c: s.expConstant, high: s.V(27), high4: [4]reg.VecPhysical{s.V(8), s.V(9), s.V(10), s.V(11)},
			sums: [4]reg.VecPhysical{s.V(28), s.V(29), s.V(30), s.V(31)}, stream: stream}
		name, doc := "softmaxRows", "computes rows of n elements, both at least one. tmp is dst."
		if stream {
			name, doc = "softmaxRowsStream", "is softmaxRows past the caches: dst is a multiple of 64 and n\none of 16; tmp has room for a row."
		}
		s.Begin(name, "func(dst, tmp, src *float32, n, rows int)", doc)
		s.loadExp(table)
		m.rows()
	}
}

// rows writes the loop over rows: exponentials and their sum, then quotients while
// the next row's maximum is found, so that the next row comes from memory during
// work on this one, which is in the first cache.
func (m *softmax) rows() {
	dst, tmp, src, n, rows := m.Arg("dst"), m.Arg("tmp"), m.Arg("src"), m.Arg("n"), m.Arg("rows")
	size := m.GP64()
	m.MOVQ(n, size)
	m.SHLQ(U8(2), size)
	m.greatest(src, n)
	m.Label("row")
	m.fold(m.high4, m.VMAXPS)
	a, b := m.high4[0].AsX(), m.high4[1].AsX()
	m.VMOVSHDUP(a, b)
	m.VMAXPS(b, a, a)
	m.VBROADCASTSS(a, m.high)
	m.exponentials(tmp, src, n, size)
	// The next row, or the last one again.
	next := m.GP64()
	m.LEAQ(Mem{Base: src, Index: size, Scale: 1}, next)
	m.CMPQ(rows, U8(1))
	m.CMOVQEQ(src, next)
	m.quotients(dst, tmp, next, n)
	m.ADDQ(size, src)
	m.ADDQ(size, dst)
	if !m.stream {
		m.MOVQ(dst, tmp)
	}
	m.DECQ(rows)
	m.JNE(LabelRef("row"))
	m.End()
}

// greatest raises high4 to the elements of a row. A NaN may get lost: its
// exponential makes the sum NaN, and with it all quotients.
func (m *softmax) greatest(src, n reg.GPVirtual) {
	p, left := m.GP64(), m.GP64()
	m.MOVQ(src, p)
	m.MOVQ(n, left)
	m.startGreatest(src)
	m.wholes("max", left, m.Lanes(), func() {
		m.VMAXPS(simd.At(p, 0), m.high4[0], m.high4[0])
		m.ADDQ(U32(uint32(m.width())), p)
	})
	mask := m.LaneMask(left, reg.K1, 0)
	m.VMAXPS(simd.At(p, 0), m.high4[0], mask.Opmask(), m.high4[0])
}

// startGreatest begins with the first element of a row.
func (m *softmax) startGreatest(src reg.GPVirtual) {
	for _, v := range m.high4 {
		m.VBROADCASTSS(Mem{Base: src}, v)
	}
}

// exponentials stores those of a row and adds them.
func (m *softmax) exponentials(tmp, src, n, size reg.GPVirtual) {
	for _, s := range m.sums {
		m.Zero(s)
	}
	from, to, left := m.GP64(), m.GP64(), m.GP64()
	m.MOVQ(src, from)
	m.MOVQ(tmp, to)
	m.MOVQ(n, left)
	m.wholes("exp", left, 4*m.Lanes(), func() {
		for i := range 4 {
			// The next row, on its way to the second cache meanwhile.
			m.PREFETCHT1(Mem{Base: from, Index: size, Scale: 1, Disp: i * m.width()})
		}
		m.exps(0, 4, from, to, nil)
		m.ADDQ(U32(uint32(4*m.width())), from)
		m.ADDQ(U32(uint32(4*m.width())), to)
	})
	for i := range 4 {
		m.TESTQ(left, left)
		m.JEQ(LabelRef("summed"))
		part := m.GP64()
		m.MOVQ(U32(uint32(m.Lanes())), part)
		m.CMPQ(left, part)
		m.CMOVQLT(left, part)
		m.SUBQ(part, left)
		mask := m.LaneMask(part, reg.K1, 0)
		m.exps(i, 1, from, to, &mask)
	}
	m.Label("summed")
}

// fold combines the lanes of four registers by halves to two of 32 bits or one of
// 64 bits, in the first one.
func (m *softmax) fold(v [4]reg.VecPhysical, op func(...Op)) {
	op(v[2], v[0], v[0])
	op(v[3], v[1], v[1])
	op(v[1], v[0], v[0])
	m.VEXTRACTF64X4(U8(1), v[0], v[1].AsY())
	op(v[1].AsY(), v[0].AsY(), v[0].AsY())
	m.VEXTRACTF32X4(U8(1), v[0].AsY(), v[1].AsX())
	op(v[1].AsX(), v[0].AsX(), v[0].AsX())
	m.VPERMILPD(U8(1), v[0].AsX(), v[1].AsX())
	op(v[1].AsX(), v[0].AsX(), v[0].AsX())
}

// exps stores the exponentials of registers first to first+n-1 of a turn and adds
// them to the sums.
func (m *softmax) exps(first, n int, from, to reg.GPVirtual, mask *simd.Mask) {
	for j := range n {
		m.LoadLanes(simd.At(from, (first+j)*m.width()), m.V(j), mask)
	}
	m.expSteps(n, m.high, m.c)
	for j := range n {
		i, x, low, high := first+j, m.V(j), m.V(4+j), m.V(8+j)
		m.StoreLanes(x, simd.At(to, i*m.width()), mask)
		if mask != nil {
			m.VMOVAPS_Z(x, mask.Opmask(), x)
		}
		m.VEXTRACTF64X4(U8(1), x, high.AsY())
		m.VCVTPS2PD(x.AsY(), low)
		m.VCVTPS2PD(high.AsY(), high)
		m.VADDPD(low, m.sums[2*(i%2)], m.sums[2*(i%2)])
		m.VADDPD(high, m.sums[2*(i%2)+1], m.sums[2*(i%2)+1])
	}
}

// quotients divides the exponentials by their sum and raises high4, which starts
// again, to the elements of the next row.
func (m *softmax) quotients(dst, tmp, next, n reg.GPVirtual) {
	m.startGreatest(next)
	m.fold(m.sums, m.VADDPD)
	sum, scale, one := m.sums[0].AsX(), m.V(13), m.GP64()
	m.MOVQ(U64(math.Float64bits(1)), one)
	m.VMOVQ(one, scale.AsX())
	m.VDIVSD(sum, scale.AsX(), sum)
	m.VCVTSD2SS(sum, sum, sum)
	m.VBROADCASTSS(sum, scale)
	from, to, left := m.GP64(), m.GP64(), m.GP64()
	m.MOVQ(tmp, from)
	m.MOVQ(dst, to)
	m.MOVQ(n, left)
	for _, group := range []int{4, 1} {
		label := map[int]string{4: "scale", 1: "scale_one"}[group]
		m.wholes(label, left, group*m.Lanes(), func() {
			for i := range group {
				m.VMAXPS(simd.At(next, i*m.width()), m.high4[i], m.high4[i])
				m.VMULPS(simd.At(from, i*m.width()), scale, m.V(i))
				m.store(m.V(i), simd.At(to, i*m.width()), m.stream)
			}
			for _, p := range []reg.GPVirtual{next, from, to} {
				m.ADDQ(U32(uint32(group*m.width())), p)
			}
		})
	}
	if m.stream {
		return
	}
	mask := m.LaneMask(left, reg.K1, 0)
	m.VMAXPS(simd.At(next, 0), m.high4[0], mask.Opmask(), m.high4[0])
	m.LoadLanes(simd.At(from, 0), m.V(0), &mask)
	m.VMULPS(scale, m.V(0), m.V(0))
	m.StoreLanes(m.V(0), simd.At(to, 0), &mask)
}

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Attention over keys and values in blocks of 32 bytes with a scale of 16 bits before them: see kernel/internal/attention/bytes.go,
// which has the layouts.
const (
	byteKeys  = 64 // keys of a tile
	byteBlock = 32 // elements of a block
	byteQuery = 40 // bytes of a block of a query
	byteRow   = 34 // bytes of a block of a value
)

// emitBytes writes the products of attention over bytes.
func emitBytes(s isa) {
	emitByteScores(s)
	emitByteValues(s)
}

// byteScores is a tile of scores in progress: rows of queries by four vectors of keys.
type byteScores struct {
	isa
	q, k, scale, c, left reg.GPVirtual
	ldq                  reg.GPVirtual // bytes from one row of queries to the next
}

func (b *byteScores) acc(r, v int) reg.VecPhysical { return b.V(4*r + v) }

// query is a word of a block of row r.
func (b *byteScores) query(r, at int) Mem {
	if r == 0 {
		return simd.At(b.q, at)
	}
	return simd.Indexed(b.q, b.ldq, at)
}

// emitByteScores writes the products of queries with keys. A lane has a key: four elements of a key are a word, and four products
// are added in one instruction, by AVX-512's for bytes with and without a sign, by AVX2 with the sign of keys given to queries.
func emitByteScores(s isa) {
	b := &byteScores{isa: s}
	s.Begin("attentionByteScores", "func(rows, blocks int, q, k *uint8, scale, c *float32)",
		fmt.Sprintf("stores in row r of c, %d floats, the products of a query in blocks of %d bytes\nwith the keys k, whose scales are rows of as many floats; rows and blocks >= 1.", byteKeys, byteQuery))
	rows, blocks := s.Arg("rows"), s.Arg("blocks")
	b.q, b.k, b.scale, b.c, b.left, b.ldq = s.Arg("q"), s.GP64(), s.GP64(), s.Arg("c"), s.GP64(), s.GP64()
	s.IMUL3Q(U8(byteQuery), blocks, b.ldq)
	if s.Wide() {
		b.wide(rows, blocks)
	} else {
		b.narrow(rows, blocks)
	}
	s.End()
}

// begin points to the first block of keys, from vector of keys first on.
func (b *byteScores) begin(blocks reg.GPVirtual, first int) {
	b.Load(b.Param("k"), b.k)
	b.Load(b.Param("scale"), b.scale)
	if first > 0 {
		b.ADDQ(U8(first*b.Size()), b.k)
		b.ADDQ(U8(first*b.Size()), b.scale)
	}
	b.MOVQ(blocks, b.left)
}

// next goes to the next block.
func (b *byteScores) next(label string) {
	b.ADDQ(U8(byteQuery), b.q)
	b.ADDQ(U32(byteKeys*byteBlock), b.k)
	b.ADDQ(U32(byteKeys*4), b.scale)
	b.DECQ(b.left)
	b.JNZ(LabelRef(label))
	b.SUBQ(b.ldq, b.q)
}

// scaled makes floats of the sums of a block, multiplies them by both scales, and adds them to the scores.
func (b *byteScores) scaled(rows int, sum func(r, v int) reg.VecPhysical, spare reg.VecPhysical) {
	for r := range rows {
		b.VBROADCASTSS(b.query(r, byteBlock+4), spare)
		for v := range 4 {
			a := b.acc(r, v)
			b.VCVTDQ2PS(a, a)
			b.VMULPS(simd.At(b.scale, v*b.Size()), a, a)
			b.VMULPS(spare, a, a)
			b.VADDPS(a, sum(r, v), sum(r, v))
		}
	}
}

func (b *byteScores) wide(rows, blocks reg.GPVirtual) {
	sum := func(r, v int) reg.VecPhysical { return b.V(8 + 4*r + v) }
	flip, spare := b.V(20), b.V(21)
	word := b.GP32()
	b.MOVL(U32(0x80808080), word)
	b.VPBROADCASTD(word, flip)
	body := func(n int) {
		name := fmt.Sprintf("scores%d", n)
		for i := range 4 * n {
			b.Zero(b.V(8 + i))
		}
		b.begin(blocks, 0)
		b.Label(name)
		for r := range n {
			b.VPBROADCASTD(b.query(r, byteBlock), b.acc(r, 0)) // what positive keys make of the sum
			for v := 1; v < 4; v++ {
				b.VMOVDQA32(b.acc(r, 0), b.acc(r, v))
			}
		}
		for w := range byteBlock / 4 {
			for v := range 4 {
				b.VPXORD(simd.At(b.k, 4*byteKeys*w+v*b.Size()), flip, b.V(16+v))
			}
			for r := range n {
				for v := range 4 {
					b.VPDPBUSD_BCST(b.query(r, 4*w), b.V(16+v), b.acc(r, v))
				}
			}
		}
		b.scaled(n, sum, spare)
		b.next(name)
		for r := range n {
			for v := range 4 {
				b.VMOVUPS(sum(r, v), simd.At(b.c, 4*byteKeys*r+v*b.Size()))
			}
		}
		b.ADDQ(U32(uint32(4*byteKeys*n)), b.c)
		for range n {
			b.ADDQ(b.ldq, b.q)
		}
	}
	b.Label("two")
	b.CMPQ(rows, U8(2))
	b.JLT(LabelRef("one"))
	body(2)
	b.SUBQ(U8(2), rows)
	b.JMP(LabelRef("two"))
	b.Label("one")
	b.TESTQ(rows, rows)
	b.JEQ(LabelRef("end"))
	body(1)
	b.Label("end")
}

func (b *byteScores) narrow(rows, blocks reg.GPVirtual) {
	sum := func(_, v int) reg.VecPhysical { return b.V(4 + v) }
	ones, x, k, size, spare := b.V(8), b.V(9), b.V(10), b.V(11), b.V(12)
	b.VPCMPEQW(ones, ones, ones)
	b.VPSRLW(U8(15), ones, ones)
	b.Label("row")
	for half := range 2 {
		name := fmt.Sprintf("half%d", half)
		for i := range 4 {
			b.Zero(sum(0, i))
		}
		b.begin(blocks, 4*half)
		b.Label(name)
		for v := range 4 {
			b.Zero(b.acc(0, v))
		}
		for w := range byteBlock / 4 {
			b.VPBROADCASTD(b.query(0, 4*w), x)
			for v := range 4 {
				b.VMOVDQU(simd.At(b.k, 4*byteKeys*w+v*b.Size()), k)
				b.VPABSB(k, size)
				b.VPSIGNB(k, x, k)
				b.VPMADDUBSW(k, size, k) // at most 2·128·127: it fits
				b.VPMADDWD(ones, k, k)
				b.VPADDD(k, b.acc(0, v), b.acc(0, v))
			}
		}
		b.scaled(1, sum, spare)
		b.next(name)
		for v := range 4 {
			b.VMOVUPS(sum(0, v), simd.At(b.c, (4*half+v)*b.Size()))
		}
	}
	b.ADDQ(U32(4*byteKeys), b.c)
	b.ADDQ(b.ldq, b.q)
	b.DECQ(rows)
	b.JNZ(LabelRef("row"))
}

// byteValues is a sum of values in progress.
type byteValues struct {
	isa
	at, v, ldv, p, mix, ldm, left reg.GPVirtual
}

// emitByteValues writes the sum of values times weights. Values of a block become floats once for all rows of a tile, whose sums
// stay in registers over the keys.
func emitByteValues(s isa) {
	s.Begin("attentionByteValues", "func(rows, blocks, keys int, p *float32, v *uint8, ldv int, mix *float32)",
		fmt.Sprintf("adds to row r of mix, %d floats for each block, the values of the rows of v, ldv bytes apart,\ntimes p[%d*r+i]; rows, blocks and keys >= 1.", byteBlock, byteKeys))
	b := &byteValues{isa: s, at: s.GP64(), left: s.GP64()}
	rows, blocks := s.Arg("rows"), s.Arg("blocks")
	b.p, b.v, b.ldv, b.mix, b.ldm = s.GP64(), s.Arg("v"), s.Arg("ldv"), s.Arg("mix"), s.GP64()
	s.MOVQ(blocks, b.ldm)
	s.SHLQ(U8(7), b.ldm)
	heights := []int{2, 1}
	if s.Wide() {
		heights = []int{8, 4, 2, 1}
	}
	todo, row := s.GP64(), s.GP64()
	s.Label("block")
	s.MOVQ(rows, todo)
	s.MOVQ(b.mix, row)
	s.Load(s.Param("p"), b.p)
	s.Label("rows")
	for _, n := range heights[:len(heights)-1] {
		s.CMPQ(todo, U8(n))
		s.JGE(LabelRef(fmt.Sprintf("r%d", n)))
	}
	s.JMP(LabelRef("r1"))
	for _, n := range heights {
		s.Label(fmt.Sprintf("r%d", n))
		b.tile(n, row)
		for range n {
			s.ADDQ(b.ldm, row)
		}
		s.ADDQ(U32(uint32(4*byteKeys*n)), b.p)
		s.SUBQ(U8(n), todo)
		s.JNZ(LabelRef("rows"))
		s.JMP(LabelRef("next"))
	}
	s.Label("next")
	s.ADDQ(U8(byteRow), b.v)
	s.ADDQ(U32(4*byteBlock), b.mix)
	s.DECQ(blocks)
	s.JNZ(LabelRef("block"))
	s.End()
}

// tile adds one block of features of n rows, from row on.
func (b *byteValues) tile(n int, row reg.GPVirtual) {
	vecs := byteBlock / b.Lanes()
	acc := func(r, v int) reg.VecPhysical { return b.V(r*vecs + v) }
	value := func(v int) reg.VecPhysical { return b.V(n*vecs + v) }
	scale, spare := b.V(n*vecs+vecs), b.V(n*vecs+vecs+1)
	at := b.GP64()
	each := func(do func(m Mem, a reg.VecPhysical)) {
		b.MOVQ(row, at)
		for r := range n {
			for v := range vecs {
				do(simd.At(at, v*b.Size()), acc(r, v))
			}
			if r < n-1 {
				b.ADDQ(b.ldm, at)
			}
		}
	}
	each(func(m Mem, a reg.VecPhysical) { b.VMOVUPS(m, a) })
	b.MOVQ(b.v, b.at)
	p := b.GP64()
	b.MOVQ(b.p, p)
	b.Load(b.Param("keys"), b.left)
	name := fmt.Sprintf("keys%d", n)
	b.Label(name)
	if b.Wide() {
		b.VPBROADCASTW(simd.At(b.at, 0), scale.AsY())
		b.VCVTPH2PS(scale.AsY(), scale)
	} else {
		b.VPBROADCASTW(simd.At(b.at, 0), scale.AsX())
		b.VCVTPH2PS(scale.AsX(), scale)
	}
	for v := range vecs {
		b.VPMOVSXBD(simd.At(b.at, 2+v*b.Lanes()), value(v))
		b.VCVTDQ2PS(value(v), value(v))
		b.VMULPS(scale, value(v), value(v))
	}
	for r := range n {
		b.VBROADCASTSS(simd.At(p, 4*byteKeys*r), spare)
		for v := range vecs {
			b.VFMADD231PS(value(v), spare, acc(r, v))
		}
	}
	b.ADDQ(b.ldv, b.at)
	b.ADDQ(U8(4), p)
	b.DECQ(b.left)
	b.JNZ(LabelRef(name))
	each(func(m Mem, a reg.VecPhysical) { b.VMOVUPS(a, m) })
}

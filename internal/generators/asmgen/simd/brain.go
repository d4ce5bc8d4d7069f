package simd

import (
	"encoding/binary"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Pairs writes for registers of sixteen floats, and products of words that have two bf16 each.
func Pairs(c *build.Context) ISA { return ISA{Context: c, wide: true, pairs: true} }

// MultiplyAdd adds a·b to acc, lane by lane, in one rounding; of words of two bf16 the products
// of both. Pairs overwrites the last register if b is in memory.
func (s ISA) MultiplyAdd(b Op, a, acc reg.VecPhysical) {
	if !s.pairs {
		s.VFMADD231PS(b, a, acc)
		return
	}
	r, is := b.(reg.VecPhysical)
	if !is {
		r = s.V(31)
		s.VMOVUPS(b, r)
	}
	s.DotPairs(r, a, acc)
}

// DotPairs adds to each float of acc the products of two bf16 that lie in the lane of a and
// of b, as VDPBF16PS does: acc = a1·b1 + acc, then acc = a0·b0 + acc, each rounded once.
// It needs AVX-512 BF16.
func (s ISA) DotPairs(b, a, acc reg.VecPhysical) { s.brain(pairsDot, a, b, acc) }

// NarrowPairs rounds the floats of lo and hi to bf16, those of lo in the lower half of to, as
// VCVTNE2PS2BF16 does: subnormal floats become 0.
func (s ISA) NarrowPairs(lo, hi, to reg.VecPhysical) { s.brain(pairsNarrow, hi, lo, to) }

// The instructions are of the map 0F38, without a mask, for registers of 64 bytes: opcode and
// the prefix that EVEX abbreviates.
const (
	pairsDot    = 0x52<<8 | 2 // F3
	pairsNarrow = 0x72<<8 | 3 // F2
)

// brain writes an instruction of three registers that neither avo nor Go's assembler
// knows: its first and second source, and its destination.
func (s ISA) brain(code int, first, second, to reg.VecPhysical) {
	if !s.wide {
		panic("simd: bf16 needs registers of 64 bytes")
	}
	d, v, m := int(to.PhysicalIndex()), int(first.PhysicalIndex()), int(second.PhysicalIndex())
	// EVEX has the bits of registers inverted.
	not := func(n, bit int) byte { return byte(^n >> bit & 1) }
	b := []byte{0x62,
		not(d, 3)<<7 | not(m, 4)<<6 | not(m, 3)<<5 | not(d, 4)<<4 | 2,
		byte(^v&15)<<3 | 1<<2 | byte(code&3),
		2<<5 | not(v, 4)<<3,
		byte(code >> 8), 3<<6 | byte(d&7)<<3 | byte(m&7)}
	s.Instruction(&ir.Instruction{Opcode: "LONG", Operands: []Op{U32(binary.LittleEndian.Uint32(b))}})
	s.Instruction(&ir.Instruction{Opcode: "WORD", Operands: []Op{U16(binary.LittleEndian.Uint16(b[4:]))}})
}

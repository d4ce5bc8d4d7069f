// Command winograd writes the transforms of Winograd's convolutions of package
// kernel and their Go stubs, for amd64 with avo: zwinograd_amd64.s, zwinograd_arm64.s and .go. The files it
// writes are checked in; a test regenerates them and compares byte for byte.
//
// A tile of e×e outputs comes of a patch of t×t inputs, t = e+2. Everywhere but in
// the transforms of the weight's gradient a lane is a tile, and the registers of a tile
// are its patch or results of it.
package main

import (
	"fmt"
	"maps"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func generate() (map[string][]byte, error) {
	files, err := simd.Files("asmgen/winograd", []simd.Unit{{Family: "winograd", Name: "winograd", Emit: emit}})
	if err == nil {
		maps.Copy(files, arm64Files())
	}
	return files, err
}

func main() { simd.Main("asmgen/winograd", generate) }

// The points at which F(4x4,3x3) evaluates its polynomials, with 0 and infinity
// and the negatives. kernel/internal/winograd/winograd_go.go has them as well.
const pointA, pointB = 0.625, 1.5

// isa has this command's kernels as methods.
type isa struct {
	simd.ISA
	table  map[float64]Mem         // constants, in every lane
	loaded map[Mem]reg.VecPhysical // those in registers
	lists  map[string]Mem          // where they lie
}

func emit(c *build.Context) {
	table, lists := map[float64]Mem{}, map[string]Mem{}
	for i, v := range []float64{pointA, pointB, pointA * pointA, pointB * pointB, pointA * pointA * pointA, pointB * pointB * pointB,
		pointA*pointA + pointB*pointB, pointA * pointA * pointB * pointB,
		factor0, factorA0, factorA1, factorA2, factorB0, factorB1, factorB2} {
		table[v] = c.StaticGlobal(fmt.Sprintf("point%d", i))
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for lane := range 16 {
			c.AddDatum(4*lane, U32(math.Float32bits(float32(v))))
		}
	}
	for _, l := range laneLists() {
		lists[l.name] = c.StaticGlobal(l.name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for lane, v := range l.lanes {
			c.AddDatum(4*lane, U32(v))
		}
	}
	one := c.StaticGlobal("neutral") // factor 1, term -0: neither changes a number
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	c.AddDatum(0, U32(math.Float32bits(1)))
	c.AddDatum(4, U32(1<<31))
	factors := filterFactors(c)
	for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
		k := isa{ISA: s, table: table, lists: lists}
		k.emitSplit(4)
		k.emitSplit(2)
		k.emitInput4()
		k.emitInput2()
		k.emitOutput4()
		k.emitOutput2()
		k.emitFilter(4, factors)
		k.emitFilter(2, factors)
		k.emitSeed4()
		k.emitTaps4()
		k.emitStore(one)
		k.emitNarrow()
	}
}

type laneList struct {
	name  string
	lanes [16]uint32
}

// laneLists returns the permutations of two registers that AVX-512 uses: every
// other lane, and lanes or pairs of lanes of both in turn.
func laneLists() []laneList {
	l := []laneList{{name: "evens"}, {name: "odds"}, {name: "turnsLo"}, {name: "turnsHi"}, {name: "pairsLo"}, {name: "pairsHi"}}
	for i := range uint32(16) {
		l[0].lanes[i], l[1].lanes[i] = 2*i, 2*i+1
		l[2].lanes[i], l[3].lanes[i] = i/2+i%2*16, 8+i/2+i%2*16
		p := i/4*2 + i%2 + i/2%2*16
		l[4].lanes[i], l[5].lanes[i] = p, 8+p
	}
	return l
}

// constants loads the given constants into the last registers of AVX-512.
func (s *isa) constants(values ...float64) {
	s.loaded = map[Mem]reg.VecPhysical{}
	if !s.Wide() {
		return
	}
	for i, v := range values {
		r := s.V(31 - i)
		s.VMOVUPS(s.table[v], r)
		s.loaded[s.table[v]] = r
	}
}

// list loads a list of lanes.
func (s *isa) list(name string, r int) reg.VecPhysical {
	s.VMOVUPS(s.lists[name], s.V(r))
	return s.V(r)
}

// value returns x in a register, tmp when it is in memory.
func (s *isa) value(x Op, tmp reg.VecPhysical) reg.VecPhysical {
	if m, ok := x.(Mem); ok {
		s.VMOVUPS(m, tmp)
		return tmp
	}
	return x.(reg.VecPhysical)
}

// times sets dst to the constant c times x.
func (s *isa) times(c float64, x Op, dst reg.VecPhysical) {
	if r, ok := s.loaded[s.table[c]]; ok {
		s.VMULPS(x, r, dst)
		return
	}
	s.VMULPS(s.table[c], s.value(x, dst), dst)
}

// less sets dst to x - y; x may be in memory.
func (s *isa) less(x Op, y, dst reg.VecPhysical) { s.VSUBPS(y, s.value(x, dst), dst) }

// permute sets a to the lanes of a and b that a list names.
func (s *isa) permute(list, a, b reg.VecPhysical) { s.VPERMT2PS(b, list, a) }

// multiples returns base, base+step, ..., base+5·step, given step, 3·step and
// 5·step in registers.
func multiples(base reg.Register, step, step3, step5 reg.GPVirtual) [6]Mem {
	return [6]Mem{simd.At(base, 0), {Base: base, Index: step, Scale: 1}, {Base: base, Index: step, Scale: 2},
		{Base: base, Index: step3, Scale: 1}, {Base: base, Index: step, Scale: 4}, {Base: base, Index: step5, Scale: 1}}
}

// scaled returns 3·r and 5·r.
func (s *isa) scaled(r reg.GPVirtual) (three, five reg.GPVirtual) {
	three, five = s.GP64(), s.GP64()
	s.LEAQ(Mem{Base: r, Index: r, Scale: 2}, three)
	s.LEAQ(Mem{Base: r, Index: r, Scale: 4}, five)
	return three, five
}

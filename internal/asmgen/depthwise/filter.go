package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// Bytes into filterCall of package kernel, and into a tile and a block of its plan.
const (
	callDst, callSrc, callWeight, callResidual, callWide        = 0, 8, 16, 24, 32
	callTiles, callBlocks, callTilesLen, callBlocksLen          = 40, 48, 56, 64
	callSrcRow, callDstRow, callScale, callBias, callLo, callHi = 72, 80, 88, 92, 96, 100

	tileSrc, tileDst, tileFirst, tileLast, tileRows, tileSize = 0, 8, 16, 24, 32, 40

	blockSrc, blockDst, blockMasks = 0, 8, 16
)

// tall is the number of output rows that a tile has at most: with their sums,
// most of 25 weights fit the registers of AVX-512, and it divides the maps of
// the usual networks.
const tall = 7

// filter writes the convolution of one channel by one square kernel.
type filter struct {
	simd.ISA
	kernel, stride int
	call, weights  reg.GPVirtual
	temps          int // vector registers from tall on that rows are read into
	held           int // weights that registers hold
	even, odd      reg.VecPhysical
}

// emitFilter writes one function. Each tile of output rows is summed in
// registers while the input rows that it reads pass by once, top down; rows
// above and below the input are skipped by where that begins and ends, columns
// beside it are lanes that are not loaded.
func emitFilter(s simd.ISA, kernel, stride int, order [2]Mem) {
	f := &filter{ISA: s, kernel: kernel, stride: stride, temps: s.Pick(3, 2)} // AVX2 needs one for masks
	if stride == 2 {
		f.temps = s.Pick(4, 5)
	}
	f.held = min(kernel*kernel, s.Pick(16, 32)-tall-f.temps)
	s.Begin(fmt.Sprintf("filter%ds%d", kernel, stride), "func(c *byte)",
		fmt.Sprintf("convolves one channel, c a filterCall, by a %dx%d kernel with stride\n%d.", kernel, kernel, stride))
	f.call, f.weights = s.Arg("c"), s.GP64()
	f.prepare(order)
	tile, tiles, block, blocks := s.GP64(), s.GP64(), s.GP64(), s.GP64()
	s.MOVQ(simd.At(f.call, callTiles), tile)
	s.MOVQ(simd.At(f.call, callTilesLen), tiles)
	s.ADDQ(tile, tiles)
	s.MOVQ(simd.At(f.call, callBlocksLen), blocks)
	s.ADDQ(simd.At(f.call, callBlocks), blocks)
	s.Label("tile")
	s.MOVQ(simd.At(f.call, callBlocks), block)
	s.Label("block")
	f.sum(tile, block)
	s.Label("finish")
	f.finish(tile, block)
	s.Label("next")
	s.ADDQ(U32(f.blockSize()), block)
	s.CMPQ(block, blocks)
	s.JNE(LabelRef("block"))
	s.ADDQ(U8(tileSize), tile)
	s.CMPQ(tile, tiles)
	s.JNE(LabelRef("tile"))
	s.End()
}

// maskSize is the bytes of a mask: a word, or a vector.
func (f *filter) maskSize() int { return f.Pick(32, 4) }

func (f *filter) blockSize() int { return blockMasks + 8*f.maskSize() }

// masks is the number of vectors that an input row is read in. The mask after
// theirs is the one of stores.
func (f *filter) masks() int {
	if f.stride == 2 {
		return f.kernel + 1
	}
	return f.kernel
}

func opmask(i int) reg.Register {
	return [...]reg.Register{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7}[i]
}

// prepare brings the weights where they are used from: registers as far as they
// go, then memory, where AVX2 needs whole vectors of them.
func (f *filter) prepare(order [2]Mem) {
	w := f.weights
	f.MOVQ(simd.At(f.call, callWeight), w)
	wide := f.GP64()
	if !f.Wide() {
		f.MOVQ(simd.At(f.call, callWide), wide)
	}
	for t := range f.kernel * f.kernel {
		switch {
		case t < f.held:
			f.VBROADCASTSS(simd.At(w, 4*t), f.V(tall+f.temps+t))
		case !f.Wide():
			f.VBROADCASTSS(simd.At(w, 4*t), f.V(tall))
			f.VMOVUPS(f.V(tall), simd.At(wide, 32*t))
		}
	}
	if !f.Wide() {
		f.MOVQ(wide, w)
	}
	if f.Wide() && f.stride == 2 {
		f.even, f.odd = f.V(tall+3), f.V(tall+4)
		f.VMOVDQU32(order[0], f.even)
		f.VMOVDQU32(order[1], f.odd)
	}
}

// sum leaves the sums of a tile in the first registers and jumps to finish.
func (f *filter) sum(tile, block reg.GPVirtual) {
	src, row, first, last := f.GP64(), f.GP64(), f.GP64(), f.GP64()
	f.MOVQ(simd.At(f.call, callSrc), src)
	f.ADDQ(simd.At(tile, tileSrc), src)
	f.ADDQ(simd.At(block, blockSrc), src)
	f.MOVQ(simd.At(f.call, callSrcRow), row)
	f.MOVQ(simd.At(tile, tileFirst), first)
	f.MOVQ(simd.At(tile, tileLast), last)
	if f.Wide() {
		for i := range f.masks() + 1 {
			f.KMOVW(simd.At(block, blockMasks+4*i), opmask(i))
		}
	}
	for r := range tall {
		f.Zero(f.V(r))
	}
	for j := 1; j < f.kernel; j++ {
		f.CMPQ(first, U8(j))
		f.JEQ(LabelRef(fmt.Sprintf("row%d", j)))
	}
	rows := (tall-1)*f.stride + f.kernel
	for j := range rows {
		f.Label(fmt.Sprintf("row%d", j))
		f.CMPQ(last, U8(j))
		f.JEQ(LabelRef("finish"))
		if f.stride == 2 {
			f.pairs(j, src, block)
		} else {
			for x := range f.kernel {
				t := f.V(tall + x%2)
				f.load(x, simd.At(src, 4*x), t, block)
				f.add(j, x, t)
			}
		}
		if j < rows-1 {
			f.ADDQ(row, src)
		}
	}
}

// pairs reads a row of twice the width and splits it into the columns of even
// and odd taps.
func (f *filter) pairs(j int, src, block reg.GPVirtual) {
	a, b, c := f.V(tall), f.V(tall+1), f.V(tall+2)
	for x := 0; x < f.kernel; x += 2 {
		f.load(x, simd.At(src, 4*x), a, block)
		f.load(x+1, simd.At(src, 4*(x+f.Lanes())), b, block)
		if f.Wide() {
			if x+1 < f.kernel {
				f.VMOVAPS(a, c)
			}
			f.VPERMT2PS(b, f.even, a)
			f.add(j, x, a)
			if x+1 < f.kernel {
				f.VPERMT2PS(b, f.odd, c)
				f.add(j, x+1, c)
			}
			continue
		}
		f.VSHUFPS(U8(0x88), b, a, c)
		f.VPERMPD(U8(0xd8), c, c)
		f.add(j, x, c)
		if x+1 < f.kernel {
			f.VSHUFPS(U8(0xdd), b, a, c)
			f.VPERMPD(U8(0xd8), c, c)
			f.add(j, x+1, c)
		}
	}
}

// load reads a vector of a row with mask i.
func (f *filter) load(i int, from Mem, to reg.VecPhysical, block reg.GPVirtual) {
	if f.Wide() {
		f.VMOVUPS_Z(from, opmask(i), to)
		return
	}
	m := f.V(tall + f.temps - 1)
	f.VMOVUPS(simd.At(block, blockMasks+32*i), m)
	f.VMASKMOVPS(from, m, to)
}

// add adds column x of input row j to the sums of every output row that it
// belongs to.
func (f *filter) add(j, x int, v reg.VecPhysical) {
	for r := range tall {
		y := j - r*f.stride
		if y < 0 || y >= f.kernel {
			continue
		}
		switch t := y*f.kernel + x; {
		case t < f.held:
			f.VFMADD231PS(f.V(tall+f.temps+t), v, f.V(r))
		case f.Wide():
			f.VFMADD231PS_BCST(simd.At(f.weights, 4*t), v, f.V(r))
		default:
			f.VFMADD231PS(simd.At(f.weights, 32*t), v, f.V(r))
		}
	}
}

// finish applies the epilogue to the sums and stores the rows that exist.
func (f *filter) finish(tile, block reg.GPVirtual) {
	a, b, m := f.V(tall), f.V(tall+1), f.V(tall+f.temps-1)
	at, rows, dst, row := f.GP64(), f.GP64(), f.GP64(), f.GP64()
	f.MOVQ(simd.At(tile, tileDst), at)
	f.ADDQ(simd.At(block, blockDst), at)
	f.MOVQ(simd.At(tile, tileRows), rows)
	f.MOVQ(simd.At(f.call, callDstRow), row)
	mask := opmask(f.masks())
	if !f.Wide() {
		f.VMOVUPS(simd.At(block, blockMasks+32*f.masks()), m)
	}
	f.VBROADCASTSS(simd.At(f.call, callScale), a)
	f.VBROADCASTSS(simd.At(f.call, callBias), b)
	for r := range tall {
		f.VFMADD213PS(b, a, f.V(r))
	}
	f.MOVQ(simd.At(f.call, callResidual), dst)
	f.TESTQ(dst, dst)
	f.JEQ(LabelRef("clamp"))
	f.ADDQ(at, dst)
	for r := range tall {
		if f.Wide() {
			f.VADDPS(simd.At(dst, 0), f.V(r), mask, f.V(r))
		} else {
			f.VMASKMOVPS(simd.At(dst, 0), m, a)
			f.VADDPS(a, f.V(r), f.V(r))
		}
		if r < tall-1 {
			f.CMPQ(rows, U8(r+1))
			f.JEQ(LabelRef("clamp"))
			f.ADDQ(row, dst)
		}
	}
	f.Label("clamp")
	f.VBROADCASTSS(simd.At(f.call, callLo), a)
	f.VBROADCASTSS(simd.At(f.call, callHi), b)
	f.MOVQ(simd.At(f.call, callDst), dst)
	f.ADDQ(at, dst)
	for r := range tall {
		f.VMAXPS(f.V(r), a, f.V(r))
		f.VMINPS(f.V(r), b, f.V(r))
		if f.Wide() {
			f.VMOVUPS(f.V(r), mask, simd.At(dst, 0))
		} else {
			f.VMASKMOVPS(f.V(r), m, simd.At(dst, 0))
		}
		if r < tall-1 {
			f.CMPQ(rows, U8(r+1))
			f.JEQ(LabelRef("next"))
			f.ADDQ(row, dst)
		}
	}
}

// orders declares the places of even and of odd elements among two vectors.
func orders(c *build.Context) (order [2]Mem) {
	for i, name := range []string{"evens", "odds"} {
		order[i] = c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for l := range 16 {
			c.AddDatum(4*l, U32(2*l+i))
		}
	}
	return order
}

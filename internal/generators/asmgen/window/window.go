// Package window writes the loops of kernels that slide a small square window
// over planes: convolutions of single channels, and pooling.
package window

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Tall is the number of output rows that a tile has at most: it divides the maps
// of the usual networks, and most of 25 weights fit the registers of AVX-512
// together with the sums of a tile.
const Tall = 7

// Bytes into windowCall of package geom, and into a tile and a block of its plan.
const (
	callDst, callSrc, callTiles, callBlocks                             = 0, 8, 16, 24
	callTilesLen, callBlocksLen, callSrcRow, callDstRow, callAhead, Own = 32, 40, 48, 56, 64, 72

	tileSrc, tileDst, tileFirst, tileLast, tileRows, tileSize = 0, 8, 16, 24, 32, 40

	blockSrc, blockDst, blockMasks, masks = 0, 8, 16, 8
)

// Window writes one kernel. The first Tall vector registers accumulate the rows
// of a tile; the next Temps read the input, and serve Finish.
type Window struct {
	simd.ISA
	Kernel, Stride int
	Call           reg.GPVirtual                     // the argument; fields of the kernel's own begin at Own
	Fill           reg.VecPhysical                   // value of lanes outside the input; nil for zero
	Counts         bool                              // tiles and blocks end with the inputs of each row and column
	Init           func()                            // sets the accumulators
	Loaded         func(a, b reg.VecPhysical)        // sees the data read from memory, if set
	Add            func(j, x int, v reg.VecPhysical) // takes column x of input row j
	RowEnd         func(j int)                       // follows the last column of a row, if set
	Finish         func(at Place)                    // turns accumulators into results and stores them
	even, odd      reg.VecPhysical
}

// Place is where a tile is stored: bytes from the plane's beginning, output rows,
// and its description.
type Place struct {
	Offset, Rows, Row, Tile, Block reg.GPVirtual
	Mask                           simd.Mask
}

// Temps is the number of vector registers after the accumulators that Window takes.
func Temps(s simd.ISA, stride int) int {
	switch {
	case stride == 1 && s.Wide():
		return 2
	case stride == 1: // one is the mask
		return 3
	case s.Wide(): // two are permutations
		return 5
	}
	return 4
}

// T is temporary register i, of which Finish may use the first two.
func (f *Window) T(i int) reg.VecPhysical { return f.V(Tall + i) }

// mask is the register of masks in use with AVX2.
func (f *Window) mask() reg.VecPhysical { return f.T(Temps(f.ISA, f.Stride) - 1) }

// maskSize is the bytes of a mask: a word, or a vector.
func (f *Window) maskSize() int { return f.Pick(32, 4) }

// ColumnCounts is where a block keeps its counts, as floats.
func (f *Window) ColumnCounts() int { return blockMasks + masks*f.maskSize() }

// RowCounts is where a tile keeps its counts, as floats.
func (f *Window) RowCounts() int { return tileSize }

// reads is the number of vectors that an input row is read in. The mask after
// theirs is the one of stores.
func (f *Window) reads() int {
	if f.Stride == 2 {
		return (f.Kernel + 1) / 2 * 2
	}
	return f.Kernel
}

func opmask(i int) reg.Register {
	return [...]reg.Register{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7}[i]
}

// Write writes the loop over tiles, and blocks within them. Each tile is
// accumulated in registers while the input rows that it reads pass by once, top
// down; rows above and below the input are skipped by its first and last row,
// columns left and right of it are lanes that are not loaded.
func (f *Window) Write(order [2]Mem) {
	if f.Wide() && f.Stride == 2 {
		f.even, f.odd = f.T(3), f.T(4)
		f.VMOVDQU32(order[0], f.even)
		f.VMOVDQU32(order[1], f.odd)
	}
	tileStep, blockStep := tileSize, f.ColumnCounts()
	if f.Counts {
		tileStep, blockStep = tileStep+32, blockStep+4*f.Lanes()
	}
	tile, tiles, block, blocks := f.GP64(), f.GP64(), f.GP64(), f.GP64()
	f.MOVQ(simd.At(f.Call, callTiles), tile)
	f.MOVQ(simd.At(f.Call, callTilesLen), tiles)
	f.ADDQ(tile, tiles)
	f.MOVQ(simd.At(f.Call, callBlocksLen), blocks)
	f.ADDQ(simd.At(f.Call, callBlocks), blocks)
	f.Label("tile")
	f.MOVQ(simd.At(f.Call, callBlocks), block)
	f.Label("block")
	f.rows(tile, block)
	f.Label("finish")
	p := Place{Offset: f.GP64(), Rows: f.GP64(), Row: f.GP64(), Tile: tile, Block: block}
	f.MOVQ(simd.At(tile, tileDst), p.Offset)
	f.ADDQ(simd.At(block, blockDst), p.Offset)
	f.MOVQ(simd.At(tile, tileRows), p.Rows)
	f.MOVQ(simd.At(f.Call, callDstRow), p.Row)
	p.Mask = f.MaskAt(simd.At(block, blockMasks+f.maskSize()*f.reads()), opmask(f.reads()), f.mask())
	f.Finish(p)
	f.Label("next")
	f.ADDQ(U32(blockStep), block)
	f.CMPQ(block, blocks)
	f.JNE(LabelRef("block"))
	f.ADDQ(U32(tileStep), tile)
	f.CMPQ(tile, tiles)
	f.JNE(LabelRef("tile"))
}

// rows accumulates a tile and goes on to finish.
func (f *Window) rows(tile, block reg.GPVirtual) {
	src, row, first, last, ahead := f.GP64(), f.GP64(), f.GP64(), f.GP64(), f.GP64()
	f.MOVQ(simd.At(f.Call, callSrc), src)
	f.ADDQ(simd.At(tile, tileSrc), src)
	f.ADDQ(simd.At(block, blockSrc), src)
	f.MOVQ(simd.At(f.Call, callSrcRow), row)
	f.MOVQ(simd.At(tile, tileFirst), first)
	f.MOVQ(simd.At(tile, tileLast), last)
	f.MOVQ(simd.At(f.Call, callAhead), ahead)
	if f.Wide() {
		for i := range f.reads() {
			f.MaskAt(simd.At(block, blockMasks+4*i), opmask(i), nil)
		}
	}
	f.Init()
	for j := 1; j < f.Kernel; j++ {
		f.CMPQ(first, U8(j))
		f.JEQ(LabelRef(fmt.Sprintf("row%d", j)))
	}
	count := (Tall-1)*f.Stride + f.Kernel
	for j := range count {
		f.Label(fmt.Sprintf("row%d", j))
		f.CMPQ(last, U8(j))
		f.JEQ(LabelRef("finish"))
		// The order of reading is not one that processors foresee.
		for x := 0; x < f.Stride*f.Lanes(); x += 16 {
			f.PREFETCHT0(simd.Indexed(src, ahead, 4*x))
		}
		if f.Stride == 2 {
			f.pairs(j, src, block)
		} else {
			f.single(j, src, block)
		}
		if f.RowEnd != nil {
			f.RowEnd(j)
		}
		if j < count-1 {
			f.ADDQ(row, src)
		}
	}
}

// single reads a row once for each column of the window.
func (f *Window) single(j int, src, block reg.GPVirtual) {
	for x := range f.Kernel {
		t := f.T(x % 2)
		f.load(x, simd.At(src, 4*x), t, block)
		if f.Loaded != nil {
			f.Loaded(t, t)
		}
		f.Add(j, x, t)
	}
}

// pairs reads a row of twice the width and splits it into the elements that the
// columns of even and of odd number see.
func (f *Window) pairs(j int, src, block reg.GPVirtual) {
	a, b, c := f.T(0), f.T(1), f.T(2)
	for x := 0; x < f.Kernel; x += 2 {
		f.load(x, simd.At(src, 4*x), a, block)
		f.load(x+1, simd.At(src, 4*(x+f.Lanes())), b, block)
		if f.Loaded != nil {
			f.Loaded(a, b)
		}
		two := x+1 < f.Kernel
		if f.Wide() {
			if two {
				f.VMOVAPS(a, c)
			}
			f.VPERMT2PS(b, f.even, a)
			f.Add(j, x, a)
			if two {
				f.VPERMT2PS(b, f.odd, c)
				f.Add(j, x+1, c)
			}
			continue
		}
		f.VSHUFPS(U8(0x88), b, a, c)
		f.VPERMPD(U8(0xd8), c, c)
		f.Add(j, x, c)
		if two {
			f.VSHUFPS(U8(0xdd), b, a, c)
			f.VPERMPD(U8(0xd8), c, c)
			f.Add(j, x+1, c)
		}
	}
}

// load reads a vector of a row with mask i.
func (f *Window) load(i int, from Mem, to reg.VecPhysical, block reg.GPVirtual) {
	switch m := f.mask(); {
	case f.Wide() && f.Fill != nil:
		f.VMOVAPS(f.Fill, to)
		f.VMOVUPS(from, opmask(i), to)
	case f.Wide():
		f.VMOVUPS_Z(from, opmask(i), to)
	default:
		f.VMOVUPS(simd.At(block, blockMasks+32*i), m)
		f.VMASKMOVPS(from, m, to)
		if f.Fill != nil {
			f.VBLENDVPS(m, to, f.Fill, to)
		}
	}
}

// Targets calls add for the accumulators that input row j belongs to, with the
// row of their window that it is.
func (f *Window) Targets(j int, add func(r, y int)) {
	for r := range Tall {
		if y := j - r*f.Stride; y >= 0 && y < f.Kernel {
			add(r, y)
		}
	}
}

// Store stores the accumulators of the rows that exist, after last, if set.
func (f *Window) Store(at Place, last func(r int)) {
	dst := f.GP64()
	f.MOVQ(simd.At(f.Call, callDst), dst)
	f.ADDQ(at.Offset, dst)
	for r := range Tall {
		last(r)
		f.StoreLanes(f.V(r), simd.At(dst, 0), &at.Mask)
		if r < Tall-1 {
			f.CMPQ(at.Rows, U8(r+1))
			f.JEQ(LabelRef("next"))
			f.ADDQ(at.Row, dst)
		}
	}
}

// Orders declares the places of even and of odd elements among two vectors.
func Orders(c *build.Context) (order [2]Mem) {
	for i, name := range []string{"evens", "odds"} {
		order[i] = c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for l := range 16 {
			c.AddDatum(4*l, U32(2*l+i))
		}
	}
	return order
}

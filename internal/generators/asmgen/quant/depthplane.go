package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places of fields of kernel's qDepthTile.
const (
	depthSrc    = 0
	depthDst    = 24
	depthStep   = 48
	depthRows   = 56
	depthCols   = 64
	depthWidth  = 72
	depthDwords = 104
	depthDots   = depthDwords + 64
	depthPairs  = depthDots + 32
	depthWeight = depthPairs + 48
	depthWide   = depthWeight + 8
	depthBias   = depthWide + 80
	depthScale  = depthBias + 4
	depthLo     = depthBias + 8
	depthHi     = depthBias + 12
	depthZero   = depthBias + 16
	depthFlip   = depthBias + 20
)

// depthPlane is a depthwise convolution of one channel for kernels of some lines and
// a stride. The windows of a vector of positions are brought together by shuffles,
// once for each line that is read, and serve all of four output lines that it
// reaches.
type depthPlane struct {
	writer
	height, stride int
	narrow         bool // lines of at most eight: the upper half of a vector is four lines further on
	order          Mem  // of dwords of packed lines

	s, src, dst, step, rows, cols, three, xs, xd, left, p, t reg.GPVirtual
}

func emitDepthPlane(w writer) {
	rows, order := permutation(w), w.StaticGlobal("qorder")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		w.AddDatum(4*i, U32(i%2*4+i/2))
	}
	for _, height := range []int{3, 5} {
		for _, stride := range []int{1, 2} {
			k := depthPlane{writer: w, height: height, stride: stride, order: rows}
			k.emit512()
			k.narrow = true
			k.emit512()
			k.narrow, k.order = false, order
			k.emit256()
		}
	}
	depthLines(w)
}

// enter loads the operands that both forms need.
func (k *depthPlane) enter(level string, columns int) {
	k.begin(fmt.Sprintf("qDepth%dBy%d%s", k.height, k.stride, level), "func(s *uint8)",
		fmt.Sprintf("computes a band of a channel as s, a qDepthTile, says: kernels of\n%d lines, stride %d, %d positions at a time. See computeGo.", k.height, k.stride, columns))
	k.s = k.arg("s")
	field := func(off int) reg.GPVirtual {
		r := k.GP64()
		k.MOVQ(at(k.s, off), r)
		return r
	}
	k.src, k.dst, k.step, k.rows, k.cols = field(depthSrc), field(depthDst), field(depthStep), field(depthRows), field(depthCols)
	k.three, k.xs, k.xd, k.left, k.p, k.t = k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.LEAQ(indexed(k.cols, k.cols, 2, 0), k.three)
}

// bands runs body for each strip of columns of each four lines.
func (k *depthPlane) bands(columns int, body func()) {
	k.Label("group")
	k.MOVQ(k.src, k.xs)
	k.MOVQ(k.dst, k.xd)
	k.MOVQ(k.cols, k.left)
	k.Label("strip")
	body()
	k.ADDQ(U8(columns*k.stride), k.xs)
	k.ADDQ(U8(columns), k.xd)
	k.SUBQ(U8(columns), k.left)
	k.JG(LabelRef("strip"))
	k.MOVQ(k.step, k.t)
	k.SHLQ(U8(k.stride+1), k.t)
	k.ADDQ(k.t, k.src)
	k.LEAQ(indexed(k.dst, k.cols, 4, 0), k.dst)
	k.SUBQ(U8(4), k.rows)
	k.JG(LabelRef("group"))
	k.end()
}

// lines runs read for each line that four output lines reach, and then multiply for
// each of these and the line of the kernel that it meets there.
func (k *depthPlane) lines(read func(), multiply func(row, line int)) {
	k.MOVQ(k.xs, k.p)
	for l := range 3*k.stride + k.height {
		read()
		for r := range 4 {
			if line := l - r*k.stride; line >= 0 && line < k.height {
				multiply(r, line)
			}
		}
		k.ADDQ(k.step, k.p)
	}
}

// pairs runs body for each eight lines of a band whose lines are short.
func (k *depthPlane) pairs(body func()) {
	k.MOVQ(k.step, k.left)
	k.SHLQ(U8(k.stride+1), k.left)
	k.MOVQ(k.cols, k.t)
	k.lanes(k.t, reg.K1)
	k.Label("group")
	k.MOVQ(k.src, k.xs)
	k.MOVQ(k.dst, k.xd)
	body()
	k.LEAQ(indexed(k.src, k.left, 2, 0), k.src)
	k.LEAQ(indexed(k.dst, k.cols, 8, 0), k.dst)
	k.SUBQ(U8(8), k.rows)
	k.JG(LabelRef("group"))
	k.end()
}

// load brings the elements of a line that a vector of windows reads to register v.
func (k *depthPlane) load(v int) {
	switch {
	case k.narrow && k.stride == 1:
		k.VMOVDQU32(at(k.p, 0), x(v))
		k.VINSERTI32X4(U8(1), indexed(k.p, k.left, 1, 0), y(v), y(v))
	case k.narrow:
		k.VMOVDQU32(at(k.p, 0), y(v))
		k.VINSERTI64X4(U8(1), indexed(k.p, k.left, 1, 0), z(v), z(v))
	case k.stride == 1:
		k.VMOVDQU32(at(k.p, 0), y(v))
	default:
		k.VMOVDQU32(at(k.p, 0), z(v))
	}
}

// place is where line r of the results of a strip lies.
func (k *depthPlane) place(r int) Mem {
	return []Mem{at(k.xd, 0), indexed(k.xd, k.cols, 1, 0), indexed(k.xd, k.cols, 2, 0), indexed(k.xd, k.three, 1, 0)}[r]
}

// scaled makes integers between the limits of the sums of four lines.
func (k *depthPlane) scaled(v func(int) reg.VecPhysical, scale, lo, hi reg.VecPhysical) {
	for r := range 4 {
		k.VCVTDQ2PS(v(r), v(r))
		k.VMULPS(scale, v(r), v(r))
		k.VMAXPS(lo, v(r), v(r))
		k.VMINPS(hi, v(r), v(r))
		k.VCVTPS2DQ(v(r), v(r))
	}
}

// packed makes bytes of four lines of integers, in the first register.
func (k *depthPlane) packed(v func(int) reg.VecPhysical, zero, order reg.VecPhysical) {
	for r := 0; r < 4; r += 2 {
		k.VPACKSSDW(v(r+1), v(r), v(r))
		k.VPADDSW(zero, v(r), v(r))
	}
	k.VPACKUSWB(v(2), v(0), v(0))
	k.VPERMD(v(0), order, v(0))
}

// emit512 writes the form whose instructions multiply four taps: sums in Z0 to Z3,
// windows in Z14 to Z19 by turns, weights from Z4 on, the rest constants.
func (k depthPlane) emit512() {
	level, each := "VNNI", func(body func()) { k.bands(16, body) }
	if k.narrow {
		level, each = "PairVNNI", k.pairs
	}
	k.enter(level, 16)
	k.constants512()
	groups, turn := (k.height+1)/3, 14
	each(func() {
		if !k.narrow {
			k.strip512()
		}
		for r := range 4 {
			k.VMOVDQA32(z(25), z(r))
		}
		k.lines(func() {
			turn = 31 - turn
			k.load(turn + 2)
			k.VPERMD(z(turn+2), z(27), z(turn+2))
			for g := range groups {
				k.VPSHUFB(z(28+g), z(turn+2), z(turn+g))
			}
		}, func(row, line int) {
			for g := range groups {
				k.VPDPBUSD(z(4+groups*line+g), z(turn+g), z(row))
			}
		})
		k.scaled(z, z(20), z(21), z(22))
		k.packed(z, z(23), z(26))
		k.VPXORD(z(24), z(0), z(0))
		if k.narrow {
			k.putPairs()
		} else {
			k.put512()
		}
	})
}

// constants512 loads the scale, the limits, the zero point and the flip into Z20 to
// Z24, the bias, the order of results and of dwords into Z25 to Z27, the shuffles of
// taps after them, and the weights from Z4 on.
func (k *depthPlane) constants512() {
	k.VBROADCASTSS(at(k.s, depthScale), z(20))
	k.VBROADCASTSS(at(k.s, depthLo), z(21))
	k.VBROADCASTSS(at(k.s, depthHi), z(22))
	k.VPBROADCASTW(at(k.s, depthZero), z(23))
	k.VPBROADCASTD(at(k.s, depthFlip), z(24))
	k.VPBROADCASTD(at(k.s, depthBias), z(25))
	k.VMOVDQU32(k.order, z(26))
	k.VMOVDQU32(at(k.s, depthDwords), z(27))
	k.MOVQ(at(k.s, depthWeight), k.p)
	groups := (k.height + 1) / 3
	for line := range k.height {
		for g := range groups {
			k.VPBROADCASTD(at(k.p, 4*g), z(4+groups*line+g))
		}
		k.ADDQ(at(k.s, depthWidth), k.p)
	}
	for g := range groups {
		k.VBROADCASTI32X4(at(k.s, depthDots+16*g), z(28+g))
	}
}

// put512 stores the lines that there are.
func (k *depthPlane) put512() {
	k.VMOVDQU8(x(0), reg.K1, k.place(0))
	for r := 1; r < 4; r++ {
		k.CMPQ(k.rows, U8(r))
		k.JLE(LabelRef("stored"))
		k.VEXTRACTI32X4(U8(r), z(0), x(r))
		k.VMOVDQU8(x(r), reg.K1, k.place(r))
	}
	k.Label("stored")
}

// putPairs stores the lines that there are of eight: halves of the four.
func (k *depthPlane) putPairs() {
	for r := 1; r < 4; r++ {
		k.VEXTRACTI32X4(U8(r), z(0), x(r))
	}
	for r := range 8 {
		if r > 0 {
			k.CMPQ(k.rows, U8(r))
			k.JLE(LabelRef("stored"))
		}
		if r == 4 {
			k.LEAQ(indexed(k.xd, k.cols, 4, 0), k.xd)
		}
		if r >= 4 {
			k.VPSRLDQ(U8(8), x(r-4), x(r-4))
		}
		k.VMOVDQU8(x(r%4), reg.K1, k.place(r%4))
	}
	k.Label("stored")
}

// strip512 makes K1 select the columns of a strip.
func (k *depthPlane) strip512() {
	full := k.GP64()
	k.MOVQ(U32(16), full)
	k.MOVQ(k.left, k.t)
	k.CMPQ(k.left, full)
	k.CMOVQGT(full, k.t)
	k.MOVQ(I32(-1), full)
	k.BZHIQ(k.t, full, full)
	k.KMOVW(full.As32(), reg.K1)
}

// emit256 writes the form that multiplies pairs of taps, widened to 16 bits: sums in
// Y0 to Y3, windows in Y4 to Y6. The last strip of a line covers some finished
// results again, so that vectors are stored whole.
func (k depthPlane) emit256() {
	k.enter("AVX2", 8)
	pairs := (k.height + 1) / 2
	k.MOVQ(at(k.s, depthWeight), k.p)
	for line := range k.height {
		k.VPMOVSXBW(at(k.p, 0), x(0))
		k.VMOVDQU(x(0), at(k.s, depthWide+16*line))
		k.ADDQ(at(k.s, depthWidth), k.p)
	}
	for g := range pairs {
		k.VBROADCASTI128(at(k.s, depthPairs+16*g), y(9+g))
	}
	k.VMOVDQU(k.order, y(13))
	k.VPBROADCASTD(at(k.s, depthFlip), y(14))
	k.VPBROADCASTW(at(k.s, depthZero), y(15))
	k.bands(8, func() {
		k.back()
		for r := range 4 {
			k.VPBROADCASTD(at(k.s, depthBias), y(r))
		}
		k.lines(func() {
			k.VMOVDQU(at(k.p, 0), x(12))
			k.VINSERTI128(U8(1), at(k.p, 4*k.stride), y(12), y(12))
			for g := range pairs {
				k.VPSHUFB(y(9+g), y(12), y(4+g))
			}
		}, func(row, line int) {
			for g := range pairs {
				k.VPBROADCASTD(at(k.s, depthWide+16*line+4*g), y(7))
				k.VPMADDWD(y(4+g), y(7), y(8))
				k.VPADDD(y(8), y(row), y(row))
			}
		})
		for i, off := range []int{depthScale, depthLo, depthHi} {
			k.VBROADCASTSS(at(k.s, off), y(4+i))
		}
		k.scaled(y, y(4), y(5), y(6))
		k.packed(y, y(15), y(13))
		k.VPXOR(y(14), y(0), y(0))
		k.put256()
	})
}

// back moves a strip that is not whole to where it is.
func (k *depthPlane) back() {
	k.CMPQ(k.left, U8(8))
	k.JGE(LabelRef("whole"))
	k.SUBQ(U8(8), k.left)
	k.ADDQ(k.left, k.xd)
	for range k.stride {
		k.ADDQ(k.left, k.xs)
	}
	k.MOVQ(U32(8), k.left)
	k.Label("whole")
}

// put256 stores eight bytes of each line that there is.
func (k *depthPlane) put256() {
	k.VEXTRACTI128(U8(1), y(0), x(1))
	for r := range 4 {
		if r > 0 {
			k.CMPQ(k.rows, U8(r))
			k.JLE(LabelRef("stored"))
		}
		if r%2 == 0 {
			k.VMOVQ(x(r/2), k.place(r))
		} else {
			k.VPEXTRQ(U8(1), x(r/2), k.place(r))
		}
	}
	k.Label("stored")
}

// depthLines writes the copy of lines.
func depthLines(w writer) {
	w.begin("qLinesAVX512", "func(lines, n int, dst *uint8, ldd int, src *uint8, lds int, flip uint32)",
		"copies lines of n bytes, ldd and lds bytes apart, and flips their\nbits. n is positive.")
	lines, n, dst, ldd, src, lds := w.arg("lines"), w.arg("n"), w.arg("dst"), w.arg("ldd"), w.arg("src"), w.arg("lds")
	w.broadcast("flip", z(1))
	rest, i := w.GP64(), w.GP64()
	w.LEAQ(at(n, -1), rest)
	w.ANDQ(I32(63), rest)
	w.INCQ(rest)
	w.lanes(rest, reg.K1)
	w.SUBQ(rest, n)
	w.Label("line")
	w.XORQ(i, i)
	w.CMPQ(i, n)
	w.JEQ(LabelRef("rest"))
	w.Label("full")
	w.VPXORD(indexed(src, i, 1, 0), z(1), z(0))
	w.VMOVDQU32(z(0), indexed(dst, i, 1, 0))
	w.ADDQ(U8(64), i)
	w.CMPQ(i, n)
	w.JLT(LabelRef("full"))
	w.Label("rest")
	w.VMOVDQU8_Z(indexed(src, i, 1, 0), reg.K1, z(0))
	w.VPXORD(z(1), z(0), z(0))
	w.VMOVDQU8(z(0), reg.K1, indexed(dst, i, 1, 0))
	w.ADDQ(lds, src)
	w.ADDQ(ldd, dst)
	w.DECQ(lines)
	w.JNZ(LabelRef("line"))
	w.end()
}

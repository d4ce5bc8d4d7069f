package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places of fields of kernel's qDepthRows.
const (
	inRowsSrc = 8 * iota
	inRowsDst
	inRowsTaps
	inRowsBias
	inRowsScale
	inRowsChannels
	inRowsIn
	inRowsOut
	inRowsWidth
	inRowsLine
	inRowsLines
	inRowsTop
	inRowsStart
	inRowsRows
	inRowsCols
	inRowsParts
	inRowsEnd
	inRowsPairs
	inRowsLoad
	inRowsWhole
	inRowsPlain
	inRowsTaken
	inRowsPad   = inRowsTaken + 16
	inRowsFlip  = inRowsPad + 4
	inRowsTurn  = inRowsPad + 8
	inRowsZero  = inRowsPad + 12
	inRowsLo    = inRowsPad + 16
	inRowsHi    = inRowsPad + 20
	inRowsIndex = inRowsPad + 24
	inRowsOrder = inRowsIndex + 128
	inRowsEdge  = inRowsOrder + 64
)

// Places of fields of kernel's qDepthPart and qDepthPair, and their sizes.
const (
	inPartAt   = 0
	inPartLoad = 8
	inPartMask = 16
	partBytes  = 24
	inPairAt   = 128
	pairBytes  = 192
)

// depthDirect is a depthwise convolution whose windows are brought together from the
// lines of planes as they lie: a masked sum reads a line, makes its bytes unsigned and
// leaves padding in the rest, and one permutation of bytes for each four taps makes the
// windows of sixteen positions. Narrow planes have two lines of eight in a vector, so
// that four vectors are all of them; their permutations differ by pair of lines, and padding
// is the last byte of what was read.
type depthDirect struct {
	writer
	height, stride int
	narrow         bool

	s, line, cols, p, xs, xd, xo, part, y, left, t reg.GPVirtual
}

func emitDepthRows(w writer) {
	for _, height := range []int{3, 5} {
		for _, stride := range []int{1, 2} {
			for _, narrow := range []bool{false, true} {
				depthDirect{writer: w, height: height, stride: stride, narrow: narrow}.emit()
			}
		}
	}
}

// groups is the number of groups of four taps of a line of the kernel.
func (k *depthDirect) groups() int { return (k.height + 1) / 3 }

// emit writes the convolution of channels: sums in Z0 to Z3, weights from Z4 on, a line
// and its windows in Z14 and Z15, Z16 and Z17 or Z18 and Z19 by turns, the rest constants.
// Lines of narrow planes come to Z18 first.
func (k depthDirect) emit() {
	name, what := "Rows", "lines as they lie"
	if k.narrow {
		name, what = "Narrow", "at most eight lines of eight results"
	}
	k.begin(fmt.Sprintf("qDepth%s%dBy%dVBMI", name, k.height, k.stride), "func(s *uint8)",
		fmt.Sprintf("computes channels as s, a qDepthRows, says: kernels of %d lines,\nstride %d, %s.", k.height, k.stride, what))
	k.s = k.arg("s")
	k.p, k.part, k.t = k.GP64(), k.GP64(), k.GP64()
	k.constants()
	if !k.narrow {
		k.xs, k.xd, k.xo, k.y, k.left = k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64()
		k.line, k.cols = k.GP64(), k.GP64()
		k.MOVQ(at(k.s, inRowsLine), k.line)
		k.MOVQ(at(k.s, inRowsCols), k.cols)
	}
	k.Label("channel")
	k.channel()
	if k.narrow {
		k.plane()
	} else {
		k.strips()
	}
	for _, f := range []int{inRowsSrc, inRowsDst} {
		k.MOVQ(at(k.s, f+inRowsIn-inRowsSrc), k.t)
		k.ADDQ(k.t, at(k.s, f))
	}
	k.ADDQ(U8(64), at(k.s, inRowsTaps))
	k.ADDQ(U8(4), at(k.s, inRowsBias))
	k.ADDQ(U8(4), at(k.s, inRowsScale))
	k.DECQ(at(k.s, inRowsChannels))
	k.JNZ(LabelRef("channel"))
	k.end()
}

// constants loads the limits, the zero point and the flip of results into Z21 to Z24,
// the order of results into Z26, padding and the flip of operands into Z27 and Z30, the
// permutations into Z28 and Z29, and masks of bytes that are taps into K2 and K3. Of narrow
// planes, K1 selects what is read, and K4 all results.
func (k *depthDirect) constants() {
	k.VPBROADCASTB(at(k.s, inRowsLo), z(21))
	k.VPBROADCASTB(at(k.s, inRowsHi), z(22))
	k.VPBROADCASTW(at(k.s, inRowsZero), z(23))
	k.VPBROADCASTD(at(k.s, inRowsTurn), z(24))
	k.VPBROADCASTD(at(k.s, inRowsPad), z(27))
	k.VPBROADCASTD(at(k.s, inRowsFlip), z(30))
	k.VMOVDQU32(at(k.s, inRowsOrder), z(26))
	for g := range k.groups() {
		k.KMOVQ(at(k.s, inRowsTaken+8*g), k.taken(g))
		if !k.narrow {
			k.VMOVDQU32(at(k.s, inRowsIndex+64*g), z(28+g))
		}
	}
	if k.narrow {
		k.KMOVQ(at(k.s, inRowsLoad), reg.K1)
		k.MOVQ(at(k.s, inRowsOut), k.t)
		k.lanes(k.t, reg.K4)
	}
}

// taken is the mask of bytes that are taps of group g.
func (k *depthDirect) taken(g int) reg.Register { return []reg.Register{reg.K2, reg.K3}[g] }

// channel loads the weights, the bias and the scale of a channel.
func (k *depthDirect) channel() {
	k.MOVQ(at(k.s, inRowsTaps), k.p)
	for line := range k.height {
		for g := range k.groups() {
			k.VPBROADCASTD(at(k.p, 4*g), z(4+k.groups()*line+g))
		}
		if line+1 < k.height {
			k.ADDQ(at(k.s, inRowsWidth), k.p)
		}
	}
	k.MOVQ(at(k.s, inRowsBias), k.p)
	k.VPBROADCASTD(at(k.p, 0), z(25))
	k.MOVQ(at(k.s, inRowsScale), k.p)
	k.VBROADCASTSS(at(k.p, 0), z(20))
}

// ahead is how many lines are read before the products of one: as many as registers hold.
func (k *depthDirect) ahead() int {
	if k.narrow {
		return 1
	}
	return 2
}

// sums makes integers of the scaled sums of four vectors that are apart lines from each other.
// Lines are read ahead, and a sum is scaled while products are added to the next ones.
func (k *depthDirect) sums(apart int, read func(l, to int)) {
	for v := range 4 {
		k.VMOVDQA32(z(25), z(v))
	}
	var lines []int
	for l := range 3*apart + k.height {
		if k.last(l, apart) >= 0 {
			lines = append(lines, l)
		}
	}
	ahead := k.ahead()
	windows := func(i int) int { return 14 + i%(ahead+1)*2 }
	for i := range min(ahead, len(lines)) {
		read(lines[i], windows(i))
	}
	done := 0
	for i, l := range lines {
		if next := i + ahead; next < len(lines) {
			read(lines[next], windows(next))
		}
		for v := k.last(l, apart); v >= 0 && l-v*apart < k.height; v-- {
			for g := range k.groups() {
				k.VPDPBUSD(z(4+k.groups()*(l-v*apart)+g), z(windows(i)+g), z(v))
			}
		}
		for ; done*apart+k.height <= l; done++ {
			k.scaled(done)
		}
	}
	for ; done < 4; done++ {
		k.scaled(done)
	}
}

// last is the last vector that reads line l, -1 where none does.
func (k *depthDirect) last(l, apart int) int {
	if v := min(l/apart, 3); l-v*apart < k.height {
		return v
	}
	return -1
}

// scaled makes integers of scaled sums.
func (k *depthDirect) scaled(v int) {
	k.VCVTDQ2PS(z(v), z(v))
	k.VMULPS(z(20), z(v), z(v))
	k.VCVTPS2DQ(z(v), z(v))
}

// bytes makes 64 bytes of integers, in the order of results. Where they are all bytes, saturation
// is all of it.
func (k *depthDirect) bytes() {
	k.CMPQ(at(k.s, inRowsPlain), U8(0))
	k.JEQ(LabelRef("clamp"))
	for v := 0; v < 4; v += 2 {
		k.VPACKSSDW(z(v+1), z(v), z(v))
	}
	k.VPACKUSWB(z(2), z(0), z(0))
	k.VPERMB(z(0), z(26), z(0))
	k.JMP(LabelRef("packed"))
	k.Label("clamp")
	k.clamped(4, z, z(23), z(21), z(22))
	k.VPERMB(z(0), z(26), z(0))
	k.VPXORD(z(24), z(0), z(0))
	k.Label("packed")
}

// strips computes a plane: strips of sixteen columns, four lines at a time.
func (k *depthDirect) strips() {
	k.MOVQ(at(k.s, inRowsParts), k.part)
	k.MOVQ(at(k.s, inRowsDst), k.xo)
	k.Label("strip")
	k.KMOVQ(at(k.part, inPartLoad), reg.K1)
	k.KMOVQ(at(k.part, inPartMask), reg.K4)
	k.MOVQ(at(k.s, inRowsSrc), k.xs)
	k.ADDQ(at(k.part, inPartAt), k.xs)
	k.ADDQ(at(k.s, inRowsStart), k.xs)
	k.MOVQ(at(k.s, inRowsTop), k.y)
	k.MOVQ(at(k.s, inRowsRows), k.left)
	k.MOVQ(k.xo, k.xd)
	k.Label("group")
	k.MOVQ(k.xs, k.p)
	k.sums(k.stride, func(_, to int) { k.read(to) })
	k.SUBQ(U8(3*k.stride+k.height-4*k.stride), k.y)
	k.MOVQ(k.line, k.t)
	k.SHLQ(U8(k.stride+1), k.t)
	k.ADDQ(k.t, k.xs)
	k.bytes()
	k.put()
	k.LEAQ(indexed(k.xd, k.cols, 4, 0), k.xd)
	k.SUBQ(U8(4), k.left)
	k.JG(LabelRef("group"))
	k.ADDQ(U8(16), k.xo)
	k.ADDQ(U8(partBytes), k.part)
	k.CMPQ(k.part, at(k.s, inRowsEnd))
	k.JNE(LabelRef("strip"))
}

// read makes the windows of a line, and goes to the next one. Outside the plane, a line of
// padding is read.
func (k *depthDirect) read(to int) {
	k.LEAQ(at(k.s, inRowsEdge), k.t)
	k.CMPQ(k.y, at(k.s, inRowsLines))
	k.CMOVQCS(k.p, k.t)
	k.VMOVDQA32(z(27), z(to))
	if k.stride == 1 {
		k.VPADDB(at(k.t, 0), y(30), reg.K1, y(to))
	} else {
		k.VPADDB(at(k.t, 0), z(30), reg.K1, z(to))
	}
	k.INCQ(k.y)
	k.ADDQ(k.line, k.p)
	for g := k.groups() - 1; g >= 0; g-- {
		k.VPERMB_Z(z(to), z(28+g), k.taken(g), z(to+g))
	}
}

// put stores the lines that there are: those that are one strip at once.
func (k *depthDirect) put() {
	k.MOVQ(at(k.s, inRowsWhole), k.t)
	k.TESTQ(k.t, k.t)
	k.JZ(LabelRef("parts"))
	k.CMPQ(k.left, U8(4))
	k.JGE(LabelRef("full"))
	k.MOVQ(k.cols, k.t)
	k.IMULQ(k.left, k.t)
	k.Label("full")
	k.lanes(k.t, reg.K5)
	k.VMOVDQU8(z(0), reg.K5, at(k.xd, 0))
	k.JMP(LabelRef("stored"))
	k.Label("parts")
	k.LEAQ(indexed(k.cols, k.cols, 2, 0), k.t)
	k.VMOVDQU8(x(0), reg.K4, at(k.xd, 0))
	for r, place := range []Mem{indexed(k.xd, k.cols, 1, 0), indexed(k.xd, k.cols, 2, 0), indexed(k.xd, k.t, 1, 0)} {
		k.CMPQ(k.left, U8(r+1))
		k.JLE(LabelRef("stored"))
		k.VEXTRACTI32X4(U8(r+1), z(0), x(r+1))
		k.VMOVDQU8(x(r+1), reg.K4, place)
	}
	k.Label("stored")
}

// plane computes a narrow plane at once: each pair of lines of what windows read has its
// permutations. Without a stride all lines are in one vector.
func (k *depthDirect) plane() {
	k.MOVQ(at(k.s, inRowsPairs), k.part)
	k.MOVQ(at(k.s, inRowsSrc), k.p)
	if k.stride == 1 {
		k.VMOVDQA32(z(27), z(18))
		k.VPADDB(at(k.p, 0), z(30), reg.K1, z(18))
	}
	k.sums(2*k.stride, func(l, to int) {
		pair := l * pairBytes
		if k.stride == 2 {
			k.MOVQ(at(k.part, pair+inPairAt), k.t)
			k.VMOVDQA32(z(27), z(18))
			k.VPADDB(indexed(k.p, k.t, 1, 0), z(30), reg.K1, z(18))
		}
		for g := range k.groups() {
			k.VMOVDQU32(at(k.part, pair+64*g), z(19))
			k.VPERMB_Z(z(18), z(19), k.taken(g), z(to+g))
		}
	})
	k.bytes()
	k.MOVQ(at(k.s, inRowsDst), k.p)
	k.VMOVDQU8(z(0), reg.K4, at(k.p, 0))
}

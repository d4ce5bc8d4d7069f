package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

const (
	panelBytes = 128 // one group of four k for the 32 columns of a panel
	tileDoc    = `computes c = a·b for rows of 1 to %d and the 32 columns of a panel.
Row i of a starts lda*i bytes after a; it is read in taps runs, run t at offs[t],
of groups times four bytes and rem (0 to 3) more. b holds the panel's groups in
the same order, the last group of a run filled up with zeros.`
	fusedSignature = "func(rows int, a *uint8, lda int, offs *int64, taps, groups, rem int, b *int8, bias, c *int32, ldc int, out *uint8)"
	tileSignature  = "func(rows int, a *uint8, lda int, offs *int64, taps, groups, rem int, b *int8, c *int32, ldc int)"
)

func emitGemm(w writer) {
	tile512{writer: w}.emit()
	tile256{writer: w}.emit()
	emitPeak(w)
}

// tileRegs are the general registers of a tile.
type tileRegs struct {
	a, lda, offs, taps, b, n, groups reg.GPVirtual
	rows                             [5]reg.GPVirtual // a's rows 0, 3, 6...
}

// row is the memory of row r, disp bytes after the current position.
func (t *tileRegs) row(r, disp int) Mem {
	m := at(t.rows[r/3], disp)
	if r%3 > 0 {
		m = indexed(t.rows[r/3], t.lda, uint8(r%3), disp)
	}
	return m
}

// load reads the parameters that every number of rows needs.
func (t *tileRegs) load(w writer, mr int) {
	t.a, t.lda, t.offs, t.taps = w.arg("a"), w.arg("lda"), w.arg("offs"), w.arg("taps")
	t.b, t.n, t.groups = w.arg("b"), w.GP64(), w.arg("groups")
	for i := range (mr + 2) / 3 {
		t.rows[i] = w.GP64()
	}
}

// choose branches to the label of the number of rows; mr falls through.
func choose(w writer, mr int) {
	rows := w.arg("rows")
	for r := mr - 1; r >= 1; r-- {
		w.CMPQ(rows, U8(r))
		w.JEQ(LabelRef(fmt.Sprintf("rows%d", r)))
	}
}

// begin points the row registers at the next run.
func (t *tileRegs) begin(w writer, rows int) {
	w.MOVQ(at(t.offs, 0), t.rows[0])
	w.ADDQ(U8(8), t.offs)
	w.ADDQ(t.a, t.rows[0])
	for i := 1; i < (rows+2)/3; i++ {
		w.LEAQ(indexed(t.rows[i-1], t.lda, 2, 0), t.rows[i])
		w.ADDQ(t.lda, t.rows[i])
	}
}

// advance moves along the run by some groups.
func (t *tileRegs) advance(w writer, rows, groups int) {
	for i := range (rows + 2) / 3 {
		w.ADDQ(U8(4*groups), t.rows[i])
	}
	w.ADDQ(I32(panelBytes*groups), t.b)
}

// tile512 is the AVX-512 VNNI micro-kernel: up to fourteen rows by two vectors.
type tile512 struct {
	writer
	t    tileRegs
	rows int
	sets int // independent sums of one element, for few rows

	order Mem // of dwords of two packed rows
}

// tileAhead is how many groups before their use weights are asked for.
const tileAhead = 48

// most512 is the most rows that registers hold.
const most512 = 14

// emit writes the tile. Sums that are stored unchanged share the code from a later
// point on; bytes do not, nor does the earlier code: groups of four k are few, and
// another branch on the number of rows after them made short products 3 % slower.
func (k tile512) emit() {
	k.order = permutation(k.writer)
	k.begin("qTileVNNI", fusedSignature, fmt.Sprintf(tileDoc, most512)+
		"\nThe 32 elements of bias are added. With out, a qStore, the sums become bytes\nand c is not written.")
	k.t.load(k.writer, most512)
	k.lanes(k.arg("rem"), reg.K1)
	enter512(k.writer, func(rows int) string { return fmt.Sprintf("rows%d", rows) })
	for k.rows = most512; k.rows >= 1; k.rows-- {
		k.sets = 1
		if k.rows <= 3 {
			k.sets = 4
		} else if k.rows <= 6 {
			k.sets = 2
		}
		k.sums()
		out := k.arg("out")
		k.TESTQ(out, out)
		k.JZ(LabelRef("store"))
		k.bytes(out)
	}
	k.Label("store")
	k.store()
}

// enter512 jumps to the label of the number of rows.
func enter512(w writer, label func(rows int) string) {
	var all []int
	for r := most512; r >= 1; r-- {
		all = append(all, r)
	}
	simd.AVX512(w.Context).Enter(w.arg("rows"), all, label)
}

func (k *tile512) label(s string) string { return fmt.Sprintf("%s%d", s, k.rows) }

// acc is vector v of a row: rows lie from the last register of a set to the first,
// so that they are stored from the first on.
func (k *tile512) acc(set, r, v int) reg.VecPhysical { return z((set*k.rows+k.rows-1-r)*2 + v) }

// sums writes the sums of a number of rows. A row's 32 sums are two registers over
// all taps and k. Fewer rows have several sets of sums, which take groups in turn,
// because one multiply-add waits for the last one of the same sum.
func (k *tile512) sums() {
	t := &k.t
	k.Label(k.label("rows"))
	bias := k.arg("bias")
	for i := range 2 * k.rows * k.sets {
		switch {
		case i < 2:
			k.VMOVDQU32(at(bias, 64*i), z(i))
		case i < 2*k.rows:
			k.VMOVDQA32(z(i%2), z(i))
		default:
			k.VPXORD(z(i), z(i), z(i))
		}
	}
	k.Label(k.label("tap"))
	t.begin(k.writer, k.rows)
	k.MOVQ(t.groups, t.n)
	k.SUBQ(U8(4), t.n)
	k.JLT(LabelRef(k.label("few")))
	k.Label(k.label("four"))
	for g := range 4 {
		k.group(g, g%k.sets, false)
	}
	t.advance(k.writer, k.rows, 4)
	k.SUBQ(U8(4), t.n)
	k.JGE(LabelRef(k.label("four")))
	k.Label(k.label("few"))
	k.ADDQ(U8(4), t.n)
	k.JZ(LabelRef(k.label("tail")))
	k.Label(k.label("one"))
	k.group(0, 0, false)
	t.advance(k.writer, k.rows, 1)
	k.DECQ(t.n)
	k.JNZ(LabelRef(k.label("one")))
	k.Label(k.label("tail"))
	k.KTESTQ(reg.K1, reg.K1)
	k.JZ(LabelRef(k.label("next")))
	k.group(0, 0, true)
	k.ADDQ(I32(panelBytes), t.b)
	k.Label(k.label("next"))
	k.DECQ(t.taps)
	k.JNZ(LabelRef(k.label("tap")))
	for s := 1; s < k.sets; s++ {
		for i := range 2 * k.rows {
			k.VPADDD(z(s*2*k.rows+i), z(i), z(i))
		}
	}
}

// group adds one group of four k; a part group reads only the bytes of K1. The
// panel's two vectors are loaded once for all rows; of a row four bytes are
// broadcast.
func (k *tile512) group(g, set int, part bool) {
	for v := range 2 {
		k.VMOVDQU32(at(k.t.b, panelBytes*g+64*v), z(28+v))
		k.PREFETCHT0(at(k.t.b, panelBytes*(g+tileAhead)+64*v))
	}
	for r := range k.rows {
		a := 30 + r%2
		if part {
			k.VMOVDQU8_Z(k.t.row(r, 4*g), reg.K1, x(a))
			k.VPBROADCASTD(x(a), z(a))
		} else {
			k.VPBROADCASTD(k.t.row(r, 4*g), z(a))
		}
		for v := range 2 {
			k.VPDPBUSD(z(28+v), z(a), k.acc(set, r, v))
		}
	}
}

// store writes the end of a tile whose sums are stored.
func (k *tile512) store() {
	c, ldc := k.arg("c"), k.arg("ldc")
	k.SHLQ(U8(2), ldc)
	label := func(rows int) string { return simd.Rung("sums", rows) }
	enter512(k.writer, label)
	simd.AVX512(k.Context).Ladder(most512, label, func(follow int) {
		for v := range 2 {
			k.VMOVDQU32(z(2*follow+v), at(c, 64*v))
		}
		k.ADDQ(ldc, c)
	})
	k.end()
}

// Places of fields of kernel's qStore.
const (
	storeScale = 8 * iota
	storeDst
	storeLd
	storeCols
	storeHi
	storeFlip = storeHi + 4
	storeZero = storeHi + 8
	storeLo   = storeHi + 12
)

// permutation declares how dwords of two rows, interleaved by packing, are to be
// ordered.
func permutation(w writer) Mem {
	m := w.StaticGlobal("qrows")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		w.AddDatum(4*i, U32(i%4*4+i/4))
	}
	return m
}

// bytes turns the sums into bytes. Limits from above are taken as floats, so that
// nothing overflows upwards, those from below as words after saturation, where
// overflow downwards and NaN have become the least value.
func (k *tile512) bytes(out reg.GPVirtual) {
	k.Label(k.label("bytes"))
	scale, dst, ld, cols := k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(at(out, storeScale), scale)
	k.MOVQ(at(out, storeDst), dst)
	k.MOVQ(at(out, storeLd), ld)
	k.MOVQ(at(out, storeCols), cols)
	k.lanes(cols, reg.K2)
	k.VMOVUPS(at(scale, 0), z(28))
	k.VMOVUPS(at(scale, 64), z(29))
	k.VBROADCASTSS(at(out, storeHi), z(30))
	for i := range 2 * k.rows {
		sum := k.acc(0, i/2, i%2)
		k.VCVTDQ2PS(sum, sum)
		k.VMULPS(z(28+i%2), sum, sum)
		k.VMINPS(sum, z(30), sum)
		k.VCVTPS2DQ(sum, sum)
	}
	k.VPBROADCASTW(at(out, storeZero), z(28))
	k.VPBROADCASTW(at(out, storeLo), z(29))
	k.VMOVDQU32(k.order, z(30))
	k.VPBROADCASTD(at(out, storeFlip), z(31))
	for r := range k.rows {
		row := k.acc(0, r, 0)
		k.VPACKSSDW(k.acc(0, r, 1), row, row)
		k.VPADDSW(z(28), row, row)
		k.VPMAXSW(z(29), row, row)
	}
	for r := 0; r < k.rows; r += 2 {
		row, next := k.acc(0, r, 0), k.acc(0, min(r+1, k.rows-1), 0)
		k.VPACKUSWB(next, row, row)
		k.VPERMD(row, z(30), row)
		k.VPXORD(z(31), row, row)
		k.VMOVDQU8(row.AsY(), reg.K2, at(dst, 0))
		if next != row {
			k.VEXTRACTI64X4(U8(1), row, next.AsY())
			k.VMOVDQU8(next.AsY(), reg.K2, indexed(dst, ld, 1, 0))
			k.LEAQ(indexed(dst, ld, 2, 0), dst)
		}
	}
	k.end()
}

// tile256 is the AVX2 micro-kernel: up to six rows by eight columns at a time,
// bytes widened to 16 bits, because VPMADDUBSW saturates and this must not.
type tile256 struct {
	writer
	t      tileRegs
	rem    reg.GPVirtual
	rows   int
	column reg.GPVirtual // bytes of the panel's columns that are done, times four
}

func (k tile256) emit() {
	const mr = 6
	k.begin("qTileAVX2", tileSignature, fmt.Sprintf(tileDoc, mr))
	k.t.load(k.writer, mr)
	k.rem, k.column = k.arg("rem"), k.GP64()
	k.XORQ(k.column, k.column)
	choose(k.writer, mr)
	for k.rows = mr; k.rows >= 1; k.rows-- {
		k.body()
	}
}

func (k *tile256) label(s string) string { return fmt.Sprintf("%s%d", s, k.rows) }

// body writes a number of rows, for eight columns of the panel at a time: bytes
// are widened to 16 bits, weights once for all rows, and pairs of products are
// added to half sums that stay in registers over all taps.
func (k *tile256) body() {
	t := &k.t
	k.Label(k.label("rows"))
	k.Load(k.Param("b"), t.b)
	k.ADDQ(k.column, t.b)
	k.Load(k.Param("offs"), t.offs)
	k.Load(k.Param("taps"), t.taps)
	for i := range 2 * k.rows {
		k.VPXOR(y(i), y(i), y(i))
	}
	k.Label(k.label("tap"))
	t.begin(k.writer, k.rows)
	k.MOVQ(t.groups, t.n)
	k.TESTQ(t.n, t.n)
	k.JZ(LabelRef(k.label("tail")))
	k.Label(k.label("one"))
	k.group(func(r int) { k.VPBROADCASTD(t.row(r, 0), x(14)) })
	t.advance(k.writer, k.rows, 1)
	k.DECQ(t.n)
	k.JNZ(LabelRef(k.label("one")))
	k.Label(k.label("tail"))
	for rem := 1; rem <= 3; rem++ {
		k.CMPQ(k.rem, U8(rem))
		k.JNE(LabelRef(fmt.Sprintf("not%d_%d", rem, k.rows)))
		k.group(func(r int) { k.part(r, rem) })
		k.ADDQ(I32(panelBytes), t.b)
		k.Label(fmt.Sprintf("not%d_%d", rem, k.rows))
	}
	k.DECQ(t.taps)
	k.JNZ(LabelRef(k.label("tap")))
	k.store()
}

// part loads the last rem bytes of a run of row r, and zeros.
func (k *tile256) part(r, rem int) {
	v, h := k.GP32(), k.GP32()
	switch rem {
	case 1:
		k.MOVBLZX(k.t.row(r, 0), v)
	case 2:
		k.MOVWLZX(k.t.row(r, 0), v)
	case 3:
		k.MOVWLZX(k.t.row(r, 0), v)
		k.MOVBLZX(k.t.row(r, 2), h)
		k.SHLL(U8(16), h)
		k.ORL(h, v)
	}
	k.VMOVD(v, x(14))
	k.VPBROADCASTD(x(14), x(14))
}

func (k *tile256) group(load func(r int)) {
	for v := range 2 {
		k.VPMOVSXBW(at(k.t.b, 16*v), y(12+v))
	}
	for r := range k.rows {
		load(r)
		k.VPMOVZXBW(x(14), y(14))
		for v := range 2 {
			k.VPMADDWD(y(12+v), y(14), y(15))
			k.VPADDD(y(15), y(2*r+v), y(2*r+v))
		}
	}
}

// store joins the two half sums of each column and goes on with the next eight.
func (k *tile256) store() {
	c, ldc := k.arg("c"), k.arg("ldc")
	k.SHLQ(U8(2), ldc)
	k.ADDQ(k.column, c)
	for r := range k.rows {
		k.VPHADDD(y(2*r+1), y(2*r), y(2*r))
		k.VPERMQ(U8(0xd8), y(2*r), y(2*r))
		k.VMOVDQU(y(2*r), at(c, 0))
		if r < k.rows-1 {
			k.ADDQ(ldc, c)
		}
	}
	k.ADDQ(U8(32), k.column)
	k.CMPQ(k.column, I32(panelBytes))
	k.JNE(LabelRef(k.label("rows")))
	k.end()
}

// emitPeak writes the loop that measures the machine's rate.
func emitPeak(w writer) {
	w.begin("qPeakVNNI", "func(n int)",
		"runs n turns of 24 independent VPDPBUSD, 128 operations each: the\nrate that products are compared with.")
	n := w.arg("n")
	for i := range 26 {
		w.VPXORD(z(i), z(i), z(i))
	}
	w.Label("turn")
	for i := range 24 {
		w.VPDPBUSD(z(24), z(25), z(i))
	}
	w.DECQ(n)
	w.JNZ(LabelRef("turn"))
	w.end()
}

package main

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// neonRows is the most rows of the NEON tile: 8 sums a row of 8 columns, each
// over the four k of a group, leave room for the operands.
const neonRows = 3

// neon has this command's kernels as methods.
type neon struct {
	simd.NEON
	params map[string]int // places of the parameters of the current function
}

// arm64Files returns the generated files for arm64: the tile of products.
//
// Registers: R0 a, R1 lda, R2 offs, R3 runs left, R4 groups, R5 rem, R6 b, R7
// groups left, R8 to R10 rows, R11 c, R12 ldc, R13 columns done, R14 and R15 free.
// V0 to V23 are sums, V24 to V27 weights of 16 bits, V28 and V29 as loaded, V30 a.
func arm64Files() map[string][]byte {
	n := &neon{}
	n.WriteString(simd.Header("asmgen/quant") + "#include \"textflag.h\"\n\n")
	n.tile()
	n.dotTile()
	stub := simd.Header("asmgen/quant") + "package quant\n" +
		simd.Stub("qTileNEON", strings.TrimPrefix(tileSignature, "func"), fmt.Sprintf(tileDoc, neonRows)) +
		simd.Stub("qTileDot", strings.TrimPrefix(dotSignature, "func"), fmt.Sprintf(dotDoc, dotRows))
	return map[string][]byte{"quant/zqgemm_arm64.s": []byte(n.String()), "quant/zqgemm_arm64.go": []byte(stub)}
}

// tile writes the tile for every arm64 processor.
func (n *neon) tile() {
	n.WriteString("// func qTileNEON(rows int, a *uint8, lda int, offs *int64, taps, groups, rem int, b *int8, c *int32, ldc int)\n")
	n.WriteString("TEXT ·qTileNEON(SB), NOSPLIT, $0-80\n")
	n.parameters()
	for r := 1; r < neonRows; r++ {
		n.Put("CMP $%d, R14", r)
		n.Put("BEQ rows%d", r)
	}
	for r := neonRows; r >= 1; r-- {
		n.rows(r)
	}
}

// rows writes the code for a number of rows, eight columns at a time.
func (n *neon) rows(rows int) {
	label := func(s string) string { return fmt.Sprintf("%s%d", s, rows) }
	fmt.Fprintf(n, "%s:\n", label("rows"))
	n.Put("MOVD b+56(FP), R6")
	n.Put("ADD R13, R6, R6")
	n.Put("MOVD offs+24(FP), R2")
	n.Put("MOVD taps+32(FP), R3")
	for i := range 8 * rows {
		n.Put("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	n.walk(walk{rows: rows, first: 8, add: func(load func(r int)) { n.group(rows, load) },
		whole: func(r int) { n.Put("MOVWU.P 4(R%d), R14", 8+r) }})
	n.store(rows)
	n.Put("ADD $32, R13, R13")
	n.Put("CMP $%d, R13", panelBytes)
	n.Put("BNE %s", label("rows"))
	n.Put("RET")
}

// walk is the loop over taps, groups of four k and those that are left. The rows of
// a are at R(first) and on.
type walk struct {
	rows, first int
	prefix      string                 // of labels
	add         func(load func(r int)) // adds a group, for which load brings each row
	whole       func(r int)            // loads four bytes of a row
	spread      func()                 // has fewer, in R14, where whole leaves its bytes; nil where that is R14
	four        func()                 // adds four groups of all rows at once; nil adds one by one
}

func (n *neon) walk(w walk) {
	label := func(s string) string { return fmt.Sprintf("%s%s%d", w.prefix, s, w.rows) }
	n.Label(label("tap"))
	n.Put("MOVD.P 8(R2), R%d", w.first)
	n.Put("ADD R0, R%d, R%d", w.first, w.first)
	for r := 1; r < w.rows; r++ {
		n.Put("ADD R1, R%d, R%d", w.first-1+r, w.first+r)
	}
	n.Put("MOVD R4, R7")
	if w.four != nil {
		n.Put("SUBS $4, R7, R7")
		n.Put("BLT %s", label("few"))
		n.Label(label("four"))
		w.four()
		n.Put("SUBS $4, R7, R7")
		n.Put("BGE %s", label("four"))
		n.Label(label("few"))
		n.Put("ADD $4, R7, R7")
	}
	n.Put("CBZ R7, %s", label("tail"))
	n.Label(label("group"))
	w.add(w.whole)
	n.Put("SUBS $1, R7, R7")
	n.Put("BNE %s", label("group"))
	n.Label(label("tail"))
	for rem := 1; rem <= 3; rem++ {
		skip := fmt.Sprintf("%snot%d_%d", w.prefix, rem, w.rows)
		n.Put("CMP $%d, R5", rem)
		n.Put("BNE %s", skip)
		w.add(func(r int) {
			n.Put("MOVBU (R%d), R14", w.first+r)
			for i := 1; i < rem; i++ {
				n.Put("MOVBU %d(R%d), R15", i, w.first+r)
				n.Put("ORR R15<<%d, R14, R14", 8*i)
			}
			if w.spread != nil {
				w.spread()
			}
		})
		n.Label(skip)
	}
	n.Put("SUBS $1, R3, R3")
	n.Put("BNE %s", label("tap"))
}

// group adds one group of four k; load leaves four bytes of row r in R14.
func (n *neon) group(rows int, load func(r int)) {
	n.Put("VLD1 (R6), [V28.B16, V29.B16]")
	n.Put("ADD $%d, R6, R6", panelBytes)
	for i := range 2 {
		n.Two(0x0f08a400, "SXTL V%d.8H, V%d.8B", 24+2*i, 28+i)
		n.Two(0x4f08a400, "SXTL2 V%d.8H, V%d.16B", 25+2*i, 28+i)
	}
	for r := range rows {
		load(r)
		n.Put("VDUP R14, V30.S4")
		n.Two(0x2f08a400, "UXTL V%d.8H, V%d.8B", 30, 30)
		for i := range 4 {
			n.Three(0x0e608000, "SMLAL V%d.4S, V%d.4H, V%d.4H", 8*r+2*i, 24+i, 30)
			n.Three(0x4e608000, "SMLAL2 V%d.4S, V%d.8H, V%d.8H", 8*r+2*i+1, 24+i, 30)
		}
	}
}

// store adds the four sums of each column and writes eight columns of each row.
func (n *neon) store(rows int) {
	n.Put("ADD R13, R11, R14")
	for r := range rows {
		v := 8 * r
		for i := range 4 {
			n.Three(0x4ea0bc00, "ADDP V%d.4S, V%d.4S, V%d.4S", v+i, v+2*i, v+2*i+1)
		}
		for i := range 2 {
			n.Three(0x4ea0bc00, "ADDP V%d.4S, V%d.4S, V%d.4S", v+i, v+2*i, v+2*i+1)
		}
		n.Put("VST1 [V%d.B16, V%d.B16], (R14)", v, v+1)
		if r < rows-1 {
			n.Put("ADD R12, R14, R14")
		}
	}
}

package main

import "fmt"

const (
	// dotRows is the most rows of the tile of dot products.
	dotRows = 8

	dotSignature = "func(rows int, a *uint8, lda int, offs *int64, taps, groups, rem int, b *int8, c *int32, ldc int, sums *int32)"
	dotDoc       = tileDoc + "\nsums has the sum of each column of b.\nIt needs the dot products of Armv8.2."
)

// Registers of the tile of dot products, in addition to those of the other tile: R8 the bytes of a
// group, R9 sums of columns, R19 to R26 rows. V0 to V15 are sums, V18 and V19 weights, V22 to V29 rows,
// V31 all 128.
const dotRow, dotA = 19, 22

// dotTile writes the tile for processors with dot products of signed bytes. Bytes
// of a are made signed, which takes 128 times the sum of its weights from each
// column; sums begin with that. Four groups of a row are loaded at once: the instruction takes
// the four bytes of one of them by their place.
func (n *neon) dotTile() {
	fmt.Fprintf(n, "\n// func qTileDot%s\n", dotSignature[len("func"):])
	n.WriteString("TEXT ·qTileDot(SB), NOSPLIT, $0-88\n")
	n.parameters()
	n.Put("MOVD sums+80(FP), R9")
	n.Put("MOVD $%d, R8", panelBytes)
	n.Put("VMOVI $128, V31.B16")
	for r := 1; r < dotRows; r++ {
		n.Put("CMP $%d, R14", r)
		n.Put("BEQ dot%d", r)
	}
	for r := dotRows; r >= 1; r-- {
		n.dotColumns(r)
	}
}

// parameters loads the operands that both tiles need.
func (n *neon) parameters() {
	for _, p := range []struct {
		name      string
		off, into int
	}{{"a", 8, 0}, {"lda", 16, 1}, {"groups", 40, 4}, {"rem", 48, 5}, {"c", 64, 11}, {"ldc", 72, 12}} {
		n.Put("MOVD %s+%d(FP), R%d", p.name, p.off, p.into)
	}
	n.Put("LSL $2, R12, R12")
	n.Put("MOVD ZR, R13")
	n.Put("MOVD rows+0(FP), R14")
}

// dotColumns writes the code for a number of rows, eight columns at a time.
func (n *neon) dotColumns(rows int) {
	fmt.Fprintf(n, "dot%d:\n", rows)
	n.Put("MOVD b+56(FP), R6")
	n.Put("ADD R13, R6, R6")
	n.Put("MOVD offs+24(FP), R2")
	n.Put("MOVD taps+32(FP), R3")
	n.Put("ADD R13, R9, R14")
	n.Put("VLD1 (R14), [V18.S4, V19.S4]")
	for v := range 2 * rows {
		n.Put("VSHL $7, V%d.S4, V%d.S4", 18+v%2, v)
	}
	n.walk(walk{rows: rows, first: dotRow, prefix: "dot", add: func(load func(r int)) { n.dots(rows, load) },
		whole:  func(r int) { n.Put("VLD1R.P 4(R%d), [V%d.S4]", dotRow+r, dotA) },
		spread: func() { n.Put("VDUP R14, V%d.S4", dotA) }, four: func() { n.fourDots(rows) }})
	n.Put("ADD R13, R11, R14")
	for r := range rows {
		n.Put("VST1 [V%d.B16, V%d.B16], (R14)", 2*r, 2*r+1)
		if r < rows-1 {
			n.Put("ADD R12, R14, R14")
		}
	}
	n.Put("ADD $32, R13, R13")
	n.Put("CMP $%d, R13", panelBytes)
	n.Put("BNE dot%d", rows)
	n.Put("RET")
}

// dots adds one group of four k; load leaves four bytes of row r in each dword of V22.
func (n *neon) dots(rows int, load func(r int)) {
	const dot = 0x4e809400
	n.Put("VLD1.P (R6)(R8), [V18.B16, V19.B16]")
	for r := range rows {
		load(r)
		n.Put("VEOR V31.B16, V%d.B16, V%d.B16", dotA, dotA)
		for i := range 2 {
			n.Three(dot, "SDOT V%d.4S, V%d.16B, V%d.16B", 2*r+i, 18+i, dotA)
		}
	}
}

// fourDots adds four groups.
func (n *neon) fourDots(rows int) {
	for r := range rows {
		n.Put("VLD1.P 16(R%d), [V%d.B16]", dotRow+r, dotA+r)
		n.Put("VEOR V31.B16, V%d.B16, V%d.B16", dotA+r, dotA+r)
	}
	for g := range uint32(4) {
		const dot = 0x4f80e000 // the place of the four bytes is in bits 11 and 21
		n.Put("VLD1.P (R6)(R8), [V18.B16, V19.B16]")
		for r := range rows {
			for i := range 2 {
				n.Three(dot|g&1<<21|g>>1<<11, fmt.Sprintf("SDOT V%%d.4S, V%%d.16B, V%%d.4B[%d]", g), 2*r+i, 18+i, dotA+r)
			}
		}
	}
}

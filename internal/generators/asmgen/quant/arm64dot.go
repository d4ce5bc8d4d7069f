package main

import "fmt"

// dotRows is the most rows of the tile of dot products.
const dotRows = 6

// dotTile writes the tile for processors with dot products of signed bytes. Bytes
// of a are made signed, which takes 128 times the sum of its weights from each
// column; products of the weights with 64, twice, bring that back.
//
// Registers in addition to those of the other tile: R19 to R24 rows. V0 to V11
// are sums, V16 and V17 weights, V18 and V19 sums of weights times 64, V20 all
// 64, V21 all 128, V22 a.
func (n *neon) dotTile() {
	n.WriteString("\n// func qTileDot(rows int, a *uint8, lda int, offs *int64, taps, groups, rem int, b *int8, c *int32, ldc int)\n")
	n.WriteString("TEXT ·qTileDot(SB), NOSPLIT, $0-80\n")
	n.parameters()
	n.Put("VMOVI $64, V20.B16")
	n.Put("VMOVI $128, V21.B16")
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
	for i := range 2 * rows {
		n.Put("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	n.Put("VEOR V18.B16, V18.B16, V18.B16")
	n.Put("VEOR V19.B16, V19.B16, V19.B16")
	n.walk(rows, 19, "dot", func(load func(r int)) { n.dots(rows, load) },
		func(r int) { n.Put("VLD1R.P 4(R%d), [V22.S4]", 19+r) }, func() { n.Put("VDUP R14, V22.S4") })
	n.Put("VADD V18.S4, V18.S4, V18.S4")
	n.Put("VADD V19.S4, V19.S4, V19.S4")
	n.Put("ADD R13, R11, R14")
	for r := range rows {
		for i := range 2 {
			n.Put("VADD V%d.S4, V%d.S4, V%d.S4", 18+i, 2*r+i, 2*r+i)
		}
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
	n.Put("VLD1 (R6), [V16.B16, V17.B16]")
	n.Put("ADD $%d, R6, R6", panelBytes)
	for i := range 2 {
		n.Three(dot, "SDOT V%d.4S, V%d.16B, V%d.16B", 18+i, 16+i, 20)
	}
	for r := range rows {
		load(r)
		n.Put("VEOR V21.B16, V22.B16, V22.B16")
		for i := range 2 {
			n.Three(dot, "SDOT V%d.4S, V%d.16B, V%d.16B", 2*r+i, 16+i, 22)
		}
	}
}

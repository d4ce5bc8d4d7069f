package main

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// neonPositions is the most positions of a NEON tile: four vectors of sums each
// leave room for the weights and for what they multiply.
const neonPositions = 6

// Instructions on four floats, by register.
const (
	fadd  = 0x4E20D400
	fmul  = 0x6E20DC00
	fdiv  = 0x6E20FC00
	fmax  = 0x4E20F400
	fmin  = 0x4EA0F400
	fcmgt = 0x6EA0E400
	fcmeq = 0x4E20E400
	bsl   = 0x6E601C00
)

// neon writes one kernel for every number of positions.
//
// Registers: R0 args, R1 x, R2 offsets, R3 taps left, R4 channels left, R5 bytes
// between positions, R6 weights, R7 phase, R8 to R13 positions of the tap, R14
// and R15 free. V0 to V23 are sums, V24 to V27 input, V28 to V31 weights.
type neon struct {
	simd.NEON
	rows int
}

func arm64Files() map[string][]byte {
	n := &neon{}
	n.WriteString(simd.Header("asmgen/blocked") + "#include \"textflag.h\"\n")
	stubs := simd.Header("asmgen/blocked") + "package blocked\n"
	for _, k := range []struct {
		name, doc string
		emit      func()
	}{
		{"blockConvNEON", "convolves a tile of 1 to 6 positions of one block of output channels\nas args, a blockTile, says.", n.convolve},
		{"blockDepthwiseNEON", "filters a block of channels at 1 to 6 positions as args, a\nblockTile, says.", n.filter},
		{"blockMaxNEON", "takes the greatest of the taps, of which NaN is one, for a block of\nchannels at 1 to 6 positions as args, a blockTile, says.", func() { n.pool(n.greatest, func() {}) }},
		{"blockSumNEON", "divides the sum of the taps by divisors[r] for a block of channels at\n1 to 6 positions as args, a blockTile, says.", func() { n.pool(n.sum, n.divide) }},
	} {
		const signature = "(rows int, args *byte)"
		stubs += simd.Stub(k.name, signature, k.doc)
		n.Begin(k.name, signature, 16)
		n.Put("MOVD args+8(FP), R0")
		n.Put("MOVD rows+0(FP), R14")
		for r := 1; r < neonPositions; r++ {
			n.Put("CMP $%d, R14", r)
			n.Put("BEQ rows%d", r)
		}
		for n.rows = neonPositions; n.rows >= 1; n.rows-- {
			n.begin()
			k.emit()
			n.store()
		}
	}
	return map[string][]byte{"blocked/zblocked_arm64.s": []byte(n.String()), "blocked/zblocked_arm64.go": []byte(stubs)}
}

// at is a label of the current number of positions.
func (n *neon) at(name string) string { return fmt.Sprintf("%s%d", name, n.rows) }

// vectors names four registers from v on.
func vectors(v int) string {
	var s []string
	for i := range 4 {
		s = append(s, fmt.Sprintf("V%d.S4", v+i))
	}
	return "[" + strings.Join(s, ", ") + "]"
}

func (n *neon) begin() {
	n.Label(n.at("rows"))
	for i := range 4 * n.rows {
		n.Put("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	n.Put("MOVD %d(R0), R1", tileX)
	n.Put("MOVD %d(R0), R2", tileOffsets)
	n.Put("MOVD %d(R0), R3", tileTaps)
	n.Put("MOVD %d(R0), R5", tileStep)
	n.Put("MOVD %d(R0), R6", tileW)
}

// place sets the addresses of the positions for the next tap.
func (n *neon) place() {
	n.Put("MOVD.P 8(R2), R8")
	n.Put("ADD R1, R8, R8")
	for r := 1; r < n.rows; r++ {
		n.Put("ADD R5, R%d, R%d", 7+r, 8+r)
	}
}

// convolve adds the products: taps with a whole block of input channels first,
// then those with fewer.
func (n *neon) convolve() {
	n.Put("MOVD ZR, R7")
	n.Label(n.at("phase"))
	n.Put("CBZ R3, %s", n.at("next"))
	n.Label(n.at("tap"))
	n.place()
	n.Put("ADD R7<<3, R0, R14")
	n.Put("MOVD %d(R14), R4", tileInner)
	n.Label(n.at("k"))
	n.Put("VLD1.P 64(R6), %s", vectors(28))
	for r := range n.rows {
		x := 24 + r%4
		n.Put("VLD1R.P 4(R%d), [V%d.S4]", 8+r, x)
		for v := range 4 {
			n.Put("VFMLA V%d.S4, V%d.S4, V%d.S4", 28+v, x, 4*r+v)
		}
	}
	n.Put("SUBS $1, R4, R4")
	n.Put("BNE %s", n.at("k"))
	n.Put("SUBS $1, R3, R3")
	n.Put("BNE %s", n.at("tap"))
	n.Label(n.at("next"))
	n.Put("MOVD %d(R0), R3", tileTaps+8)
	n.Put("ADD $1, R7, R7")
	n.Put("CMP $2, R7")
	n.Put("BLT %s", n.at("phase"))
	n.finish()
}

// filter adds the products of channels by themselves.
func (n *neon) filter() {
	n.Label(n.at("tap"))
	n.place()
	n.Put("VLD1.P 64(R6), %s", vectors(28))
	for r := range n.rows {
		n.Put("VLD1 (R%d), %s", 8+r, vectors(24))
		for v := range 4 {
			n.Put("VFMLA V%d.S4, V%d.S4, V%d.S4", 28+v, 24+v, 4*r+v)
		}
	}
	n.Put("SUBS $1, R3, R3")
	n.Put("BNE %s", n.at("tap"))
	n.finish()
}

// finish applies the epilogue.
func (n *neon) finish() {
	perChannel := func(field int, label, text string, op uint32) {
		n.Put("MOVD %d(R0), R14", field)
		n.Put("CBZ R14, %s", n.at(label))
		n.Put("VLD1 (R14), %s", vectors(28))
		for i := range 4 * n.rows {
			n.Three(op, text, i, i, 28+i%4)
		}
		n.Label(n.at(label))
	}
	perChannel(tileScale, "unscaled", "FMUL V%d.4S, V%d.4S, V%d.4S", fmul)
	perChannel(tileBias, "unbiased", "FADD V%d.4S, V%d.4S, V%d.4S", fadd)
	n.Put("MOVD %d(R0), R14", tileResidual)
	n.Put("MOVD %d(R0), R5", tileYPos)
	n.Put("CBZ R14, %s", n.at("alone"))
	for r := range n.rows {
		n.Put("VLD1 (R14), %s", vectors(24))
		n.Put("ADD R5, R14, R14")
		for v := range 4 {
			n.Three(fadd, "FADD V%d.4S, V%d.4S, V%d.4S", 4*r+v, 4*r+v, 24+v)
		}
	}
	n.Label(n.at("alone"))
	n.Put("ADD $%d, R0, R14", tileLo)
	n.Put("VLD1R.P 4(R14), [V28.S4]")
	n.Put("VLD1R (R14), [V29.S4]")
	for i := range 4 * n.rows {
		n.Three(fmax, "FMAX V%d.4S, V%d.4S, V%d.4S", i, i, 28)
		n.Three(fmin, "FMIN V%d.4S, V%d.4S, V%d.4S", i, i, 29)
	}
}

// store ends a kernel.
func (n *neon) store() {
	n.Put("MOVD %d(R0), R15", tileY)
	n.Put("MOVD %d(R0), R5", tileYPos)
	for r := range n.rows {
		n.Put("VST1 %s, (R15)", vectors(4*r))
		n.Put("ADD R5, R15, R15")
	}
	n.Put("RET")
}

// pool takes the first tap as it is and the others, of position r, by take.
func (n *neon) pool(take func(r int), end func()) {
	n.place()
	for r := range n.rows {
		n.Put("VLD1 (R%d), %s", 8+r, vectors(4*r))
	}
	n.Put("B %s", n.at("count"))
	n.Label(n.at("tap"))
	n.place()
	for r := range n.rows {
		n.Put("VLD1 (R%d), %s", 8+r, vectors(24))
		take(r)
	}
	n.Label(n.at("count"))
	n.Put("SUBS $1, R3, R3")
	n.Put("BNE %s", n.at("tap"))
	end()
}

func (n *neon) sum(r int) {
	for v := range 4 {
		n.Three(fadd, "FADD V%d.4S, V%d.4S, V%d.4S", 4*r+v, 4*r+v, 24+v)
	}
}

// greatest takes what amd64 takes of two zeros, and keeps NaN.
func (n *neon) greatest(r int) {
	const m, e = 28, 29
	for v := range 4 {
		acc, x := 4*r+v, 24+v
		n.Three(fcmgt, "FCMGT V%d.4S, V%d.4S, V%d.4S", m, acc, x)
		n.Three(fcmeq, "FCMEQ V%d.4S, V%d.4S, V%d.4S", e, acc, acc)
		n.Three(bsl, "BSL V%d.16B, V%d.16B, V%d.16B", m, acc, x)
		n.Three(bsl, "BSL V%d.16B, V%d.16B, V%d.16B", e, m, acc)
		n.Put("VMOV V%d.B16, V%d.B16", e, acc)
	}
}

func (n *neon) divide() {
	n.Put("MOVD %d(R0), R14", tileDivisors)
	for r := range n.rows {
		n.Put("VLD1R.P 4(R14), [V28.S4]")
		for v := range 4 {
			n.Three(fdiv, "FDIV V%d.4S, V%d.4S, V%d.4S", 4*r+v, 4*r+v, 28)
		}
	}
}

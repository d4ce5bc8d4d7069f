package main

import (
	"strings"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Instructions of vectors that Go's assembler does not know.
const (
	uxtl8, uxtl8High   = 0x2f08a400, 0x6f08a400 // bytes to 16 bits, of the low or the high half
	uxtl16, uxtl16High = 0x2f10a400, 0x6f10a400 // to 32 bits
	xtn32, xtn32High   = 0x0e612800, 0x4e612800 // the low halves of 32 bits, to the low or the high half
	xtn16, xtn16High   = 0x0e212800, 0x4e212800
	scvtf, fcvtns      = 0x4e21d800, 0x4e21a800
	fmul, fadd, fdiv   = 0x6e20dc00, 0x4e20d400, 0x6e20fc00
	fmaxnm, fminnm     = 0x4e20c400, 0x4ea0c400
	fcmgt, bit         = 0x6ea0e400, 0x6ea01c00
	mul32              = 0x4ea09c00
	umax               = 0x6e206400
	uaddlp8, uaddlp16  = 0x6e202800, 0x6e602800 // sums of neighbours, twice as wide
	uadalp32           = 0x6ea06800             // the same, added to
)

// neonSignatures are those of the bytewise functions, which take 16 elements at a
// time: n is a multiple of 16.
var neonSignatures = []struct {
	name, params, doc string
	emit              func(*neon)
}{
	{"qAddNEON", "n int, a *uint8, b *uint8, flip uint32, zeroA int32, zeroB int32, scaleA float32, scaleB float32, lo float32, hi float32, zero int32, dst *uint8",
		"adds n pairs; see qAddGo. flip is four equal bytes.", (*neon).add},
	{"qMulNEON", "n int, a *uint8, b *uint8, flip uint32, zeroA int32, zeroB int32, scaleA float32, lo float32, hi float32, zero int32, dst *uint8",
		"multiplies n pairs; see qMulGo. flip is four equal bytes.", (*neon).multiply},
	{"qQuantizeNEON", "n int, src *float32, scale float32, lo float32, hi float32, zero int32, dst *uint8",
		"quantises n floats; see quantizeGo.", (*neon).quantize},
	{"qDequantizeNEON", "n int, src *uint8, flip uint32, zero int32, scale float32, dst *float32",
		"turns n bytes into floats; see dequantizeGo. flip is four equal bytes.", (*neon).dequantize},
	{"qRangeNEON", "n int, src *float32, least *float32, greatest *float32",
		"writes four extremes of 0 and of n values each; see valueRangeGo.", (*neon).extremes},
	{"qLookupNEON", "n int, src *uint8, table *uint8, dst *uint8",
		"looks n bytes up in a table of 256; see qLookupGo.", (*neon).lookup},
	{"qMostNEON", "n int, count int, step int, src *uint8, dst *uint8, in uint32, out uint32",
		"writes n greatest of count bytes each; see qMostGo. in and out are four equal\nbytes, count is positive.", (*neon).most},
	{"qAddUpNEON", "n int, src *uint8, flip uint32, acc *int32",
		"adds n bytes to sums; see qAddUpGo. flip is four equal bytes.", (*neon).addUp},
	{"qTotalNEON", "n int, src *uint8, flip uint32, sums *int64",
		"writes two sums of n bytes; see qTotalGo. flip is four equal bytes.", (*neon).total},
	{"qRequantNEON", "rows int, acc *int32, ldacc int, bias *int32, scale *float32, lo float32, hi float32, zero int32, dst *uint8, ld int",
		"makes bytes of rows of 32 sums; see requantGo.", func(n *neon) { n.requant(false) }},
	{"qRequantAddNEON", "rows int, acc *int32, ldacc int, bias *int32, scale *float32, lo float32, hi float32, zero int32, dst *uint8, ld int, residual *uint8, flip uint32, less int32, weight float32",
		"is qRequantNEON with a residual, whose rows are ld bytes apart, too.", func(n *neon) { n.requant(true) }},
	{"qDequantNEON", "rows int, acc *int32, ldacc int, bias *int32, scale *float32, add *float32, ldadd int, dst *float32, ld int",
		"makes floats of rows of 32 sums; see dequantGo.", (*neon).dequant},
}

// neonBytes returns the generated files of the bytewise functions.
func neonBytes() map[string][]byte {
	n := &neon{}
	n.WriteString(simd.Header("asmgen/quant") + "#include \"textflag.h\"\n")
	stub := simd.Header("asmgen/quant") + "package quant\n"
	for _, f := range neonSignatures {
		size := n.place(f.params)
		n.Begin(f.name, "("+f.params+")", size)
		f.emit(n)
		n.Put("RET")
		stub += simd.Stub(f.name, "("+f.params+")", f.doc)
	}
	return map[string][]byte{"quant/zqbytes_arm64.s": []byte(n.String()), "quant/zqbytes_arm64.go": []byte(stub)}
}

// place notes where parameters lie, and returns their size.
func (n *neon) place(params string) (size int) {
	n.params = map[string]int{}
	for p := range strings.SplitSeq(params, ", ") {
		name, kind, _ := strings.Cut(p, " ")
		width := 8
		if strings.HasSuffix(kind, "32") && kind[0] != '*' {
			width = 4
		}
		size = (size + width - 1) / width * width
		n.params[name] = size
		size += width
	}
	return size
}

// words loads parameters of 64 bits into registers from R0 on.
func (n *neon) words(names ...string) {
	for i, name := range names {
		n.Put("MOVD %s+%d(FP), R%d", name, n.params[name], i)
	}
}

// spread fills vectors with parameters of 32 bits, through R26.
func (n *neon) spread(first int, names ...string) {
	for i, name := range names {
		n.Put("MOVWU %s+%d(FP), R26", name, n.params[name])
		n.Put("VDUP R26, V%d.S4", first+i)
	}
}

// each16 runs body until R0, the number of elements, is used up.
func (n *neon) each16(body func()) {
	n.Put("CBZ R0, done")
	n.Label("loop")
	body()
	n.Put("SUBS $16, R0, R0")
	n.Put("BNE loop")
	n.Label("done")
}

// eachLane writes an instruction of three registers for four vectors from v on, with
// one operand.
func (n *neon) eachLane(op uint32, name string, v, operand int) {
	for i := range 4 {
		n.Three(op, name+" V%d.4S, V%d.4S, V%d.4S", v+i, v+i, operand)
	}
}

// eachPair is eachLane with operands of four vectors.
func (n *neon) eachPair(op uint32, name string, v, operand int) {
	for i := range 4 {
		n.Three(op, name+" V%d.4S, V%d.4S, V%d.4S", v+i, v+i, operand+i)
	}
}

// widen spreads the 16 bytes of vector b over four vectors of 32 bits from v on; b
// is lost and is none of them.
func (n *neon) widen(b, v int) {
	n.Two(uxtl8, "UXTL V%d.8H, V%d.8B", v, b)
	n.Two(uxtl8High, "UXTL2 V%d.8H, V%d.16B", b, b)
	n.Two(uxtl16High, "UXTL2 V%d.4S, V%d.8H", v+1, v)
	n.Two(uxtl16, "UXTL V%d.4S, V%d.4H", v, v)
	n.Two(uxtl16, "UXTL V%d.4S, V%d.4H", v+2, b)
	n.Two(uxtl16High, "UXTL2 V%d.4S, V%d.8H", v+3, b)
}

// toFloats makes floats of four vectors of 32 bits.
func (n *neon) toFloats(v int) {
	for i := range 4 {
		n.Two(scvtf, "SCVTF V%d.4S, V%d.4S", v+i, v+i)
	}
}

// load reads 16 bytes at a register into vector v with the bits of V31 changed.
func (n *neon) load(register, v int) {
	n.Put("VLD1.P 16(R%d), [V%d.B16]", register, v)
	n.Put("VEOR V31.B16, V%d.B16, V%d.B16", v, v)
}

// subtract takes vector less from four vectors from v on.
func (n *neon) subtract(less, v int) {
	for i := range 4 {
		n.Put("VSUB V%d.S4, V%d.S4, V%d.S4", less, v+i, v+i)
	}
}

// clamp makes 16 bytes, in vector v, of four vectors of floats from v on: limits in
// V28 and V29, where NaN becomes the lower one, and the zero point in V30.
func (n *neon) clamp(v int) {
	n.eachLane(fmaxnm, "FMAXNM", v, 28)
	n.eachLane(fminnm, "FMINNM", v, 29)
	for i := range 4 {
		n.Two(fcvtns, "FCVTNS V%d.4S, V%d.4S", v+i, v+i)
		n.Put("VADD V30.S4, V%d.S4, V%d.S4", v+i, v+i)
	}
	for i := 0; i < 4; i += 2 {
		n.Two(xtn32, "XTN V%d.4H, V%d.4S", v+i, v+i)
		n.Two(xtn32High, "XTN2 V%d.8H, V%d.4S", v+i, v+i+1)
	}
	n.Two(xtn16, "XTN V%d.8B, V%d.8H", v, v)
	n.Two(xtn16High, "XTN2 V%d.16B, V%d.8H", v, v+2)
}

func (n *neon) add() {
	n.words("n", "a", "b", "dst")
	n.spread(24, "zeroA", "zeroB", "scaleA", "scaleB", "lo", "hi", "zero", "flip")
	n.each16(func() {
		for i := range 2 {
			n.load(1+i, 8)
			n.widen(8, 4*i)
			n.subtract(24+i, 4*i)
			n.toFloats(4 * i)
			n.eachLane(fmul, "FMUL", 4*i, 26+i)
		}
		n.eachPair(fadd, "FADD", 0, 4)
		n.clamp(0)
		n.Put("VST1.P [V0.B16], 16(R3)")
	})
}

func (n *neon) multiply() {
	n.words("n", "a", "b", "dst")
	n.spread(25, "zeroA", "zeroB", "scaleA", "lo", "hi", "zero", "flip")
	n.each16(func() {
		for i := range 2 {
			n.load(1+i, 8)
			n.widen(8, 4*i)
			n.subtract(25+i, 4*i)
		}
		n.eachPair(mul32, "MUL", 0, 4)
		n.toFloats(0)
		n.eachLane(fmul, "FMUL", 0, 27)
		n.clamp(0)
		n.Put("VST1.P [V0.B16], 16(R3)")
	})
}

func (n *neon) quantize() {
	n.words("n", "src", "dst")
	n.spread(27, "scale", "lo", "hi", "zero")
	n.each16(func() {
		n.Put("VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]")
		n.eachLane(fdiv, "FDIV", 0, 27)
		n.clamp(0)
		n.Put("VST1.P [V0.B16], 16(R2)")
	})
}

func (n *neon) dequantize() {
	n.words("n", "src", "dst")
	n.spread(29, "zero", "scale", "flip")
	n.each16(func() {
		n.load(1, 8)
		n.widen(8, 0)
		n.subtract(29, 0)
		n.toFloats(0)
		n.eachLane(fmul, "FMUL", 0, 30)
		n.Put("VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R2)")
	})
}

// extremes compares and selects, since NaN is passed over. Four pairs of extremes do
// not wait for each other.
func (n *neon) extremes() {
	n.words("n", "src", "least", "greatest")
	for v := range 8 {
		n.Put("VEOR V%d.B16, V%d.B16, V%d.B16", v, v, v)
	}
	choose := func(into, of, greater, less int) {
		n.Three(fcmgt, "FCMGT V%d.4S, V%d.4S, V%d.4S", 16, greater, less)
		n.Three(bit, "BIT V%d.16B, V%d.16B, V%d.16B", into, of, 16)
	}
	n.each16(func() {
		n.Put("VLD1.P 64(R1), [V8.S4, V9.S4, V10.S4, V11.S4]")
		for i := range 4 {
			choose(i, 8+i, i, 8+i)
			choose(4+i, 8+i, 8+i, 4+i)
		}
	})
	for i := 1; i < 4; i++ {
		choose(0, i, 0, i)
		choose(4, 4+i, 4+i, 4)
	}
	n.Put("VST1 [V0.S4], (R2)")
	n.Put("VST1 [V4.S4], (R3)")
}

// lookup holds the table in sixteen registers: each four look at an index less 64,
// 128 and 192, and leave results alone where it is not theirs.
func (n *neon) lookup() {
	n.words("n", "src", "table", "dst")
	for v := 0; v < 16; v += 4 {
		n.Put("VLD1.P 64(R2), [V%d.B16, V%d.B16, V%d.B16, V%d.B16]", v, v+1, v+2, v+3)
	}
	n.Put("VMOVI $64, V18.B16")
	n.each16(func() {
		n.Put("VLD1.P 16(R1), [V16.B16]")
		n.Put("VTBL V16.B16, [V0.B16, V1.B16, V2.B16, V3.B16], V17.B16")
		for v := 4; v < 16; v += 4 {
			n.Put("VSUB V18.B16, V16.B16, V16.B16")
			n.Put("VTBX V16.B16, [V%d.B16, V%d.B16, V%d.B16, V%d.B16], V17.B16", v, v+1, v+2, v+3)
		}
		n.Put("VST1.P [V17.B16], 16(R3)")
	})
}

// most keeps 16 positions in a register over the count.
func (n *neon) most() {
	n.words("n", "count", "step", "src", "dst")
	n.spread(30, "in", "out")
	n.each16(func() {
		n.Put("VEOR V0.B16, V0.B16, V0.B16")
		n.Put("MOVD R3, R5")
		n.Put("MOVD R1, R6")
		n.Label("each")
		n.Put("VLD1 (R5), [V1.B16]")
		n.Put("VEOR V30.B16, V1.B16, V1.B16")
		n.Three(umax, "UMAX V%d.16B, V%d.16B, V%d.16B", 0, 0, 1)
		n.Put("ADD R2, R5, R5")
		n.Put("SUBS $1, R6, R6")
		n.Put("BNE each")
		n.Put("VEOR V31.B16, V0.B16, V0.B16")
		n.Put("VST1.P [V0.B16], 16(R4)")
		n.Put("ADD $16, R3, R3")
	})
}

func (n *neon) addUp() {
	n.words("n", "src", "acc")
	n.spread(31, "flip")
	n.each16(func() {
		n.load(1, 8)
		n.widen(8, 0)
		n.Put("VLD1 (R2), [V4.S4, V5.S4, V6.S4, V7.S4]")
		for i := range 4 {
			n.Put("VADD V%d.S4, V%d.S4, V%d.S4", 4+i, i, i)
		}
		n.Put("VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R2)")
	})
}

func (n *neon) total() {
	n.words("n", "src", "sums")
	n.spread(31, "flip")
	n.Put("VEOR V1.B16, V1.B16, V1.B16")
	n.each16(func() {
		n.load(1, 0)
		n.Two(uaddlp8, "UADDLP V%d.8H, V%d.16B", 0, 0)
		n.Two(uaddlp16, "UADDLP V%d.4S, V%d.8H", 0, 0)
		n.Two(uadalp32, "UADALP V%d.2D, V%d.4S", 1, 0)
	})
	n.Put("VST1 [V1.D2], (R2)")
}

// tileRows runs body for the two halves of each row of 32 sums, with the sums less
// their bias scaled in V0 to V3. R1 is the distance of rows of sums, R5 of results.
func (n *neon) tileRows(width int, half func(h int), row func()) {
	n.Put("LSL $2, R1, R1")
	n.Label("row")
	for h := range 2 {
		n.Put("ADD $%d, R0, R10", 64*h)
		n.Put("VLD1 (R10), [V0.S4, V1.S4, V2.S4, V3.S4]")
		n.Put("ADD $%d, R2, R10", 64*h)
		n.Put("VLD1 (R10), [V4.S4, V5.S4, V6.S4, V7.S4]")
		for i := range 4 {
			n.Put("VADD V%d.S4, V%d.S4, V%d.S4", 4+i, i, i)
		}
		n.Put("ADD $%d, R3, R10", 64*h)
		n.Put("VLD1 (R10), [V4.S4, V5.S4, V6.S4, V7.S4]")
		n.toFloats(0)
		n.eachPair(fmul, "FMUL", 0, 4)
		n.Put("ADD $%d, R4, R10", width*16*h)
		half(h)
	}
	row()
	n.Put("ADD R1, R0, R0")
	n.Put("ADD R5, R4, R4")
	n.Put("SUBS $1, R6, R6")
	n.Put("BNE row")
}

func (n *neon) requant(residual bool) {
	list := []string{"acc", "ldacc", "bias", "scale", "dst", "ld", "rows"}
	if residual {
		list = append(list, "residual")
	}
	n.words(list...)
	n.spread(28, "lo", "hi", "zero")
	if residual {
		n.spread(26, "less", "weight")
		n.spread(31, "flip")
	}
	n.tileRows(1, func(h int) {
		if residual {
			n.Put("ADD $%d, R7, R11", 16*h)
			n.load(11, 8)
			n.widen(8, 4)
			n.subtract(26, 4)
			n.toFloats(4)
			n.eachLane(fmul, "FMUL", 4, 27)
			n.eachPair(fadd, "FADD", 0, 4)
		}
		n.clamp(0)
		n.Put("VST1 [V0.B16], (R10)")
	}, func() {
		if residual {
			n.Put("ADD R5, R7, R7")
		}
	})
}

func (n *neon) dequant() {
	n.words("acc", "ldacc", "bias", "scale", "dst", "ld", "rows", "add", "ldadd")
	n.Put("LSL $2, R5, R5")
	n.Put("LSL $2, R8, R8")
	n.tileRows(4, func(h int) {
		n.Put("ADD $%d, R7, R11", 64*h)
		n.Put("VLD1 (R11), [V4.S4, V5.S4, V6.S4, V7.S4]")
		n.eachPair(fadd, "FADD", 0, 4)
		n.Put("VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R10)")
	}, func() { n.Put("ADD R8, R7, R7") })
}

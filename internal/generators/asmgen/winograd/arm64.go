package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Instructions of vectors that Go's assembler does not know.
const fmulNEON, faddNEON, fsubNEON = 0x6e20dc00, 0x4e20d400, 0x4ea0d400

// neonPanel is the columns of a panel of a product with NEON.
const neonPanel = 8

// neon has the transforms for arm64 as methods. A lane is a tile. Operands of a transform
// are in V0 to V5, its results in V16 to V21, constants in V26 to V31; others are free.
type neon struct {
	simd.NEON
	constants map[float64]int
}

// arm64Files returns the generated files for arm64. Products and sums are rounded one by one, as in Go.
func arm64Files() map[string][]byte {
	n := &neon{}
	n.WriteString(simd.Header("asmgen/winograd") + "#include \"textflag.h\"\n")
	stub := simd.Header("asmgen/winograd") + "package winograd\n"
	const input = "(vecs int, dst *float32, ps int, src *float32, plane, row int)"
	const output = "(rows, vecs int, dst, src *float32, ps int)"
	for _, e := range []int{4, 2} {
		name := fmt.Sprintf("winogradInput%dNEON", e)
		n.Begin(name, input, 48)
		n.input(e)
		stub += simd.Stub(name, input, "transforms the patches of vectors of four tiles; see winogradInputGo.")
		name = fmt.Sprintf("winogradOutput%dNEON", e)
		size := (e + 2) * e * 16
		fmt.Fprintf(n, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-40\n", name, output, name, size)
		n.output(e, size)
		stub += simd.Stub(name, output, "turns sums of vectors of four tiles to outputs; see winogradOutputGo.")
	}
	return map[string][]byte{"winograd/zwinograd_arm64.s": []byte(n.String()), "winograd/zwinograd_arm64.go": []byte(stub)}
}

// load fills all lanes of vectors from V26 on with constants.
func (n *neon) load(values ...float64) {
	n.constants = map[float64]int{}
	for i, v := range values {
		n.Put("MOVD $0x%08x, R15", math.Float32bits(float32(v)))
		n.Put("VDUP R15, V%d.S4", 26+i)
		n.constants[v] = 26 + i
	}
}

func (n *neon) add(d, a, b int)  { n.Three(faddNEON, "FADD V%d.4S, V%d.4S, V%d.4S", d, a, b) }
func (n *neon) less(d, a, b int) { n.Three(fsubNEON, "FSUB V%d.4S, V%d.4S, V%d.4S", d, a, b) }

func (n *neon) times(d int, c float64, a int) {
	n.Three(fmulNEON, "FMUL V%d.4S, V%d.4S, V%d.4S", d, n.constants[c], a)
}

// input reads a patch column by column and writes its transformed columns where the results will be,
// which it then transforms row by row.
//
// Registers: R0 vectors left, R1 results, R2 bytes between positions, R3 planes, R4 bytes of a plane, R5 those to the
// next row of tiles, R6 from row to row of positions, R7 planes back to the next column.
func (n *neon) input(e int) {
	t := e + 2
	for i, name := range []string{"vecs", "dst", "ps", "src", "plane", "row"} {
		n.Put("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	n.Put("LSL $2, R2, R2")
	n.Put("LSL $2, R4, R4")
	n.Put("LSL $2, R5, R5")
	n.Put("MOVD $%d, R6", t)
	n.Put("MUL R2, R6, R6")
	n.Put("MOVD $%d, R7", e-1)
	n.Put("MUL R4, R7, R7")
	if e == 4 {
		n.load(pointA, pointB, pointA*pointA, pointB*pointB, pointA*pointA+pointB*pointB, pointA*pointA*pointB*pointB)
	}
	n.Label("tiles")
	n.Put("MOVD R3, R8")
	n.Put("ADD R5, R3, R9")
	n.Put("MOVD R1, R10")
	for range t {
		for y := range e {
			n.Put("VLD1.P (R8)(R4), [V%d.S4]", y)
		}
		n.Put("VLD1.P (R9)(R4), [V%d.S4]", e)
		n.Put("VLD1.P (R9)(R7), [V%d.S4]", e+1)
		n.in(e)
		n.Put("MOVD R10, R11")
		for y := range t {
			n.Put("VST1.P [V%d.S4], (R11)(R6)", 16+y)
		}
		n.Put("ADD R2, R10, R10")
	}
	n.Put("MOVD R1, R10")
	n.Put("MOVD R1, R11")
	for range t {
		for x := range t {
			n.Put("VLD1.P (R10)(R2), [V%d.S4]", x)
		}
		n.in(e)
		for x := range t {
			n.Put("VST1.P [V%d.S4], (R11)(R2)", 16+x)
		}
	}
	n.Put("ADD $16, R1, R1")
	n.Put("ADD $16, R3, R3")
	n.Put("SUBS $1, R0, R0")
	n.Put("BNE tiles")
	n.Put("RET")
}

// in is winogradIn.
func (n *neon) in(e int) {
	if e == 2 {
		n.less(16, 0, 2)
		n.add(17, 1, 2)
		n.less(18, 2, 1)
		n.less(19, 3, 1)
		return
	}
	const a2, b2 = pointA * pointA, pointB * pointB
	n.times(6, b2, 2)
	n.times(7, b2, 1)
	n.times(22, a2, 2)
	n.times(23, a2, 1)
	n.times(24, a2+b2, 2)
	n.times(25, a2*b2, 0)
	n.less(6, 4, 6)
	n.less(7, 3, 7)
	n.less(22, 4, 22)
	n.less(23, 3, 23)
	n.less(24, 4, 24)
	n.times(7, pointA, 7)
	n.times(23, pointB, 23)
	n.add(16, 24, 25)
	n.times(24, a2+b2, 3)
	n.times(25, a2*b2, 1)
	n.add(17, 6, 7)
	n.less(18, 6, 7)
	n.less(24, 5, 24)
	n.add(19, 22, 23)
	n.less(20, 22, 23)
	n.add(21, 24, 25)
}

// output reads sums column by column, keeps what they become on the stack, and writes outputs row by row,
// the e of a tile side by side.
//
// Registers: R0 rows left, R1 vectors of a row, R2 outputs, R3 sums, R4 bytes between positions, R5 vectors left,
// R6 bytes from row to row of positions, R7 the outputs of a vector, R8 its sums, R14 bytes from row to row of outputs.
func (n *neon) output(e, size int) {
	t := e + 2
	for i, name := range []string{"rows", "vecs", "dst", "src", "ps"} {
		n.Put("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	n.Put("LSL $2, R4, R4")
	n.Put("MOVD $%d, R6", t)
	n.Put("MUL R4, R6, R6")
	n.Put("MOVD $%d, R14", 4*neonPanel*e)
	if e == 4 {
		n.load(pointA, pointB, pointA*pointA, pointB*pointB, pointA*pointA*pointA, pointB*pointB*pointB)
	}
	n.Label("row")
	n.Put("MOVD R1, R5")
	n.Put("MOVD R2, R7")
	n.Put("MOVD R3, R8")
	n.Label("tiles")
	n.Put("MOVD R8, R9")
	n.Put("MOVD $kept-%d(SP), R11", size)
	n.Put("MOVD R11, R12")
	var results []string
	for y := range e {
		results = append(results, fmt.Sprintf("V%d.S4", 16+y))
	}
	for range t {
		n.Put("MOVD R9, R10")
		for y := range t {
			n.Put("VLD1.P (R10)(R6), [V%d.S4]", y)
		}
		n.out(e)
		n.Put("VST1.P [%s], %d(R12)", strings.Join(results, ", "), 16*e)
		n.Put("ADD R4, R9, R9")
	}
	n.Put("MOVD R7, R13")
	for y := range e {
		for x := range t {
			n.Put("FMOVQ %d(R11), F%d", 16*(x*e+y), x)
		}
		n.out(e)
		n.Put("VST%d.P [%s], (R13)(R14)", e, strings.Join(results, ", "))
	}
	n.Put("ADD $%d, R7, R7", 16*e)
	n.Put("ADD $16, R8, R8")
	n.Put("SUBS $1, R5, R5")
	n.Put("BNE tiles")
	n.Put("ADD $%d, R2, R2", 4*neonPanel*e*e)
	n.Put("ADD $%d, R3, R3", 4*neonPanel)
	n.Put("SUBS $1, R0, R0")
	n.Put("BNE row")
	n.Put("RET")
}

// out is winogradOut.
func (n *neon) out(e int) {
	if e == 2 {
		n.add(16, 0, 1)
		n.less(17, 1, 2)
		n.add(16, 16, 2)
		n.add(17, 17, 3)
		return
	}
	const a2, b2 = pointA * pointA, pointB * pointB
	n.add(6, 1, 2)
	n.less(7, 1, 2)
	n.add(22, 3, 4)
	n.less(23, 3, 4)
	n.add(16, 6, 22)
	n.times(17, pointA, 7)
	n.times(24, pointB, 23)
	n.times(18, a2, 6)
	n.times(25, b2, 22)
	n.times(19, a2*pointA, 7)
	n.times(20, b2*pointB, 23)
	n.add(16, 0, 16)
	n.add(17, 17, 24)
	n.add(18, 18, 25)
	n.add(19, 19, 20)
	n.add(19, 19, 5)
}

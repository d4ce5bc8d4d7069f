package source

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// The texts of operations, in which a, b and c stand for the operands: of float, of double
// where that differs, of integers in i64, and of u64 where the sign bit matters.
var (
	floatText = map[kernel.Code]string{
		kernel.OpAdd: "a + b", kernel.OpSub: "a - b", kernel.OpMul: "a * b", kernel.OpDiv: "a / b",
		kernel.OpFloorDiv: "fx_floordiv(a, b)", kernel.OpRem: "fmod(a, b)", kernel.OpMod: "fx_mod(a, b)", kernel.OpPow: "pow(a, b)",
		kernel.OpMin: "fx_min(a, b)", kernel.OpMax: "fx_max(a, b)", kernel.OpNeg: "-a", kernel.OpAbs: "fabs(a)",
		kernel.OpSign: "(a > 0 ? 1.0f : a < 0 ? -1.0f : 0.0f)", kernel.OpReciprocal: "1.0f / a", kernel.OpSqrt: "sqrt(a)", kernel.OpRsqrt: "1.0f / sqrt(a)",
		kernel.OpExp: "exp(a)", kernel.OpExpm1: "expm1(a)", kernel.OpLog: "log(a)", kernel.OpLog1p: "log1p(a)", kernel.OpLog2: "log2(a)",
		kernel.OpSin: "sin(a)", kernel.OpCos: "cos(a)", kernel.OpTan: "tan(a)", kernel.OpAtan: "atan(a)", kernel.OpErf: "fx_erf(a)",
		kernel.OpTanh: "fx_tanh(a)", kernel.OpSigmoid: "fx_sigmoid(a)", kernel.OpFloor: "floor(a)", kernel.OpCeil: "ceil(a)",
		kernel.OpRound: "rint(a)", kernel.OpTrunc: "trunc(a)", kernel.OpFMA: "FMA(a, b, c)",
	}
	doubleText = map[kernel.Code]string{
		kernel.OpFloorDiv: "fx_dfloordiv(a, b)", kernel.OpMod: "fx_dmod(a, b)", kernel.OpMin: "fx_dmin(a, b)", kernel.OpMax: "fx_dmax(a, b)",
		kernel.OpSign: "(a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0)", kernel.OpReciprocal: "1.0 / a", kernel.OpRsqrt: "1.0 / sqrt(a)",
		kernel.OpSigmoid: "fx_dsigmoid(a)", kernel.OpTanh: "fx_dtanh(a)", kernel.OpErf: "erf(a)",
	}
	intText = map[kernel.Code]string{
		kernel.OpAdd: "(i64)((u64)a + (u64)b)", kernel.OpSub: "(i64)((u64)a - (u64)b)", kernel.OpMul: "(i64)((u64)a * (u64)b)",
		kernel.OpNeg: "(i64)(0 - (u64)a)", kernel.OpDiv: "fx_div(a, b)", kernel.OpFloorDiv: "fx_idiv(a, b)", kernel.OpRem: "fx_rem(a, b)",
		kernel.OpMod: "fx_imod(a, b)", kernel.OpPow: "fx_ipow(a, b, 0)", kernel.OpMin: "(a < b ? a : b)", kernel.OpMax: "(a > b ? a : b)",
		kernel.OpAbs: "(a < 0 ? (i64)(0 - (u64)a) : a)", kernel.OpSign: "(i64)(a > 0) - (i64)(a < 0)",
		kernel.OpAnd: "a & b", kernel.OpOr: "a | b", kernel.OpXor: "a ^ b", kernel.OpNot: "~a",
		kernel.OpShl: "fx_shl(a, b)", kernel.OpShr: "fx_shr(a, b)",
	}
	uintText = map[kernel.Code]string{
		kernel.OpDiv: "(i64)fx_udiv(a, b)", kernel.OpFloorDiv: "(i64)fx_udiv(a, b)", kernel.OpRem: "(i64)fx_urem(a, b)", kernel.OpMod: "(i64)fx_urem(a, b)",
		kernel.OpPow: "fx_ipow(a, b, 1)", kernel.OpMin: "((u64)a < (u64)b ? a : b)", kernel.OpMax: "((u64)a > (u64)b ? a : b)",
		kernel.OpAbs: "a", kernel.OpSign: "(i64)(a != 0)", kernel.OpShr: "(i64)fx_ushr(a, b)", kernel.OpMulHi: "(i64)MULHI_U64(a, b)",
	}
	compareText = map[kernel.Code]string{
		kernel.OpEq: "==", kernel.OpNe: "!=", kernel.OpLt: "<", kernel.OpLe: "<=", kernel.OpGt: ">", kernel.OpGe: ">=",
	}
)

// scope is what an expression reads.
type scope struct {
	load  func(input int, d array.DType) string // a register's text
	coord func(axis int) string                 // the coordinate along an axis, i64
	index func() string                         // the flat index, i64
}

// Printable reports whether the device computes the expression; doubles tells whether it has
// floats of 64 bits.
func Printable(g expr.Graph, doubles bool) (ok bool, reason string) {
	for _, n := range g.Nodes {
		if !Computes(n.DType) {
			return false, "kernels do not compute with " + n.DType.String()
		}
		if n.DType == array.F64 && !doubles {
			return false, "the device has no floats of 64 bits"
		}
	}
	return true, ""
}

// body prints the expression as declarations, indented by tab, and returns the registers of its
// results. prefix keeps the names of two bodies apart.
func body(b *strings.Builder, g expr.Graph, prefix, tab string, s scope) []string {
	name := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		if n.Code == kernel.OpConst {
			name[i] = literal(n.DType, n.Imm)
			continue
		}
		name[i] = prefix + strconv.Itoa(i)
		b.WriteString(tab + register(n.DType) + " " + name[i] + " = " + value(g, n, name, s) + ";\n")
	}
	out := make([]string, len(g.Outs))
	for i, o := range g.Outs {
		out[i] = name[o]
	}
	return out
}

func value(g expr.Graph, n expr.Node, name []string, s scope) string {
	args := make([]string, len(n.Args))
	var from array.DType
	for i, a := range n.Args {
		args[i], from = name[a], g.Nodes[a].DType
	}
	switch n.Code {
	case kernel.OpInput:
		return s.load(int(n.Imm), n.DType)
	case kernel.OpIndex:
		return s.index()
	case kernel.OpCoord:
		return s.coord(int(int64(n.Imm)))
	case kernel.OpSelect:
		return args[0] + " ? " + args[1] + " : " + args[2]
	case kernel.OpIsNaN:
		return "(i64)(" + args[0] + " != " + args[0] + ")"
	case kernel.OpCast:
		return cast(n.DType, from, args[0])
	case kernel.OpMin, kernel.OpMax:
		if t, ok := clamp(g, n, args); ok {
			return t
		}
	}
	if sign, ok := compareText[n.Code]; ok {
		if from == array.U64 {
			args[0], args[1] = "(u64)"+args[0], "(u64)"+args[1]
		}
		return "(i64)(" + args[0] + " " + sign + " " + args[1] + ")"
	}
	return arithmetic(n, args)
}

// arithmetic prints an operation of operands and result of one type.
func arithmetic(n expr.Node, args []string) string {
	d := n.DType
	var text string
	switch register(d) {
	case "float":
		return round(d, fill(floatText[n.Code], args))
	case "double":
		if text = doubleText[n.Code]; text == "" {
			text = floatText[n.Code]
		}
		return fill(text, args)
	}
	switch {
	case d == array.Bool && n.Code == kernel.OpNot:
		return args[0] + " ^ 1"
	case d == array.U64 && uintText[n.Code] != "":
		return fill(uintText[n.Code], args)
	case n.Code == kernel.OpMulHi:
		return fill("(i64)((u64)a * (u64)b >> 32)", args)
	}
	return wrap(d, fill(intText[n.Code], args))
}

// clamp prints a least or greatest of a float and a number, which needs no test for NaN: a
// comparison with it is false, and leaves the operand.
func clamp(g expr.Graph, n expr.Node, args []string) (string, bool) {
	if n.DType != array.F32 {
		return "", false
	}
	c := g.Nodes[n.Args[1]]
	if c.Code != kernel.OpConst {
		return "", false
	}
	f := math.Float32frombits(uint32(c.Imm))
	switch {
	case f != f || f == 0 && c.Imm != 0:
		return "", false
	case n.Code == kernel.OpMax && f == 0:
		return "(" + args[0] + " <= 0 ? 0.0f : " + args[0] + ")", true
	case n.Code == kernel.OpMax:
		return "(" + args[0] + " < " + args[1] + " ? " + args[1] + " : " + args[0] + ")", true
	}
	return "(" + args[0] + " > " + args[1] + " ? " + args[1] + " : " + args[0] + ")", true
}

// fill puts operands into the text of an operation, whose words of one letter are a, b, c.
func fill(text string, args []string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 'a' && c <= 'c' && !letter(text, i-1) && !letter(text, i+1) {
			b.WriteString(args[c-'a'])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func letter(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// wrap reduces an integer to the range of its type.
func wrap(d array.DType, v string) string {
	switch d {
	case array.I64, array.U64, array.Bool:
		return v
	}
	return "(i64)(" + storage(d) + ")(" + v + ")"
}

// cast prints a conversion by the rules of array.Cast.
func cast(to, from array.DType, v string) string {
	fromFloat, toFloat := register(from) != "i64", register(to) != "i64"
	switch {
	case to == array.Bool:
		return "(i64)(" + v + " != 0)"
	case fromFloat && toFloat:
		return floatToFloat(to, from, v)
	case fromFloat:
		return floatToInt(to, from, v)
	case toFloat:
		return intToFloat(to, from, v)
	}
	return wrap(to, v)
}

func floatToFloat(to, from array.DType, v string) string {
	switch {
	case to == array.F64:
		return "(double)" + v
	case from == array.F64 && to != array.F32:
		return round(to, "fx_odd("+v+")")
	case from == array.F64:
		return "(float)" + v
	case to == array.F32:
		return v
	}
	return round(to, v)
}

func floatToInt(to, from array.DType, v string) string {
	kind := "f"
	if from == array.F64 {
		kind = "d"
	} else if to == array.I32 || to.Size() < 4 {
		return floatToWord(to, v)
	}
	if to == array.U64 {
		return "(i64)fx_" + kind + "2u(" + v + ")"
	}
	v = "fx_" + kind + "2i(" + v + ")"
	if to == array.I64 {
		return v
	}
	n := to.Bits()
	lo, hi := int64(0), int64(1)<<n-1
	if to.IsSigned() {
		lo, hi = -1<<(n-1), int64(1)<<(n-1)-1
	}
	return "fx_clamp(" + v + ", " + intLiteral(lo) + ", " + intLiteral(hi) + ")"
}

// floatToWord prints a conversion of a float to an integer that 32 bits hold, for which processors have vectors.
func floatToWord(to array.DType, v string) string {
	v = "fx_f2w(" + v + ")"
	switch to {
	case array.I32:
		return "(i64)" + v
	case array.I16, array.I8:
		least := leastOf(to)
		return "(i64)fx_clampw(" + v + ", " + strconv.FormatInt(least, 10) + ", " + strconv.FormatInt(-least-1, 10) + ")"
	}
	return "(i64)fx_clampw(" + v + ", 0, " + strconv.FormatInt(1<<to.Bits()-1, 10) + ")"
}

func intToFloat(to, from array.DType, v string) string {
	if from == array.U64 {
		switch to {
		case array.F64:
			return "(double)(u64)" + v
		case array.F32:
			return "(float)(u64)" + v
		}
		return round(to, "fx_i2odd((u64)"+v+", 0)")
	}
	switch {
	case to == array.F64:
		return "(double)" + v
	case to == array.F32, from.Bits() <= 16 || from == array.Bool:
		return round(to, "(float)"+v)
	}
	return round(to, "fx_i2odd("+v+" < 0 ? 0 - (u64)"+v+" : (u64)"+v+", "+v+" < 0)")
}

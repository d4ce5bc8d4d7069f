package source

import (
	"cmp"
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// form is how kernels write an operation: a text for each kind of numbers, in which a, b and
// c stand for the operands. own comes first, for what no text says; "" leaves it to the texts.
type form struct {
	float  string // of f32, f16 and bf16
	double string // where it differs from float
	int    string // over i64
	uint   string // of u64, where it differs from int
	own    func(w *writer, n expr.Node, args []string) string
}

// forms has one of each operation.
var forms = expr.Forms[form]{
	kernel.OpInput:      {own: func(w *writer, n expr.Node, _ []string) string { return w.load(int(n.Imm), n.DType) }},
	kernel.OpConst:      {own: func(_ *writer, n expr.Node, _ []string) string { return literal(n.DType, n.Imm) }},
	kernel.OpIndex:      {own: func(w *writer, _ expr.Node, _ []string) string { return w.index() }},
	kernel.OpCoord:      {own: func(w *writer, n expr.Node, _ []string) string { return w.coord(int(int64(n.Imm))) }},
	kernel.OpCast:       {own: func(w *writer, n expr.Node, x []string) string { return cast(n.DType, w.from(n), x[0]) }},
	kernel.OpSelect:     {own: func(_ *writer, _ expr.Node, x []string) string { return x[0] + " ? " + x[1] + " : " + x[2] }},
	kernel.OpAdd:        {float: "a + b", int: "(i64)((u64)a + (u64)b)"},
	kernel.OpSub:        {float: "a - b", int: "(i64)((u64)a - (u64)b)"},
	kernel.OpMul:        {float: "a * b", int: "(i64)((u64)a * (u64)b)"},
	kernel.OpDiv:        {float: "a / b", int: "fx_div(a, b)", uint: "(i64)fx_udiv(a, b)"},
	kernel.OpFloorDiv:   {float: "fx_floordiv(a, b)", double: "fx_dfloordiv(a, b)", int: "fx_idiv(a, b)", uint: "(i64)fx_udiv(a, b)"},
	kernel.OpRem:        {float: "fmod(a, b)", int: "fx_rem(a, b)", uint: "(i64)fx_urem(a, b)"},
	kernel.OpMod:        {float: "fx_mod(a, b)", double: "fx_dmod(a, b)", int: "fx_imod(a, b)", uint: "(i64)fx_urem(a, b)"},
	kernel.OpPow:        {float: "pow(a, b)", int: "fx_ipow(a, b, 0)", uint: "fx_ipow(a, b, 1)"},
	kernel.OpMin:        {float: "fx_min(a, b)", double: "fx_dmin(a, b)", int: "(a < b ? a : b)", uint: "((u64)a < (u64)b ? a : b)", own: clamp},
	kernel.OpMax:        {float: "fx_max(a, b)", double: "fx_dmax(a, b)", int: "(a > b ? a : b)", uint: "((u64)a > (u64)b ? a : b)", own: clamp},
	kernel.OpNeg:        {float: "-a", int: "(i64)(0 - (u64)a)"},
	kernel.OpAbs:        {float: "fabs(a)", int: "(a < 0 ? (i64)(0 - (u64)a) : a)", uint: "a"},
	kernel.OpSign:       {float: "(a > 0 ? 1.0f : a < 0 ? -1.0f : 0.0f)", double: "(a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0)", int: "(i64)(a > 0) - (i64)(a < 0)", uint: "(i64)(a != 0)"},
	kernel.OpReciprocal: {float: "1.0f / a", double: "1.0 / a"},
	kernel.OpSqrt:       {float: "sqrt(a)"},
	kernel.OpRsqrt:      {float: "1.0f / sqrt(a)", double: "1.0 / sqrt(a)"},
	kernel.OpExp:        {float: "exp(a)"},
	kernel.OpExpm1:      {float: "expm1(a)"},
	kernel.OpLog:        {float: "log(a)"},
	kernel.OpLog1p:      {float: "log1p(a)"},
	kernel.OpLog2:       {float: "log2(a)"},
	kernel.OpSin:        {float: "sin(a)"},
	kernel.OpCos:        {float: "cos(a)"},
	kernel.OpTan:        {float: "tan(a)"},
	kernel.OpAtan:       {float: "atan(a)"},
	kernel.OpErf:        {float: "fx_erf(a)", double: "erf(a)"},
	kernel.OpTanh:       {float: "fx_tanh(a)", double: "fx_dtanh(a)"},
	kernel.OpSigmoid:    {float: "fx_sigmoid(a)", double: "fx_dsigmoid(a)"},
	kernel.OpFloor:      {float: "floor(a)"},
	kernel.OpCeil:       {float: "ceil(a)"},
	kernel.OpRound:      {float: "rint(a)"},
	kernel.OpTrunc:      {float: "trunc(a)"},
	kernel.OpFMA:        {float: "FMA(a, b, c)"},
	kernel.OpAnd:        {int: "a & b"},
	kernel.OpOr:         {int: "a | b"},
	kernel.OpXor:        {int: "a ^ b"},
	kernel.OpNot:        {int: "~a", own: complement},
	kernel.OpShl:        {int: "fx_shl(a, b)"},
	kernel.OpShr:        {int: "fx_shr(a, b)", uint: "(i64)fx_ushr(a, b)"},
	kernel.OpMulHi:      {own: highProduct},
	kernel.OpIsNaN:      {own: func(_ *writer, _ expr.Node, x []string) string { return "(i64)(" + x[0] + " != " + x[0] + ")" }},
	kernel.OpEq:         compare("=="), kernel.OpNe: compare("!="), kernel.OpLt: compare("<"), kernel.OpLe: compare("<="),
	kernel.OpGt: compare(">"), kernel.OpGe: compare(">="),
}

// text writes an operation on operands.
func (f form) text(w *writer, n expr.Node, args []string) string {
	if f.own != nil {
		if text := f.own(w, n, args); text != "" {
			return text
		}
	}
	switch d := n.DType; register(d) {
	case "float":
		return round(d, fill(f.float, args))
	case "double":
		return fill(cmp.Or(f.double, f.float), args)
	default:
		if d == array.U64 {
			return fill(cmp.Or(f.uint, f.int), args)
		}
		return wrap(d, fill(f.int, args))
	}
}

func compare(sign string) form {
	return form{own: func(w *writer, n expr.Node, x []string) string {
		if w.from(n) == array.U64 {
			return "(i64)((u64)" + x[0] + " " + sign + " (u64)" + x[1] + ")"
		}
		return "(i64)(" + x[0] + " " + sign + " " + x[1] + ")"
	}}
}

func complement(_ *writer, n expr.Node, x []string) string {
	if n.DType == array.Bool {
		return x[0] + " ^ 1"
	}
	return ""
}

func highProduct(_ *writer, n expr.Node, x []string) string {
	if n.DType == array.U64 {
		return fill("(i64)MULHI_U64(a, b)", x)
	}
	return fill("(i64)((u64)a * (u64)b >> 32)", x)
}

// clamp writes a least or greatest of a float and a number, which needs no test for NaN: a
// comparison with it is false, and leaves the operand.
func clamp(w *writer, n expr.Node, x []string) string {
	c := w.g.Nodes[n.Args[1]]
	if n.DType != array.F32 || c.Code != kernel.OpConst {
		return ""
	}
	f := math.Float32frombits(uint32(c.Imm))
	switch {
	case f != f || f == 0 && c.Imm != 0:
		return ""
	case n.Code == kernel.OpMax && f == 0:
		return "(" + x[0] + " <= 0 ? 0.0f : " + x[0] + ")"
	case n.Code == kernel.OpMax:
		return "(" + x[0] + " < " + x[1] + " ? " + x[1] + " : " + x[0] + ")"
	}
	return "(" + x[0] + " > " + x[1] + " ? " + x[1] + " : " + x[0] + ")"
}

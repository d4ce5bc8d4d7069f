package opcode

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// Code is a scalar operation. The numbers appear in generated code: new codes
// are appended, existing ones never move.
//
// Every operation has a type and its result is a value of that type: f16 and
// bf16 operations are computed in f32 and rounded once to the type, integers
// wrap around. No operation is contracted with another; OpFMA is the only one
// that rounds once for two.
//
//gofx:kernel
type Code uint8

// The scalar operations. a, b, c are the operands in order.
//
//gofx:kernel
const (
	OpInvalid Code = iota
	// OpInput reads element Imm of the inputs, broadcast to the output's shape.
	OpInput
	// OpConst is the constant whose bits are Imm (see Instr.Imm).
	OpConst
	// OpOutput stores a as output Imm.
	OpOutput
	// OpIndex is the flat row-major index of the output element.
	OpIndex
	// OpCoord is the output coordinate along axis int64(Imm); negative axes count from the end.
	OpCoord
	// OpCast converts a from Instr.From by the rules of array.CastRounded; Instr.Imm is
	// the rounding.
	OpCast
	// OpSelect is b where the bool a is true, else c.
	OpSelect
	// OpAdd is a+b.
	OpAdd
	// OpSub is a-b.
	OpSub
	// OpMul is a*b.
	OpMul
	// OpDiv is a/b: IEEE for floats; truncated for integers, 0 when b is 0.
	OpDiv
	// OpFloorDiv is the quotient rounded down, 0 for integers when b is 0.
	OpFloorDiv
	// OpRem is the remainder of truncated division, with the sign of a; integers: 0 when b is 0.
	OpRem
	// OpMod is the remainder of floored division, with the sign of b; integers: 0 when b is 0.
	OpMod
	// OpPow is a to the power b. Integers wrap; a negative exponent gives 0 unless a is 1 or -1.
	OpPow
	// OpMin is the smaller operand; NaN if either is; -0 is below +0.
	OpMin
	// OpMax is the larger operand; NaN if either is; -0 is below +0.
	OpMax
	// OpNeg is -a.
	OpNeg
	// OpAbs is |a|; the least integer stays as it is.
	OpAbs
	// OpSign is (a>0) - (a<0); 0 for NaN and both zeros.
	OpSign
	// OpReciprocal is 1/a.
	OpReciprocal
	// OpSqrt is the square root.
	OpSqrt
	// OpRsqrt is 1/sqrt(a).
	OpRsqrt
	// OpExp is e**a.
	OpExp
	// OpExpm1 is e**a - 1.
	OpExpm1
	// OpLog is the natural logarithm.
	OpLog
	// OpLog1p is log(1+a).
	OpLog1p
	// OpLog2 is the logarithm to base two.
	OpLog2
	// OpSin is the sine of a in radians.
	OpSin
	// OpCos is the cosine of a in radians.
	OpCos
	// OpTan is the tangent of a in radians.
	OpTan
	// OpAtan is the arc tangent.
	OpAtan
	// OpErf is the error function.
	OpErf
	// OpTanh is the hyperbolic tangent.
	OpTanh
	// OpSigmoid is 1/(1+e**-a), in f32 zero where e**-a overflows.
	OpSigmoid
	// OpFloor rounds down.
	OpFloor
	// OpCeil rounds up.
	OpCeil
	// OpRound rounds to the nearest integer, halves to even.
	OpRound
	// OpTrunc rounds toward zero.
	OpTrunc
	// OpFMA is a*b+c rounded once.
	OpFMA
	// OpIsNaN is the bool a != a.
	OpIsNaN
	// OpEq is the bool a == b.
	OpEq
	// OpNe is the bool a != b.
	OpNe
	// OpLt is the bool a < b.
	OpLt
	// OpLe is the bool a <= b.
	OpLe
	// OpGt is the bool a > b.
	OpGt
	// OpGe is the bool a >= b.
	OpGe
	// OpAnd is the logical or bitwise conjunction.
	OpAnd
	// OpOr is the logical or bitwise disjunction.
	OpOr
	// OpXor is the logical or bitwise exclusive disjunction.
	OpXor
	// OpNot is the logical or bitwise complement.
	OpNot
	// OpShl is a << b; 0 when b, taken as unsigned, is the width or more.
	OpShl
	// OpShr is a >> b, arithmetic for signed types; a negative b counts as a huge one.
	OpShr
	// OpMulHi is the high half of the double-width product of u32 or u64 operands.
	OpMulHi
)

// Count is one more than the last operation.
const Count = Code(len(Table))

// CodeInfo describes a Code.
//
//gofx:kernel
type CodeInfo struct {
	// Name is the name in dumps.
	Name string
	// Arity is the number of operands.
	Arity int
	// Float, Int and Bool say which operand types are accepted.
	Float, Int, Bool bool
	// ToBool says that the result is bool whatever the operands are.
	ToBool bool
	// ULP bounds the error of the pure-Go kernel against the exact result, in units
	// in the last place of f32 and f64; 0 means correctly rounded. Targets document
	// their own bounds.
	ULP32, ULP64 int
}

// Table describes the operations, each of which has an entry.
var Table = [...]CodeInfo{
	OpInput:      {Name: "input", Float: true, Int: true, Bool: true},
	OpConst:      {Name: "const", Float: true, Int: true, Bool: true},
	OpOutput:     {Name: "output", Arity: 1, Float: true, Int: true, Bool: true},
	OpIndex:      {Name: "index", Int: true},
	OpCoord:      {Name: "coord", Int: true},
	OpCast:       {Name: "cast", Arity: 1, Float: true, Int: true, Bool: true},
	OpSelect:     {Name: "select", Arity: 3, Float: true, Int: true, Bool: true},
	OpAdd:        {Name: "add", Arity: 2, Float: true, Int: true},
	OpSub:        {Name: "sub", Arity: 2, Float: true, Int: true},
	OpMul:        {Name: "mul", Arity: 2, Float: true, Int: true},
	OpDiv:        {Name: "div", Arity: 2, Float: true, Int: true},
	OpFloorDiv:   {Name: "floordiv", Arity: 2, Float: true, Int: true},
	OpRem:        {Name: "rem", Arity: 2, Float: true, Int: true},
	OpMod:        {Name: "mod", Arity: 2, Float: true, Int: true},
	OpPow:        {Name: "pow", Arity: 2, Float: true, Int: true, ULP32: 1, ULP64: 64},
	OpMin:        {Name: "min", Arity: 2, Float: true, Int: true, Bool: true},
	OpMax:        {Name: "max", Arity: 2, Float: true, Int: true, Bool: true},
	OpNeg:        {Name: "neg", Arity: 1, Float: true, Int: true},
	OpAbs:        {Name: "abs", Arity: 1, Float: true, Int: true},
	OpSign:       {Name: "sign", Arity: 1, Float: true, Int: true},
	OpReciprocal: {Name: "reciprocal", Arity: 1, Float: true},
	OpSqrt:       {Name: "sqrt", Arity: 1, Float: true},
	OpRsqrt:      {Name: "rsqrt", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpExp:        {Name: "exp", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpExpm1:      {Name: "expm1", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpLog:        {Name: "log", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpLog1p:      {Name: "log1p", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpLog2:       {Name: "log2", Arity: 1, Float: true, ULP32: 1, ULP64: 4},
	OpSin:        {Name: "sin", Arity: 1, Float: true, ULP32: 1, ULP64: 4},
	OpCos:        {Name: "cos", Arity: 1, Float: true, ULP32: 1, ULP64: 4},
	OpTan:        {Name: "tan", Arity: 1, Float: true, ULP32: 1, ULP64: 4},
	OpAtan:       {Name: "atan", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpErf:        {Name: "erf", Arity: 1, Float: true, ULP32: 1, ULP64: 2},
	OpTanh:       {Name: "tanh", Arity: 1, Float: true, ULP32: 1, ULP64: 4},
	OpSigmoid:    {Name: "sigmoid", Arity: 1, Float: true, ULP32: 3, ULP64: 4},
	OpFloor:      {Name: "floor", Arity: 1, Float: true},
	OpCeil:       {Name: "ceil", Arity: 1, Float: true},
	OpRound:      {Name: "round", Arity: 1, Float: true},
	OpTrunc:      {Name: "trunc", Arity: 1, Float: true},
	OpFMA:        {Name: "fma", Arity: 3, Float: true},
	OpIsNaN:      {Name: "isnan", Arity: 1, Float: true, ToBool: true},
	OpEq:         {Name: "eq", Arity: 2, Float: true, Int: true, Bool: true, ToBool: true},
	OpNe:         {Name: "ne", Arity: 2, Float: true, Int: true, Bool: true, ToBool: true},
	OpLt:         {Name: "lt", Arity: 2, Float: true, Int: true, Bool: true, ToBool: true},
	OpLe:         {Name: "le", Arity: 2, Float: true, Int: true, Bool: true, ToBool: true},
	OpGt:         {Name: "gt", Arity: 2, Float: true, Int: true, Bool: true, ToBool: true},
	OpGe:         {Name: "ge", Arity: 2, Float: true, Int: true, Bool: true, ToBool: true},
	OpAnd:        {Name: "and", Arity: 2, Int: true, Bool: true},
	OpOr:         {Name: "or", Arity: 2, Int: true, Bool: true},
	OpXor:        {Name: "xor", Arity: 2, Int: true, Bool: true},
	OpNot:        {Name: "not", Arity: 1, Int: true, Bool: true},
	OpShl:        {Name: "shl", Arity: 2, Int: true},
	OpShr:        {Name: "shr", Arity: 2, Int: true},
	OpMulHi:      {Name: "mulhi", Arity: 2, Int: true},
}

// Info returns the description of c; the zero CodeInfo for an unknown code.
func (c Code) Info() CodeInfo {
	if c >= Count {
		return CodeInfo{}
	}
	return Table[c]
}

// String returns the name in dumps.
func (c Code) String() string {
	if n := c.Info().Name; n != "" {
		return n
	}
	return "code" + strconv.Itoa(int(c))
}

// Codes returns every valid code in numerical order.
//
//gofx:kernel
func Codes() []Code {
	all := make([]Code, 0, Count-1)
	for c := OpInput; c < Count; c++ {
		all = append(all, c)
	}
	return all
}

// Accepts reports whether operands of type d are allowed for c (for OpSelect:
// the two values; for OpIndex and OpCoord: the result).
func (c Code) Accepts(d array.DType) bool {
	i := c.Info()
	switch {
	case c == OpMulHi:
		return d == array.U32 || d == array.U64
	case c == OpIndex || c == OpCoord:
		return d == array.I64
	case d.IsFloat():
		return i.Float
	case d.IsInt():
		return i.Int
	case d.IsNarrow():
		return c == OpInput || c == OpConst || c == OpOutput || c == OpCast
	}
	return d == array.Bool && i.Bool
}

// RegClass is a register file of the block machine.
//
//gofx:kernel
type RegClass uint8

// The register files: f32 also holds f16, bf16 and narrow floats, i64 all integers and bool.
//
//gofx:kernel
const (
	RegF32 RegClass = iota
	RegF64
	RegI64
)

// RegClassOf returns the register file that holds values of type d.
//
//gofx:kernel
func RegClassOf(d array.DType) RegClass {
	switch d {
	case array.F32, array.F16, array.BF16:
		return RegF32
	case array.F64:
		return RegF64
	}
	if d.IsNarrowFloat() {
		return RegF32
	}
	return RegI64
}

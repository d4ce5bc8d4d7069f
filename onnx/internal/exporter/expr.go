package exporter

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// byExpression writes an elementwise operator as its expression: a node for
// each operation on scalars, which broadcast as the operator does.
func byExpression(c *exportCall) op.Value {
	types := make([]shape.Type, len(c.in))
	for i, v := range c.in {
		if v != nil {
			types[i] = v.Type()
		}
	}
	g, err := c.o.Expression(c.attrs, types)
	if err != nil {
		panic(asError(err))
	}
	e := &scalarWriter{c: c, out: c.typ, reads: map[uint64]bool{}}
	if c.typ.Kind() == shape.Tuple {
		e.out = c.typ.Member(0)
	}
	outs := expr.Fold(g, func(_ int, n expr.Node, in []op.Value) op.Value { return scalarRules.Of(n.Code)(e, n, in) })
	for i, v := range outs {
		outs[i] = e.full(v)
	}
	if c.typ.Kind() != shape.Tuple {
		return outs[0]
	}
	return c.tuple(outs...)
}

// scalarWriter writes the operations of an expression.
type scalarWriter struct {
	c     *exportCall
	out   shape.Type
	reads map[uint64]bool // the operands that the expression has
}

// full gives a value the sizes of the result, where broadcasting has not.
func (e *scalarWriter) full(v op.Value) op.Value {
	if !e.out.Ranked() { // all operands broadcast where the expression has all
		if len(e.reads) < len(e.c.in) || v.Type().Ranked() {
			needRank(e.out)
		}
		return v
	}
	have, want := v.Type().Dims(), e.out.Dims()
	same := have.Len() == want.Len()
	for i := 0; same && i < want.Len(); i++ {
		same = !have.At(i).Is(1) || want.At(i).Is(1)
	}
	if same {
		return v
	}
	return e.c.w.emit("Expand", like(v, v.Type().DType()).WithDims(want), []op.Value{v, e.c.sizes(want.Slice()...)})
}

// input is an operand.
func (e *scalarWriter) input(n expr.Node) op.Value {
	e.reads[n.Imm] = true
	return e.c.in[n.Imm]
}

// index is the row-major index of each element.
func (e *scalarWriter) index() op.Value {
	needRank(e.out)
	dims := e.out.Dims()
	return e.c.reshape(e.count(dims.Prod()), dims.Slice()...)
}

// count is 0, 1, 2 and so on.
func (e *scalarWriter) count(n shape.Dim) op.Value {
	c := e.c
	return c.w.emit("Range", shape.TensorType(array.I64, shape.Of(n)), []op.Value{c.int(0), c.w.sizeNumber(n), c.int(1)})
}

// coord is the place of each element along an axis.
func (e *scalarWriter) coord(axis int) op.Value {
	needRank(e.out)
	rank := e.out.Rank()
	axis = axisOf(axis, rank)
	v := e.count(e.out.Dim(axis))
	if rank == 1 {
		return v
	}
	dims := make([]shape.Dim, rank)
	for i := range dims {
		dims[i] = shape.Const(1)
	}
	dims[axis] = e.out.Dim(axis)
	return e.c.reshape(v, dims...)
}

// put writes a node whose operands broadcast.
func (e *scalarWriter) put(name string, d array.DType, in ...op.Value) op.Value {
	if slices.ContainsFunc(in, func(v op.Value) bool { return !v.Type().Ranked() }) {
		return e.c.w.emit(name, shape.Unranked(d), in)
	}
	return e.c.w.emit(name, shape.TensorType(d, broadcastDims(in...)), in)
}

// broadcastDims are the sizes of operands together.
func broadcastDims(in ...op.Value) shape.Dims {
	rank := 0
	for _, v := range in {
		rank = max(rank, rankOf(v))
	}
	dims := make([]shape.Dim, rank)
	for i := range dims {
		dims[i] = shape.Const(1)
		for _, v := range in {
			if d := v.Type().Dims().FromEnd(rank - i); dims[i].Is(1) {
				dims[i] = d
			}
		}
	}
	return shape.Of(dims...)
}

// num is a constant of a type.
func (e *scalarWriter) num(d array.DType, v float64) op.Value { return e.c.number(d, op.Float(v)) }

// scalarRule writes an operation on scalars.
type scalarRule func(e *scalarWriter, n expr.Node, in []op.Value) op.Value

// typed is a rule that asks for nothing but the type of the result.
func typed(write func(e *scalarWriter, d array.DType, in []op.Value) op.Value) scalarRule {
	return func(e *scalarWriter, n expr.Node, in []op.Value) op.Value { return write(e, n.DType, in) }
}

// scalarRules has one for each operation.
var scalarRules expr.Forms[scalarRule]

func init() { // operations are written with operators, which are written with operations
	scalarRules = expr.Forms[scalarRule]{
		kernel.OpInput: func(e *scalarWriter, n expr.Node, _ []op.Value) op.Value { return e.input(n) },
		kernel.OpConst: func(e *scalarWriter, n expr.Node, _ []op.Value) op.Value {
			return e.c.w.x.small(spec.ConstantOf(n.DType, n.Imm))
		},
		kernel.OpIndex:  func(e *scalarWriter, _ expr.Node, _ []op.Value) op.Value { return e.index() },
		kernel.OpCoord:  func(e *scalarWriter, n expr.Node, _ []op.Value) op.Value { return e.coord(int(int64(n.Imm))) },
		kernel.OpCast:   typed(writeCast),
		kernel.OpSelect: named("Where"),
		kernel.OpAdd:    arithmetic("Add"), kernel.OpSub: arithmetic("Sub"), kernel.OpMul: arithmetic("Mul"), kernel.OpDiv: arithmetic("Div"),
		kernel.OpPow: arithmetic("Pow"), kernel.OpMin: arithmetic("Min"), kernel.OpMax: arithmetic("Max"),
		kernel.OpFloorDiv: typed(floorDivide), kernel.OpRem: typed(remainder), kernel.OpMod: typed(modulus),
		kernel.OpNeg: typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
			if d.IsInt() && !d.IsSigned() {
				return e.put("Sub", d, e.num(d, 0), in[0])
			}
			return e.put("Neg", d, in...)
		}),
		kernel.OpAbs: named("Abs"), kernel.OpSign: typed(sign), kernel.OpReciprocal: named("Reciprocal"), kernel.OpSqrt: named("Sqrt"),
		kernel.OpExp: named("Exp"), kernel.OpLog: named("Log"), kernel.OpSin: named("Sin"), kernel.OpCos: named("Cos"), kernel.OpTan: named("Tan"),
		kernel.OpAtan: named("Atan"), kernel.OpErf: named("Erf"), kernel.OpTanh: named("Tanh"), kernel.OpSigmoid: named("Sigmoid"),
		kernel.OpFloor: named("Floor"), kernel.OpCeil: named("Ceil"), kernel.OpRound: named("Round"),
		kernel.OpRsqrt: typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
			return e.put("Reciprocal", d, e.put("Sqrt", d, in...))
		}),
		kernel.OpExpm1: typed(expm1), kernel.OpLog1p: typed(log1p),
		kernel.OpLog2: typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
			return e.put("Div", d, e.put("Log", d, in...), e.num(d, math.Ln2))
		}),
		kernel.OpTrunc: typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
			return e.put("Mul", d, e.put("Sign", d, in...), e.put("Floor", d, e.put("Abs", d, in...)))
		}),
		kernel.OpFMA: typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
			return e.put("Add", d, e.put("Mul", d, in[0], in[1]), in[2])
		}),
		kernel.OpIsNaN: named("IsNaN"),
		kernel.OpEq:    named("Equal"), kernel.OpLt: comparison("Less"), kernel.OpLe: comparison("LessOrEqual"),
		kernel.OpGt: comparison("Greater"), kernel.OpGe: comparison("GreaterOrEqual"),
		kernel.OpNe: typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
			return e.put("Not", d, e.put("Equal", d, in...))
		}),
		kernel.OpAnd: logic("And", "BitwiseAnd"), kernel.OpOr: logic("Or", "BitwiseOr"), kernel.OpXor: logic("Xor", "BitwiseXor"),
		kernel.OpNot: logic("Not", "BitwiseNot"),
		kernel.OpShl: shift("LEFT"), kernel.OpShr: shift("RIGHT"), kernel.OpMulHi: typed(highProduct),
	}
}

func named(name string) scalarRule {
	return typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value { return e.put(name, d, in...) })
}

// arithmetic is on numbers: truths count as 0 and 1.
func arithmetic(name string) scalarRule {
	return typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
		if d != array.Bool {
			return e.put(name, d, in...)
		}
		return e.c.cast(e.put(name, array.I32, e.counted(in)...), d)
	})
}

func comparison(name string) scalarRule {
	return typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
		if in[0].Type().DType() == array.Bool {
			in = e.counted(in)
		}
		return e.put(name, d, in...)
	})
}

// counted are truths as numbers.
func (e *scalarWriter) counted(in []op.Value) []op.Value {
	out := make([]op.Value, len(in))
	for i, v := range in {
		out[i] = e.c.cast(v, array.I32)
	}
	return out
}

// logic is on booleans, or on the bits of integers, which have operators since set 18.
func logic(truths, bits string) scalarRule {
	return typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
		if d == array.Bool {
			return e.put(truths, d, in...)
		}
		e.c.needs(18)
		return e.put(bits, d, in...)
	})
}

// needs asks for an operator set; a rule that cannot have it is given up.
func (c *exportCall) needs(since int) { c.w.needs(since) }

func (w *graphWriter) needs(since int) {
	if since > w.x.target && w.x.options.Opset != 0 {
		decline("operator set " + itoa(since) + " is needed")
	}
	w.x.need = max(w.x.need, since)
}

func floorDivide(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	if d.IsFloat() {
		return floorDivideFloats(e, d, in)
	}
	q, r, zero := e.put("Div", d, in...), remainder(e, d, in), e.num(d, 0)
	if !d.IsSigned() {
		return q
	}
	return e.put("Where", d, e.otherSign(r, in[1], zero), e.put("Sub", d, q, e.num(d, 1)), q)
}

// sign is 0 for NaN; ONNX's is NaN.
func sign(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	v := e.put("Sign", d, in...)
	if !d.IsFloat() {
		return v
	}
	return e.put("Where", d, e.put("IsNaN", array.Bool, in...), e.num(d, 0), v)
}

// otherSign reports whether a remainder has another sign than the divisor.
func (e *scalarWriter) otherSign(r, y, zero op.Value) op.Value {
	other := e.put("Xor", array.Bool, e.put("Less", array.Bool, r, zero), e.put("Less", array.Bool, y, zero))
	return e.put("And", array.Bool, other, e.put("Not", array.Bool, e.put("Equal", array.Bool, r, zero)))
}

// floorDivideFloats takes the quotient from the remainder, which is exact, so that one that is
// rounded up to an integer is not taken for it; the zero divisor has none.
func floorDivideFloats(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	r := remainder(e, d, in)
	q := e.put("Div", d, e.put("Sub", d, in[0], r), in[1])
	q = e.put("Where", d, e.otherSign(r, in[1], e.num(d, 0)), e.put("Sub", d, q, e.num(d, 1)), q)
	f := e.put("Floor", d, q)
	up := e.put("Greater", array.Bool, e.put("Sub", d, q, f), e.num(d, 0.5))
	f = e.put("Where", d, up, e.put("Add", d, f, e.num(d, 1)), f)
	return e.put("Where", d, e.put("Equal", array.Bool, in[1], e.num(d, 0)), e.put("Div", d, in...), f)
}

// remainder has the sign of the dividend.
func remainder(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	return e.c.w.emit("Mod", shape.TensorType(d, broadcastDims(in...)), in, attrInt("fmod", 1))
}

// modulus has the sign of the divisor; Mod has that for integers only.
func modulus(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	if !d.IsFloat() {
		return e.put("Mod", d, in...)
	}
	r, zero := remainder(e, d, in), e.num(d, 0)
	return e.put("Where", d, e.otherSign(r, in[1], zero), e.put("Add", d, r, in[1]), r)
}

// expm1 is 2·sinh(x/2)·exp(x/2), which is exact for small x; below -50 it is -1.
func expm1(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	half := e.put("Mul", d, in[0], e.num(d, 0.5))
	v := e.put("Mul", d, e.put("Mul", d, e.put("Sinh", d, half), e.num(d, 2)), e.put("Exp", d, half))
	return e.put("Where", d, e.put("Less", array.Bool, in[0], e.num(d, -50)), e.num(d, -1), v)
}

// log1p is log(u)·x/(u-1) for u = 1+x, which compensates for the rounding of the sum; where
// it took all of x, or all is infinite, the quotient is none.
func log1p(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	x, one := in[0], e.num(d, 1)
	u := e.put("Add", d, x, one)
	less := e.put("Sub", d, u, one)
	lost := e.put("Equal", array.Bool, less, e.num(d, 0))
	l := e.put("Log", d, u)
	v := e.put("Div", d, e.put("Mul", d, l, x), e.put("Where", d, lost, one, less))
	v = e.put("Where", d, e.put("Greater", array.Bool, x, e.num(d, 1e8)), l, v)
	return e.put("Where", d, lost, x, v)
}

// shift is of unsigned numbers in ONNX; by their width or more it leaves nothing.
func shift(direction string) scalarRule {
	return typed(func(e *scalarWriter, d array.DType, in []op.Value) op.Value {
		if d.IsSigned() {
			return e.signedShift(direction == "LEFT", d, in)
		}
		v := e.c.w.emit("BitShift", shape.TensorType(d, broadcastDims(in...)), in, attrText("direction", direction))
		return e.put("Where", d, e.put("Less", array.Bool, in[1], e.num(d, float64(8*d.Size()))), v, e.num(d, 0))
	})
}

// signedShift multiplies by a power of two out of a table, or divides by it and rounds down.
func (e *scalarWriter) signedShift(left bool, d array.DType, in []op.Value) op.Value {
	bits := 8 * d.Size()
	most := bits - 1
	if !left {
		most-- // the next power is negative
	}
	a := array.New(d, most+1)
	for i := range most + 1 {
		array.SetInt64At(a, i, 1<<i)
	}
	x, by := in[0], in[1]
	inside := e.put("And", array.Bool, e.put("GreaterOrEqual", array.Bool, by, e.num(d, 0)), e.put("LessOrEqual", array.Bool, by, e.num(d, float64(most))))
	at := e.c.cast(e.put("Where", d, inside, by, e.num(d, 0)), array.I64)
	power := e.c.w.emit("Gather", at.Type().WithDType(d), []op.Value{e.c.w.x.small(a), at}, attrInt("axis", 0))
	if left {
		return e.put("Where", d, inside, e.put("Mul", d, x, power), e.num(d, 0))
	}
	rest := e.put("Where", d, e.put("Less", array.Bool, x, e.num(d, 0)), e.num(d, -1), e.num(d, 0))
	return e.put("Where", d, inside, floorDivide(e, d, []op.Value{x, power}), rest)
}

// highProduct is the upper half of a product of u32, or of u64, of which the halves are multiplied.
func highProduct(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	if d == array.U64 {
		shifted := func(v op.Value) op.Value {
			return e.c.w.emit("BitShift", v.Type(), []op.Value{v, e.c.number(d, op.Int(32))}, attrText("direction", "RIGHT"))
		}
		e.c.needs(18)
		low := func(v op.Value) op.Value { return e.put("BitwiseAnd", d, v, e.c.number(d, op.Int(1<<32-1))) }
		xh, xl, yh, yl := shifted(in[0]), low(in[0]), shifted(in[1]), low(in[1])
		middle := e.put("Add", d, e.put("Mul", d, xh, yl), shifted(e.put("Mul", d, xl, yl)))
		other := e.put("Add", d, e.put("Mul", d, xl, yh), low(middle))
		return e.put("Add", d, e.put("Add", d, e.put("Mul", d, xh, yh), shifted(middle)), shifted(other))
	}
	wide := e.put("Mul", array.U64, e.c.cast(in[0], array.U64), e.c.cast(in[1], array.U64))
	high := e.c.w.emit("BitShift", wide.Type(), []op.Value{wide, e.num(array.U64, 32)}, attrText("direction", "RIGHT"))
	return e.c.cast(high, d)
}

// exportActivations are the elementwise operators that ONNX has a name for, where their expression is
// of several operations. Their operands are floats.
var exportActivations = map[*op.Op][]exportRule{
	std.Relu: float("Relu"), std.Selu: by(func(c *exportCall, _ op.None) op.Value { return c.single("Selu") }), std.Softsign: float("Softsign"), std.Hardswish: float("HardSwish"),
	std.Mish: {floatSince(18, "Mish")},
	std.Sinh: float("Sinh"), std.Cosh: float("Cosh"), std.Asinh: float("Asinh"), std.Acosh: float("Acosh"), std.Atanh: float("Atanh"),
	std.Asin: float("Asin"), std.Acos: float("Acos"), std.Tanh: float("Tanh"), std.Sigmoid: float("Sigmoid"),
	std.Isinf: float("IsInf"),
	std.Gelu: {writes(20, func(c *exportCall, a std.GeluAttrs) op.Value {
		c.floats()
		if a.Approximate == "tanh" {
			return c.node("Gelu", c.in, attrText("approximate", "tanh"))
		}
		return c.node("Gelu", c.in)
	})},
	std.LeakyRelu: by(func(c *exportCall, a std.LeakyReluAttrs) op.Value {
		return c.graded("LeakyRelu", a.NegativeSlope)
	}),
	std.Elu:  by(func(c *exportCall, a std.AlphaAttrs) op.Value { return c.graded("Elu", a.Alpha) }),
	std.Celu: by(func(c *exportCall, a std.AlphaAttrs) op.Value { return c.graded("Celu", a.Alpha) }),
	std.Softplus: by(func(c *exportCall, a std.SoftplusAttrs) op.Value {
		if a.Beta != 1 || a.Threshold != 20 {
			decline("Softplus has no beta and threshold")
		}
		c.floats()
		return c.node("Softplus", c.in)
	}),
	std.Threshold: by(func(c *exportCall, a std.ThresholdAttrs) op.Value {
		if a.Value != 0 {
			decline("ThresholdedRelu has no value")
		}
		return c.graded("ThresholdedRelu", a.Threshold)
	}),
	std.Hardsigmoid: by(func(c *exportCall, _ op.None) op.Value {
		return c.single("HardSigmoid", attrFloat("alpha", 1.0/6), attrFloat("beta", 0.5))
	}),
	std.Relu6: by(func(c *exportCall, _ op.None) op.Value { return c.clip(op.Float(0), op.Float(6)) }),
	std.Hardtanh: by(func(c *exportCall, a std.HardtanhAttrs) op.Value {
		return c.clip(op.Float(a.MinVal), op.Float(a.MaxVal))
	}),
	std.Clamp: by(func(c *exportCall, a std.ClampAttrs) op.Value { return c.clip(a.Min, a.Max) }),
	std.Prelu: by(func(c *exportCall, _ op.None) op.Value {
		c.floats()
		w := c.in[1]
		if c.rank(0) == 0 {
			w = c.reshape(w)
		} else if n := c.rank(0); w.Type().Rank() == 1 && n > 2 && !w.Type().Dim(0).Is(1) {
			dims := []shape.Dim{w.Type().Dim(0)}
			for range n - 2 {
				dims = append(dims, shape.Const(1))
			}
			w = c.reshape(w, dims...)
		}
		return c.node("PRelu", []op.Value{c.in[0], c.cast(w, c.dtype(0))})
	}),
	std.Dropout: by(func(c *exportCall, a std.DropoutAttrs) op.Value {
		if a.Training {
			decline("Dropout draws its own numbers")
		}
		return c.in[0]
	}),
}

// float is the rule of an operator that takes floats only, as PyTorch's take integers.
func float(name string) []exportRule { return []exportRule{floatSince(oldestOpset, name)} }

func floatSince(since int, name string) exportRule {
	return exportRule{since, func(c *exportCall) op.Value {
		c.floats()
		return c.node(name, c.in)
	}}
}

// floats gives the call up unless its first operand has the type of the result, or the result is of truths.
func (c *exportCall) floats() {
	if d := c.dtype(0); !d.IsFloat() || c.typ.DType() != d && c.typ.DType() != array.Bool {
		decline("the operator is for floats")
	}
}

// single is an operator whose numbers have 32 bits.
func (c *exportCall) single(name string, attrs ...*pb.Attr) op.Value {
	c.floats()
	if c.dtype(0) == array.F64 {
		decline("its numbers have 32 bits")
	}
	return c.node(name, c.in[:1], attrs...)
}

// graded is an operator with a factor, which has 32 bits.
func (c *exportCall) graded(name string, alpha float64) op.Value {
	c.floats()
	if c.dtype(0) == array.F64 && !exactly(alpha) {
		decline("the factor has more than 32 bits")
	}
	return c.node(name, c.in[:1], attrFloat("alpha", alpha))
}

// clip is Clip where the bounds are of the operand's type.
func (c *exportCall) clip(low, high op.Scalar) op.Value {
	d := c.dtype(0)
	if c.typ.DType() != d || d == array.Bool {
		decline("the bounds are of another type")
	}
	in := []op.Value{c.in[0], nil, nil}
	for i, s := range []op.Scalar{low, high} {
		if s.Present() {
			if s.IsFloat() && !d.IsFloat() || math.IsNaN(s.Float64()) {
				decline("the bounds are no numbers of the operand's type")
			}
			in[1+i] = c.number(d, s)
		}
	}
	return c.node("Clip", in)
}

package std

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// BinaryAttrs are the attributes of commuting operators of two operands, and of
// comparisons, of which the second may be a number. Exactly one of the operand
// other and Other is given.
type BinaryAttrs struct {
	Other op.Scalar `fx:",lift"`
}

// ReversibleAttrs are the attributes of operators of two operands, of which the
// second may be a number, that do not commute. Exactly one of the operand other
// and Other is given.
type ReversibleAttrs struct {
	Other op.Scalar `fx:",lift"`
	// Reverse swaps the number and the tensor: number op x.
	Reverse bool
}

// domain is a set of element types that an operator accepts.
type domain struct {
	text     string
	float    bool
	int      bool
	bool     bool
	promoted bool // integers and bool are promoted to f32 first
}

var (
	onAny       = domain{text: "any", float: true, int: true, bool: true}
	onNumbers   = domain{text: "an integer or floating-point one", float: true, int: true}
	onFloats    = domain{text: "a floating-point one", float: true}
	onFloatMath = domain{text: "any", float: true, int: true, bool: true, promoted: true}
	onIntegers  = domain{text: "an integer one", int: true}
	onIntegral  = domain{text: "an integer one or bool", int: true, bool: true}
)

func (m domain) accepts(d array.DType) bool {
	switch {
	case d.IsFloat():
		return m.float
	case d.IsInt():
		return m.int
	}
	return m.bool
}

// require refuses a type outside m, from within an Expr: op turns the panic into
// the type rule's error.
func (m domain) require(d array.DType) {
	if !m.accepts(d) {
		refuse(op.DTypeMismatch, "element type "+d.String()+", expected "+m.text, "cast the operand first")
	}
}

// compute returns the type to compute in, given the promoted type of the operands.
func (m domain) compute(d array.DType) array.DType {
	if m.promoted && d != array.Invalid && !d.IsFloat() {
		return array.F32
	}
	return d
}

// refuse ends an Expr with an error of the type rule.
func refuse(code diag.Code, msg, hint string) {
	panic(diag.New(code, msg).WithHint(hint))
}

// broadcastAs is the type rule of elementwise operators that know the element
// type of the result; nothing is known when an operand's type is not.
func broadcastAs(c *op.Infer, d array.DType, in []shape.Type) (shape.Type, error) {
	dims, ranked, err := c.BroadcastAll(in)
	if err != nil {
		return shape.Type{}, err
	}
	for _, t := range in {
		ranked = ranked && t.Kind() == shape.Tensor
	}
	if !ranked {
		return shape.Unranked(d), nil
	}
	return shape.TensorType(d, dims), nil
}

// requireBool refuses an operand whose element type is known and not bool.
func requireBool(name string, t shape.Type) error {
	if d := t.DType(); d != array.Invalid && d != array.Bool {
		return diag.New(op.DTypeMismatch, name+" has element type "+d.String()+", expected bool").
			WithHint("compare it with 0 first")
	}
	return nil
}

// uncast is the Promote of operators whose operands keep their own types.
func uncast[A any](A, []shape.Type) array.DType { return array.Invalid }

// has reports whether an operand is present.
func has(v expr.Value) bool { return v.DType() != array.Invalid }

// twoOperands returns the operands of a binary operator, the second from x or
// from the number other. f16 and bf16 tensors are widened when they meet a
// number, so that the number is not rounded on its own.
func twoOperands(b *expr.Builder, x []expr.Value, other op.Scalar, reverse bool) (l, r expr.Value) {
	if checkTwo(x, other, reverse); has(x[1]) {
		return x[0], x[1]
	}
	l = b.Widen(x[0])
	r = converted(b, l.DType(), other)
	if reverse {
		return r, l
	}
	return l, r
}

// comparedOperands is twoOperands for comparisons: a number is rounded to the
// tensor's element type, so that an f16 0.1 equals the number 0.1.
func comparedOperands(b *expr.Builder, x []expr.Value, other op.Scalar) (l, r expr.Value) {
	if checkTwo(x, other, false); has(x[1]) {
		return x[0], x[1]
	}
	return x[0], converted(b, x[0].DType(), other)
}

// checkTwo refuses all but one of a second operand and a number, and two tensors
// reversed.
func checkTwo(x []expr.Value, other op.Scalar, reverse bool) {
	switch {
	case has(x[1]) && other.Present():
		refuse(op.OperandCount, "operand other and the number "+other.String()+" are both given, expected one of them", "leave one out")
	case !has(x[1]) && !other.Present():
		refuse(op.OperandCount, "neither operand other nor the number other is given, expected one of them", "give a tensor or a number")
	case has(x[1]) && reverse:
		refuse(op.BadAttr, "reverse is set for two tensors, expected a tensor and a number", "swap the operands")
	}
}

// binary describes an operator with attributes A, BinaryAttrs or ReversibleAttrs.
type binary[A any] struct {
	doc     string
	on      domain
	f       func(b *expr.Builder, l, r expr.Value) expr.Value
	check   func(a A, d array.DType) // of the promoted type; nil for none
	toBool  bool                     // the result is bool, not of the operands' type
	inPlace bool
	samples func(g *op.Gen) []op.Sample // more than the family's
	bad     func(g *op.Gen) []op.BadSample
	differs []op.Difference[A]
}

// refuses reports whether the operator takes no such attributes with operands of
// the promoted type d.
func (s binary[A]) refuses(a A, d array.DType) (refused bool) {
	if s.check == nil {
		return false
	}
	defer func() { refused = recover() != nil }()
	s.check(a, d)
	return false
}

func typesOf(in []*array.Array) []shape.Type {
	types := make([]shape.Type, len(in))
	for i, x := range in {
		if x != nil {
			types[i] = shape.TypeOf(x)
		}
	}
	return types
}

// defineBinary defines an operator that commutes or has a mirror image.
func defineBinary(name string, s binary[BinaryAttrs]) *op.Op {
	attrs := func(n op.Scalar, _ bool) any { return BinaryAttrs{Other: n} }
	return binaryOp(name, s, func(a BinaryAttrs) (op.Scalar, bool) { return a.Other, false }, attrs,
		func(g *op.Gen) []op.BadSample {
			return slices.DeleteFunc(binaryBad(g, s.on, attrs), func(b op.BadSample) bool { return b.Name == reversedTensors })
		})
}

// defineReversible defines an operator whose operands may be swapped.
func defineReversible(name string, s binary[ReversibleAttrs]) *op.Op {
	attrs := func(n op.Scalar, reverse bool) any { return ReversibleAttrs{Other: n, Reverse: reverse} }
	return binaryOp(name, s, func(a ReversibleAttrs) (op.Scalar, bool) { return a.Other, a.Reverse }, attrs,
		func(g *op.Gen) []op.BadSample { return binaryBad(g, s.on, attrs) })
}

func binaryOp[A any](name string, s binary[A], parts func(A) (other op.Scalar, reverse bool),
	attrs func(op.Scalar, bool) any, bad func(*op.Gen) []op.BadSample) *op.Op {
	compute := func(a A, in []shape.Type) array.DType {
		other, _ := parts(a)
		return s.on.compute(other.Promote(op.Promote(in)))
	}
	return op.Define(name, op.Spec[A]{
		Doc: s.doc, In: op.Args("x", "other?"), InPlace: s.inPlace, Differs: s.differs, Promote: compute,
		Expr: func(b *expr.Builder, a A, x []expr.Value) []expr.Value {
			d := x[0].DType()
			s.on.require(d)
			if s.check != nil {
				s.check(a, d)
			}
			other, reverse := parts(a)
			if s.toBool {
				l, r := comparedOperands(b, x, other)
				return []expr.Value{b.Cast(s.f(b, l, r), array.Bool)}
			}
			l, r := twoOperands(b, x, other, reverse)
			return []expr.Value{b.Cast(s.f(b, l, r), d)}
		},
		Samples: func(g *op.Gen) []op.Sample {
			all := binarySamples(g, s.on, attrs)
			all = slices.DeleteFunc(all, func(p op.Sample) bool {
				a := p.Attrs.(A)
				return s.refuses(a, compute(a, typesOf(p.In)))
			})
			if s.samples != nil {
				all = append(all, s.samples(g)...)
			}
			return all
		},
		Bad: func(g *op.Gen) []op.BadSample {
			all := bad(g)
			if s.bad != nil {
				all = append(all, s.bad(g)...)
			}
			return all
		},
	})
}

// unary describes an operator of one operand and attributes A.
type unary[A any] struct {
	doc     string
	ref     string
	on      domain
	f       func(b *expr.Builder, a A, x expr.Value) expr.Value // x is f32 for f16 and bf16
	deriv   func(b *expr.Builder, a A, x expr.Value) expr.Value // its derivative, where that of f is wrong at a kink; nil for none
	check   func(a A, d array.DType)                            // refuses attributes out of range for x of type d; nil for none
	promote func(a A, d array.DType) array.DType                // numbers in attributes; nil for none
	keepInt bool                                                // integers and bool are returned as they are
	toBool  bool
	narrow  bool // takes element types that only hold values
	quant   op.Quant
	lies    op.Range // of results, with QuantFixed
	inPlace bool
	attrs   []A                         // attributes of the samples; nil means the zero value
	wrong   []A                         // attributes that check refuses with BadAttr
	samples func(g *op.Gen) []op.Sample // more than the family's
	differs []op.Difference[A]
}

func defineUnary[A any](name string, s unary[A]) *op.Op {
	if s.attrs == nil {
		s.attrs = make([]A, 1)
	}
	var deriv func(b *expr.Builder, a A, x []expr.Value) []expr.Value
	if s.deriv != nil {
		deriv = func(b *expr.Builder, a A, x []expr.Value) []expr.Value {
			return []expr.Value{s.deriv(b, a, b.Widen(x[0]))}
		}
	}
	return op.Define(name, op.Spec[A]{
		Doc: s.doc, Ref: s.ref, In: op.Args("x"), Quant: s.quant, Range: s.lies, Narrow: s.narrow, InPlace: s.inPlace, Differs: s.differs, Deriv: deriv,
		Promote: func(a A, in []shape.Type) array.DType {
			d := op.Promote(in)
			if s.promote != nil {
				d = s.promote(a, d)
			}
			return s.on.compute(d)
		},
		Expr: func(b *expr.Builder, a A, x []expr.Value) []expr.Value {
			d := x[0].DType()
			s.on.require(d)
			if s.check != nil {
				s.check(a, d)
			}
			if s.keepInt && !d.IsFloat() {
				return []expr.Value{x[0]}
			}
			y := s.f(b, a, b.Widen(x[0]))
			if s.toBool {
				return []expr.Value{y}
			}
			return []expr.Value{b.Cast(y, d)}
		},
		Samples: func(g *op.Gen) []op.Sample {
			all := slices.DeleteFunc(unarySamples(g, s.on, s.attrs), func(p op.Sample) bool { return s.refuses(p.Attrs.(A), p.In[0].DType()) })
			if s.samples != nil {
				all = append(all, s.samples(g)...)
			}
			return all
		},
		Bad: func(g *op.Gen) []op.BadSample { return unaryBad(g, s.on, s.attrs[0], s.wrong) },
	})
}

// refuses reports whether the attributes are out of range for x of type d.
func (s unary[A]) refuses(a A, d array.DType) (refused bool) {
	if s.check == nil {
		return false
	}
	if s.promote != nil {
		d = s.promote(a, d)
	}
	defer func() { refused = recover() != nil }()
	s.check(a, d)
	return false
}

// plain adapts a method of expr.Builder to unary.f for operators without attributes.
func plain(f func(b *expr.Builder, x expr.Value) expr.Value) func(*expr.Builder, op.None, expr.Value) expr.Value {
	return func(b *expr.Builder, _ op.None, x expr.Value) expr.Value { return f(b, x) }
}

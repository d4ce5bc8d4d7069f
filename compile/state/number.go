package state

import (
	"math"
	"reflect"
	"unsafe"
)

// Number is a field, an argument, a variable or the elements of a type, of which all that code does is to compute with it and constants,
// to give the result to an operator as a number, and to compare it with a constant: nothing else depends on it.
type Number struct {
	Type, Name string // of the field, or of the elements, whose name is "[]"; Type is "" for an argument and for a variable
	Exprs      []Expr // what operators are given, each once
	Tests      []Test // what is compared, each once
	Rounds     bool   // nothing but the number of rounds of Loops depends on it: no operator is given it
}

// elementName is the name of elements.
const elementName = "[]"

// Expr is what code computes with a number, step by step.
type Expr []Term

// Test is a comparison of an expression with a constant, by "==", "!=", "<", "<=", ">" or ">=".
type Test struct {
	Expr Expr
	Op   string
	By   uint64 // the constant: the bits of a float64, of an int64 or of a uint64
}

// Holds reports whether a number passes the test.
func (t *Test) Holds(s Scalar) bool {
	switch s = t.Expr.Eval(s); {
	case s.IsFloat():
		return holds(t.Op, s.F, math.Float64frombits(t.By))
	case s.unsigned():
		return holds(t.Op, uint64(s.I), t.By)
	}
	return holds(t.Op, s.I, int64(t.By))
}

func holds[T int64 | uint64 | float64](op string, a, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// SameSide reports whether code that compares a number does the same for two values of it.
func (w *Word) SameSide(a, b Scalar) bool {
	for i := range w.Tests {
		if w.Tests[i].Holds(a) != w.Tests[i].Holds(b) {
			return false
		}
	}
	return true
}

// Term is a step of an Expr.
type Term struct {
	Kind string // of the result: "float64"
	Op   string // "convert", "neg", or an operation with a constant: "+", "-", "*", "/"
	By   uint64 // the constant: the bits of a float64, of an int64 or of a uint64
	Left bool   // the constant is the left operand
}

// Scalar is a number as code has it.
type Scalar struct {
	Kind string  // "float64"
	F    float64 // of a float
	I    int64   // of an integer; of an unsigned one, its bits
}

// IsFloat reports whether the number is a float.
func (s Scalar) IsFloat() bool { return s.Kind[0] == 'f' }

func (s Scalar) unsigned() bool { return s.Kind[0] == 'u' }

// Float64 is the number as a float.
func (s Scalar) Float64() float64 {
	switch {
	case s.IsFloat():
		return s.F
	case s.unsigned():
		return float64(uint64(s.I))
	}
	return float64(s.I)
}

// Same reports whether two numbers have the same bits.
func (s Scalar) Same(o Scalar) bool {
	return s.Kind == o.Kind && s.I == o.I && math.Float64bits(s.F) == math.Float64bits(o.F)
}

// Eval computes the expression.
func (e Expr) Eval(s Scalar) Scalar {
	for _, t := range e {
		s = t.eval(s)
	}
	return s
}

func (t Term) eval(s Scalar) Scalar {
	switch {
	case t.Op == "convert":
		return s.as(t.Kind)
	case t.Op == "neg" && s.IsFloat():
		return Scalar{Kind: s.Kind, F: -s.F}
	case t.Op == "neg":
		return fitted(s.Kind, -s.I)
	case s.IsFloat():
		return floated(t.Kind, t.floats(s.F, math.Float64frombits(t.By)))
	}
	a, b := s.I, int64(t.By)
	if t.Left {
		a, b = b, a
	}
	switch t.Op {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	default:
		if s.unsigned() {
			return fitted(t.Kind, int64(uint64(a)/uint64(b)))
		}
		a /= b
	}
	return fitted(t.Kind, a)
}

// floats computes with floats. Those of 32 bits are rounded once more, which gives the bits of arithmetic with 32 bits.
func (t Term) floats(a, b float64) float64 {
	if t.Left {
		a, b = b, a
	}
	switch t.Op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	}
	return a / b
}

// as converts a number.
func (s Scalar) as(kind string) Scalar {
	switch {
	case kind[0] != 'f':
		return fitted(kind, s.I)
	case s.IsFloat():
		return floated(kind, s.F)
	case kind == "float32" && s.unsigned():
		return floated(kind, float64(float32(uint64(s.I))))
	case kind == "float32":
		return floated(kind, float64(float32(s.I)))
	}
	return Scalar{Kind: kind, F: s.Float64()}
}

func floated(kind string, f float64) Scalar {
	if kind == "float32" {
		f = float64(float32(f))
	}
	return Scalar{Kind: kind, F: f}
}

// fitted is an integer without the bits that its type lacks.
func fitted(kind string, i int64) Scalar {
	switch kind {
	case "int8":
		i = int64(int8(i))
	case "int16":
		i = int64(int16(i))
	case "int32":
		i = int64(int32(i))
	case "int":
		i = int64(int(i))
	case "uint8":
		i = int64(uint8(i))
	case "uint16":
		i = int64(uint16(i))
	case "uint32":
		i = int64(uint32(i))
	case "uint":
		i = int64(uint(i))
	}
	return Scalar{Kind: kind, I: i}
}

// kinds are the types of numbers.
var kinds = map[reflect.Kind]string{
	reflect.Int: "int", reflect.Int8: "int8", reflect.Int16: "int16", reflect.Int32: "int32", reflect.Int64: "int64",
	reflect.Uint: "uint", reflect.Uint8: "uint8", reflect.Uint16: "uint16", reflect.Uint32: "uint32", reflect.Uint64: "uint64",
	reflect.Float32: "float32", reflect.Float64: "float64",
}

// scalarOf is the number that a word has.
func scalarOf(t reflect.Type, bits uint64) Scalar {
	switch kind := kinds[t.Kind()]; {
	case kind == "float32":
		return Scalar{Kind: kind, F: float64(math.Float32frombits(uint32(bits)))}
	case kind == "float64":
		return Scalar{Kind: kind, F: math.Float64frombits(bits)}
	default:
		return fitted(kind, int64(bits))
	}
}

// Word is a number that a walk has met.
type Word struct {
	Path, Line string
	Exprs      []Expr
	Tests      []Test
	Rounds     bool
	Was        Scalar
	reg        uint32
	off, size  uintptr
	typ        reflect.Type
}

// Words lists the numbers of a walk of which nothing but numbers of operators depends.
func (m *Image) Words() (list []Word) {
	for _, i := range m.numbers {
		s, w := &m.steps[i], &m.words[m.steps[i].number-1]
		list = append(list, Word{s.path, s.line, w.cell.number.Exprs, w.cell.number.Tests, w.cell.number.Rounds, scalarOf(w.cell.typ, w.before.u), w.of.reg, w.off, w.cell.size, w.cell.typ})
	}
	return list
}

// Now is the word's number after a check of a guard of the same walk.
func (w *Word) Now(m *Machine) Scalar {
	return scalarOf(w.typ, loadBits(w.size, unsafe.Add(m.regs[w.reg], w.off)))
}

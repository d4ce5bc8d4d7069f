package passes

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// The markers of patterns: calls that a trace records and that match no node, but
// say how what they are given matches. Outside of a pattern they give their first
// operand.
var (
	anyOf = op.NewAdHoc("github.com/gofx-dev/gofx/passes", "AnyOf", op.Args("x..."), true, false, firstOperand)
	loose = op.NewAdHoc("github.com/gofx-dev/gofx/passes", "Loose", op.Args("x"), true, false, firstOperand)
)

func firstOperand(in []*array.Array) ([]*array.Array, error) { return in[:1], nil }

// AnyOf stands, in a pattern with one result, for a value that is spelt in one of
// several ways. They are tried in turn, also after what follows did not fit. A way
// that leaves out parameters of the pattern leaves their Match.Inputs nil, which
// makes parts optional:
//
//	AnyOf(x.Add(y), y.Add(x)) // operands that may be exchanged
//	AnyOf(x.Add(bias), x)     // a part that may be missing
func AnyOf(spellings ...*tensor.Tensor) *tensor.Tensor {
	if len(spellings) == 0 {
		panic(diag.New(BadRule, "AnyOf has no spelling, expected one or more"))
	}
	return tensor.CallOp(anyOf, op.None{}, spellings...)
}

// Loose stands, in a pattern, for the call that made x with whatever attributes.
// Where finds it among Match.Nodes and decides about them. A result of several
// stands for the call that gives them.
func Loose(x *tensor.Tensor) *tensor.Tensor { return tensor.CallOp(loose, op.None{}, x) }

// numberBits begins the NaN that stands for a number.
const numberBits = 0x7ff8_6f78_0000_0000

// maxNumbers bounds the numbers of a pattern.
const maxNumbers = 64

// Number stands, in a pattern, for any number in the attributes of a call, which
// is then Match.Numbers[i]; a second use of i stands for the same number. As the
// other operand of an operator it also stands for a constant of one element.
//
//	x.MulScalar(passes.Number(0))
func Number(i int) op.Scalar {
	if i < 0 || i >= maxNumbers {
		panic(diag.New(BadRule, "Number("+strconv.Itoa(i)+"), expected 0 to "+strconv.Itoa(maxNumbers-1)))
	}
	return op.Float(math.Float64frombits(numberBits | uint64(i)))
}

// numberOf returns i for Number(i) as the value of an attribute.
func numberOf(attr any) (i int, ok bool) {
	v, isFloat := attr.(float64)
	if s, isScalar := attr.(op.Scalar); isScalar && s.IsFloat() {
		v, isFloat = s.Float64(), true
	}
	i = int(math.Float64bits(v) & math.MaxUint32)
	return i, isFloat && math.Float64bits(v)&^math.MaxUint32 == numberBits && i < maxNumbers
}

// numbersOf returns one more than the greatest i of the Number(i) in the
// attributes of a node, 0 for none.
func numbersOf(n *graph.Node) int {
	count := 0
	if n.Op() == nil {
		return 0
	}
	for _, f := range n.Op().Codec().Fields(n.Attrs()) {
		if i, ok := numberOf(f.Value); ok {
			count = max(count, i+1)
		}
	}
	return count
}

// immediates compares the attributes of n with those of the pattern's call p and
// binds numbers. It returns how many operands of n are left to compare.
func (a *attempt) immediates(p, n *graph.Node) (operands int, ok bool) {
	c := p.Op().Codec()
	switch operands = n.NumArgs(); {
	case a.p.loose[p]:
		return operands, true
	case !a.p.open[p]:
		return operands, dynamic(p) || c.Equal(p.Attrs(), n.Attrs()) || a.fail(attrsDiffer(n, p.Attrs()))
	}
	have := c.Fields(n.Attrs())
	for k, f := range c.Fields(p.Attrs()) {
		i, isNumber := numberOf(f.Value)
		if !isNumber {
			if f.Value != have[k].Value {
				return operands, a.fail("at " + n.String() + ": the attributes are " + c.Print(n.Attrs()) + ", the pattern has another " + f.Name)
			}
			continue
		}
		v := math.NaN()
		switch s := have[k].Value.(type) {
		case float64:
			v = s
		case op.Scalar:
			if s.Present() {
				v = s.Float64()
			} else if v = a.otherNumber(p, n, f.Name); !math.IsNaN(v) {
				operands = p.NumArgs()
			}
		}
		if math.IsNaN(v) {
			return operands, a.fail("at " + n.String() + ": has no number as " + f.Name)
		}
		if old := a.numbers[i]; !math.IsNaN(old) && old != v {
			return operands, a.fail("at " + n.String() + ": the pattern has the same number as " + strconv.FormatFloat(old, 'g', -1, 64) + " here")
		}
		a.numbers[i] = v
	}
	return operands, true
}

// otherNumber returns the value of the constant of one element that n has as last
// operand where the pattern has a number by that operand's name, else NaN. It is of
// the element type and at most of the rank of the operand before, so that the
// number does the same.
func (a *attempt) otherNumber(p, n *graph.Node, name string) float64 {
	i := p.NumArgs()
	if in := n.Op().In; len(in) <= i || in[i].Name != name || n.NumArgs() != i+1 || n.Arg(i) == nil || n.Arg(i-1) == nil {
		return math.NaN()
	}
	x, v := n.Arg(i-1).Type(), a.constantOf(n.Arg(i))
	if v == nil || v.Len() != 1 || v.DType() != x.DType() || !x.Ranked() || v.Rank() > x.Rank() {
		return math.NaN()
	}
	return array.Float64At(v, 0)
}

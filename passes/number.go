package passes

import (
	"math"
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// numberBits begins the NaN that stands for a number.
const numberBits = 0x7ff8_6f78_0000_0000

// maxNumbers bounds the numbers, and the rests, of a pattern.
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
func (a *attempt) immediates(p *part, n *graph.Node) (operands int, ok bool) {
	c := p.op.Codec()
	switch operands = n.NumArgs(); {
	case p.loose:
		return operands, true
	case !p.dynamic: // else once all values are bound
		if want := p.wanted(n); !c.Equal(want, n.Attrs()) {
			return operands, a.further() && a.fail(n, attrsDiffer(n, want))
		}
	}
	if !p.open {
		return operands, true
	}
	have := c.Fields(n.Attrs())
	for k, f := range c.Fields(p.attrs) {
		i, isNumber := numberOf(f.Value)
		if !isNumber || p.leaves(f.Name) {
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
				operands = len(p.args)
			}
		}
		if math.IsNaN(v) {
			return operands, a.fail(n, "has no number as ", f.Name)
		}
		if old := a.numbers[i]; !math.IsNaN(old) && old != v {
			return operands, a.fail(n, "the pattern has the same number as ", strconv.FormatFloat(old, 'g', -1, 64), " here")
		}
		a.numbers[i] = v
	}
	return operands, true
}

// wanted returns the attributes of the pattern's call p, with those of n in the place of
// what p leaves open.
func (p *part) wanted(n *graph.Node) any {
	if !p.open {
		return p.attrs
	}
	want := reflect.New(reflect.TypeOf(p.attrs)).Elem()
	want.Set(reflect.ValueOf(p.attrs))
	have := reflect.ValueOf(n.Attrs())
	for _, f := range p.op.Codec().Fields(p.attrs) {
		if _, number := numberOf(f.Value); number || p.leaves(f.Name) || p.filled(n, f.Name) != nil {
			want.FieldByName(f.GoName).Set(have.FieldByName(f.GoName))
		}
	}
	return want.Interface()
}

// otherNumber returns the value of the constant of one element that n has as last
// operand where the pattern has a number by that operand's name, else NaN. It is of
// the element type and at most of the rank of the operand before, so that the
// number does the same.
func (a *attempt) otherNumber(p *part, n *graph.Node, name string) float64 {
	i := len(p.args)
	if in := n.Op().In; len(in) <= i || in[i].Name != name || n.NumArgs() != i+1 || n.Arg(i) == nil || n.Arg(i-1) == nil {
		return math.NaN()
	}
	x, v := n.Arg(i-1).Type(), a.seen.constantOf(n.Arg(i))
	if v == nil || v.Len() != 1 || v.DType() != x.DType() || !x.Ranked() || v.Rank() > x.Rank() {
		return math.NaN()
	}
	return array.Float64At(v, 0)
}

// filled returns the Constant that the pattern has for the last operand of a call
// where n has none, but a number by that operand's name.
func (p *part) filled(n *graph.Node, name string) *part {
	i := len(p.args) - 1
	if in := n.Op().In; i < 0 || p.args[i] == nil || p.args[i].kind != filled || n.NumArgs() > i || i >= len(in) || in[i].Name != name {
		return nil
	}
	return p.args[i]
}

// isNumber reports whether n has, as attribute in the place of its last operand, the
// number that a Constant of the pattern stands for.
func isNumber(p *part, n *graph.Node) bool {
	for _, f := range n.Op().Codec().Fields(n.Attrs()) {
		c := p.filled(n, f.Name)
		if s, ok := f.Value.(op.Scalar); ok && c != nil && s.Present() {
			return s.Float64() == c.value
		}
	}
	return false
}

// full reports whether all elements of a constant are v, which floats may round.
func full(a *array.Array, v float64) bool {
	if a == nil || a.Len() == 0 {
		return false
	}
	held := array.Float64At(array.Cast(array.Scalar(v), a.DType()), 0)
	if !a.DType().IsFloat() && held != v {
		return false
	}
	v = held
	for i := range a.Len() {
		if array.Float64At(a, i) != v {
			return false
		}
	}
	return true
}

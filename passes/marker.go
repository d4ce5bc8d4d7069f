package passes

import (
	"errors"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// The markers of patterns are calls that a trace records and that match no node, but
// say how what they are given matches. Outside of a pattern they give their first
// operand, or a zero.

// marker is what a call of a marker says.
type marker struct {
	kind     kind
	attrs    []string // of Loose
	name     string   // of Named
	index    int      // of Rest
	min, max int      // of Repeat
	value    float64  // of Constant
	checks   []Check  // of If
}

// Error makes a marker what its operator's Go function answers, see mark.
func (m *marker) Error() string { return "a marker is no value" }

// probe is the operand with which the Go function of a marker's operator is asked for
// the marker.
var probe = array.New(array.Bool)

// mark calls a marker: an operator of its own, which is in no table. Attributes of
// operators hold data alone, and checks are functions; the operator's Go function
// carries them.
func mark(m *marker, operands ...*tensor.Tensor) *tensor.Tensor {
	host := func(in []*array.Array) ([]*array.Array, error) {
		switch {
		case len(in) == 1 && in[0] == probe:
			return nil, m
		case len(in) == 0:
			return []*array.Array{array.New(array.F32, 1, 1, 1, 1)}, nil // dimensions for calls on markers alone
		}
		return in[:1], nil
	}
	in := op.Args("x...")
	if len(operands) == 0 {
		in = nil
	}
	o := op.NewAdHoc(markerPath, markerNames[m.kind], in, true, false, host)
	o.Class = op.Movement // a trace records calls without operands, too, except opaque ones
	return tensor.CallOp(o, op.None{}, operands...)
}

const markerPath = "github.com/gofx-dev/gofx/passes"

// markerOf returns the marker that a call of o is, nil for none.
func markerOf(o *op.Op) (m *marker) {
	if o == nil || !o.AdHoc || o.Path != markerPath {
		return nil
	}
	_, err := o.Host([]*array.Array{probe})
	errors.As(err, &m)
	return m
}

// AnyOf stands, in a pattern with one result, for a value that is spelt in one of
// several ways. They are tried in turn, also after what follows did not fit. A way
// that leaves out parameters of the pattern leaves their Match.Inputs nil:
//
//	AnyOf(x.Sigmoid().Mul(x), x.Silu())
func AnyOf(spellings ...*tensor.Tensor) *tensor.Tensor {
	if len(spellings) == 0 {
		panic(diag.New(BadRule, "AnyOf has no spelling, expected one or more"))
	}
	return mark(&marker{kind: choice}, spellings...)
}

// Optional stands, in a pattern with one result, for part(x), or for x alone where
// that is not there.
//
//	Optional(x.Matmul(w), func(y *tensor.Tensor) *tensor.Tensor { return y.Add(bias) })
func Optional(x *tensor.Tensor, part func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	return AnyOf(part(x), x)
}

// Any stands, in a pattern, for any value: for what the replacement has no need of. A
// parameter stands for any value too; it is one of Match.Inputs, and has a rank for
// operators that want to know it, such as a permutation.
func Any() *tensor.Tensor { return mark(&marker{kind: anything}) }

// Rest stands, among the operands of an operator that takes any number, for as many
// as are left, also none: Match.Rests[i]. A second use of i stands for the same ones.
//
//	tensor.Cat([]*tensor.Tensor{x, passes.Rest(0)}, 1)
func Rest(i int) *tensor.Tensor {
	if i < 0 || i >= maxNumbers {
		panic(diag.New(BadRule, "Rest("+strconv.Itoa(i)+"), expected 0 to "+strconv.Itoa(maxNumbers-1)))
	}
	return mark(&marker{kind: rest, index: i})
}

// Repeat stands, in a pattern with one result, for body(body(...(x))), as many times
// as possible, but no less than min and, unless max is 0, no more than max times.
// Parameters and numbers stand for the same in each of them; so do calls made outside
// of body. Values between the repetitions must have no other use, as all values
// inside of a match.
//
//	Repeat(x, 2, 0, func(y *tensor.Tensor) *tensor.Tensor { return y.Matmul(w).Relu() })
func Repeat(x *tensor.Tensor, min, max int, body func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if min < 0 || max < 0 || max > 0 && max < min {
		panic(diag.New(BadRule, "Repeat from "+strconv.Itoa(min)+" to "+strconv.Itoa(max)+" times, expected 0 or more, and a maximum of 0 or no less than that"))
	}
	from := mark(&marker{kind: hole}, x)
	return mark(&marker{kind: repeat, min: min, max: max}, x, from, body(from))
}

// Commute stands, in a pattern, for the call that made x with its two operands in
// either order. Its operator must give the same for both.
//
//	Commute(x.Add(y.Neg()))
func Commute(x *tensor.Tensor) *tensor.Tensor { return mark(&marker{kind: commute}, x) }

// Loose stands, in a pattern, for the call that made x with whatever attributes, or
// with whatever values of the named ones, the others being equal. Match.Attr tells
// them where the call is Named; Where finds it among Match.Nodes, too. A result of
// several stands for the call that gives them.
func Loose(x *tensor.Tensor, attrs ...string) *tensor.Tensor {
	return mark(&marker{kind: loose, attrs: attrs}, x)
}

// Named gives what x stands for, in a pattern, a name for Match.Node and Match.Attr.
func Named(name string, x *tensor.Tensor) *tensor.Tensor {
	return mark(&marker{kind: named, name: name}, x)
}

// Constant stands, in a pattern, for a tensor all of whose elements are v in its
// element type, of whatever shape: a parameter that no run changes, or the number
// that an operator has as attribute in the place of that operand.
//
//	x.Mul(passes.Constant(0.5))
func Constant(v float64) *tensor.Tensor { return mark(&marker{kind: filled, value: v}) }

// If stands, in a pattern, for x where all checks accept the node that x stands for.
//
//	If(x.Softmax(-1), passes.IsType("f32[N,H,S,S]"), passes.Within("encoder.*.attn"))
func If(x *tensor.Tensor, checks ...Check) *tensor.Tensor {
	return mark(&marker{kind: checked, checks: checks}, x)
}

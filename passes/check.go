package passes

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Check decides about a node that a part of a pattern stands for: "" accepts it,
// anything else is the reason why not.
type Check func(n *graph.Node) string

// IsType accepts values whose type is known to be like the given one: equal element
// types, ranks and numbers; a letter stands for any size, and for the same one again;
// ? stands for anything. "f32[N,N]" are square matrices of whatever size.
func IsType(text string) Check {
	want, err := shape.ParseType(text)
	return func(n *graph.Node) string {
		if err != nil {
			return "the pattern wants the type " + text + ", which is none: " + err.Error()
		}
		if alike(n.Type(), want) {
			return ""
		}
		return "is " + n.Type().String() + ", expected " + text
	}
}

// alike reports whether t is known to be what want says.
func alike(t, want shape.Type) bool {
	switch {
	case t.Kind() != want.Kind() || t.Kind() == shape.Tuple && t.Len() != want.Len():
		return false
	case t.Kind() == shape.Tuple:
		for i := range t.Len() {
			if !alike(t.Member(i), want.Member(i)) {
				return false
			}
		}
		return true
	case want.DType() != array.Invalid && t.DType() != want.DType():
		return false
	case !want.Ranked():
		return true
	case !t.Ranked() || t.Rank() != want.Rank():
		return false
	}
	sizes := map[string]shape.Dim{}
	for i := range want.Rank() {
		d, w := t.Dim(i), want.Dim(i)
		name, letter := w.IsSymbol()
		switch old, again := sizes[name]; {
		case w.IsUnknown():
		case d.IsUnknown(), letter && again && !old.Same(d), !letter && !w.Same(d):
			return false
		case letter:
			sizes[name] = d
		}
	}
	return true
}

// Uses accepts values that min to max operands of other nodes hold; max -1 is no
// upper bound.
func Uses(min, max int) Check {
	return func(n *graph.Node) string {
		if k := n.NumUses(); k < min || max >= 0 && k > max {
			return "has " + strconv.Itoa(k) + " uses, expected " + bounds(min, max)
		}
		return ""
	}
}

func bounds(min, max int) string {
	switch {
	case max < 0:
		return strconv.Itoa(min) + " or more"
	case min == max:
		return strconv.Itoa(min)
	}
	return strconv.Itoa(min) + " to " + strconv.Itoa(max)
}

// Within accepts nodes of a module, whose path is given, and of the modules below it:
// "encoder.2" has "encoder.2.attn", not "encoder.21". A * stands for one part of a path.
func Within(path string) Check {
	want := strings.Split(path, ".")
	return func(n *graph.Node) string {
		have := strings.Split(n.Scope().Path, ".")
		ok := len(have) >= len(want)
		for i := range want {
			ok = ok && (want[i] == "*" || want[i] == have[i])
		}
		switch {
		case ok || path == "":
			return ""
		case n.Scope().Path == "":
			return "is in no module, expected one in " + path
		}
		return "is in module " + n.Scope().Path + ", expected one in " + path
	}
}

// commutes enters that the operands of a call may be exchanged, which is tried.
func commutes(x *part, n *graph.Node) error {
	if x.kind != call || len(x.args) != 2 || x.args[0] == nil || x.args[1] == nil || x.loose || len(x.free) > 0 || x.open && numbersOf(x.node) > 0 {
		return n.Error(BadRule, "Commute takes a call with two operands and no open attributes, got "+x.node.String())
	}
	if !sameExchanged(x) {
		return n.Error(BadRule, "the operands of "+x.op.Name+" cannot be exchanged: that gives other values").WithHint("give both spellings to AnyOf if both are meant")
	}
	x.swaps = true
	if x.args[0].kind == filled { // a number may stand for the second operand only
		x.args[0], x.args[1], x.open = x.args[1], x.args[0], true
	}
	return nil
}

// sameExchanged computes a call with its operands in both orders, on small square
// matrices of the first element types that it takes.
func sameExchanged(x *part) bool {
	try := func(a, b *array.Array) (out *array.Array) {
		defer func() { _ = recover() }() // the operator does not take them
		return tensor.CallOp(x.op, x.attrs, tensor.New(a), tensor.New(b)).Array()
	}
	for _, d := range []array.DType{array.F64, array.I64, array.Bool} {
		a := array.Cast(array.FromSlice([]float64{3, -2, 0, 5}, 2, 2), d)
		b := array.Cast(array.FromSlice([]float64{-4, 7, 1, 0}, 2, 2), d)
		if ab := try(a, b); ab != nil {
			ba := try(b, a)
			return ba != nil && shape.TypeOf(ab).Same(shape.TypeOf(ba)) && array.Equal(ab, ba)
		}
	}
	return false
}

package simplify

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Identity removes calls that give what they are given: elementwise ones whose
// expression is their operand by laws that change no bit (expr.Builder.Simplify), such
// as dropout in inference, casts to the same type, x*1 and floor of integers; views
// that show all in its order, such as a reshape to the same shape; copies. It asks
// expressions and layouts, not names, so that operators of users are removed, too.
//
// Results are the same to the bit, with one exception: after a copy that is gone, a
// product may read an operand that does not lie in order, and sum in another order.
// What is x for most numbers only (x+0 is 0 for -0) stays, with the number as reason.
var Identity = passes.Pass{
	Name: "identity",
	Doc:  "Removes dropout in inference, copies and all else that gives its operand.",
	Order: []passes.Before{
		{First: "identity", Then: "decompose", Why: "composite operators that do nothing are recognised as a whole"},
	},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		sharing := NewSharing(g)
		return c.Each(g, func(n *graph.Node) error {
			x, what := given(n)
			if x == nil {
				if what != "" {
					c.Refuse(n, what)
				}
				return nil
			}
			if why := sharing.Refuse(n, x); why != "" {
				c.Refuse(n, why)
				return nil
			}
			return c.Replace(n, x, what)
		})
	},
}

// given returns the operand that a call gives and how that is known. Without one, what
// says why a call that looks like it does not.
func given(n *graph.Node) (x *graph.Node, what string) {
	if !plainCall(n) || n.NumArgs() == 0 {
		return nil, ""
	}
	o := n.Op()
	switch {
	case o.Scalar():
		return same(n)
	case viewed(n) != nil && Restores(viewed(n), n):
		return viewed(n), "a view of all in its order"
	case o.Class == op.Movement && n.NumArgs() == 1 && sameType(n, n.Arg(0)):
		if step, err := o.Step(n.Attrs(), n.OperandTypes()); err == nil {
			if _, copies := step.(*kernel.Copy); copies {
				return n.Arg(0), "a copy"
			}
		}
		if stays(n) {
			return n.Arg(0), "moves no element"
		}
	}
	return nil, ""
}

// plainCall reports whether n is a pure call of one tensor without parameters of its own.
func plainCall(n *graph.Node) bool {
	o := n.Op()
	return n.Opcode().IsCall() && o != nil && !o.AdHoc && !o.Structural() && n.Effect() == op.Pure && n.Type().Kind() == shape.Tensor &&
		(n.Bound() == nil || len(n.Bound().Params) == 0)
}

// sameType reports whether two values have one type that is known.
func sameType(n, x *graph.Node) bool {
	t := n.Type()
	if x == nil || t.Kind() != shape.Tensor || t.DType() == array.Invalid || !t.Ranked() || !t.Same(x.Type()) {
		return false
	}
	for i := range t.Rank() {
		if t.Dim(i).IsUnknown() {
			return false
		}
	}
	return true
}

// same returns the operand that an elementwise call gives.
func same(n *graph.Node) (x *graph.Node, what string) {
	e := expr.NewBuilder()
	j := joiner{b: e, of: map[*graph.Node]expr.Value{}}
	v, ok := j.call(n, nil, nil)
	if !ok {
		return nil, ""
	}
	if x := j.input(v); x != nil && sameType(n, x) {
		return x, "its expression is " + x.String()
	}
	if !arithmetic(e.Graph(v)) {
		return nil, ""
	}
	return nil, almost(n)
}

// arithmetic reports whether an expression does no more than the four operations with
// a constant: only such a call may look like its operand and not be it.
func arithmetic(g expr.Graph) bool {
	constant := false
	for _, n := range g.Nodes {
		switch n.Code {
		case kernel.OpConst:
			constant = true
		case kernel.OpInput, kernel.OpCast, kernel.OpAdd, kernel.OpSub, kernel.OpMul, kernel.OpDiv:
		default:
			return false
		}
	}
	return constant
}

// ordinary and special are numbers at which a call is looked at that may be its operand.
var (
	ordinary = []float64{1.5, -2, 3, -0.375}
	special  = []struct {
		name string
		x    float64
	}{{"-0", math.Copysign(0, -1)}, {"0", 0}, {"infinity", math.Inf(1)}, {"-infinity", math.Inf(-1)}, {"NaN", math.NaN()}, {"1e30", 1e30}}
)

// almost says for which number a call of one float is not its operand, where it is for
// ordinary ones.
func almost(n *graph.Node) string {
	if n.NumArgs() != 1 || !sameType(n, n.Arg(0)) || !n.Type().DType().IsFloat() {
		return ""
	}
	at := func(x float64) (in, out float64, ok bool) {
		a := array.Cast(array.FromSlice([]float64{x}, 1), n.Type().DType())
		var w kernel.Workspace
		res, err := n.Op().Eval(&w, n.Attrs(), []*array.Array{a})
		if err != nil || len(res) != 1 || res[0].Len() != 1 {
			return 0, 0, false
		}
		return array.Float64At(a, 0), array.Float64At(res[0], 0), true
	}
	for _, x := range ordinary {
		if in, out, ok := at(x); !ok || in != out {
			return ""
		}
	}
	for _, s := range special {
		in, out, ok := at(s.x)
		if ok && in == in && (in != out || math.Signbit(in) != math.Signbit(out)) {
			return "it is its operand for most numbers, but not for " + s.name
		}
	}
	return ""
}

// maxTried bounds the elements on which a movement is tried.
const maxTried = 1 << 14

// stays reports whether a call that moves elements of known sizes leaves them where
// they are, such as a roll by 0 and a padding of nothing: it is tried on numbers that
// all differ.
func stays(n *graph.Node) bool {
	d, dims, ok := n.Type().Concrete()
	count, fits := array.NumElems(dims)
	if !ok || !fits || count > maxTried || count < 2 || d != array.F32 && d != array.F64 && d != array.I32 && d != array.I64 {
		return false
	}
	v, r := make([]float64, count), passes.Random{State: 1}
	for i := range v {
		v[i] = float64(r.Next()>>42) + 1.5 // no padding is one of them
		if d.IsInt() {
			v[i] -= 0.5
		}
	}
	a := array.Cast(array.FromSlice(v, dims...), d)
	var w kernel.Workspace
	out, err := n.Op().Eval(&w, n.Attrs(), []*array.Array{a})
	return err == nil && len(out) == 1 && array.Equal(out[0], a)
}

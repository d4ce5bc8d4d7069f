package simplify

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/passes"
)

// Algebra looks at elementwise calls of elementwise calls. Where, by laws that change
// no bit (expr.Builder.Simplify lists them), the two compute what one of their operands
// is, what the first does alone, or what the second does without the first, one of them
// is passed over: neg of neg, relu of relu, clamp of relu6, abs of neg, casts there and back.
//
// Results are the same to the bit. Laws of numbers that floats break are none:
// (x+a)+b and (x*a)*b round twice, x-x is NaN for infinities.
var Algebra = passes.Pass{
	Name: "algebra",
	Doc:  "Passes over elementwise calls that others undo or do again.",
	Order: []passes.Before{
		{First: "algebra", Then: "decompose", Why: "expressions of composite operators are seen as a whole"},
	},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		s := NewSharing(g)
		return c.Each(g, func(n *graph.Node) error {
			for i := 0; !n.Erased() && plainCall(n) && n.Op().Scalar() && i < n.NumArgs(); {
				done, err := s.shorten(c, n, i)
				if err != nil {
					return err
				}
				if i++; done {
					i = 0 // its new operands may be shortened too, from the first on
				}
			}
			return nil
		})
	},
}

// shorten passes over operand i of n, a call, or over n, where that changes nothing.
func (s Sharing) shorten(c *passes.Ctx, n *graph.Node, i int) (done bool, err error) {
	inner := n.Arg(i)
	if inner == nil || !plainCall(inner) || !inner.Op().Scalar() || inner.Graph() != n.Graph() || inner.Type().DType().Size() == 0 {
		return false, nil
	}
	j := joiner{b: expr.NewBuilder(), of: map[*graph.Node]expr.Value{}}
	first, ok := j.call(inner, nil, nil)
	if !ok {
		return false, nil
	}
	both, ok := j.call(n, inner, &first)
	if !ok {
		return false, nil
	}
	replace := func(by *graph.Node, why string) (bool, error) {
		if why := s.Refuse(n, by); why != "" {
			c.Refuse(n, why)
			return false, nil
		}
		if err := c.Replace(n, by, why); err != nil {
			return false, err
		}
		dropDead(inner)
		return true, nil
	}
	if x := j.input(both); x != nil && sameType(n, x) {
		return replace(x, "with "+inner.String()+" it is "+x.String())
	}
	if both == first && sameType(n, inner) {
		return replace(inner, inner.String()+" has done it")
	}
	return s.pass(c, n, inner, &j, both)
}

// pass lets n read an operand of inner instead of it, where that gives the same.
func (s Sharing) pass(c *passes.Ctx, n, inner *graph.Node, j *joiner, both expr.Value) (done bool, err error) {
	for x := range inner.Inputs() {
		v, entered := j.of[x]
		if !entered || !x.Type().Ranked() || !inner.Type().Ranked() || !x.Type().Dims().Equal(inner.Type().Dims()) {
			continue
		}
		if alone, ok := j.call(n, inner, &v); !ok || alone != both {
			continue
		}
		if why := s.Written(inner, x); why != "" {
			c.Refuse(n, why)
			return false, nil
		}
		was, args := n.Type(), n.Args()
		n.ReplaceInput(inner, x)
		if err := n.Infer(); err != nil || passes.DescribeConflict(n.Type(), was) != "" {
			n.SetArgs(args...) // the call takes no such operand
			n.SetType(was)
			continue
		}
		passes.KeepType(n, was)
		dropDead(inner)
		c.Rewrote(n, nil, "does what "+passes.Where(inner)+" did before")
		return true, nil
	}
	return false, nil
}

// dropDead removes a pure call that nothing uses any more and that defines no symbol.
func dropDead(n *graph.Node) {
	if n.NumUses() == 0 && n.Removable() {
		_ = n.Graph().Erase(n)
	}
}

// joiner joins the expressions of calls over one list of operands.
type joiner struct {
	b  *expr.Builder
	of map[*graph.Node]expr.Value
}

// call returns what n computes by the laws, with the given value in the place of inner.
func (j *joiner) call(n, inner *graph.Node, value *expr.Value) (v expr.Value, ok bool) {
	types := n.OperandTypes()
	in := make([]expr.Value, len(types))
	for i, a := range n.Args() {
		switch {
		case a == nil:
		case a == inner:
			in[i], types[i] = *value, types[i].WithDType(value.DType())
		case a.Type().DType().Size() == 0:
			return v, false
		default:
			in[i] = j.operand(a)
		}
	}
	body, err := n.Op().Expression(n.Attrs(), types)
	other := func(e expr.Node) bool { // read as another type than that of the operand
		return e.Code == kernel.OpInput && in[e.Imm].DType() != e.DType
	}
	if err != nil || len(body.Outs) != 1 || slices.ContainsFunc(body.Nodes, placed) || slices.ContainsFunc(body.Nodes, other) {
		return v, false
	}
	return j.b.Simplify(body, in)[0], true
}

// operand returns the input that stands for a value.
func (j *joiner) operand(a *graph.Node) expr.Value {
	v, ok := j.of[a]
	if !ok {
		v = j.b.Input(len(j.of), a.Type().DType())
		j.of[a] = v
	}
	return v
}

// input returns the value that an input stands for, nil for what is none.
func (j *joiner) input(v expr.Value) *graph.Node {
	for n, x := range j.of {
		if x == v {
			return n
		}
	}
	return nil
}

// placed reports whether an operation depends on where an element is: such expressions
// may not be moved to another shape.
func placed(n expr.Node) bool { return n.Code == kernel.OpIndex || n.Code == kernel.OpCoord }

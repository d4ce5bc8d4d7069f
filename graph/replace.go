package graph

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ReplaceWith puts a call of another operator, on the same operands, in the place of a
// call and returns it; n is erased. attrs, at most one, are the new call's attributes;
// without them it has the zero ones:
//
//	gelu, err := relu.ReplaceWith(std.Gelu, std.GeluAttrs{Approximate: "tanh"})
//
// The new call inherits position, scope and the side data of inherited keys; the symbols
// that n defines and the guards that n gave rise to move to it. A method call stays one. A
// called module becomes a function of its operands and of reads of its tensors.
//
// It is an error, and nothing changes, when the operator does not take the operands, gives a
// value of another type than the users of n were made for, acts on the world where n does
// not, or when n is not an ordinary call. Whether both compute the same is for the caller to know.
func (n *Node) ReplaceWith(o *op.Op, attrs ...any) (*Node, error) {
	if why := n.irreplaceable(o); why != "" {
		return nil, n.Error(BadReplace, why)
	}
	if len(attrs) > 1 {
		return nil, n.Error(op.BadAttr, "several attribute structs are given, expected at most one")
	}
	var given any
	if len(attrs) == 1 {
		given = attrs[0]
	}
	given, err := o.Codec().Given(given)
	if err == nil {
		err = n.accepts(o, given)
	}
	if err != nil {
		return nil, n.refusal(o, err)
	}
	return n.become(o, given)
}

// irreplaceable says why n cannot become a call of o whatever its operands are.
func (n *Node) irreplaceable(o *op.Op) string {
	was := n.Op()
	switch {
	case n.erased:
		return n.String() + " has been erased"
	case o == nil:
		return "the new operator is nil"
	case was == nil:
		return n.String() + " calls no known operator"
	case was.Structural() || o.Structural():
		return was.Name + " and " + o.Name + " are not both ordinary operators: make the new call with a Cursor"
	case was.Effect != o.Effect || !slices.Equal(was.Mutates, o.Mutates):
		return o.Name + " has other effects than " + was.Name
	case was.ViewOf != o.ViewOf:
		return "only one of " + was.Name + " and " + o.Name + " gives a view of its operand, or of the same one"
	}
	return ""
}

// accepts applies the type rule of o to n's operands. It changes nothing: a relation of
// sizes that the rule needs becomes a guard when the call is made.
func (n *Node) accepts(o *op.Op, attrs any) error {
	types := n.OperandTypes()
	for i := range n.args {
		if n.args[i].def != nil && types[i].Kind() == shape.None {
			return nil // its own mistake was reported
		}
	}
	for k := len(types); k > 0 && types[k-1].Kind() == shape.None && !o.Variadic(); k-- {
		types = types[:k-1]
	}
	if err := o.CheckRequired(len(types), func(i int) bool { return types[i].Kind() != shape.None }); err != nil {
		return err
	}
	t, err := o.Type(&op.Infer{Compare: n.g.CompareDims}, attrs, types)
	if err != nil {
		return err
	}
	same := func(a, b shape.Dim) bool {
		equal, known := n.g.CompareDims(a, b)
		return a.IsUnknown() && b.IsUnknown() || a.Same(b) || equal && known
	}
	// The new type may say more than the old one, or nothing where the operator has no rule.
	if was := n.typ; t.Kind() != shape.None && was.Kind() != shape.None && !shape.Join(was, t, same).Same(was) {
		return diag.New(BadReplace, o.Name+" gives "+t.String()+", expected "+was.String()+" as its users do").
			WithHint("make the call with a Cursor, use ReplaceUses, and Infer the users' types")
	}
	return nil
}

// refusal gives a mistake n's position and the name of the new operator.
func (n *Node) refusal(o *op.Op, err error) error {
	var l diag.List
	l.Add(err)
	e := *l[0]
	e.Node, e.Op = n.Name(), o.Name
	return e.At(n.Pos())
}

// become makes the call of o, which takes n's operands.
func (n *Node) become(o *op.Op, attrs any) (*Node, error) {
	var mistake error
	c := n.g.Before(n)
	c.OnError = func(err error) { mistake = err }
	args := n.Args()
	var reads []*Node
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			var read *Node
			if path != "" {
				read = c.GetAttr(path)
				reads = append(reads, read)
			}
			args = append(args, read)
		}
		c.SetScope(n.g.Scope(n.leafScope()))
	}
	for len(args) > 0 && args[len(args)-1] == nil && !o.Variadic() {
		args = args[:len(args)-1]
	}
	call := c.Function
	if n.opcode == CallMethod {
		call = c.Method
	}
	by := call(o, attrs, args...)
	if by.typ.Kind() == shape.None {
		by.SetType(n.typ)
	}
	if mistake != nil { // sizes that contradict what the graph relies on
		for _, d := range append([]*Node{by}, reads...) {
			_ = n.g.Erase(d)
		}
		return nil, n.refusal(o, mistake)
	}
	n.ReplaceUses(by, nil)
	return by, n.g.Erase(n)
}

// leafScope is the scope of what a called module computes.
func (n *Node) leafScope() Scope {
	leaf := Scope{Path: n.target, Type: n.Bound().Type}
	if was := n.Scope(); leaf.Type == "" && was.Path == leaf.Path {
		leaf.Type = was.Type // text may say it of the call alone
	}
	return leaf
}

package passes

import (
	"errors"
	"reflect"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Retarget makes a pass by which calls of one operator become calls of another, on the
// same operands and in the same spelling: of an approximation, or of one that a target
// has. attrs gives the attributes of the new call; nil takes over those of the same name
// and type, and refuses calls that have others set. Calls stay, with the reason, where
// the other operator takes no such operands, gives another type or has other effects.
// Whether it computes the same is for the caller to know, and to let Options.Numeric check.
func Retarget(name, doc string, from, to *op.Op, attrs func(n *graph.Node) any) Pass {
	return EachNode(name, doc, func(c *Ctx, n *graph.Node) error {
		if n.Op() != from {
			return nil
		}
		a, why := any(nil), ""
		if attrs != nil {
			a = attrs(n)
		} else {
			a, why = takenOver(n, to)
		}
		if why == "" {
			why = fits(n, to, a)
		}
		if why != "" {
			c.Refuse(n, why)
			return nil
		}
		cursor := n.Graph().Before(n)
		made := cursor.Function
		if n.Opcode() == graph.CallMethod {
			made = cursor.Method
		}
		return c.Replace(n, made(to, a, n.Args()...), from.Name+" becomes "+to.Name)
	})
}

// fits says why a call of another operator cannot take the place of n.
func fits(n *graph.Node, to *op.Op, attrs any) string {
	o := n.Op()
	switch {
	case n.Opcode() == graph.CallModule:
		return "it is a call of a module; run functionalize first"
	case len(n.Bodies()) > 0 || to.Structural():
		return "it is control flow"
	case to.Effect != o.Effect || !reflect.DeepEqual(to.Mutates, o.Mutates) || to.ViewOf != o.ViewOf:
		return to.Name + " has other effects, or shares other memory"
	}
	t, err := to.Type(&op.Infer{Assume: func(r shape.Relation) error { return n.Error(BadRule, r.String()+" may be false") }}, attrs, n.OperandTypes())
	if err != nil {
		var e *diag.Error
		if errors.As(err, &e) {
			return to.Name + " takes no such operands: " + e.Msg
		}
		return to.Name + " takes no such operands: " + err.Error()
	}
	if !t.Same(n.Type()) {
		return to.Name + " gives " + t.String() + ", it is " + n.Type().String()
	}
	return ""
}

// takenOver returns attributes of another operator with the values that n has.
func takenOver(n *graph.Node, to *op.Op) (attrs any, why string) {
	out := reflect.New(to.Codec().GoType()).Elem()
	for _, f := range n.Op().Codec().Fields(n.Attrs()) {
		v := out.FieldByName(f.GoName)
		if v.IsValid() && v.Type() == reflect.TypeOf(f.Value) {
			v.Set(reflect.ValueOf(f.Value))
		} else if !f.Zero {
			return nil, to.Name + " has no attribute " + f.Name + ", which is set"
		}
	}
	return out.Interface(), ""
}

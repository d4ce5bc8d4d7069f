package op

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// Lifted is a call of an elementwise operator with what follows from its attributes marked
// `param` as operands, so that what is compiled of it serves every value of them.
type Lifted struct {
	Op     *Op            // takes the operands of the call, and after them Values; it is in no table
	Attrs  any            // those of the call, without the values of `param` fields
	Values []*array.Array // of one element each, without dimensions
}

// Lift returns the lifted form of a call on operands of these types; ok is false where no
// attribute is marked, or where more follows from one than constants of the expression.
func (o *Op) Lift(attrs any, in []shape.Type) (l Lifted, ok bool) {
	if o.expr == nil || o.Variadic() || !slices.ContainsFunc(o.codec.fields, field.lifts) || !o.codec.Accepts(attrs) {
		return l, false
	}
	is, err := o.Expression(attrs, in)
	if err != nil {
		return l, false
	}
	// What differs between two values of the fields, and nothing else, follows from them.
	one, err := o.Expression(o.codec.probe(attrs, 29, 0.3183098861837907), in)
	if err != nil {
		return l, false
	}
	two, err := o.Expression(o.codec.probe(attrs, 53, 0.5772156649015329), in)
	if err != nil || !sameButConstants(one, two) || !sameButConstants(one, is) {
		return l, false
	}
	var at []int // the constants that become operands
	for i := range one.Nodes {
		if one.Nodes[i].Code != kernel.OpConst {
			continue
		}
		if one.Nodes[i].Imm != two.Nodes[i].Imm {
			at = append(at, i)
			l.Values = append(l.Values, expr.Stored(is.Nodes[i].DType, is.Nodes[i].Imm))
		} else if one.Nodes[i].Imm != is.Nodes[i].Imm {
			return Lifted{}, false
		}
	}
	l.Op, l.Attrs = o.lifted(one, at), o.codec.probe(attrs, 0, 0)
	return l, len(at) > 0
}

// lifts reports whether constants may follow from a field marked `param`.
func (f field) lifts() bool {
	return f.param && (f.kind == kindFloat || f.kind == kindInt || f.kind == kindScalar)
}

// probe returns attributes with other values of the fields that are lifted.
func (c *Codec) probe(attrs any, n int64, x float64) any {
	v := reflect.New(c.typ).Elem()
	v.Set(reflect.ValueOf(attrs))
	for _, f := range c.fields {
		if !f.lifts() {
			continue
		}
		switch k := v.Field(f.index); f.kind {
		case kindFloat:
			k.SetFloat(x)
		case kindInt:
			k.SetInt(n)
		case kindScalar:
			switch k.Interface().(Scalar).kind {
			case scalarFloat:
				k.Set(reflect.ValueOf(Float(x)))
			case scalarInt:
				k.Set(reflect.ValueOf(Int(n)))
			}
		}
		n, x = n+2, x+1.0/64
	}
	return v.Interface()
}

// sameButConstants reports whether two expressions differ in the bits of constants alone.
func sameButConstants(a, b expr.Graph) bool {
	return slices.Equal(a.Outs, b.Outs) && slices.EqualFunc(a.Nodes, b.Nodes, func(m, n expr.Node) bool {
		return m.Code == n.Code && m.DType == n.DType && slices.Equal(m.Args, n.Args) && (m.Code == kernel.OpConst || m.Imm == n.Imm)
	})
}

// lifted is the operator whose expression has operands in place of some constants.
func (o *Op) lifted(body expr.Graph, at []int) *Op {
	l := &Op{Name: o.Name, Path: o.Path, Doc: o.Doc, Ref: o.Ref, In: slices.Clone(o.In), Class: o.Class, Effect: o.Effect,
		Quant: o.Quant, Range: o.Range, Func: o.Func, Results: o.Results, Tol: o.Tol, codec: o.codec, count: o.count, training: o.training}
	operands := len(o.In)
	g := expr.Graph{Nodes: slices.Clone(body.Nodes), Outs: body.Outs}
	for k, i := range at {
		l.In = append(l.In, Operand{Name: "param" + strconv.Itoa(k)})
		g.Nodes[i].Code, g.Nodes[i].Imm = kernel.OpInput, uint64(operands+k)
	}
	// The expression converts its operands itself.
	l.promote = func(any, []shape.Type) array.DType { return array.Invalid }
	l.expr = func(b *expr.Builder, a any, in []shape.Type) []expr.Value { return b.Inline(g, l.converted(b, a, in)) }
	if o.infer != nil {
		l.infer = func(c *Infer, a any, in []shape.Type) (shape.Type, error) {
			return o.infer(c, a, in[:min(operands, len(in))])
		}
	}
	return l
}

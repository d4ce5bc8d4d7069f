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

// Lifted is a call with what follows from some of its attributes as operands, so that what
// is compiled of it serves every value of them.
type Lifted struct {
	Op     *Op            // of an elementwise call: takes the operands of the call, and after them Values; it is in no table
	Attrs  any            // those of the call, without the values
	Values []*array.Array // of one element each, without dimensions

	form      *liftForm // of an elementwise call
	positions []int
	write     func(b Builder, a any, in, at []Value) Value // nil for elementwise calls
	join      func(a any, at []int) any
}

// Call writes the lifted call: in are the operands, at stand for Values.
func (l Lifted) Call(b Builder, in, at []Value) Value {
	if l.write != nil {
		return l.write(b, l.Attrs, in, at)
	}
	all := make([]Value, len(l.Op.In), len(l.Op.In)+len(at)) // absent operands are there, as nil
	copy(all, in)
	return b.Call(l.Op, l.Attrs, append(all[:len(l.Op.In)-len(at)], at...)...)
}

// Join returns the attributes of the call with its positions, where rest are Attrs, in
// which sizes may have become symbols. ok is false for elementwise calls.
func (l Lifted) Join(rest any) (attrs any, ok bool) {
	if l.join == nil {
		return nil, false
	}
	return l.join(rest, l.positions), true
}

// Positions say how a call has positions as operands. A position counts from the start.
type Positions[A any] struct {
	// Split takes the positions out of the attributes of a call whose sizes are known, and
	// which the type rule accepts; rest has in common what calls at other positions have. ok is
	// false where the call has no position.
	Split func(a A, in []shape.Type) (rest A, at []int, ok bool)
	// Join is the inverse of Split. Sizes in rest may be symbols.
	Join func(rest A, at []int) A
	// Call writes the call; the positions are i64 without dimensions.
	Call func(b Builder, rest A, in, at []Value) Value
}

// Lifter is a pointer to the Positions of an operator's attributes. Few operators have positions:
// functions of an interface are compiled only for these, and not for all types of attributes.
type Lifter interface {
	attrs() reflect.Type
	erase() *Positions[any]
}

func (p *Positions[A]) attrs() reflect.Type { return reflect.TypeFor[A]() }

func (p *Positions[A]) erase() *Positions[any] {
	if p == nil { // no operator has it, but a variable of an author's may hold nil
		return nil
	}
	return &Positions[any]{
		Split: func(a any, in []shape.Type) (any, []int, bool) { return p.Split(a.(A), in) },
		Join:  func(rest any, at []int) any { return p.Join(rest.(A), at) },
		Call:  func(b Builder, rest any, in, at []Value) Value { return p.Call(b, rest.(A), in, at) },
	}
}

// Lifts reports whether calls of the operator may have a lifted form.
func (o *Op) Lifts() bool { return o.positions != nil || liftsNumbers(o) }

func liftsNumbers(o *Op) bool {
	return o.expr != nil && !o.Variadic() && slices.ContainsFunc(o.codec.fields, field.lifts)
}

// Lift returns the lifted form of a call on operands of these types: positions of
// Spec.Lift are operands, or numbers that are marked `param` or `lift`, of elementwise
// operators; ok is false where there are none, or where more follows from one than
// constants of the expression.
func (o *Op) Lift(attrs any, in []shape.Type) (l Lifted, ok bool) {
	attrs = orZero(o, attrs)
	switch {
	case !o.codec.Accepts(attrs):
		return l, false
	case o.positions != nil:
		return liftPositions(o, attrs, in)
	case !liftsNumbers(o):
		return l, false
	}
	var buf [96]byte
	key := o.dtypeKey(buf[:0], attrs, in)
	l, known := o.lifts.get(key)
	if !known {
		l = liftNumbers(o, attrs, in)
		o.lifts.put(string(key), l)
	}
	return l, l.Op != nil
}

func liftPositions(o *Op, attrs any, in []shape.Type) (l Lifted, ok bool) {
	rest, at, ok := o.positions.Split(attrs, in)
	if !ok {
		return l, false
	}
	l = Lifted{Attrs: rest, positions: at, write: o.positions.Call, join: o.positions.Join, Values: make([]*array.Array, len(at))}
	for i, n := range at {
		l.Values[i] = array.Scalar(int64(n))
	}
	return l, true
}

// liftForm is what lifted calls have in common that differ in values alone.
type liftForm struct {
	op    *Op
	body  expr.Graph
	at    []int // the constants of body that become operands
	attrs any
}

// liftNumbers lifts a call of an elementwise operator; the result has no Op where there is no way.
func liftNumbers(o *Op, attrs any, in []shape.Type) (l Lifted) {
	rest := o.codec.probe(attrs, 0, 0)
	key := string(o.dtypeKey(nil, rest, in))
	form, known := o.forms.get([]byte(key))
	if !known {
		form = formOf(o, attrs, in)
		form.attrs = rest
		o.forms.put(key, form)
	}
	if form.op == nil {
		return l
	}
	values, ok := form.values(o, attrs, in)
	if !ok {
		return l
	}
	return Lifted{Op: form.op, Attrs: form.attrs, Values: values, form: &form}
}

// values returns what stands for the constants where a call has these attributes; ok is false where the call has another
// form.
func (f *liftForm) values(o *Op, attrs any, in []shape.Type) (list []*array.Array, ok bool) {
	is, err := o.Expression(attrs, in)
	if err != nil || !sameButConstants(f.body, is) {
		return nil, false
	}
	for i := range f.body.Nodes {
		if slices.Contains(f.at, i) {
			list = append(list, expr.Stored(is.Nodes[i].DType, is.Nodes[i].Imm))
		} else if f.body.Nodes[i].Imm != is.Nodes[i].Imm {
			return nil, false
		}
	}
	return list, true
}

// formOf finds what differs between two values of the fields: nothing else may follow
// from them. The result has no operator where something does, or nothing differs.
func formOf(o *Op, attrs any, in []shape.Type) (f liftForm) {
	one, err := o.Expression(o.codec.probe(attrs, 29, 0.3183098861837907), in)
	if err != nil {
		return f
	}
	two, err := o.Expression(o.codec.probe(attrs, 53, 0.5772156649015329), in)
	if err != nil || !sameButConstants(one, two) {
		return f
	}
	for i := range one.Nodes {
		if one.Nodes[i].Code == kernel.OpConst && one.Nodes[i].Imm != two.Nodes[i].Imm {
			f.at = append(f.at, i)
		}
	}
	if len(f.at) > 0 {
		f.body, f.op = one, lifted(o, one, f.at)
	}
	return f
}

// lifts reports whether constants may follow from a field that is marked.
func (f field) lifts() bool {
	return (f.param || f.lift) && (f.kind == kindFloat || f.kind == kindInt || f.kind == kindScalar)
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
		n, x = n+n/16+2, x+x/16+1.0/64 // so that differences of two fields are others, too
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
func lifted(o *Op, body expr.Graph, at []int) *Op {
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

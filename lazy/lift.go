package lazy

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// Policy says when what programs differ in is left open in the graphs that are compiled.
type Policy int

// The policies.
const (
	Auto   Policy = iota // once it has differed
	Fixed                // never: each has graphs of its own
	Always               // from the first run on
)

// String returns the name of the policy in lower case.
func (p Policy) String() string {
	if p < 0 || p > Always {
		return "Policy(" + strconv.Itoa(int(p)) + ")"
	}
	return [...]string{"auto", "fixed", "always"}[p]
}

// maxSpecial is how many calls of a graph, the first ones with numbers in its order, have 0
// and 1 as constants, for which plans may compute less. It is bounded, because each number
// that is now and then 0 or 1 multiplies the graphs by 3.
const maxSpecial = 4

// lift is a call whose numbers or positions are not part of the key.
type lift struct {
	op.Lifted
	call int
	in   *place // the lifted call, where it is one in a function of that one
}

// lifter finds the lifted calls of a cone.
type lifter struct {
	s       *Session
	numbers int // calls with numbers so far
}

// lifts reports whether the lifted form of a call stands for it; its numbers belong to the key
// otherwise.
func (f *lifter) lifts(p *place) bool {
	if p.form.lifts == unasked {
		p.form.ask(f.s, p.args())
	}
	switch p.form.lifts {
	case never:
		return false
	case position:
		return true
	}
	f.numbers++
	return f.numbers > maxSpecial || p.form.lifts == ordinary
}

// ask finds whether calls of a form, such as one on these operands, have a lifted form.
func (f *form) ask(s *Session, args []*place) {
	f.lifts = never
	if !s.opts.liftsScalars() || !f.op.Lifts() {
		return
	}
	s.search.types = typesOf(s.search.types[:0], args)
	l, ok := f.op.Lift(f.attrs, s.search.types)
	if !ok {
		return
	}
	f.lifted, f.lifts = l, ordinary
	if _, at := l.Join(l.Attrs); at {
		f.lifts = position
	} else if slices.ContainsFunc(l.Values, isZeroOrOne) {
		f.lifts = zeroOrOne
	}
}

func (o Options) liftsScalars() bool {
	return o.Scalars == Always || o.Scalars == Auto && !o.Rounding
}

func typesOf(list []shape.Type, args []*place) []shape.Type {
	for _, a := range args {
		if a == nil {
			list = append(list, shape.Type{})
			continue
		}
		list = append(list, a.typ)
	}
	return list
}

func isZeroOrOne(a *array.Array) bool {
	x := array.Float64At(a, 0)
	return x == 0 || x == 1
}

// compare notes which lifted calls have other values than in the last run: they become
// inputs of the plan. As long as a value is the same it is a constant of the plan, which
// is faster: a view at a known position copies nothing.
func (p *program) compare(k *cone, always bool) {
	first := p.vary == nil
	if first {
		p.vary = make([]bool, len(k.lifts))
	}
	changed := false
	for i, l := range k.lifts {
		if p.vary[i] || first && !always {
			continue
		}
		if always || !slices.EqualFunc(l.Values, p.last[i].Values, sameNumber) {
			p.vary[i], changed = true, true
		}
	}
	p.last = k.lifts
	if !changed || first {
		return
	}
	if p.built > maxMoved { // more will follow
		for i := range p.vary {
			p.vary[i] = true
		}
	}
	p.again()
}

// maxMoved is how often a program is compiled again for the numbers that have changed: then
// all become inputs.
const maxMoved = 2

func sameNumber(a, b *array.Array) bool { return a == b || array.Equal(a, b) }

// operand is a lifted call of a graph, with the inputs of its values where they vary.
type operand struct {
	op.Lifted
	values []*graph.Node
}

// operands returns the lifted calls of a cone by the number of the call, those in functions in within, and makes inputs
// of the values that vary.
func (p *program) operands(exe *compiled, at *graph.Cursor, k *cone, within map[*place]*operand) map[int]*operand {
	all := map[int]*operand{}
	for i, l := range k.lifts {
		o := &operand{Lifted: l.Lifted}
		if l.in != nil {
			within[l.in] = o
		} else {
			all[l.call] = o
		}
		if !p.vary[i] {
			continue
		}
		for j, a := range l.Values {
			o.values = append(o.values, at.Placeholder("n"+strconv.Itoa(i)+"_"+strconv.Itoa(j), shape.TypeOf(a), nil))
		}
		exe.lifted = append(exe.lifted, i)
	}
	return all
}

// gives reports whether an elementwise call with these attributes gives its first operand bit
// by bit, as x*1 does and x+0 does not (-0): it is no node of a graph that does not return it. A
// result has memory of its own.
func gives(q *place, attrs any) bool {
	if !q.op.Scalar() || len(q.args()) == 0 || q.args()[0] == nil || !q.typ.Same(q.args()[0].typ) {
		return false
	}
	types := typesOf(nil, q.args())
	body, err := q.op.Expression(attrs, types)
	if err != nil || len(body.Outs) != 1 {
		return false
	}
	b := expr.NewBuilder()
	x := make([]expr.Value, len(types))
	for i, t := range types {
		if t.Kind() == shape.Tensor {
			x[i] = b.Input(i, t.DType())
		}
	}
	return b.Simplify(body, x)[0] == x[0]
}

// write makes the nodes of the call.
func (o *operand) write(at *graph.Cursor, args []*graph.Node) *graph.Node {
	return o.Call(at, valuesOf(args), valuesOf(o.values)).(*graph.Node)
}

func valuesOf(nodes []*graph.Node) []op.Value {
	list := make([]op.Value, len(nodes))
	for i, n := range nodes {
		if n != nil {
			list[i] = n
		}
	}
	return list
}

package lazy

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
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

// maxSpecial is how many calls of a graph have the number 0 or 1 as a constant, which plans
// may compute less for. It is bounded, because each of n numbers that are now and then 0 or 1
// would multiply the graphs by 3. The first calls of the graph count, in its order, so that
// equal programs have equal graphs.
const maxSpecial = 4

// lift is a call whose numbers or positions are not part of the key.
type lift struct {
	op.Lifted
	call int
}

// lifter finds the lifted calls of a cone.
type lifter struct {
	s       *Session
	special int
	types   []shape.Type
}

// lift returns the lifted form of a call; ok is false where its numbers belong to the key.
func (f *lifter) lift(p *place) (l op.Lifted, ok bool) {
	if !f.s.liftsScalars() || !p.op.Lifts() {
		return l, false
	}
	f.types = typesOf(f.types[:0], p.args)
	if l, ok = p.op.Lift(p.attrs, f.types); !ok {
		return l, false
	}
	if _, position := l.Join(l.Attrs); !position && f.special < maxSpecial && slices.ContainsFunc(l.Values, zeroOrOne) {
		f.special++
		return l, false
	}
	return l, true
}

func (s *Session) liftsScalars() bool {
	return s.opts.Scalars == Always || s.opts.Scalars == Auto && !s.opts.Rounding
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

func zeroOrOne(a *array.Array) bool {
	x := array.Float64At(a, 0)
	return x == 0 || x == 1
}

// same returns the operand that an elementwise call with a number gives, bit by bit, such
// as x*1. A value of a model's memory is not shared: it goes when the memory is written.
func same(o *op.Op, attrs any, args []*place, t shape.Type) *place {
	if !o.Scalar() || len(args) == 0 || args[0] == nil || args[0].slot != nil || !t.Same(args[0].typ) || !o.Lifts() {
		return nil
	}
	var buf [4]shape.Type
	if !o.Gives(attrs, typesOf(buf[:0], args)) {
		return nil
	}
	return args[0]
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
	if changed && !first {
		p.again()
	}
}

func sameNumber(a, b *array.Array) bool { return a == b || array.Equal(a, b) }

// operand is a lifted call that a graph gets values for.
type operand struct {
	op.Lifted
	values []*graph.Node
}

// operands makes inputs of the values that vary, by the number of the call.
func (p *program) operands(exe *compiled, at *graph.Cursor, k *cone) map[int]operand {
	all := map[int]operand{}
	for i, l := range k.lifts {
		if !p.vary[i] {
			continue
		}
		o := operand{Lifted: l.Lifted}
		for j, a := range l.Values {
			o.values = append(o.values, at.Placeholder("n"+strconv.Itoa(i)+"_"+strconv.Itoa(j), shape.TypeOf(a), nil))
		}
		exe.lifted = append(exe.lifted, i)
		all[l.call] = o
	}
	return all
}

// write makes the nodes of the call.
func (o operand) write(at *graph.Cursor, args []*graph.Node) *graph.Node {
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

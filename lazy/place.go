package lazy

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// place is a value of a session: a call, a member of a call's results, or data. A place that
// was computed keeps its data alone, so that what it was computed from can go. Each recorded call
// makes one, so what calls have in common is in the form, and what few have is in rare: a
// call with up to two operands takes 64 bytes.
type place struct {
	*form
	few    [2]*place    // the operands, where there are no more
	data   *array.Array // of what was computed, or came from outside
	rare   *rare
	mark   uint64 // of the search that met it last
	number int32  // in that search
	count  int32  // of operands

	used   bool // a call has it as an operand
	gone   bool // the slot was written since
	lent   bool // data is the memory of the slot, and tensors may have the value
	kept   bool // Session.Keep was called for it
	past   bool // it keeps its operands when it is computed
	same   bool // it has the value of its operand, in other memory
	varies bool // it may depend on a tensor of a model
	cut    cut  // why it has no operands
}

// rare is what few places have.
type rare struct {
	args   []*place       // the operands, where there are more than two
	many   []*array.Array // the results of a call with several
	slot   *slot          // of which it is the value
	err    *diag.Error    // why it cannot be computed
	part   *program       // that computed it on the way to others, where number is its number
	serial int            // calls before it
	shared bool           // several places have it, for part alone
	block  *block         // in which it was recorded, nil outside of functions of Cond, While and Scan
	bodies []*block       // of a call of those
}

func leaf(a *array.Array) *place {
	p := &struct {
		place
		of form
	}{of: form{typ: shape.TypeOf(a)}}
	p.form, p.data = &p.of, a
	return &p.place
}

// Type implements op.Value.
func (p *place) Type() shape.Type { return p.typ }

// Erased implements alias.Operand: what was read of a tensor that was written since.
func (p *place) Erased() bool { return p.gone }

func (p *place) String() string {
	if p.op != nil {
		return "a result of " + p.op.Name
	}
	return "a value of the session"
}

// take makes a list the operands of a new place. It keeps the list where that has more than two.
func (p *place) take(args []*place) *place {
	if p.count = int32(len(args)); len(args) > len(p.few) {
		p.own().args = args
	} else {
		copy(p.few[:], args)
	}
	return p
}

// args are the operands.
func (p *place) args() []*place {
	if int(p.count) > len(p.few) {
		return p.rare.args
	}
	return p.few[:p.count]
}

// own returns what few places have, for writing.
func (p *place) own() *rare {
	switch {
	case p.rare == nil:
		p.rare = &rare{}
	case p.rare.shared:
		r := *p.rare
		r.shared = false
		p.rare = &r
	}
	return p.rare
}

func (p *place) many() []*array.Array {
	if p.rare == nil {
		return nil
	}
	return p.rare.many
}

func (p *place) slot() *slot {
	if p.rare == nil {
		return nil
	}
	return p.rare.slot
}

func (p *place) err() *diag.Error {
	if p.rare == nil {
		return nil
	}
	return p.rare.err
}

func (p *place) part() *program {
	if p.rare == nil {
		return nil
	}
	return p.rare.part
}

func (p *place) serial() int {
	if p.rare == nil {
		return 0
	}
	return p.rare.serial
}

// partOf makes a place one that a program has computed on the way to others; of says so for all
// places of a run.
func (p *place) partOf(of *rare) {
	if p.rare == nil || p.rare.shared {
		p.rare = of
	} else {
		p.rare.part = of.part
	}
}

// apart ends partOf.
func (p *place) apart() {
	switch {
	case p.rare == nil:
	case p.rare.shared:
		p.rare = nil
	default:
		p.rare.part = nil
	}
}

// known reports whether the value is there.
func (p *place) known() bool { return p.data != nil || p.many() != nil }

// computed gives a place its value. What it was made of is let go.
func (p *place) computed(out []*array.Array) {
	if p.typ.Kind() == shape.Tuple {
		p.own().many = out
	} else {
		p.data = out[0]
	}
	p.apart()
	if !p.past {
		p.letGo()
	}
}

// letGo forgets the operands.
func (p *place) letGo() {
	clear(p.few[:])
	if int(p.count) > len(p.few) {
		clear(p.rare.args) // they may lie in one piece with the place
		p.rare.args = nil
	}
	p.count = 0
	if p.bodies() != nil {
		p.own().bodies = nil
	}
}

// fetch gives a member of results its value where these have been computed.
func (p *place) fetch() {
	if p.index == 0 || p.data != nil || p.count == 0 {
		return
	}
	if all := p.few[0].many(); all != nil {
		p.few[0].wanted()
		p.computed(all[p.index-1 : p.index])
	}
}

// form is what equal recorded calls have in common: those that one line makes with equal attributes,
// on operands of equal types. So most calls of a program that does a thing again need no type
// rule, and keys of cones are put together from pieces.
type form struct {
	op    *op.Op // nil for a member of results, and for data
	attrs any
	typ   shape.Type
	pc    uintptr // of the user's call
	index int     // of a member of the results that are the operand, from 1; 0 for a call

	in      []shape.Type // of the operands
	open    bool         // the result has sizes that elements of the operands say
	members []*form      // of the results, those that were asked for
	lifted  op.Lifted
	lifts   lifts
	keys    [2]piece // of the call itself, and of its lifted form
}

// lifts says whether calls have a lifted form.
type lifts uint8

const (
	unasked   lifts = iota
	never           // no
	position        // with positions as operands
	ordinary        // with numbers as operands
	zeroOrOne       // with numbers as operands, of which one is 0 or 1
)

// piece is what a call adds to the key of a cone, without its operands.
type piece struct {
	key   []byte
	sizes []int
}

// takes reports whether the form is that of a call with these operands.
func (f *form) takes(o *op.Op, attrs any, args []*place) bool {
	if f.op != o || len(f.in) != len(args) {
		return false
	}
	for i, a := range args {
		if a == nil && f.in[i].Kind() != shape.None || a != nil && a.typ.Kind() == shape.None || a != nil && !f.in[i].Same(a.typ) {
			return false
		}
	}
	return o.Codec().Equal(f.attrs, attrs)
}

// member is the form of a member of the results.
func (f *form) member(i int) *form {
	if f.members == nil {
		f.members = make([]*form, f.typ.Len())
	}
	if f.members[i] == nil {
		f.members[i] = &form{typ: f.typ.Member(i), index: i + 1}
	}
	return f.members[i]
}

// newForm is the form of a call with a result of type t.
func newForm(pc uintptr, o *op.Op, attrs any, args []*place, t shape.Type) *form {
	return &form{op: o, attrs: attrs, typ: t, pc: pc, in: typesOf(nil, args), open: !concrete(t)}
}

// of returns the form with another result type, which a run has found.
func (f *form) of(t shape.Type) *form {
	return &form{op: f.op, attrs: f.attrs, typ: t, pc: f.pc, index: f.index}
}

// typeOfRun is the type of a call's results.
func typeOfRun(out []*array.Array, tuple bool) shape.Type {
	if tuple {
		return shape.TupleType(shape.TypesOf(out...)...)
	}
	return shape.TypeOf(out[0])
}

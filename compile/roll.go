package compile

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
)

// program is what the calls of a capture are where some loops are rolled: steps, some of which are loops of
// steps. Two captures of one function have equal programs where they differ in rounds alone.
type program struct {
	leaves  []lazy.CapturedLeaf // those that differ in what they are
	steps   []step
	loops   []rolledLoop
	results []ref // of the graph
}

// rolledLoop is a loop in a program.
type rolledLoop struct {
	mark   uint64
	before int    // it stands before this step
	steps  []step // of a round
	carry  []carried
	rounds int
	first  int // the number of the first round
}

// carried is a value that a round hands to the next: a step of it, and the value of before the first round.
type carried struct {
	step  ref
	first ref
}

// step is a call.
type step struct {
	call *lazy.CapturedCall // of the first round
	args []ref
	all  int // from this operand on, one operand of each round follows, and ...
	of   int // ... this is how many operands come after them; all is -1 where it is no such call
	// at is set where the position of the call is the number of the round.
	at *op.Lifted
}

// ref is an operand.
type ref struct {
	kind refKind
	n    int // the number of a leaf, step, carried value, or loop
	step int // of the loop
	item int // of the results of a step, from 1; 0 for one that has one result
}

type refKind int

const (
	absent   refKind = iota
	leafRef          // a leaf
	stepRef          // a step outside of loops
	roundRef         // a step of the same round
	carryRef         // a carried value
	lastRef          // a step of the last round of a loop
	eachRef          // a step of all rounds of a loop
)

// roller makes the program of a capture.
type roller struct {
	got     *lazy.Captured
	trips   map[uint64]trip // by mark: the loops that are rolled
	prog    *program
	at      []place // of calls
	loopOf  map[uint64]int
	members map[uint64][]int // calls of a loop, in order
	fail    bool
}

// trip is how often a loop runs, and whether its first round is one of its own.
type trip struct {
	rounds int
	apart  bool
	first  int // calls of the first round, where it is apart
}

// place is where a call stands in a program.
type place struct {
	loop  int // -1 outside
	round int
	step  int
}

// rolled makes the program; nil where rounds differ, or calls have functions.
func rolled(got *lazy.Captured, trips map[uint64]trip) *program {
	if slices.ContainsFunc(got.Calls, func(c lazy.CapturedCall) bool { return c.Bodies != nil }) {
		return nil
	}
	r := &roller{got: got, trips: trips, prog: &program{}, at: make([]place, len(got.Calls)), loopOf: map[uint64]int{}, members: map[uint64][]int{}}
	if !r.place() {
		return nil
	}
	for i := range r.prog.loops {
		r.round(i)
	}
	for _, j := range r.outside() {
		s := &r.prog.steps[r.at[j].step]
		r.fill(s, j)
	}
	for _, j := range got.Kept {
		r.prog.results = append(r.prog.results, r.use(j, -1))
	}
	if r.fail {
		return nil
	}
	return r.prog
}

// order lists the calls in the order in which they were made.
func (r *roller) order() (list []int) {
	for j := range r.got.Calls {
		if r.got.Calls[j].Op != nil {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return r.got.Calls[a].Order - r.got.Calls[b].Order })
	return list
}

// outside lists the calls that are no rounds of loops.
func (r *roller) outside() (list []int) {
	for _, j := range r.order() {
		if r.at[j].loop < 0 {
			list = append(list, j)
		}
	}
	return list
}

// place says where each call stands.
func (r *roller) place() bool {
	open := uint64(0)
	for _, j := range r.order() {
		mark := r.got.Calls[j].Mark
		t, rolls := r.trips[mark]
		if mark == 0 || !rolls {
			r.alone(j)
			open = 0
			continue
		}
		if n := len(r.members[mark]); n > 0 && mark != open { // other calls stand between
			return false
		}
		open = mark
		r.members[mark] = append(r.members[mark], j)
		if n := len(r.members[mark]); t.apart && n <= t.first {
			r.alone(j)
			continue
		}
		if _, known := r.loopOf[mark]; !known {
			r.loopOf[mark] = len(r.prog.loops)
			l := rolledLoop{mark: mark, before: len(r.prog.steps), rounds: t.rounds}
			if t.apart {
				l.rounds, l.first = t.rounds-1, 1
			}
			r.prog.loops = append(r.prog.loops, l)
		}
		r.at[j].loop = r.loopOf[mark]
	}
	for mark, i := range r.loopOf {
		calls := r.members[mark][r.trips[mark].first:]
		l := &r.prog.loops[i]
		if l.rounds < 2 || len(calls)%l.rounds != 0 {
			return false
		}
		n := len(calls) / l.rounds
		for k, j := range calls {
			r.at[j] = place{i, k / n, k % n}
		}
		l.steps = make([]step, n)
	}
	return len(r.loopOf) == len(r.trips)
}

func (r *roller) alone(j int) {
	r.at[j] = place{-1, 0, len(r.prog.steps)}
	r.prog.steps = append(r.prog.steps, step{})
}

// calls lists the calls of a loop's rounds.
func (r *roller) calls(loop int) []int {
	mark := r.prog.loops[loop].mark
	return r.members[mark][r.trips[mark].first:]
}

// round fills the steps of a loop with those of the first round, and compares the other rounds with it. The operands of the first round that the
// others have of the round before are what carried values are at first.
func (r *roller) round(loop int) {
	l := &r.prog.loops[loop]
	calls := r.calls(loop)
	n := len(l.steps)
	for o := range l.steps {
		s := &l.steps[o]
		s.call, s.all = &r.got.Calls[calls[o]], -1
		r.number(l, s, calls, o)
		first := r.operands(calls[o], loop, 0)
		s.args = first
		for k := 1; k < l.rounds; k++ {
			j := calls[k*n+o]
			now := r.operands(j, loop, k)
			if !r.same(s, &r.got.Calls[j], k+l.first) || len(now) != len(first) {
				r.fail = true
				return
			}
			if k == 1 {
				s.args = make([]ref, len(first))
			}
			for i, a := range now {
				if a.kind == carryRef {
					a = l.carries(a, first[i])
				}
				if k == 1 {
					s.args[i] = a
				} else if s.args[i] != a {
					r.fail = true
					return
				}
				if a.kind != carryRef && a != first[i] {
					r.fail = true
					return
				}
			}
		}
	}
}

// carries returns the carried value that is the operand of a step: what the round before has made, in the first round
// another value.
func (l *rolledLoop) carries(of, first ref) ref {
	from := ref{kind: roundRef, step: of.step, item: of.item}
	i := slices.Index(l.carry, carried{from, first})
	if i < 0 {
		i = len(l.carry)
		l.carry = append(l.carry, carried{from, first})
	}
	return ref{kind: carryRef, n: i}
}

// number finds out whether the position of a step is the number of its round.
func (r *roller) number(l *rolledLoop, s *step, calls []int, o int) {
	next := &r.got.Calls[calls[len(l.steps)+o]]
	if s.call.Op != next.Op || s.call.Op.Codec().Equal(s.call.Attrs, next.Attrs) {
		return
	}
	lifted, ok := s.call.Op.Lift(s.call.Attrs, s.call.In)
	if _, positions := lifted.Join(lifted.Attrs); !ok || !positions || len(lifted.Values) != 1 || !isNumber(lifted, l.first) {
		r.fail = true
		return
	}
	s.at = &lifted
}

// isNumber reports whether a lifted call's position is a number.
func isNumber(l op.Lifted, n int) bool { return array.Equal(l.Values[0], array.Scalar(int64(n))) }

// same reports whether the call of a round is that of a step.
func (r *roller) same(s *step, now *lazy.CapturedCall, round int) bool {
	if s.call.Op != now.Op || s.call.Index != now.Index || !s.call.Type.Same(now.Type) || len(s.call.In) != len(now.In) {
		return false
	}
	for i := range now.In {
		if !s.call.In[i].Same(now.In[i]) {
			return false
		}
	}
	if s.at == nil {
		return s.call.Op.Codec().Equal(s.call.Attrs, now.Attrs)
	}
	l, ok := now.Op.Lift(now.Attrs, now.In)
	return ok && len(l.Values) == 1 && isNumber(l, round) && now.Op.Codec().Equal(l.Attrs, s.at.Attrs)
}

// operands are those of a call in a round of a loop. A value of the round before is a carryRef with the step.
func (r *roller) operands(j, loop, round int) (list []ref) {
	for _, a := range r.got.Calls[j].Args {
		list = append(list, r.operand(a, loop, round))
	}
	return list
}

func (r *roller) operand(a, loop, round int) ref {
	switch {
	case a == lazy.Absent:
		return ref{}
	case a < 0:
		return ref{kind: leafRef, n: r.leaf(^a)}
	}
	item := 0
	if c := &r.got.Calls[a]; c.Op == nil {
		item, a = c.Index, c.Args[0]
		if a < 0 { // of results that were computed before
			r.fail = true
			return ref{}
		}
	}
	p := r.at[a]
	switch {
	case p.loop < 0:
		return ref{kind: stepRef, n: p.step, item: item}
	case p.loop == loop && p.round == round:
		return ref{kind: roundRef, step: p.step, item: item}
	case p.loop == loop && p.round == round-1:
		return ref{kind: carryRef, step: p.step, item: item}
	case p.loop != loop && p.round == r.prog.loops[p.loop].rounds-1:
		return ref{kind: lastRef, n: p.loop, step: p.step, item: item}
	}
	r.fail = true
	return ref{}
}

// use is a value of a call for code outside of loops.
func (r *roller) use(j, loop int) ref { return r.operand(j, loop, -2) }

// leaf is the number of a leaf in the program.
func (r *roller) leaf(n int) int {
	l := r.got.Leaves[n]
	i := slices.IndexFunc(r.prog.leaves, func(o lazy.CapturedLeaf) bool { return sameLeaf(o, l) })
	if i < 0 {
		i = len(r.prog.leaves)
		r.prog.leaves = append(r.prog.leaves, l)
	}
	return i
}

func sameLeaf(a, b lazy.CapturedLeaf) bool {
	if a.Tensor != b.Tensor || a.Tensor >= 0 {
		return a.Tensor == b.Tensor
	}
	return a.Array == b.Array || a.Array != nil && b.Array != nil && array.Equal(a.Array, b.Array)
}

// fill fills a step outside of loops. Operands of which each round of a loop has made one are one operand.
func (r *roller) fill(s *step, j int) {
	s.call, s.all = &r.got.Calls[j], -1
	args := s.call.Args
	for i := 0; i < len(args); i++ {
		if loop, from, ok := r.each(args[i:]); ok {
			l := &r.prog.loops[loop]
			if s.all >= 0 {
				r.fail = true
				return
			}
			s.all = len(s.args)
			s.args = append(s.args, ref{kind: eachRef, n: loop, step: from.step, item: from.item})
			i += l.rounds - 1
			continue
		}
		s.args = append(s.args, r.use(args[i], -1))
	}
	if s.all >= 0 {
		s.of = len(s.args) - 1 - s.all
	}
}

// each reports whether operands begin with one step of all rounds of a loop.
func (r *roller) each(args []int) (loop int, from ref, ok bool) {
	for k, a := range args {
		if a < 0 || a == lazy.Absent {
			return 0, from, false
		}
		item := 0
		if c := &r.got.Calls[a]; c.Op == nil {
			if item, a = c.Index, c.Args[0]; a < 0 {
				return 0, from, false
			}
		}
		p := r.at[a]
		if k == 0 {
			loop, from = p.loop, ref{step: p.step, item: item}
		}
		if p.loop < 0 || p.loop != loop || p.round != k || p.step != from.step || item != from.item {
			return 0, from, false
		}
		if k == r.prog.loops[loop].rounds-1 {
			return loop, from, true
		}
	}
	return 0, from, false
}

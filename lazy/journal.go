package lazy

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// The most that a journal holds, so that a session of days takes as much memory as one of
// a minute: what is over a limit is counted without its line or its graph.
const (
	maxSites    = 1024    // lines of the session
	maxAsked    = 32      // lines of one graph
	maxNext     = 64      // graphs that follow one
	maxSketched = 1 << 18 // calls of all graphs whose text is kept
	maxDropped  = 16      // dropped graphs, the last ones
	maxLines    = 4096    // call stacks whose lines are known
)

// site is a line of the program that had values computed, and why. Its pc is 0 where too
// many lines did.
type site struct {
	why Reason
	pc  uintptr
}

// journal is what Explain tells that Stats does not.
type journal struct {
	lines    lines
	at       site // of the present flush
	last     *story
	sites    map[site]int
	copies   map[site]int
	sketched int
	dropped  []Dropped
	alone    int  // calls since the barrier that Options.OneByOne has run
	single   Line // the last one of them
}

// story is the part of the journal that is about one graph.
type story struct {
	number      int   // of the graph, from 1 in the order in which they came
	sketch      *cone // nil where there are too many
	calls       int
	outputs     int
	runs        int
	compiled    int // of the runs
	interpreted int
	missed      int // by Options.Generated
	asked       map[site]int
	next        map[int]int // how often graphs followed, by number; 0 stands for the others
}

func (j *journal) init() {
	j.lines.spots, j.sites, j.copies = map[diag.Site]*spot{}, map[site]int{}, map[site]int{}
}

// lines are the user's lines by call stack: finding one by its frames takes longer than
// everything else that recording a call does.
type lines struct {
	spots map[diag.Site]*spot
	forms int // of all spots
}

// spot is a line, and the forms of the calls that it has made, in the order in which they came first.
type spot struct {
	pc    uintptr // 0 where there is none
	forms []*form
	next  int // where the form after the one that came last is: loops make the same calls again
}

// The most forms that a line has, which a session has, and that are looked at for one call.
const (
	maxForms    = 256
	maxAllForms = 1 << 14
	maxTried    = 4
)

// here is the user's line.
func (l *lines) here() *spot {
	var at diag.Site
	quick := diag.HereSite(&at)
	if quick {
		if s, known := l.spots[at]; known {
			return s
		}
	}
	var pc [1]uintptr
	diag.Callers(1, pc[:])
	if !quick {
		at[0] = pc[0]
		if s, known := l.spots[at]; known {
			return s
		}
	}
	if len(l.spots) >= maxLines {
		l.clear()
	}
	s := &spot{pc: pc[0]}
	l.spots[at] = s
	return s
}

func (l *lines) clear() { clear(l.spots); l.forms = 0 }

// find returns the form of a call that the line has made before, nil where it has not, or long ago.
func (s *spot) find(o *op.Op, attrs any, args []*place) *form {
	for i := range min(maxTried, len(s.forms)) {
		n := (s.next + i) % len(s.forms)
		if f := s.forms[n]; f.takes(o, attrs, args) {
			s.next = n + 1
			return f
		}
	}
	return nil
}

// enter adds a form to those of a line: next to the one that came last, or in the place of one of
// the same operator that was expected, such as a call with a rate that every step changes.
func (l *lines) enter(s *spot, f *form) *form {
	switch {
	case s.next < len(s.forms) && (s.forms[s.next].op == f.op || len(s.forms) == maxForms):
		s.forms[s.next] = f
	case len(s.forms) == maxForms:
		s.forms[0], s.next = f, 0
	default:
		if l.forms >= maxAllForms {
			l.clear()
			s.forms, s.next = nil, 0 // of a spot that is no longer found: the next call makes another
		}
		l.forms++
		s.forms = slices.Insert(s.forms, s.next, f)
	}
	s.next++
	return f
}

// count adds one, without the line where there are most of them already.
func count[K comparable](m map[K]int, k, other K, most int) {
	if _, known := m[k]; !known && len(m) >= most {
		k = other
	}
	m[k]++
}

// flush notes that values are computed.
func (j *journal) flush(why Reason) {
	j.at = site{why, j.lines.here().pc}
	count(j.sites, j.at, site{why: why}, maxSites)
}

// copied notes that a value of a model was copied because the model is written.
func (j *journal) copied() {
	count(j.copies, site{Write, j.lines.here().pc}, site{why: Write}, maxSites)
}

// begin is the story of a new graph.
func (j *journal) begin(number int, k *cone) story {
	t := story{number: number, calls: len(k.calls), outputs: len(k.keep), asked: map[site]int{}, next: map[int]int{}}
	if j.sketched+len(k.calls) <= maxSketched {
		j.sketched += len(k.calls)
		t.sketch = k.sketch()
	}
	return t
}

// ran notes a run of a graph.
func (j *journal) ran(t *story) {
	t.runs++
	count(t.asked, j.at, site{why: j.at.why}, maxAsked)
	if j.last != nil {
		count(j.last.next, t.number, 0, maxNext)
	}
	j.last = t
}

// drop notes that a graph goes.
func (j *journal) drop(t *story) {
	if t.sketch != nil {
		j.sketched -= t.calls
		t.sketch = nil
	}
	j.dropped = append(j.dropped, Dropped{Graph: t.number, Calls: t.calls, Runs: t.runs})
	if len(j.dropped) > maxDropped {
		j.dropped = j.dropped[1:]
	}
}

// sketch is a copy of a cone without data: what is read has the types alone, and no value
// is kept by it. All tensors of models are weights of its graph.
func (k *cone) sketch() *cone {
	c := &cone{keep: k.keep, leaves: make([]*place, len(k.leaves)), calls: make([]*place, len(k.calls))}
	all := make([]place, len(k.leaves)+len(k.calls))
	for i, l := range k.leaves {
		q := &all[i]
		q.form, q.number = &form{typ: l.typ}, int32(i) // that of a leaf is in one piece with its place
		if l.data != nil {
			q.data = array.Expand(array.New(l.data.DType()), l.data.Shape()...)
		}
		if l.many() != nil {
			q.own().many = []*array.Array{}
		}
		if l.slot() != nil {
			q.own().slot = &slot{name: l.slot().name, array: q.data, runs: math.MaxInt}
		}
		c.leaves[i] = q
	}
	for i, p := range k.calls {
		q := &all[len(k.leaves)+i]
		args := make([]*place, p.count)
		for n, a := range p.args() {
			switch {
			case a == nil:
			case a.known():
				args[n] = c.leaves[a.number]
			default:
				args[n] = c.calls[a.number]
			}
		}
		q.form, q.number = p.form, int32(i)
		q.take(args)
		if p.bodies() != nil {
			q.own().bodies = p.bodies()
		}
		c.calls[i] = q
	}
	return c
}

// alone computes a call by itself, as eager code does.
func (s *Session) alone(p *place) {
	s.log.alone++
	s.log.single = Line{Text: p.op.Name, At: diag.Resolve(p.pc).String()}
	s.interpret(s.coneOf([]*place{p}))
}

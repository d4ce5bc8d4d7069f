package lazy

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
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

func (j *journal) init() { j.lines, j.sites, j.copies = lines{}, map[site]int{}, map[site]int{} }

// lines are the user's lines by call stack: finding one by its frames takes longer than
// everything else that recording a call does.
type lines map[diag.Site]uintptr

// here is the user's line, 0 where there is none.
func (l lines) here() uintptr {
	var at diag.Site
	quick := diag.HereSite(&at)
	if quick {
		if pc, known := l[at]; known {
			return pc
		}
	}
	var pc [1]uintptr
	diag.Callers(1, pc[:])
	if quick {
		if len(l) >= maxLines {
			clear(l)
		}
		l[at] = pc[0]
	}
	return pc[0]
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
	j.at = site{why, j.lines.here()}
	count(j.sites, j.at, site{why: why}, maxSites)
}

// copied notes that a value of a model was copied because the model is written.
func (j *journal) copied() {
	count(j.copies, site{Write, j.lines.here()}, site{why: Write}, maxSites)
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
		q.typ, q.number = l.typ, int32(i)
		if l.data != nil {
			q.data = array.Expand(array.New(l.data.DType()), l.data.Shape()...)
		}
		if l.many != nil {
			q.many = &[]*array.Array{}
		}
		if l.slot != nil {
			q.slot = &slot{name: l.slot.name, array: q.data, runs: math.MaxInt}
		}
		c.leaves[i] = q
	}
	for i, p := range k.calls {
		q := &all[len(k.leaves)+i]
		*q = place{typ: p.typ, op: p.op, attrs: p.attrs, index: p.index, pc: p.pc, number: int32(i), args: make([]*place, len(p.args))}
		for n, a := range p.args {
			switch {
			case a == nil:
			case a.known():
				q.args[n] = c.leaves[a.number]
			default:
				q.args[n] = c.calls[a.number]
			}
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

package passes

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
)

// miss says how far a match came and why it ended.
type miss struct {
	matched, total int
	why            string
	at             *graph.Node   // where
	steps          int           // after which the search was given up, 0 when it came to its end
	nodes          []*graph.Node // what had matched, except at
}

func (m miss) String() string {
	if m.why == "" {
		return ""
	}
	where := ""
	if m.at != nil {
		where = "at " + m.at.String() + place(m.at) + ": "
	}
	if m.steps > 0 {
		where = "the search was given up after " + strconv.Itoa(m.steps) + " steps, it came as far as this: " + where
	}
	return "matched " + strconv.Itoa(m.matched) + " of " + strconv.Itoa(m.total) + ": " + where + m.why
}

// match tries one pattern with n as its first result.
func (k *compiled) match(p *pattern, n *graph.Node, s *seen) (*Match, miss) {
	a := &attempt{p: p, where: k.Where, seen: s, bound: make([]*graph.Node, len(p.parts)),
		numbers: make([]float64, p.numbers), rests: make([][]*graph.Node, p.rests)}
	for i := range a.numbers {
		a.numbers[i] = math.NaN()
	}
	if a.fit(p.roots[0], n, func() bool { return a.others(a.finish) }) {
		return a.found, miss{}
	}
	a.best.total = max(p.total, a.best.matched)
	if a.spent() {
		a.best.steps = a.steps
	}
	return nil, a.best
}

// attempt is the try to fit one pattern at one place: a search that goes back to
// the last choice (an alternative, or which user of a value) when it gets stuck.
// Whatever returns false leaves the attempt as it was.
type attempt struct {
	p       *pattern
	where   func(m *Match) string
	seen    *seen
	bound   []*graph.Node   // what the pattern's parts stand for
	numbers []float64       // what its numbers stand for, NaN for nothing
	rests   [][]*graph.Node // what its rests stand for, nil for nothing yet
	again   []repetition    // what its repetitions stood for, the last one first
	all     []*graph.Node   // of a whole match: inside
	in      map[*graph.Node]bool
	matched int
	deepest int // the largest matched
	steps   int
	best    miss // deepest failure
	found   *Match
}

// repetition is what the parts within one repetition stood for.
type repetition struct {
	of    *part
	nodes []*graph.Node
}

// The steps of a search are bounded: with many choices it may go back again and
// again. After the first few, which are enough for most and give the reasons, what
// cannot match in any case is looked up.
const (
	fewSteps  = 128
	maxSteps  = 1024
	stepsEach = 16 // more for each part that has matched
)

func (a *attempt) spent() bool { return a.steps > maxSteps+stepsEach*a.deepest }

// fail remembers the reason of the failure that came furthest.
func (a *attempt) fail(at *graph.Node, why ...string) bool {
	if !a.further() {
		return false
	}
	a.best = miss{matched: a.matched, why: strings.Join(why, ""), at: at}
	if a.matched <= fewNodes {
		a.best.nodes = slices.DeleteFunc(a.inside(), func(n *graph.Node) bool { return n == at })
	}
	return false
}

// fewNodes bounds the nodes that a reason lists.
const fewNodes = 64

func (a *attempt) further() bool { return a.best.why == "" || a.matched > a.best.matched }

// fit lets the pattern's part p stand for n and goes on with next.
func (a *attempt) fit(p *part, n *graph.Node, next func() bool) bool {
	switch {
	case p == nil && n == nil:
		return next()
	case n == nil:
		return a.fail(nil, "an operand is absent where the pattern has "+p.String())
	case p == nil:
		return a.fail(n, "the pattern leaves out this operand")
	}
	if b := a.bound[p.id]; b != nil {
		if b == n || (p.kind == constant || p.kind == filled) && a.seen.differs(p, n) == "" {
			return next()
		}
		return a.fail(n, "the pattern has the same value as ", b.String(), " here")
	}
	if a.steps++; a.spent() || a.steps > a.seen.fewSteps && !a.seen.possible(p, n) {
		return false
	}
	a.bound[p.id] = n
	if a.stands(p, n, func() bool { return a.checks(p, n) && next() }) {
		return true
	}
	a.bound[p.id] = nil
	return false
}

// stands fits n by the kind of p, which is bound to it.
func (a *attempt) stands(p *part, n *graph.Node, next func() bool) bool {
	switch p.kind {
	case input:
		if msg := DescribeConflict(n.Type(), p.node.Type()); msg != "" {
			return a.fail(n, "is ", msg)
		}
		return next()
	case constant, filled:
		if why := a.seen.differs(p, n); why != "" {
			return a.fail(n, why)
		}
		return a.step(next)
	case choice:
		return slices.ContainsFunc(p.args, func(c *part) bool { return a.fit(c, n, next) })
	case repeat:
		return a.repeat(p, n, 0, next)
	case call:
		return a.call(p, n, next)
	case rest:
		return a.fail(n, "the pattern has operands of any number here, which only an operator takes that takes any number")
	}
	return next()
}

// checks asks what the pattern asks of p alone.
func (a *attempt) checks(p *part, n *graph.Node) bool {
	for _, check := range p.checks {
		if why := check(n); why != "" {
			return a.fail(n, why)
		}
	}
	return true
}

// step counts a call or constant that matches.
func (a *attempt) step(next func() bool) bool {
	a.matched++
	a.deepest = max(a.deepest, a.matched)
	if next() {
		return true
	}
	a.matched--
	return false
}

func (a *attempt) call(p *part, n *graph.Node, next func() bool) bool {
	if !n.Opcode().IsCall() || n.Op() != p.op {
		return a.fail(n, "is ", opName(n), ", the pattern has ", p.op.Name)
	}
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			if path != "" {
				return a.fail(n, "the parameters of module ", n.Target(), " are no operands; run functionalize first")
			}
		}
	}
	before := slices.Clone(a.numbers)
	count, ok := a.immediates(p, n)
	if ok && a.step(func() bool {
		if a.operands(p.args, p, n, 0, count, next) {
			return true
		}
		return p.swaps && a.operands([]*part{p.args[1], p.args[0]}, p, n, 0, count, next)
	}) {
		return true
	}
	copy(a.numbers, before)
	return false
}

// operands fits the parts of a call p to the operands of n from number i on, of which
// there are count.
func (a *attempt) operands(parts []*part, p *part, n *graph.Node, i, count int, next func() bool) bool {
	switch {
	case len(parts) == 0 && i >= count:
		return next()
	case len(parts) == 0:
		return a.fit(nil, n.Arg(i), func() bool { return a.operands(nil, p, n, i+1, count, next) })
	case parts[0] != nil && parts[0].kind == rest && p.op.Variadic():
		return a.rest(parts, p, n, i, count, next)
	case i >= count && parts[0] != nil && parts[0].kind == filled && isNumber(p, n):
		return a.step(next)
	case i >= count:
		return a.fit(parts[0], nil, func() bool { return a.operands(parts[1:], p, n, i+1, count, next) })
	}
	return a.fit(parts[0], n.Arg(i), func() bool { return a.operands(parts[1:], p, n, i+1, count, next) })
}

// rest lets parts[0] stand for as many operands as possible.
func (a *attempt) rest(parts []*part, p *part, n *graph.Node, i, count int, next func() bool) bool {
	r := parts[0].index
	old, most := a.rests[r], max(0, count-i)
	for k := most; k >= 0; k-- {
		if a.steps++; a.spent() {
			break
		}
		args := n.Args()[i : i+k]
		if old != nil && !slices.Equal(old, args) {
			continue
		}
		a.rests[r] = append([]*graph.Node{}, args...)
		if a.operands(parts[1:], p, n, i+k, count, next) {
			return true
		}
		a.rests[r] = old
	}
	if old != nil {
		return a.fail(n, "the pattern has the same operands as before here")
	}
	return false
}

// maxRepeats bounds the repetitions of one match: each is a few calls deep.
const maxRepeats = 1 << 15

// repeat fits the body of p to n, as often as it goes, and then what p begins with. A
// value between two repetitions has no other use.
func (a *attempt) repeat(p *part, n *graph.Node, done int, next func() bool) bool {
	more := (p.max == 0 || done < p.max) && done < maxRepeats && (done == 0 || a.checkOnlyUser(n))
	if more && a.fit(p.args[2], n, func() bool { return a.onward(p, done+1, next) }) {
		return true
	}
	if done < p.min {
		return a.fail(n, "is the end of ", strconv.Itoa(done), " repetitions, the pattern has ", strconv.Itoa(p.min), " or more")
	}
	return a.fit(p.args[0], n, next)
}

// checkOnlyUser demands that only the last repetition uses n.
func (a *attempt) checkOnlyUser(n *graph.Node) bool {
	last := a.again[len(a.again)-1].nodes
	for u := range n.Users() {
		if !slices.Contains(last, u) {
			return a.fail(n, "want no use outside of the match, is used by ", u.String(), place(u))
		}
	}
	return true
}

// onward takes note of a repetition and goes on with the value before it.
func (a *attempt) onward(p *part, done int, next func() bool) bool {
	v := a.bound[p.args[1].id]
	kept := repetition{p, make([]*graph.Node, len(p.inner))}
	for i, x := range p.inner {
		kept.nodes[i], a.bound[x.id] = a.bound[x.id], nil
	}
	a.again = append(a.again, kept)
	if a.repeat(p, v, done, next) {
		return true
	}
	a.again = a.again[:len(a.again)-1]
	for i, x := range p.inner {
		a.bound[x.id] = kept.nodes[i]
	}
	return false
}

func opName(n *graph.Node) string {
	if o := n.Op(); o != nil {
		return o.Name
	}
	return n.Opcode().String()
}

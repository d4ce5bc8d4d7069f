package passes

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// miss says how far a match came and why it ended.
type miss struct {
	matched, total int
	why            string
}

func (m miss) String() string {
	if m.why == "" {
		return ""
	}
	return "matched " + strconv.Itoa(m.matched) + " of " + strconv.Itoa(m.total) + ": " + m.why
}

// match tries one pattern with n as its first result.
func (k *compiled) match(p *pattern, n *graph.Node, written map[string]bool) (*Match, miss) {
	a := &attempt{p: p, where: k.Where, written: written, bound: map[*graph.Node]*graph.Node{}, numbers: make([]float64, p.numbers)}
	for i := range a.numbers {
		a.numbers[i] = math.NaN()
	}
	if a.fit(p.roots[0], n, func() bool { return a.others(a.finish) }) {
		return a.found, miss{}
	}
	a.best.total = max(p.total, a.best.matched)
	return nil, a.best
}

// attempt is the try to fit one pattern at one place: a search that goes back to
// the last choice (an alternative, or which user of a value) when it gets stuck.
// Whatever returns false leaves the attempt as it was.
type attempt struct {
	p       *pattern
	where   func(m *Match) string
	written map[string]bool
	bound   map[*graph.Node]*graph.Node // what the pattern's nodes stand for
	numbers []float64                   // what its numbers stand for, NaN for nothing
	matched int
	best    miss // deepest failure
	found   *Match
}

// fail remembers the reason of the failure that came furthest.
func (a *attempt) fail(why string) bool {
	if a.best.why == "" || a.matched > a.best.matched {
		a.best = miss{matched: a.matched, why: why}
	}
	return false
}

// finish checks what is seen of a whole match only.
func (a *attempt) finish() bool {
	for _, check := range []func() string{a.attrs, a.uses, a.order} {
		if why := check(); why != "" {
			return a.fail(why)
		}
	}
	m := a.result()
	if a.where != nil {
		if why := a.where(m); why != "" {
			return a.fail(why)
		}
	}
	a.found = m
	return true
}

// fit lets the pattern's node p stand for n and goes on with next.
func (a *attempt) fit(p, n *graph.Node, next func() bool) bool {
	switch {
	case p == nil && n == nil:
		return next()
	case n == nil:
		return a.fail("an operand is absent where the pattern has " + opName(a.p.plain(p)))
	case p == nil:
		return a.fail("at " + n.String() + ": the pattern leaves out this operand")
	}
	p = a.p.plain(p)
	if b := a.bound[p]; b != nil {
		if b == n {
			return next()
		}
		return a.fail("at " + n.String() + ": the pattern has the same value as " + b.String() + " here")
	}
	a.bound[p] = n
	fits := false
	switch {
	case p.Opcode() == graph.Placeholder:
		if msg := Conflict(n.Type(), p.Type()); msg != "" {
			fits = a.fail("at " + n.String() + ": is " + msg)
		} else {
			fits = next()
		}
	case p.Opcode() == graph.GetAttr:
		fits = a.constant(p, n, next)
	case p.Op() == anyOf:
		for _, choice := range p.Args() {
			if fits = a.fit(choice, n, next); fits {
				break
			}
		}
	default:
		fits = a.call(p, n, next)
	}
	if !fits {
		delete(a.bound, p)
	}
	return fits
}

// step counts a call or constant that matches.
func (a *attempt) step(next func() bool) bool {
	a.matched++
	if next() {
		return true
	}
	a.matched--
	return false
}

// constant compares a constant of the pattern by value.
func (a *attempt) constant(p, n *graph.Node, next func() bool) bool {
	q := a.constantOf(n)
	if q == nil {
		return a.fail("at " + n.String() + ": is no constant")
	}
	want := a.p.mod.Param(p.Target()).Value
	if !shape.TypeOf(q).Same(shape.TypeOf(want)) || !array.Equal(q, want) {
		return a.fail("at " + n.String() + ": the constant is another one than " + array.Format(want, 8))
	}
	return a.step(next)
}

// constantOf returns the value of a parameter that no run changes, nil for what is
// none.
func (a *attempt) constantOf(n *graph.Node) *array.Array {
	if n.Opcode() != graph.GetAttr || n.Live() || a.written[n.Target()] || n.Graph().Module() == nil {
		return nil
	}
	q := n.Graph().Module().Param(n.Target())
	if q == nil {
		return nil
	}
	return q.Value
}

func (a *attempt) call(p, n *graph.Node, next func() bool) bool {
	if !n.Opcode().IsCall() || n.Op() != p.Op() {
		return a.fail("at " + n.String() + ": is " + opName(n) + ", the pattern has " + opName(p))
	}
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			if path != "" {
				return a.fail("at " + n.String() + ": the parameters of module " + n.Target() + " are no operands; run functionalize first")
			}
		}
	}
	before := slices.Clone(a.numbers)
	operands, ok := a.immediates(p, n)
	if ok && a.step(func() bool { return a.operands(p, n, 0, operands, next) }) {
		return true
	}
	copy(a.numbers, before)
	return false
}

// operands fits the operands of a call from number i on, count of them in n.
func (a *attempt) operands(p, n *graph.Node, i, count int, next func() bool) bool {
	if i >= max(p.NumArgs(), count) {
		return next()
	}
	return a.fit(p.Arg(i), n.Arg(i), func() bool { return a.operands(p, n, i+1, count, next) })
}

func attrsDiffer(n *graph.Node, want any) string {
	show := func(s string) string {
		if s == "" {
			return "{}"
		}
		return s
	}
	c := n.Op().Codec()
	return "at " + n.String() + ": the attributes are " + show(c.Print(n.Attrs())) + ", the pattern has " + show(c.Print(want))
}

// dynamic reports whether the attributes mention sizes of the pattern's values.
func dynamic(p *graph.Node) bool {
	found := false
	if c := p.Op().Codec(); c.HasDims() {
		c.Symbols(p.Attrs(), func(d shape.Dim) { found = found || len(d.Symbols()) > 0 })
	}
	return found
}

// attrs compares attributes that mention sizes, once all values are bound.
func (a *attempt) attrs() string {
	env := func(name string) shape.Dim {
		if s, ok := a.p.mod.Graph.Symbol(name); ok && a.bound[s.Node] != nil {
			return sizeOf(a.bound[s.Node], s.Axis, false)
		}
		return shape.Sym(name)
	}
	for _, p := range a.p.parts {
		if a.bound[p] == nil || !p.Opcode().IsCall() || a.p.loose[p] || !dynamic(p) {
			continue
		}
		c := p.Op().Codec()
		if want := c.Bind(p.Attrs(), env); !c.Equal(want, a.bound[p].Attrs()) {
			return attrsDiffer(a.bound[p], want)
		}
	}
	return ""
}

// others fits what hangs together with the first result only through common
// operands: further results and what they are made of.
func (a *attempt) others(next func() bool) bool {
	if len(a.p.roots) == 1 {
		return next()
	}
	for _, p := range a.p.parts {
		if a.bound[p] != nil || !p.Opcode().IsCall() {
			continue
		}
		for _, arg := range p.Args() {
			from := a.bound[arg]
			if arg == nil || from == nil {
				continue
			}
			tried := false
			for u := range from.Users() {
				if u.Op() != p.Op() {
					continue
				}
				if tried = true; a.fit(p, u, func() bool { return a.others(next) }) {
					return true
				}
			}
			if !tried {
				a.fail("at " + from.String() + ": no " + opName(p) + " uses it")
			}
			return false
		}
		return a.fail("the results of the pattern have no operand in common with " + opName(p))
	}
	for _, p := range a.p.parts {
		if a.bound[p] == nil {
			return a.fail("a constant of the pattern is not reached")
		}
	}
	return next()
}

// uses demands that nothing outside the match needs what will be gone.
func (a *attempt) uses() string {
	inside := map[*graph.Node]bool{}
	root := map[*graph.Node]bool{}
	for _, p := range a.p.parts {
		if n := a.bound[p]; n != nil {
			inside[n] = true
		}
	}
	for _, p := range a.p.roots {
		root[a.bound[p]] = true
	}
	for _, p := range a.p.parts {
		n := a.bound[p]
		if n == nil || root[n] || n.Opcode() == graph.GetAttr {
			continue
		}
		for u := range n.Users() {
			if !inside[u] {
				return "at " + n.String() + ": want no use outside of the match, is used by " + u.String() + place(u)
			}
		}
		if s := n.Graph().SymbolsOf(n); len(s) > 0 {
			return "at " + n.String() + ": defines the symbol " + s[0].Name
		}
	}
	for _, p := range a.p.inputs {
		if n := a.bound[p]; n != nil && inside[n] {
			return "at " + a.bound[p].String() + ": is inside the match and an input of it"
		}
	}
	return ""
}

func place(n *graph.Node) string {
	if p := n.Pos().String(); p != "" {
		return " at " + p
	}
	return ""
}

// order demands that the replacement can stand where the last result does.
func (a *attempt) order() string {
	last, first := a.bound[a.p.roots[0]], a.bound[a.p.roots[0]]
	reads := false
	for _, p := range a.p.parts {
		n := a.bound[p]
		if n == nil {
			continue
		}
		if n.Opcode().IsCall() && n.Precedes(first) {
			first = n
		}
		reads = reads || n.Opcode() == graph.GetAttr && a.written[n.Target()]
	}
	for _, p := range a.p.roots {
		if n := a.bound[p]; last.Precedes(n) {
			last = n
		}
	}
	inside := map[*graph.Node]bool{}
	for _, p := range a.p.parts {
		inside[a.bound[p]] = true
	}
	for _, p := range a.p.roots {
		for u := range a.bound[p].Users() {
			if !inside[u] && u.Precedes(last) {
				return "at " + u.String() + place(u) + ": uses " + a.bound[p].String() + " before " + last.String() + " is computed"
			}
		}
	}
	for _, p := range a.p.inputs {
		n := a.bound[p]
		if n == nil {
			continue
		}
		reads = reads || n.Opcode() == graph.GetAttr && a.written[n.Target()]
		if !n.Precedes(last) {
			return "at " + n.String() + ": an input is computed behind the results"
		}
	}
	for n := first; reads && n != last; n = n.Next() {
		if Effect(n) == op.Effectful {
			return "at " + n.String() + place(n) + ": may write what the match reads"
		}
	}
	return ""
}

func (a *attempt) result() *Match {
	m := &Match{Numbers: slices.Clone(a.numbers)}
	for _, p := range a.p.inputs {
		m.Inputs = append(m.Inputs, a.bound[p])
	}
	for _, p := range a.p.parts {
		if n := a.bound[p]; n != nil {
			m.Nodes = append(m.Nodes, n)
		}
	}
	for _, p := range a.p.roots {
		m.Roots = append(m.Roots, a.bound[p])
	}
	return m
}

func opName(n *graph.Node) string {
	if o := n.Op(); o != nil {
		return o.Name
	}
	return n.Opcode().String()
}

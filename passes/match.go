package passes

import (
	"maps"
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

// match tries all patterns with n as the first result and returns the best miss
// when none fits.
func (k *compiled) match(n *graph.Node, written map[string]bool) (*Match, miss) {
	var best miss
	for _, p := range k.patterns {
		a := &attempt{p: p, bound: map[*graph.Node]*graph.Node{}}
		why := a.run(n, written)
		if why == "" {
			m := a.result()
			if k.Where != nil {
				why = k.Where(m)
			}
			if why == "" {
				return m, miss{}
			}
			a.best = miss{matched: len(p.parts)}
		}
		if a.best.matched >= best.matched {
			best = miss{a.best.matched, len(p.parts), why}
		}
	}
	return nil, best
}

// attempt is the try to fit one pattern at one place.
type attempt struct {
	p       *pattern
	bound   map[*graph.Node]*graph.Node // what the pattern's nodes stand for
	matched int
	best    miss // deepest failure
}

func (a *attempt) run(n *graph.Node, written map[string]bool) string {
	if n.Op() == nil || n.Op() != a.p.roots[0].Op() {
		return "at " + n.String() + ": is " + opName(n) + ", the pattern has " + opName(a.p.roots[0])
	}
	if why := a.fit(a.p.roots[0], n); why != "" {
		return a.deepest(why)
	}
	if why := a.others(); why != "" {
		return a.deepest(why)
	}
	for _, why := range []string{a.attrs(), a.uses(), a.order(written)} {
		if why != "" {
			return a.deepest(why)
		}
	}
	return ""
}

// deepest remembers the reason of the failure that came furthest.
func (a *attempt) deepest(why string) string {
	if a.best.why == "" || a.matched > a.best.matched {
		a.best = miss{matched: a.matched, why: why}
	}
	return a.best.why
}

// fit lets the pattern's node p stand for n, or says why it cannot.
func (a *attempt) fit(p, n *graph.Node) string {
	switch {
	case p == nil && n == nil:
		return ""
	case n == nil:
		return "an operand is absent where the pattern has " + opName(p)
	case p == nil:
		return "at " + n.String() + ": the pattern leaves out this operand"
	}
	if b := a.bound[p]; b != nil {
		if b == n {
			return ""
		}
		return "at " + n.String() + ": the pattern has the same value as " + b.String() + " here"
	}
	var why string
	switch p.Opcode() {
	case graph.Placeholder:
		if msg := Conflict(n.Type(), p.Type()); msg != "" {
			return "at " + n.String() + ": is " + msg
		}
		a.bound[p] = n
		return ""
	case graph.GetAttr:
		why = a.constant(p, n)
	default:
		why = a.call(p, n)
	}
	if why != "" {
		return a.deepest(why)
	}
	return ""
}

// constant compares a constant of the pattern by value.
func (a *attempt) constant(p, n *graph.Node) string {
	if n.Opcode() != graph.GetAttr || n.Live() || n.Graph().Module() == nil {
		return "at " + n.String() + ": is no constant"
	}
	want := a.p.mod.Param(p.Target()).Value
	q := n.Graph().Module().Param(n.Target())
	if q == nil || q.Value == nil || !shape.TypeOf(q.Value).Same(shape.TypeOf(want)) || !array.Equal(q.Value, want) {
		return "at " + n.String() + ": the constant is another one than " + array.Format(want, 8)
	}
	a.bound[p] = n
	a.matched++
	return ""
}

func (a *attempt) call(p, n *graph.Node) string {
	o := n.Op()
	if !n.Opcode().IsCall() || o != p.Op() {
		return "at " + n.String() + ": is " + opName(n) + ", the pattern has " + opName(p)
	}
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			if path != "" {
				return "at " + n.String() + ": the parameters of module " + n.Target() + " are no operands; run functionalize first"
			}
		}
	}
	if !dynamic(p) && !o.Codec().Equal(p.Attrs(), n.Attrs()) {
		return attrsDiffer(n, p.Attrs())
	}
	a.bound[p] = n
	a.matched++
	for i := range max(p.NumArgs(), n.NumArgs()) {
		if why := a.fit(p.Arg(i), n.Arg(i)); why != "" {
			return why
		}
	}
	return ""
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
		if !p.Opcode().IsCall() || !dynamic(p) {
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
func (a *attempt) others() string {
	for _, p := range a.p.parts {
		if a.bound[p] != nil || !p.Opcode().IsCall() {
			continue
		}
		for _, arg := range p.Args() {
			from := a.bound[arg]
			if arg == nil || from == nil {
				continue
			}
			why := "at " + from.String() + ": no " + opName(p) + " uses it"
			for u := range from.Users() {
				if u.Op() != p.Op() {
					continue
				}
				saved, matched := maps.Clone(a.bound), a.matched
				if why = a.fit(p, u); why == "" {
					if why = a.others(); why == "" {
						return ""
					}
				}
				a.bound, a.matched = saved, matched
			}
			return why
		}
		return "the results of the pattern have no operand in common with " + opName(p)
	}
	for _, p := range a.p.parts {
		if a.bound[p] == nil {
			return "a constant of the pattern is not reached"
		}
	}
	return ""
}

// uses demands that nothing outside the match needs what will be gone.
func (a *attempt) uses() string {
	inside := map[*graph.Node]bool{}
	root := map[*graph.Node]bool{}
	for _, p := range a.p.parts {
		inside[a.bound[p]] = true
	}
	for _, p := range a.p.roots {
		root[a.bound[p]] = true
	}
	for _, p := range a.p.parts {
		n := a.bound[p]
		if root[n] || n.Opcode() == graph.GetAttr {
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
		if inside[a.bound[p]] {
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
func (a *attempt) order(written map[string]bool) string {
	last, first := a.bound[a.p.roots[0]], a.bound[a.p.roots[0]]
	reads := false
	for _, p := range a.p.parts {
		n := a.bound[p]
		if n.Opcode().IsCall() && n.Precedes(first) {
			first = n
		}
		reads = reads || n.Opcode() == graph.GetAttr && written[n.Target()]
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
		reads = reads || n.Opcode() == graph.GetAttr && written[n.Target()]
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
	m := &Match{}
	for _, p := range a.p.inputs {
		m.Inputs = append(m.Inputs, a.bound[p])
	}
	for _, p := range a.p.parts {
		m.Nodes = append(m.Nodes, a.bound[p])
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

package passes

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// others fits what hangs together with the first result only through common
// operands: further results and what they are made of.
func (a *attempt) others(next func() bool) bool {
	if len(a.p.roots) == 1 {
		return next()
	}
	for _, p := range a.p.parts {
		if a.bound[p.id] != nil || p.kind != call {
			continue
		}
		for _, arg := range p.args {
			if arg == nil || a.bound[arg.id] == nil {
				continue
			}
			return a.users(p, a.bound[arg.id], next)
		}
		return a.fail(nil, "the results of the pattern have no operand in common with ", p.String())
	}
	for _, p := range a.p.parts {
		if a.bound[p.id] == nil && (p.kind == constant || p.kind == filled) {
			return a.fail(nil, "a constant of the pattern is not reached")
		}
	}
	return next()
}

// users fits p, a further call of the pattern, to one of the calls that use n.
func (a *attempt) users(p *part, n *graph.Node, next func() bool) bool {
	tried := false
	for u := range n.Users() {
		if a.steps++; a.spent() {
			return a.fail(n, "has more users than are tried")
		}
		if u.Op() != p.op {
			continue
		}
		if tried = true; a.fit(p, u, func() bool { return a.others(next) }) {
			return true
		}
	}
	return !tried && a.fail(n, "no ", p.String(), " uses it")
}

// finish checks what is seen of a whole match only.
func (a *attempt) finish() bool {
	a.steps += a.matched
	a.all, a.in = a.inside(), map[*graph.Node]bool{}
	for _, n := range a.all {
		a.in[n] = true
	}
	for _, check := range []func() (*graph.Node, string){a.attrs, a.uses, a.order} {
		if at, why := check(); why != "" {
			return a.fail(at, why)
		}
	}
	m := a.result()
	if a.where != nil {
		if why := a.where(m); why != "" {
			return a.fail(nil, why)
		}
	}
	a.found = m
	return true
}

// inside returns the calls and constants that have matched, in the order of the
// pattern.
func (a *attempt) inside() (list []*graph.Node) {
	add := func(p *part, n *graph.Node) {
		if n != nil && (p.kind == call || p.kind == constant || p.kind == filled) {
			list = append(list, n)
		}
	}
	for _, p := range a.p.parts {
		add(p, a.bound[p.id])
		if p.kind != repeat {
			continue
		}
		for _, r := range slices.Backward(a.again) {
			for i, n := range r.nodes {
				if r.of == p {
					add(p.inner[i], n)
				}
			}
		}
	}
	return list
}

func attrsDiffer(n *graph.Node, want any) string {
	show := func(s string) string {
		if s == "" {
			return "{}"
		}
		return s
	}
	c := n.Op().Codec()
	return "the attributes are " + show(c.Print(n.Attrs())) + ", the pattern has " + show(c.Print(want))
}

// attrs compares attributes that mention sizes, once all values are bound.
func (a *attempt) attrs() (at *graph.Node, why string) {
	env := func(name string) shape.Dim {
		if s, ok := a.p.graph.Symbol(name); ok && a.bound[a.p.of[s.Node].id] != nil {
			return sizeOf(a.bound[a.p.of[s.Node].id], s.Axis, false)
		}
		return shape.Sym(name)
	}
	for _, p := range a.p.parts {
		n := a.bound[p.id]
		if n == nil || p.loose || !p.dynamic {
			continue
		}
		c := p.op.Codec()
		if want := c.Bind(p.wanted(n), env); !c.Equal(want, n.Attrs()) {
			return n, attrsDiffer(n, want)
		}
	}
	return nil, ""
}

// uses demands that nothing outside the match needs what will be gone.
func (a *attempt) uses() (at *graph.Node, why string) {
	for _, n := range a.all {
		if n.Opcode() == graph.GetAttr || a.isRoot(n) {
			continue
		}
		for u := range n.Users() {
			if !a.in[u] {
				return n, "want no use outside of the match, is used by " + u.String() + place(u)
			}
		}
		if s := n.Graph().SymbolsOf(n); len(s) > 0 {
			return n, "defines the symbol " + s[0].Name
		}
	}
	for _, p := range a.p.inputs {
		if n := a.bound[p.id]; n != nil && a.in[n] {
			return n, "is inside the match and an input of it"
		}
	}
	return nil, ""
}

func (a *attempt) isRoot(n *graph.Node) bool {
	return slices.ContainsFunc(a.p.roots, func(p *part) bool { return a.bound[p.id] == n })
}

func place(n *graph.Node) string {
	if p := n.Pos().String(); p != "" {
		return " at " + p
	}
	return ""
}

// order demands that the replacement can stand where the last result does.
func (a *attempt) order() (at *graph.Node, why string) {
	root := a.bound[a.p.roots[0].id]
	last, first, reads := root, root, false
	for _, n := range a.all {
		if n.Opcode().IsCall() && n.Precedes(first) {
			first = n
		}
		reads = reads || a.reads(n)
	}
	for _, p := range a.p.roots {
		if n := a.bound[p.id]; last.Precedes(n) {
			last = n
		}
	}
	for _, p := range a.p.roots {
		if len(a.p.roots) == 1 {
			break // users follow
		}
		for u := range a.bound[p.id].Users() {
			if !a.in[u] && u.Precedes(last) {
				return u, "uses " + a.bound[p.id].String() + " before " + last.String() + " is computed"
			}
		}
	}
	for _, n := range a.outside() {
		reads = reads || a.reads(n)
		if !n.Precedes(last) {
			return n, "an input is computed after the results"
		}
	}
	for n := first; reads && n != last; n = n.Next() {
		if n.Effect() == op.Effectful {
			return n, "may write what the match reads"
		}
	}
	return nil, ""
}

// reads reports whether n's value lies in memory that the graph writes.
func (a *attempt) reads(n *graph.Node) bool { return a.seen.effects.Overwritten(n) }

// outside returns what the match is made from: the values of parameters, of Any and of
// Rest, and what repetitions begin with.
func (a *attempt) outside() (list []*graph.Node) {
	listed := map[*graph.Node]bool{}
	add := func(nodes ...*graph.Node) {
		for _, n := range nodes {
			if n != nil && !a.in[n] && !listed[n] {
				listed[n] = true
				list = append(list, n)
			}
		}
	}
	for _, p := range a.p.parts {
		if p.kind == input || p.kind == anything {
			add(a.bound[p.id])
		}
	}
	for _, r := range a.again {
		for i, p := range r.of.inner {
			if p.kind == anything {
				add(r.nodes[i])
			}
		}
	}
	for _, r := range a.rests {
		add(r...)
	}
	return list
}

func (a *attempt) result() *Match {
	m := &Match{Numbers: slices.Clone(a.numbers), Rests: slices.Clone(a.rests), Nodes: a.all, outside: a.outside()}
	for _, p := range a.p.inputs {
		m.Inputs = append(m.Inputs, a.bound[p.id])
	}
	for _, p := range a.p.roots {
		m.Roots = append(m.Roots, a.bound[p.id])
	}
	for name, p := range a.p.named {
		if n := a.bound[p.id]; n != nil {
			if m.named == nil {
				m.named = map[string]*graph.Node{}
			}
			m.named[name] = n
		}
	}
	return m
}

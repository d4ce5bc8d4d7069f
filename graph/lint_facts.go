package graph

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// control checks the structural operators: regions, and what assign writes.
func (l *linter) control(n *Node) bool {
	ok := true
	if e := n.CheckControl(); e != nil {
		l.add(n, e.Code, e.Msg)
		ok = false
	}
	for _, r := range n.Regions() {
		if r == nil || r.parent != n {
			continue
		}
		inner := &linter{}
		inner.graph(r, l)
		l.list = append(l.list, inner.list...)
		ok = ok && len(inner.list) == 0
	}
	if n.Op() == op.Assign {
		if _, e := n.Assigned(); e != nil {
			l.add(n, e.Code, e.Msg).Hint = e.Hint
		}
	}
	return ok
}

// typeSymbols checks that the symbols in a node's type and attributes are
// defined where the node stands.
func (l *linter) typeSymbols(n *Node) {
	var missing string
	check := func(d shape.Dim) {
		for _, s := range d.Symbols() {
			if missing == "" && !l.defined(s, l.at) {
				missing = s
			}
		}
	}
	eachDim(n.typ, check)
	if n.attrsFit() {
		n.op.Codec().Symbols(n.attrs, check)
	}
	if missing != "" {
		l.add(n, UndefinedSymbol, "symbol "+missing+" is not defined here").
			WithHint("define it by a size of a value made before (Graph.DefineSymbol)")
	}
}

// eachDim calls f for every dimension of a type.
func eachDim(t shape.Type, f func(shape.Dim)) {
	for i := range t.Dims().Len() {
		f(t.Dim(i))
	}
	for i := range t.Len() {
		eachDim(t.Member(i), f)
	}
}

// defined reports whether a symbol is defined for the node at a place: by an
// input, by a node not behind it, or in the enclosing graph.
func (l *linter) defined(name string, at int) bool {
	s, ok := l.g.Symbol(name)
	if !ok {
		return l.outer != nil && l.outer.defined(name, l.outer.at)
	}
	if s.Node == nil {
		return false
	}
	place, here := l.place[s.Node]
	return here && (place <= at || s.Node.opcode == Placeholder)
}

// facts checks that symbols and guards speak of nodes that are there.
func (l *linter) facts() {
	for _, s := range l.g.Symbols() {
		if msg := l.absent(s.Node); msg != "" {
			l.fact(s.Node, "symbol "+s.Name+" is a size of "+s.Node.String()+", which "+msg)
		} else if r := s.Node.typ.Rank(); r >= 0 && (s.Axis >= r || s.Axis < -r) || s.Node.typ.Kind() == shape.Tuple {
			l.fact(s.Node, "symbol "+s.Name+" is axis "+strconv.Itoa(s.Axis)+" of "+s.Node.typ.String())
		}
	}
	for _, d := range l.g.Guards() {
		text := "guard " + d.String()
		if d.Node != nil {
			if msg := l.absent(d.Node); msg != "" {
				l.fact(d.Node, text+" comes from "+d.Node.String()+", which "+msg)
			}
		}
		for _, s := range d.Symbols() {
			if !l.defined(s, len(l.place)) {
				l.fact(d.Node, text+" needs the symbol "+s+", which is not defined")
			}
		}
	}
}

// absent says why a node is not in the graph, "" when it is.
func (l *linter) absent(n *Node) string {
	switch {
	case n == nil:
		return "is not there"
	case n.erased:
		return "has been erased"
	}
	if _, here := l.place[n]; !here {
		return "belongs to another graph"
	}
	return ""
}

func (l *linter) fact(n *Node, msg string) {
	if n == nil {
		n = &Node{g: l.g}
	}
	l.add(n, DeadFact, msg)
}

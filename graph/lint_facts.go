package graph

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// regions checks the regions of a call, and that they fit the operator.
func (l *linter) regions(n *Node) bool {
	rs := n.Regions()
	want := regionCount(n.op)
	if len(rs) != want {
		l.add(n, BadRegions, strconv.Itoa(len(rs))+" regions, expected "+strconv.Itoa(want))
		return false
	}
	ok := true
	for i, r := range rs {
		if r == nil || r.parent != n {
			l.add(n, BadRegions, "region "+strconv.Itoa(i)+" is nil or belongs to another node")
			return false
		}
		if have, want := len(r.Inputs()), regionInputs(n, i); have != want {
			l.add(n, BadRegions, "region "+strconv.Itoa(i)+" has "+strconv.Itoa(have)+" inputs, expected "+strconv.Itoa(want))
			ok = false
		}
		inner := &linter{}
		inner.graph(r, l)
		l.list = append(l.list, inner.list...)
		ok = ok && len(inner.list) == 0
	}
	if !ok {
		return false
	}
	return l.regionResults(n, rs)
}

// regionResults checks what regions return against each other and the carried values.
func (l *linter) regionResults(n *Node, rs []*Graph) bool {
	switch n.op {
	case op.Cond:
		a, b := outputType(rs[0].Output()), outputType(rs[1].Output())
		if !joinable(a, b) {
			l.add(n, BadRegions, "regions return "+a.String()+" and "+b.String()+", expected the same type")
			return false
		}
	case op.While, op.Scan:
		body := rs[len(rs)-1].Output()
		carry := n.attrs.(op.LoopAttrs).Carry
		if n.op == op.While && carry == 0 {
			carry = len(n.args)
		}
		if len(body.args) < carry {
			l.add(n, BadRegions, "body returns "+strconv.Itoa(len(body.args))+" values, expected "+strconv.Itoa(carry)+" carried ones")
			return false
		}
	}
	return true
}

func regionCount(o *op.Op) int {
	switch o {
	case op.Cond, op.While:
		return 2
	case op.Scan:
		return 1
	}
	return 0
}

// regionInputs returns the number of inputs that region i must have: cond passes
// all operands but the condition, loops pass all.
func regionInputs(n *Node, i int) int {
	if n.op == op.Cond {
		return len(n.args) - 1
	}
	return len(n.args)
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

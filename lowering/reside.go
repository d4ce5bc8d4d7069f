package lowering

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// maker returns the part that a node is a result of, and which; nil where there is none.
func (e *Pieces) maker(n *graph.Node) (p *piece, item int) {
	if get, ok := n.Attrs().(op.GetItemAttrs); ok && n.Op() == op.GetItem {
		n, item = n.Arg(0), get.Index
	}
	return e.byCall[n], item
}

// resultsOf returns the nodes that are the results of a part, nil for one that nothing uses.
func (e *Pieces) resultsOf(p *piece) []*graph.Node {
	list := make([]*graph.Node, p.results)
	if !p.tuple {
		list[0] = p.call
		return list
	}
	for u := range p.call.Users() {
		if _, i := e.maker(u); i < len(list) {
			list[i] = u
		}
	}
	return list
}

// reside finds out which values can stay on the device that they are made on, and which
// parts are to run on such values: those that have any.
func (e *Pieces) reside() {
	for _, p := range e.pieces {
		p.uses, p.host = make([]int, p.results), make([]bool, p.results)
		p.resident, _ = p.exe.(Resident)
		for n := range p.call.Users() {
			p.consider(e, n)
		}
	}
	for _, p := range e.pieces {
		if p.resident != nil && !e.neighbour(p) {
			p.resident = nil // Run copies less
		}
	}
}

// consider counts a user of a part.
func (p *piece) consider(e *Pieces, n *graph.Node) {
	if n.Op() == op.GetItem && p.tuple {
		_, i := e.maker(n)
		for u := range n.Users() {
			p.use(e, u, n, i)
		}
		return
	}
	if p.tuple {
		for i := range p.host { // the tuple as a whole
			p.host[i] = true
		}
		return
	}
	p.use(e, n, p.call, 0)
}

// use counts a user of a result: each operand of it.
func (p *piece) use(e *Pieces, user, result *graph.Node, item int) {
	if e.byCall[user] == nil {
		p.host[item] = true
		return
	}
	for _, a := range user.Args() {
		if a == result {
			p.uses[item]++
		}
	}
}

// neighbour reports whether a part takes a value from, or gives one to, another on its device.
func (e *Pieces) neighbour(p *piece) bool {
	for _, q := range e.pieces {
		if q == p {
			continue
		}
		for a := range q.call.Inputs() {
			if m, _ := e.maker(a); m == p && near(p, q) {
				return true
			}
		}
		for a := range p.call.Inputs() {
			if m, _ := e.maker(a); m == q && near(p, q) {
				return true
			}
		}
	}
	return false
}

// near reports whether two parts are of one target whose values can stay.
func near(p, q *piece) bool {
	_, a := p.exe.(Resident)
	_, b := q.exe.(Resident)
	return p.moves == q.moves && a && b
}

// stays reports whether what p makes stays where it is for q.
func stays(p, q *piece) bool { return p.moves == q.moves && p.resident != nil && q.resident != nil }

// elsewhere reports whether a part of another target uses a result.
func (p *piece) elsewhere(e *Pieces, item int) bool {
	for _, q := range e.pieces {
		for a := range q.call.Inputs() {
			if m, i := e.maker(a); m == p && i == item && !stays(p, q) {
				return true
			}
		}
	}
	return false
}

// usesOf is how many uses by parts end a result; 0 where the host uses it, too, so that none
// does.
func (p *piece) usesOf(item int) int {
	if item >= len(p.host) || p.host[item] {
		return 0
	}
	return p.uses[item]
}

package graph

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
)

// maxSubs bounds the sub-graphs of a text, and with them how deep calls nest.
const maxSubs = 4096

// subText is where a sub-graph stands in the text. It is read when its turn comes,
// or before the first call of it, whose type follows from it.
type subText struct {
	g    *Graph
	at   place // of its first line
	read bool
}

// declareSub notes: subgraph layer(%x: f32[N,4]) {
func (p *parser) declareSub(line *scan, at place) {
	line.keyword("subgraph")
	line.peek()
	start := line.i
	name, _ := line.word("the name of a sub-graph")
	switch {
	case line.failed:
	case name == "":
		line.fail(start, SyntaxError, "sub-graph without a name, expected one that calls can give")
	case p.subs[name] != nil:
		line.fail(start, Redefined, "sub-graph "+strconv.Quote(clip(name))+" is defined twice")
	case len(p.subs) == maxSubs:
		line.fail(start, TextLimit, "more than "+strconv.Itoa(maxSubs)+" sub-graphs, expected fewer")
		p.full = true
	default:
		s := &subText{g: New(name), at: at}
		p.m.addSub(s.g)
		if p.subs == nil {
			p.subs = map[string]*subText{}
		}
		p.subs[name] = s
	}
}

// sub reads a sub-graph whose line is line, unless that has been done.
func (p *parser) sub(line *scan) {
	line.keyword("subgraph")
	name, _ := line.word("the name of a sub-graph")
	s := p.subs[name]
	if line.failed || s == nil || s.read || s.at.line+1 != line.line {
		p.skipBlock(line)
		return
	}
	s.read = true
	p.region(s.g, line, 0)
}

// needSub reads the sub-graph that a call names, if it stands below, and goes on
// where reading was. One that is being read calls itself: Lint says so.
func (p *parser) needSub(name string) {
	s := p.subs[name]
	if s == nil || s.read {
		return
	}
	here, cur := p.mark(), p.cur
	p.reset(s.at)
	p.next()
	p.sub(&p.cur)
	p.reset(here)
	p.cur = cur
}

// callee reads what a call names first, and charges what its type takes.
func (b *body) callee(line *scan, o *op.Op, attrs any, args []*Node) bool {
	a, ok := attrs.(op.CallAttrs)
	if o != op.Call || !ok {
		return true
	}
	b.p.needSub(a.Graph)
	g := b.p.m.Sub(a.Graph)
	if g == nil || g.Output() == nil {
		return true
	}
	cost := 4 * dimBytes * len(g.symbols.guards)
	for _, r := range g.Output().args {
		if r.def != nil {
			cost += memberBytes + dimBytes*r.def.typ.Rank() + typeBytes(r.def.typ)
		}
	}
	sizes := 0
	for _, n := range args {
		if n != nil {
			sizes += typeBytes(n.typ)
		}
	}
	return b.p.spend(line, cost+sizes*(1+len(g.symbols.guards)+len(g.Output().args)))
}

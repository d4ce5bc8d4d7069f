package graph

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
)

// Hash returns a hash of what the graph computes, the same on every machine.
// Graphs that are Equal have the same hash: names, positions, scopes, side data
// and the order of independent nodes do not count.
func Hash(g *Graph) [32]byte { return newHasher(g, callees{}).graph(g) }

// callees has the hashes of sub-graphs; zero of one that is being computed.
type callees map[*Graph][32]byte

func (c callees) hash(g *Graph) [32]byte {
	sum, known := c[g]
	if !known {
		c[g] = sum
		sum = newHasher(g, c).graph(g)
		c[g] = sum
	}
	return sum
}

// hasher computes hashes of nodes from those of their operands.
type hasher struct {
	nodes map[*Node][32]byte
	h     hash.Hash
	subs  callees
}

func newHasher(g *Graph, subs callees) *hasher {
	h := &hasher{nodes: make(map[*Node][32]byte, g.count), h: sha256.New(), subs: subs}
	inputs := 0
	for n := range g.Nodes() {
		if n.opcode == Placeholder {
			inputs++
		}
		h.node(n, inputs)
	}
	return h
}

func (h *hasher) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.h.Write(b[:])
}

func (h *hasher) text(s string) {
	h.number(len(s))
	h.h.Write([]byte(s))
}

func (h *hasher) sum() (s [32]byte) {
	h.h.Sum(s[:0])
	return s
}

// operand writes the hash of a value; of one that no line before defines, zeros.
func (h *hasher) operand(n *Node) {
	var s [32]byte
	if n == nil {
		s[0] = 1
	} else {
		s = h.nodes[n]
	}
	h.h.Write(s[:])
}

func (h *hasher) node(n *Node, inputs int) {
	regions := make([][32]byte, 0, len(n.Regions()))
	for _, r := range n.Regions() {
		regions = append(regions, newHasher(r, h.subs).graph(r))
	}
	if g := n.Callee(); g != nil {
		regions = append(regions, h.subs.hash(g))
	}
	h.h.Reset()
	h.number(int(n.opcode))
	switch n.opcode {
	case Placeholder:
		h.number(inputs)
		h.text(defaultText(n))
	case Output:
		h.structure(n, n.packing())
		h.nodes[n] = h.sum()
		return
	default:
		h.text(n.targetText())
	}
	if n.attrsFit() {
		var key [128]byte
		h.text(string(n.op.Codec().AppendKey(key[:0], n.attrs, true)))
	}
	if n.Live() {
		h.number(1)
	}
	h.text(n.typ.String())
	h.number(len(n.args))
	for i := range n.args {
		h.operand(n.args[i].def)
	}
	for _, r := range regions {
		h.h.Write(r[:])
	}
	h.nodes[n] = h.sum()
}

func (h *hasher) structure(node *Node, s *Structure) {
	if s == nil {
		return
	}
	h.number(int(s.Kind))
	if s.Kind == LeafValue {
		h.operand(node.Arg(s.Index))
		return
	}
	h.text(s.Type)
	h.number(len(s.Fields))
	for i, f := range s.Fields {
		if i < len(s.Keys) {
			h.text(s.Keys[i])
		}
		h.structure(node, f)
	}
}

func (h *hasher) graph(g *Graph) [32]byte {
	var loose [][32]byte
	for n := range g.Nodes() {
		if n.nuses == 0 && n.Removable() {
			loose = append(loose, h.nodes[n])
		}
	}
	slices.SortFunc(loose, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	h.h.Reset()
	h.number(g.count)
	for _, n := range append(g.Inputs(), orderedAlone(g)...) {
		h.operand(n)
	}
	for _, l := range loose {
		h.h.Write(l[:])
	}
	symbols := slices.Clone(g.symbols.list)
	slices.SortFunc(symbols, func(a, b Symbol) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	for _, s := range symbols {
		h.text(s.Name)
		h.operand(s.Node)
		h.number(s.Axis)
	}
	for _, d := range g.symbols.texts() {
		h.text(d)
	}
	return h.sum()
}

// Alike reports whether two modules have the same text, the names and the order of nodes
// included and positions left out, in less time than printing them takes: for caches and for
// passes that run until nothing changes. It may say no where only symbols or guards were found
// in another order. EqualModules is the question whether two modules compute the same.
func Alike(a, b *Module) bool {
	if a.Type != b.Type || len(a.subs) != len(b.subs) || !alikeGraphs(a.Graph, b.Graph) {
		return false
	}
	for i := range a.subs {
		if !alikeGraphs(a.subs[i], b.subs[i]) {
			return false
		}
	}
	x, y := &printer{}, &printer{}
	x.state(a)
	y.state(b)
	return bytes.Equal(x.b, y.b)
}

func alikeGraphs(g, h *Graph) bool {
	if g.Name != h.Name || g.count != h.count || !g.symbols.alike(&h.symbols) {
		return false
	}
	n, m := g.first, h.first
	for ; n != nil && m != nil; n, m = n.next, m.next {
		if !n.alike(m) {
			return false
		}
	}
	return n == m
}

// alike compares two nodes by their parts, and those that have parts that few have by
// their text.
func (n *Node) alike(m *Node) bool {
	if n.extra != nil || m.extra != nil || n.opcode == Output || !n.attrsFit() || !m.attrsFit() {
		x, y := &printer{}, &printer{}
		x.node(n)
		y.node(m)
		return bytes.Equal(x.b, y.b)
	}
	if n.opcode != m.opcode || n.op != m.op || n.target != m.target || n.base != m.base || n.num != m.num || len(n.args) != len(m.args) {
		return false
	}
	for i := range n.args {
		d, e := n.args[i].def, m.args[i].def
		if (d == nil) != (e == nil) || d != nil && (d.base != e.base || d.num != e.num || d.erased || e.erased || d.g != n.g || e.g != m.g) {
			return false
		}
	}
	return n.typ.Same(m.typ) && n.Scope() == m.Scope() && n.op.Codec().Equal(n.attrs, m.attrs)
}

// alike compares symbols, guards and notes by their text.
func (t *symbolTable) alike(u *symbolTable) bool { return bytes.Equal(t.text(), u.text()) }

func (t *symbolTable) text() []byte {
	p := &printer{}
	p.symbols(&facts{symbols: t.list})
	p.guards(&facts{guards: t.guards})
	for _, s := range t.notes {
		p.note(s)
	}
	return p.b
}

// unusedValues are the nodes that nothing uses and that have no effect, with hashes of
// what they compute.
type unusedValues struct {
	nodes  []*Node
	hashes [][32]byte
}

// looseValues returns the unused values of a graph in an order that does not depend on that of the graph,
// except those of equal hashes: first what there is but once, which settles the most.
func looseValues(g *Graph) (u unusedValues) {
	for n := range g.Nodes() {
		if n.nuses == 0 && n.Removable() {
			u.nodes = append(u.nodes, n)
		}
	}
	if len(u.nodes) > 0 {
		h, count := newHasher(g, callees{}), map[[32]byte]int{}
		for _, n := range u.nodes {
			count[h.nodes[n]]++
		}
		slices.SortStableFunc(u.nodes, func(x, y *Node) int {
			a, b := h.nodes[x], h.nodes[y]
			return cmp.Or(cmp.Compare(count[a], count[b]), bytes.Compare(a[:], b[:]))
		})
		for _, n := range u.nodes {
			u.hashes = append(u.hashes, h.nodes[n])
		}
	}
	return u
}

// maxTries bounds the pairs of unused values that are tried and do not fit.
const maxTries = 10_000

// unused pairs values that nothing uses, from the i-th on. Several that look the same
// may differ in what they share with others, so that each of them is tried.
func (m *matcher) unused(x, y unusedValues, taken []bool, i int) (diff string) {
	if i == len(x.nodes) {
		return ""
	}
	if !taken[i] {
		if diff = m.try(x, y, taken, i, i); diff == "" {
			return ""
		}
	}
	from := i
	for from > 0 && y.hashes[from-1] == y.hashes[i] {
		from--
	}
	for j := from; j < len(y.nodes) && y.hashes[j] == y.hashes[i] && m.tries >= 0; j++ {
		if taken[j] || j == i {
			continue
		}
		d := m.try(x, y, taken, i, j)
		if d == "" {
			return ""
		}
		if diff == "" {
			diff = d
		}
	}
	return diff
}

// try pairs two unused values, and those after them; it takes all back where that fails.
func (m *matcher) try(x, y unusedValues, taken []bool, i, j int) string {
	before := len(m.trail)
	d := m.pair(x.nodes[i], y.nodes[j])
	if d == "" {
		d = m.rest()
	}
	if d == "" {
		taken[j] = true
		if d = m.unused(x, y, taken, i+1); d == "" {
			return ""
		}
		taken[j] = false
	}
	m.undo(before)
	m.tries--
	return d
}

// undo takes pairs back.
func (m *matcher) undo(before int) {
	for _, n := range m.trail[before:] {
		delete(m.from, m.to[n])
		delete(m.to, n)
	}
	m.trail = m.trail[:before]
}

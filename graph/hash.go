package graph

import (
	"bytes"
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
		if n.nuses == 0 && n.opcode != Output && n.opcode != Placeholder && !n.effectful() {
			loose = append(loose, h.nodes[n])
		}
	}
	slices.SortFunc(loose, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	h.h.Reset()
	h.number(g.count)
	for _, n := range append(g.Inputs(), g.ordered()...) {
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
	for _, d := range g.guardTexts() {
		h.text(d)
	}
	return h.sum()
}

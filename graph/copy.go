package graph

import "github.com/gofx-dev/gofx/diag"

// Copier copies nodes from one graph to another, with types, side data,
// positions, scopes, regions and symbols.
type Copier struct {
	dst, src *Graph
	nodes    map[*Node]*Node
}

// NewCopier returns a copier of nodes of src into dst.
func NewCopier(dst, src *Graph) *Copier { return &Copier{dst: dst, src: src, nodes: map[*Node]*Node{}} }

// At gives the cursor, of the destination, the position and scope of the old node n.
func (k *Copier) At(c *Cursor, n *Node) {
	c.static, c.pos = diag.Pos{}, 0
	if n.extra != nil {
		c.static = n.extra.static
	}
	if k.dst.pos == k.src.pos {
		c.pos = n.pos
	} else {
		c.pos = k.dst.pos.adopt(k.src.pos, n.pos)
	}
	c.scope = k.dst.Scope(n.Scope())
}

// adopt interns a stack of another graph.
func (p *positions) adopt(from *positions, id PosID) PosID {
	if id == 0 {
		return 0
	}
	f := frame{from.frames[id].pc, p.adopt(from, from.frames[id].caller)}
	if have, ok := p.ids[f]; ok {
		return have
	}
	next := PosID(len(p.frames))
	p.frames = append(p.frames, f)
	p.ids[f] = next
	return next
}

// Map records that v stands for n.
func (k *Copier) Map(n, v *Node) { k.nodes[n] = v }

// Mapped returns what stands for n, nil when nothing does.
func (k *Copier) Mapped(n *Node) *Node { return k.nodes[n] }

// Copy makes a copy of node at the cursor, on other operands. Types are kept when
// the operands' types are the same, else inferred.
func (k *Copier) Copy(cursor *Cursor, node *Node, args []*Node) *Node {
	value := cursor.add(node.opcode, node.Name(), args)
	value.op, value.attrs, value.target, value.typ = node.op, node.attrs, node.target, node.typ
	if node.extra != nil {
		x := value.more()
		x.structure, x.def, x.live = node.extra.structure, node.extra.def, node.extra.live
		x.static = cursor.static
		x.keys = append([]keyed(nil), node.extra.keys...)
		for _, r := range node.extra.regions {
			x.regions = append(x.regions, k.region(r, value))
		}
	}
	k.nodes[node] = value
	for i := range node.args {
		a := node.args[i].def
		if a != nil && args[i] != nil && !a.typ.Same(args[i].typ) {
			cursor.fail(value.Infer())
			break
		}
	}
	if node.opcode == Output {
		value.typ = outputType(value)
	}
	return value
}

// region copies a sub-graph whole.
func (k *Copier) region(r *Graph, parent *Node) *Graph {
	g := k.dst.NewRegion(r.Name)
	g.parent = parent
	sub := NewCopier(g, r)
	c := g.At()
	for n := range r.Nodes() {
		sub.At(c, n)
		args := make([]*Node, len(n.args))
		for i := range n.args {
			args[i] = sub.nodes[n.args[i].def]
		}
		sub.Copy(c, n, args)
	}
	sub.Finish()
	return g
}

// Finish copies the symbols, guards and notes of the source whose nodes have
// been mapped.
func (k *Copier) Finish() {
	for _, s := range k.src.symbols.list {
		if v := k.nodes[s.Node]; v != nil {
			k.dst.DefineSymbol(s.Name, v, s.Axis)
		}
	}
	for _, g := range k.src.symbols.guards {
		k.dst.Require(g.Relation, k.nodes[g.Node])
	}
	k.dst.symbols.notes = append(k.dst.symbols.notes, k.src.symbols.notes...)
}

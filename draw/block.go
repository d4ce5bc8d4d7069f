package draw

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
)

// blockKind tells where a block comes from.
type blockKind uint8

const (
	scopeBlock  blockKind = iota // the nodes of one call of a module
	holderBlock                  // a node with regions, and these
	regionBlock                  // the graph of a region, or a sub-graph
	repeatBlock                  // items that repeat, where they are not one module
	mergedBlock                  // neighbours that have been merged
)

// block is a group of nodes that is drawn as a cluster or as one box.
type block struct {
	kind      blockKind
	path      string // of the module
	name      string // of a region
	typ       string // Go type of the module, "" when not known
	call      int    // 0 for the first call of a module
	parent    *block
	items     []item
	children  map[string]*block // scope blocks by component, the latest call of each
	first     int               // place of the first node in the order of execution
	split     bool              // other nodes run between its nodes
	collapsed bool
	copies    []*block // further repetitions, not drawn
}

// item is a node or a block.
type item struct {
	node  *graph.Node
	block *block
}

// grouper sorts the nodes of one graph into blocks.
type grouper struct {
	d     *drawing
	root  *block
	place map[*graph.Node]int
	owner map[*graph.Node]*block
	steps int // left for questions about order
}

// tree makes the blocks of the module: those of its graph, and one block for
// each sub-graph, however many nodes call it.
func (d *drawing) tree() *block {
	root := d.group(d.m.Graph, "")
	for _, sub := range d.m.Subs() {
		b := d.group(sub, "")
		b.kind, b.parent, b.name = regionBlock, root, "sub-graph "+sub.Name
		root.items = append(root.items, item{block: b})
	}
	return root
}

// group makes the tree of blocks of a graph. prefix is the path of the module
// that runs it.
func (d *drawing) group(g *graph.Graph, prefix string) *block {
	p := &grouper{d: d, root: &block{path: prefix}, place: map[*graph.Node]int{}, owner: map[*graph.Node]*block{}, steps: 200*g.Len() + 10000}
	for n := range g.Nodes() {
		if d.hidden(n) {
			continue
		}
		p.place[n] = len(p.place)
		b := p.find(n)
		p.owner[n] = b
		b.items = append(b.items, p.item(n, b))
	}
	return p.root
}

func (p *grouper) item(n *graph.Node, b *block) item {
	regions := n.Regions()
	if len(regions) == 0 {
		return item{node: n}
	}
	h := &block{kind: holderBlock, path: b.path, parent: b, items: []item{{node: n}}}
	for i, r := range regions {
		if r == nil {
			continue
		}
		s := p.d.group(r, b.path)
		s.kind, s.parent, s.name = regionBlock, h, r.Name
		if s.name == "" {
			s.name = "region " + strconv.Itoa(i)
		}
		h.items = append(h.items, item{block: s})
	}
	return item{block: h}
}

// find returns the block for n, made where necessary.
func (p *grouper) find(n *graph.Node) *block {
	b := p.root
	rest, ok := inside(n.Scope().Path, b.path)
	if !ok || rest == "" {
		return b
	}
	for part := range strings.SplitSeq(rest, ".") {
		b = p.enter(b, part, n)
	}
	if b.typ == "" {
		b.typ = n.Scope().Type
	}
	return b
}

// inside returns path relative to prefix, false when it is not below it.
func inside(path, prefix string) (string, bool) {
	if prefix == "" {
		return path, true
	}
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok || rest == "" {
		return "", ok
	}
	return strings.CutPrefix(rest, ".")
}

// enter returns the child of b for n. A module that is called again gets a block
// of its own, but nodes of one call that have been moved apart come together.
func (p *grouper) enter(b *block, part string, n *graph.Node) *block {
	path := part
	if b.path != "" {
		path = b.path + "." + part
	}
	old := b.children[part]
	if old != nil {
		if last := b.items[len(b.items)-1].block; last != old {
			old.split = true
		}
		if !old.split || !p.throughOutside(old, n) {
			return old
		}
	}
	c := &block{path: path, parent: b, first: p.place[n]}
	if old != nil {
		c.call = old.call + 1
	}
	if b.children == nil {
		b.children = map[string]*block{}
	}
	b.children[part] = c
	b.items = append(b.items, item{block: c})
	return c
}

// throughOutside reports whether n depends on a node of b by way of one that is
// not in b: then b with n could not run as a whole.
func (p *grouper) throughOutside(b *block, n *graph.Node) bool {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node, outside bool) bool
	visit = func(n *graph.Node, outside bool) bool {
		for i := range n.NumArgs() {
			a := n.Arg(i)
			if a == nil || p.steps <= 0 {
				continue
			}
			p.steps--
			in := p.within(a, b)
			if in && outside {
				return true
			}
			place, known := p.place[a]
			if in || !known || place < b.first || seen[a] {
				continue
			}
			seen[a] = true
			if visit(a, true) {
				return true
			}
		}
		return false
	}
	return visit(n, false)
}

func (p *grouper) within(n *graph.Node, b *block) bool {
	for o := p.owner[n]; o != nil; o = o.parent {
		if o == b {
			return true
		}
	}
	return false
}

// compress removes modules that hold nothing but one other module, regions' included.
func compress(b *block) {
	for i := range b.items {
		c := b.items[i].block
		if c == nil {
			continue
		}
		for c.kind == scopeBlock && len(c.items) == 1 && c.items[0].block != nil && c.items[0].block.kind == scopeBlock {
			c = c.items[0].block
		}
		c.parent = b
		b.items[i].block = c
		compress(c)
	}
}

// nodes calls yield for the nodes of a block in order, those of regions included.
func (b *block) nodes(yield func(n *graph.Node)) {
	for _, it := range b.items {
		it.nodes(yield)
	}
}

func (it item) nodes(yield func(n *graph.Node)) {
	if it.node != nil {
		yield(it.node)
		return
	}
	it.block.nodes(yield)
}

func (it item) list() (l []*graph.Node) {
	it.nodes(func(n *graph.Node) { l = append(l, n) })
	return l
}

// size counts the nodes of one repetition of a block, including all repetitions
// of the blocks in it.
func (b *block) size() (n int) {
	for _, it := range b.items {
		if it.node != nil {
			n++
		} else {
			n += it.block.size() * (len(it.block.copies) + 1)
		}
	}
	return n
}

// collapse marks the blocks that are deeper than the drawing shows.
func (d *drawing) collapse(b *block, level int) {
	for i := range b.items {
		c := b.items[i].block
		if c == nil {
			continue
		}
		if c.kind == repeatBlock {
			d.collapse(c, level)
			continue
		}
		if d.o.Depth > 0 && level+1 >= d.o.Depth {
			if one := c.list(); len(one) == 1 && len(c.copies) == 0 {
				b.items[i] = item{node: one[0]}
			} else {
				c.collapsed = true
			}
			continue
		}
		below := level + 1
		if c.kind == holderBlock {
			below = level // its regions are the level
		}
		d.collapse(c, below)
	}
}

func (b *block) list() []*graph.Node { return item{block: b}.list() }

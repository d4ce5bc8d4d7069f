package draw

import (
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/repeat"
)

const (
	maxPeriod = 8 // items in a repeated group
	minPlain  = 8 // nodes that a repeated run of plain nodes must replace
)

// fold draws groups of neighbouring items that repeat once. Two groups are the
// same when they have the same operators, attributes, types and inner wiring.
func (d *drawing) fold(b *block) {
	if b.kind != holderBlock {
		d.foldItems(b)
	}
	for _, it := range b.items {
		if it.block != nil {
			d.fold(it.block)
		}
	}
}

func (d *drawing) foldItems(b *block) {
	var out []item
	next := 0
	for _, r := range d.runs(b) {
		out = append(out, b.items[next:r.At]...)
		out = append(out, d.repeat(b, r.At, r.Period, r.Count))
		next = r.At + r.Len()
	}
	b.items = append(out, b.items[next:]...)
}

// runs finds the repetitions among the items of a block.
func (d *drawing) runs(b *block) []repeat.Run {
	found := repeat.Items{MaxPeriod: maxPeriod, Keys: make([]string, len(b.items))}
	for i, it := range b.items {
		if it.node == nil || it.node.Opcode().IsCall() || it.node.Opcode() == graph.GetAttr {
			found.Keys[i] = signature(b, b.items[i:i+1])
		}
	}
	found.Same = func(i, k, n int) bool { return signature(b, b.items[i:i+n]) == signature(b, b.items[k:k+n]) }
	found.Accept = func(r repeat.Run) bool {
		return !plain(b.items[r.At:r.At+r.Period]) || r.Len() >= minPlain && chained(b.items[r.At:r.At+r.Len()], r.Period)
	}
	return found.Find()
}

func plain(items []item) bool {
	for _, it := range items {
		if it.block != nil {
			return false
		}
	}
	return true
}

// chained reports whether every group of p plain nodes uses the group before it.
func chained(items []item, p int) bool {
	group := map[*graph.Node]int{}
	for i, it := range items {
		group[it.node] = i/p + 1
	}
	links := map[int]bool{}
	for i, it := range items {
		for a := range it.node.Inputs() {
			if i >= p && group[a] == i/p {
				links[i/p] = true
			}
		}
	}
	return len(links) == len(items)/p-1
}

// repeat replaces count groups of items by the first.
func (d *drawing) repeat(b *block, at, period, count int) item {
	var r *block
	if only := b.items[at].block; period == 1 && only != nil && only.kind == scopeBlock {
		r = only
	} else {
		r = &block{kind: repeatBlock, path: b.path, parent: b, items: b.items[at : at+period : at+period]}
		for _, it := range r.items {
			if it.block != nil {
				it.block.parent = r
			}
		}
	}
	first := group(b.items[at : at+period])
	for k := range count {
		items := b.items[at+k*period : at+(k+1)*period]
		for i, n := range group(items) {
			d.loops[n] = append(d.loops[n], turn{r, k})
			if k > 0 {
				d.canon[n] = first[i]
			}
		}
		if k > 0 {
			c := &block{kind: repeatBlock, items: items}
			if r.kind == scopeBlock {
				c = items[0].block
			}
			r.copies = append(r.copies, c)
		}
	}
	return item{block: r}
}

func group(items []item) (l []*graph.Node) {
	for _, it := range items {
		l = append(l, it.list()...)
	}
	return l
}

// signature describes a group of items of b so that groups with equal
// descriptions may be drawn once.
func signature(b *block, items []item) string {
	s := &repeat.Signature{}
	describe(s, items, b)
	return s.String()
}

// describe writes the signature of items of the block b. Numbers in names do not count.
func describe(s *repeat.Signature, items []item, b *block) {
	for _, it := range items {
		if it.node != nil {
			s.Node(it.node)
			continue
		}
		c := it.block
		rest, _ := inside(c.path, b.path)
		s.Text("(", strconv.Itoa(int(c.kind)), c.typ, c.name, repeat.WithoutDigits(rest))
		describe(s, c.items, c)
		s.Text(")")
	}
}

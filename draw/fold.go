package draw

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
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
		out = append(out, b.items[next:r.at]...)
		out = append(out, d.repeat(b, r.at, r.period, r.count))
		next = r.at + r.period*r.count
	}
	b.items = append(out, b.items[next:]...)
}

// run is count groups of period items, side by side and the same.
type run struct{ at, period, count int }

// runs finds the repetitions among the items of a block.
func (d *drawing) runs(b *block) (list []run) {
	keys := make([]string, len(b.items))
	for i, it := range b.items {
		if it.node == nil || it.node.Opcode().IsCall() || it.node.Opcode() == graph.GetAttr {
			keys[i] = d.signature(b, b.items[i:i+1])
		}
	}
	for i := 0; i < len(b.items); {
		period, count := d.longest(b, keys, i)
		if count < 2 {
			i++
			continue
		}
		list = append(list, run{i, period, count})
		i += period * count
	}
	return list
}

// longest finds the repetition at item i that replaces most items.
func (d *drawing) longest(b *block, keys []string, i int) (period, count int) {
	best := 0
	for p := 1; p <= maxPeriod && i+2*p <= len(keys); p++ {
		if !sameKeys(keys[i:i+p], keys[i+p:i+2*p]) {
			continue
		}
		n, key := 1, d.signature(b, b.items[i:i+p])
		for at := i + p; at+p <= len(keys) && sameKeys(keys[i:i+p], keys[at:at+p]) && d.signature(b, b.items[at:at+p]) == key; at += p {
			n++
		}
		if n < 2 || plain(b.items[i:i+p]) && (n*p < minPlain || !chained(b.items[i:i+n*p], p)) {
			continue
		}
		if n*p > best {
			best, period, count = n*p, p, n
		}
	}
	return period, count
}

func sameKeys(a, b []string) bool {
	for i := range a {
		if a[i] == "" || a[i] != b[i] {
			return false
		}
	}
	return true
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
func (d *drawing) signature(b *block, items []item) string {
	s := &signer{inner: map[*graph.Node]int{}, outer: map[*graph.Node]int{}}
	s.items(items, b)
	return s.b.String()
}

type signer struct {
	b            strings.Builder
	inner, outer map[*graph.Node]int
}

func (s *signer) text(parts ...string) {
	for _, p := range parts {
		s.b.WriteString(strconv.Itoa(len(p)))
		s.b.WriteByte(':')
		s.b.WriteString(p)
	}
}

// items describes items of the block b. Numbers in names do not count.
func (s *signer) items(items []item, b *block) {
	for _, it := range items {
		if it.node != nil {
			s.node(it.node)
			continue
		}
		c := it.block
		rest, _ := inside(c.path, b.path)
		s.text("(", strconv.Itoa(int(c.kind)), c.typ, c.name, withoutDigits(rest))
		s.items(c.items, c)
		s.text(")")
	}
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

func (s *signer) node(n *graph.Node) {
	s.text(n.Opcode().String(), operator(n), attributes(n), n.Type().String())
	if n.Opcode() == graph.CallModule {
		s.text(withoutDigits(leafName(n.Target())))
	}
	if b := n.Bound(); b != nil {
		for _, p := range b.Params {
			if q := n.Graph().Module().Param(p); q != nil {
				s.text(q.TypeOf().String())
			}
		}
	}
	for i := range n.NumArgs() {
		a := n.Arg(i)
		if a == nil {
			s.text("_")
		} else if k, ok := s.inner[a]; ok {
			s.text("i", strconv.Itoa(k))
		} else {
			if _, ok := s.outer[a]; !ok {
				s.outer[a] = len(s.outer)
			}
			s.text("e", strconv.Itoa(s.outer[a]), a.Type().String())
		}
	}
	s.inner[n] = len(s.inner)
}

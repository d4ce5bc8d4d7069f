package draw

import "github.com/gofx-dev/gofx/graph"

// limit merges neighbours until the drawing has no more nodes than it may have.
// Neighbours in the order of execution are taken, so that merging makes no cycle.
func (d *drawing) limit() {
	most := d.o.Limit
	if most <= 0 {
		most = defaultLimit
	}
	for size := 2; d.root.count() > most; size *= 2 {
		if !d.root.merge(size) && size > d.m.Graph.Len() {
			return
		}
	}
}

// count returns the number of nodes that a block is drawn with.
func (b *block) count() int {
	if b.collapsed {
		return 1
	}
	n := 0
	for _, it := range b.items {
		if it.node != nil {
			n++
		} else {
			n += it.block.count()
		}
	}
	return n
}

// merge puts runs of items that are one node each into boxes of size nodes and
// reports whether it changed anything.
func (b *block) merge(size int) (changed bool) {
	if b.collapsed || b.kind == holderBlock {
		for _, it := range b.items {
			changed = it.block != nil && !b.collapsed && it.block.merge(size) || changed
		}
		return changed
	}
	var out, run []item
	flush := func() {
		for len(run) > 0 {
			k := min(size, len(run))
			if k == 1 {
				out = append(out, run[0])
			} else {
				out = append(out, item{block: &block{kind: mergedBlock, path: b.path, parent: b, items: run[:k:k], collapsed: true}})
				changed = true
			}
			run = run[k:]
		}
		run = nil
	}
	last := graph.Output
	for _, it := range b.items {
		single := it.node != nil && it.node.Opcode() != graph.Output || it.block != nil && it.block.collapsed
		kind := graph.CallFunction
		if it.node != nil && !it.node.Opcode().IsCall() {
			kind = it.node.Opcode()
		}
		if !single || kind != last {
			flush()
		}
		if last = kind; single {
			run = append(run, it)
			continue
		}
		if it.block != nil {
			changed = it.block.merge(size) || changed
		}
		out = append(out, it)
	}
	flush()
	b.items = out
	return changed
}

package simplify

import (
	"hash/maphash"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// CSE merges nodes that compute the same: equal operator, attributes, operands
// and regions, however the calls are spelt. Only pure operators are merged.
// Reads of one parameter are merged unless a node between them writes it, and so
// is what is computed from such a read. What makes memory that is written keeps
// its own: two equal factories are two tensors. An operand that bodies of control flow
// are given twice is given once.
// Ref: Click, Global code motion / global value numbering, PLDI 1995, for the
// restriction to one list of nodes in which every definition dominates.
var CSE = passes.Pass{
	Name: "cse",
	Doc:  "Merges nodes that compute the same value.",
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		err := mergeEqual(c, g, graph.EffectsOf(g))
		return c.Matches() > before, err
	},
}

func mergeEqual(ctx *passes.Ctx, g *graph.Graph, effects *graph.Effects) error {
	table := &valueTable{seen: make(map[uint64]*graph.Node, g.Len()), writes: writes{effects: effects, count: map[graph.Place]uint64{}}}
	table.h.SetSeed(maphash.MakeSeed())
	visited := 0
	for node := range g.Nodes() {
		if visited++; visited&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if f := flowOf(node); f != nil {
			if err := f.mergeOperands(ctx); err != nil {
				return err
			}
		}
		for _, r := range node.Regions() {
			if err := mergeEqual(ctx, r, effects); err != nil {
				return err
			}
		}
		table.writes.step(node)
		if !effects.Repeatable(node) {
			continue
		}
		first := table.find(node)
		if first == nil {
			continue
		}
		unify(g, first, node)
		if err := ctx.Replace(node, first, "computes the same as "+first.String()); err != nil {
			return err
		}
	}
	return nil
}

// unify records that sizes which were called differently are the same.
func unify(g *graph.Graph, a, b *graph.Node) {
	s, t := a.Type(), b.Type()
	if s.Kind() != shape.Tensor || s.Rank() != t.Rank() {
		return
	}
	for i := range max(s.Rank(), 0) {
		x, y := s.Dim(i), t.Dim(i)
		if !x.IsUnknown() && !y.IsUnknown() && !x.Equal(y) {
			g.AddGuard(x, y, a)
		}
	}
}

// valueTable finds the first node that computes the same as a later one.
type valueTable struct {
	h      maphash.Hash
	key    []byte
	seen   map[uint64]*graph.Node
	more   map[uint64][]*graph.Node // of equal hashes, after seen
	writes writes
	epochs map[*graph.Node]uint64 // of nodes that read what is written
}

// find enters node, or returns the node that it equals.
func (t *valueTable) find(node *graph.Node) *graph.Node {
	epoch := t.writes.of(node)
	sum := t.hash(node, epoch)
	first := t.seen[sum]
	if first == nil {
		t.enter(node, epoch)
		t.seen[sum] = node
		return nil
	}
	if t.same(first, node, epoch) {
		return first
	}
	for _, m := range t.more[sum] {
		if t.same(m, node, epoch) {
			return m
		}
	}
	if t.more == nil {
		t.more = map[uint64][]*graph.Node{}
	}
	t.enter(node, epoch)
	t.more[sum] = append(t.more[sum], node)
	return nil
}

func (t *valueTable) enter(n *graph.Node, epoch uint64) {
	if epoch == 0 {
		return
	}
	if t.epochs == nil {
		t.epochs = map[*graph.Node]uint64{}
	}
	t.epochs[n] = epoch
}

func (t *valueTable) hash(node *graph.Node, epoch uint64) uint64 {
	h := &t.h
	h.Reset()
	maphash.WriteComparable(h, epoch)
	switch node.Opcode() {
	case graph.GetAttr, graph.CallModule:
		h.WriteString(node.Target())
		if node.Live() {
			h.WriteByte(1)
		}
	default:
		o := node.Op()
		maphash.WriteComparable(h, o)
		t.key = o.Codec().AppendKey(t.key[:0], node.Attrs(), true)
		h.Write(t.key)
	}
	for i := range node.NumArgs() {
		if a := node.Arg(i); a != nil {
			maphash.WriteComparable(h, a)
		}
	}
	for _, r := range node.Regions() {
		sum := graph.Hash(r)
		h.Write(sum[:])
	}
	return h.Sum64()
}

// same reports whether first, seen before, computes what node does.
func (t *valueTable) same(first, node *graph.Node, epoch uint64) bool {
	if t.epochs[first] != epoch || (first.Opcode() == graph.GetAttr) != (node.Opcode() == graph.GetAttr) ||
		(first.Opcode() == graph.CallModule) != (node.Opcode() == graph.CallModule) {
		return false
	}
	switch node.Opcode() {
	case graph.GetAttr:
		return first.Target() == node.Target() && first.Live() == node.Live()
	case graph.CallModule:
		if first.Target() != node.Target() {
			return false
		}
	default:
		if first.Op() != node.Op() || !node.Op().Codec().Equal(first.Attrs(), node.Attrs()) {
			return false
		}
	}
	for i := range max(first.NumArgs(), node.NumArgs()) {
		if first.Arg(i) != node.Arg(i) {
			return false
		}
	}
	rs, rt := first.Regions(), node.Regions()
	if len(rs) != len(rt) {
		return false
	}
	for i := range rs {
		if equal, _ := graph.Equal(rs[i], rt[i]); !equal {
			return false
		}
	}
	return passes.DescribeConflict(first.Type(), node.Type()) == ""
}

// writes counts the writes to memory along a graph: two reads give the same only if no write
// lies between them.
type writes struct {
	effects *graph.Effects
	count   map[graph.Place]uint64
	all     uint64 // calls of which it is not known what they write
	total   uint64 // the others
}

// step follows one node. Without any write in the program there is nothing to follow.
func (w *writes) step(node *graph.Node) {
	if !w.effects.Writes() || node.Effect() != op.Effectful {
		return
	}
	if o := node.Op(); o == nil || len(o.Mutates) == 0 {
		w.all++
		return
	}
	for p := range node.Writes() {
		if p == (graph.Place{}) {
			w.all++
			continue
		}
		w.count[p]++
		w.total++
	}
}

// of returns a number that differs between two nodes when a write may lie between what they
// read; 0 for nodes that read nothing that is written.
func (w *writes) of(node *graph.Node) uint64 {
	if !w.effects.Writes() {
		return 0 // before anything is allocated
	}
	return w.before(node)
}

func (w *writes) before(node *graph.Node) (sum uint64) {
	for p := range node.Reads() {
		switch {
		case !w.effects.Written(p):
		case p == graph.Place{}:
			sum += 1 + w.all + w.total
		default:
			sum += 1 + w.all + w.count[p]
		}
	}
	return sum
}

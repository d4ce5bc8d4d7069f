package simplify

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// flow is a call of cond, while or scan as passes see it. Operand i is input i-skip of
// the regions; the first carry results of a loop are its operands of the next round, and
// operands from captured on are the same in each region and round.
type flow struct {
	*graph.Node
	skip, carry, captured int
	results               []*graph.Graph // regions that return the results of the node
}

func flowOf(n *graph.Node) *flow {
	if len(n.Regions()) == 0 {
		return nil // most nodes
	}
	f := &flow{Node: n, results: n.Regions()}
	switch a, _ := n.Attrs().(op.LoopAttrs); n.Op() {
	case op.Cond:
		f.skip, f.captured = 1, 1
	case op.While:
		f.carry, f.captured, f.results = a.Carry, a.Carry, n.Regions()[1:]
	case op.Scan:
		f.carry, f.captured = a.Carry, a.Carry+a.Seqs
	default:
		return nil
	}
	if n.CheckControl() != nil {
		return nil // Lint says so
	}
	return f
}

// inputs returns what stands for operand i in the regions.
func (f *flow) inputs(i int) (list []*graph.Node) {
	for _, r := range f.Regions() {
		list = append(list, r.Inputs()[i-f.skip])
	}
	return list
}

// droppable reports whether the regions do without some operands: nothing uses what
// stands for them, and other inputs have the sizes that they have.
func (f *flow) droppable(gone func(i int) bool) bool {
	for _, r := range f.Regions() {
		sizes := map[string]bool{}
		in := r.Inputs()
		for k, p := range in {
			for _, d := range p.Type().Dims().Slice() {
				if s, plain := d.IsSymbol(); plain && !gone(k+f.skip) {
					sizes[s] = true
				}
			}
		}
		for k, p := range in {
			if !gone(k + f.skip) {
				continue
			}
			for _, d := range p.Type().Dims().Slice() {
				if slices.ContainsFunc(d.Symbols(), func(s string) bool { return !sizes[s] }) {
					return false
				}
			}
			if len(r.SymbolsOf(p)) > 0 {
				return false
			}
		}
	}
	return true
}

// dropOperands drops what the bodies are given and do not use.
func (f *flow) dropOperands(c *passes.Ctx) error {
	for i := f.NumArgs() - 1; i >= f.captured; i-- {
		used := slices.ContainsFunc(f.inputs(i), func(p *graph.Node) bool { return p.NumUses() > 0 })
		if used || !f.droppable(func(k int) bool { return k == i }) {
			continue
		}
		what := f.Arg(i)
		if err := f.DropOperand(i); err != nil {
			return err
		}
		c.Rewrote(f.Node, nil, "no body uses operand "+what.String())
	}
	return nil
}

// mergeOperands makes one operand of those that are the same value.
func (f *flow) mergeOperands(c *passes.Ctx) error {
	for i := f.NumArgs() - 1; i > f.captured; i-- {
		first := slices.Index(f.Args()[f.captured:i], f.Arg(i))
		if first < 0 || !f.droppable(func(k int) bool { return k == i }) {
			continue
		}
		same := f.inputs(f.captured + first)
		for r, p := range f.inputs(i) {
			p.ReplaceUses(same[r], nil)
		}
		what := f.Arg(i)
		if err := f.DropOperand(i); err != nil {
			return err
		}
		c.Rewrote(f.Node, nil, "operand "+what.String()+" is given twice")
	}
	return nil
}

// dropResults drops the results that nothing uses, and the carried values that serve
// these alone. A node keeps one result.
func (f *flow) dropResults(c *passes.Ctx) error {
	live := f.live()
	if live == nil || !slices.Contains(live, false) {
		return nil
	}
	var members []shape.Type
	place, count := make([]int, len(live)), 0
	for i, l := range live {
		if l {
			place[i], count = count, count+1
			members = append(members, f.Type().Member(i))
		}
	}
	for _, r := range f.results {
		shrink(r, live)
	}
	for _, r := range f.Regions() {
		prune(r)
	}
	attrs := f.Attrs()
	for i := f.carry - 1; i >= 0; i-- {
		if live[i] {
			continue
		}
		if err := f.DropOperand(i); err != nil {
			return err
		}
		a := attrs.(op.LoopAttrs)
		a.Carry--
		attrs = a
	}
	if err := f.SetAttrs(attrs); err != nil {
		return err
	}
	f.SetType(shape.TupleType(members...))
	for u := range f.Users() {
		typ := u.Type()
		if err := u.SetAttrs(op.GetItemAttrs{Index: place[u.Attrs().(op.GetItemAttrs).Index]}); err != nil {
			return err
		}
		u.SetType(typ)
	}
	c.Rewrote(f.Node, nil, strconv.Itoa(len(live)-count)+" results are not used")
	return nil
}

// shrink makes a region return the live results alone.
func shrink(r *graph.Graph, live []bool) {
	old := r.Output()
	var outs []*graph.Node
	s := &graph.Structure{Kind: graph.Results}
	for i, v := range old.Args() {
		if live[i] {
			s.Fields = append(s.Fields, graph.Leaf(len(outs)))
			outs = append(outs, v)
		}
	}
	at := r.Before(old)
	_ = r.Erase(old) // nothing uses an output
	at.Output(s, outs...)
}

// prune drops what nothing uses, before that is told of.
func prune(r *graph.Graph) {
	defines := definers(r)
	for n := range r.Backward() {
		if n.NumUses() == 0 && !defines[n] && n.Removable() {
			_ = r.Erase(n)
		}
	}
}

// live tells which results are used, or serve those that are; nil where it cannot be
// told, or where what would go has sizes that nothing else has.
func (f *flow) live() []bool {
	for _, r := range f.results {
		if s := r.Output().Structure(); s == nil || s.Kind != graph.Results || f.Type().Kind() != shape.Tuple {
			return nil
		}
	}
	live := make([]bool, f.results[0].Output().NumArgs())
	for u := range f.Users() {
		a, ok := u.Attrs().(op.GetItemAttrs)
		if !ok || u.Op() != op.GetItem || a.Index < 0 || a.Index >= len(live) {
			return nil
		}
		live[a.Index] = true
	}
	if !slices.Contains(live, true) && len(live) > 0 {
		live[0] = true
	}
	for f.carry > 0 && f.spread(live) {
	}
	if !f.droppable(func(i int) bool { return i < f.carry && !live[i] }) {
		return nil
	}
	return live
}

// spread marks the carried values that live ones, and effects, are computed from; false
// when there are no more.
func (f *flow) spread(live []bool) (more bool) {
	for _, r := range f.Regions() {
		body := r == f.results[0]
		needed := definers(r)
		for n := range r.Backward() {
			switch {
			case n.Opcode() == graph.Output:
				for i, v := range n.Args() {
					if !body || live[i] {
						needed[v] = true
					}
				}
			case n.Opcode() != graph.Placeholder && (needed[n] || !n.Removable()):
				for a := range n.Inputs() {
					needed[a] = true
				}
			}
		}
		for i, p := range r.Inputs()[:f.carry] {
			if needed[p] && !live[i] {
				live[i], more = true, true
			}
		}
	}
	return more
}

// definers are the nodes that define symbols.
func definers(g *graph.Graph) map[*graph.Node]bool {
	defines := map[*graph.Node]bool{}
	for _, s := range g.Symbols() {
		defines[s.Node] = true
	}
	return defines
}

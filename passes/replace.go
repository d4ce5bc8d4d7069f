package passes

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ruleRun is one run of a rule.
type ruleRun struct {
	c         *Ctx
	k         *compiled
	constants map[*graph.Node]string // paths of the replacement's constants
	misses    []located
	at        map[*graph.Node]int // which of misses is at a node
}

type located struct {
	miss
	n *graph.Node
}

// missed keeps the best miss at a node, the last one of equals.
func (r *ruleRun) missed(n *graph.Node, why miss) {
	i, again := r.at[n]
	switch {
	case !again:
		r.at[n] = len(r.misses)
		r.misses = append(r.misses, located{why, n})
	case why.matched >= r.misses[i].matched:
		r.misses[i].miss = why
	}
}

// reportMisses records the matches that failed late, the best one first.
func (r *ruleRun) reportMisses() {
	best := -1
	for i, m := range r.misses {
		if !m.n.Erased() && (best < 0 || m.matched > r.misses[best].matched) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	r.refuse(r.misses[best])
	for i, m := range r.misses {
		if i != best && m.matched > 1 && !m.n.Erased() {
			r.refuse(m)
		}
	}
}

func (r *ruleRun) refuse(m located) {
	r.c.refuse(Event{Kind: Refused, Node: m.n, Why: m.String(), Rule: r.k.Name, At: m.miss.at, Nodes: m.nodes})
}

// rewrite puts the replacement in the place of a match and returns it.
func (r *ruleRun) rewrite(m *Match) ([]*graph.Node, error) {
	last := m.Roots[0]
	for _, n := range m.Roots {
		if last.Precedes(n) {
			last = n
		}
	}
	c := last.Graph().Before(last)
	var out []*graph.Node
	if r.k.Build != nil {
		out = r.k.Build(c, m)
	} else {
		out = r.splice(c, m)
	}
	if err := r.fitting(out, m, last); err != nil {
		return nil, err
	}
	for i, n := range m.Roots {
		if out[i] == n {
			continue // changed in place
		}
		KeepType(out[i], n.Type())
		if !slices.Contains(m.outside, out[i]) {
			copyMeta(out[i], n)
		}
		n.ReplaceUses(out[i], nil)
	}
	for _, n := range slices.Backward(m.Nodes) {
		if !n.Erased() && n.NumUses() == 0 {
			_ = n.Graph().Erase(n) // one that defines a symbol stays
		}
	}
	SweepUnused(m.outside)
	r.c.rewrote(r.k.Name, m, out)
	return out, nil
}

// fitting says what is wrong with the values that are to stand for the results.
func (r *ruleRun) fitting(out []*graph.Node, m *Match, last *graph.Node) error {
	if len(out) != len(m.Roots) {
		return last.Error(BadRule, "Build returned "+strconv.Itoa(len(out))+" values, the pattern has "+strconv.Itoa(len(m.Roots))+" results")
	}
	for i, n := range m.Roots {
		switch {
		case out[i] == nil || out[i].Erased() || out[i].Graph() != n.Graph():
			return n.Error(BadRule, "Build returned no value of the graph for result "+strconv.Itoa(i))
		case out[i] != n && last.Precedes(out[i]):
			return n.Error(BadRule, "Build returned "+out[i].String()+", which is computed after the match")
		}
		if msg := DescribeConflict(out[i].Type(), n.Type()); msg != "" {
			return n.Error(BadRule, "the replacement gives "+msg)
		}
	}
	return nil
}

// SweepUnused erases those of the nodes that nothing uses any more and that have no effect,
// and then what only they used: the operands of what a rewrite has replaced. A node that
// defines a symbol stays; nil and erased nodes are passed over.
func SweepUnused(nodes []*graph.Node) {
	for _, n := range nodes {
		if n == nil || n.Erased() || n.NumUses() > 0 || !n.Removable() {
			continue
		}
		args := n.Args()
		if n.Graph().Erase(n) == nil {
			SweepUnused(args)
		}
	}
}

// splice copies the replacement to the cursor.
func (r *ruleRun) splice(c *graph.Cursor, m *Match) []*graph.Node {
	to := map[*graph.Node]*graph.Node{}
	next := 0
	g := r.k.replacement.Graph
	env := func(name string) shape.Dim {
		if s, ok := g.Symbol(name); ok && to[s.Node] != nil {
			return sizeOf(to[s.Node], s.Axis, true)
		}
		return shape.Sym(name)
	}
	for n := range g.Nodes() {
		args := make([]*graph.Node, 0, n.NumArgs())
		for _, a := range n.Args() {
			if mark := markerOf(opOf(a)); mark != nil {
				args = append(args, m.Rests[mark.index]...)
				continue
			}
			args = append(args, to[a])
		}
		switch {
		case n.Opcode() == graph.Placeholder:
			to[n] = m.Inputs[next]
			next++
		case n.Opcode() == graph.GetAttr:
			to[n] = c.GetAttr(r.constant(n))
		case n.Opcode() == graph.Output:
			return args
		case markerOf(n.Op()) != nil: // in its user's place
		default: // a function call in any case, so that a functional graph stays one
			to[n] = c.Function(n.Op(), n.Op().Codec().Bind(n.Attrs(), env), args...)
		}
	}
	return nil
}

// constant enters a constant of the replacement into the module, once a run.
func (r *ruleRun) constant(n *graph.Node) string {
	path, ok := r.constants[n]
	if !ok {
		m := r.c.Module
		path = m.FreshPath("_" + fileName(r.k.Name) + "_constant")
		p := *r.k.replacement.Param(n.Target())
		p.Path, p.Selector = path, ""
		m.SetParam(p)
		r.constants[n] = path
	}
	return path
}

// sizeOf returns one size of a value: from its type, as the symbol that names
// it, or, when make is set, as a new symbol.
func sizeOf(n *graph.Node, axis int, make bool) shape.Dim {
	if d := n.Type().Dim(axis); !d.IsUnknown() {
		return d
	}
	for _, s := range n.Graph().SymbolsOf(n) {
		if s.Axis == axis {
			return shape.Sym(s.Name)
		}
	}
	if make {
		return n.Graph().NewSymbol(n, axis)
	}
	return shape.Unknown
}

func opOf(n *graph.Node) *op.Op {
	if n == nil {
		return nil
	}
	return n.Op()
}

package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Outline makes a sub-graph of nodes of one graph, and puts a call of it in their
// place. name is a hint; the call's attributes have the name that it got.
//
// The inputs of the sub-graph are the values from outside in the order of their
// first use, then those that only give sizes, then tensors of the state that are read
// outside (as a module's parameters follow its operands); its results are the values that others
// use, in the order of the nodes: one is the value of the call, several are taken
// apart by getitem nodes with the old names. A getitem node goes with the call that
// it takes apart. get_attr nodes among the nodes are read inside, others are inputs.
//
// Nothing may lie on the way from one of the nodes to another and be left out; the
// error (FX3044) names the way. What stood between the nodes and depends on them
// stands after the call now; it is an error when effects would change their order.
// The graph is as it was when there is an error. Inline is the inverse.
func Outline(name string, nodes []*Node) (call *Node, err error) {
	o, err := newOutliner(nodes)
	if err != nil {
		return nil, err
	}
	if err := o.arrange(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			o.release()
		}
	}()
	if err := o.boundary(); err != nil {
		return nil, err
	}
	o.sub = o.g.mod.NewSub(name)
	call, err = o.build()
	if err != nil {
		o.g.mod.dropSubs(func(g *Graph) bool { return g == o.sub })
		return nil, err
	}
	o.replace(call)
	return call, nil
}

// outliner turns nodes of g into sub.
type outliner struct {
	g, sub   *Graph
	in       map[*Node]bool  // the nodes
	nodes    []*Node         // in order
	behind   []*Node         // others among them that come to stand after the call
	needs    []string        // symbols of g that the nodes speak of
	args     []*Node         // inputs, as values of g
	captured []*Node         // those of args that were captured for their sizes
	outs     []*Node         // results
	inner    map[string]bool // symbols that nothing outside speaks of
}

func newOutliner(nodes []*Node) (*outliner, error) {
	if len(nodes) == 0 {
		return nil, diag.New(BadOutline, "no nodes are given, expected one or more")
	}
	o := &outliner{g: nodes[0].g, in: make(map[*Node]bool, len(nodes)), inner: map[string]bool{}}
	for _, n := range nodes {
		switch {
		case n.g != o.g || n.erased:
			return nil, n.Error(BadOutline, n.String()+" is no node of the graph "+o.g.Name)
		case n.opcode == Placeholder || n.opcode == Output:
			return nil, n.Error(BadOutline, n.String()+" is an input or the output, which stay where they are")
		}
		o.in[n] = true
	}
	if o.g.mod == nil {
		return nil, diag.New(BadOutline, "graph "+o.g.Name+" belongs to no module, expected one that can hold sub-graphs")
	}
	o.collect(nodes)
	if len(o.nodes) == 0 {
		return nil, nodes[0].Error(BadOutline, "there are only getitem nodes, which go with the call that they take apart")
	}
	return o, nil
}

// collect orders the nodes, with the getitem nodes of the calls among them and without
// those of others. It looks at nothing else, so that many parts of one graph take the
// time of all their nodes.
func (o *outliner) collect(nodes []*Node) {
	for _, n := range nodes {
		if n.op == op.GetItem {
			delete(o.in, n) // unless its call brings it along
		}
	}
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		if n.op == op.GetItem && n.Arg(0) != nil {
			continue
		}
		o.in[n] = true
		o.nodes = append(o.nodes, n)
	}
	for i := 0; i < len(o.nodes); i++ { // grows
		for u := range o.nodes[i].Users() {
			if u.op == op.GetItem && u.Arg(0) == o.nodes[i] && !o.in[u] {
				o.in[u] = true
				o.nodes = append(o.nodes, u)
			}
		}
	}
	slices.SortFunc(o.nodes, func(a, b *Node) int { return cmp.Compare(a.order, b.order) })
	o.nodes = slices.Compact(o.nodes)
}

// arrange finds what must stand after the call, and refuses what would have to
// stand before and after it, and effects that would change places.
func (o *outliner) arrange() error {
	via := map[*Node]*Node{} // of those behind: the operand that makes it so
	last := o.nodes[len(o.nodes)-1]
	var before []*Node
	for n := o.nodes[0]; n != last.next; n = n.next {
		var from *Node
		for a := range o.uses(n) {
			if via[a] != nil || !o.in[n] && o.in[a] {
				from = a
				break
			}
		}
		switch {
		case from != nil && o.in[n]:
			return o.wayOut(n, from, via)
		case from != nil:
			via[n] = from
			o.behind = append(o.behind, n)
		case !o.in[n]:
			before = append(before, n)
		}
	}
	if len(before)+len(o.behind) == 0 {
		return nil // nothing changes places
	}
	return o.effects(slices.Concat(before, o.nodes, o.behind))
}

// uses yields the nodes of g that n needs: its operands, and those that define the
// symbols that it speaks of.
func (o *outliner) uses(n *Node) func(yield func(*Node) bool) {
	return func(yield func(*Node) bool) {
		for a := range n.Inputs() {
			if !yield(a) {
				return
			}
		}
		if !o.g.findsSizes() {
			return
		}
		for _, name := range n.symbolsUsed() {
			if s, ok := o.g.Symbol(name); ok && s.Node != nil && s.Node != n && s.Node.g == o.g && !yield(s.Node) {
				return
			}
		}
	}
}

// findsSizes reports whether a symbol of g is a size of a value that is no input.
func (g *Graph) findsSizes() bool {
	return slices.ContainsFunc(g.symbols.list, func(s Symbol) bool { return s.Node != nil && s.Node.opcode != Placeholder })
}

// symbolsUsed returns the symbols of the graph around that n speaks of: in its type,
// its attributes and its regions.
func (n *Node) symbolsUsed() []string {
	var names []string
	add := func(d shape.Dim) {
		for _, s := range d.Symbols() {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	var enter func(n *Node)
	enter = func(n *Node) {
		eachDim(n.typ, add)
		if n.attrsFit() && n.op.Codec().HasDims() {
			n.op.Codec().Symbols(n.attrs, add)
		}
		for _, r := range n.Regions() {
			for m := range r.Nodes() {
				enter(m)
			}
			for _, d := range r.symbols.guards {
				for _, s := range d.Symbols() {
					add(shape.Sym(s))
				}
			}
			names = slices.DeleteFunc(names, func(s string) bool { _, own := r.Symbol(s); return own && !n.g.knows(s) })
		}
	}
	enter(n)
	return names
}

// wayOut is the error of a value that leaves the nodes and comes back to n.
func (o *outliner) wayOut(n, from *Node, via map[*Node]*Node) error {
	way := []string{n.String()}
	at := from
	for ; at != nil && !o.in[at]; at = via[at] {
		way = append(way, at.String())
	}
	way = append(way, at.String())
	slices.Reverse(way)
	return from.Error(BadOutline, "the way "+strings.Join(way, " -> ")+" leaves the nodes and comes back").
		WithHint("add " + from.String() + " to the nodes, or leave " + n.String() + " out")
}

// effects refuses an order in which effects, and reads of what they write, are not
// in the order that they have.
func (o *outliner) effects(order []*Node) error {
	ordered := map[*Node]bool{}
	for _, n := range o.g.state() {
		ordered[n] = true
	}
	at := o.nodes[0]
	for _, n := range order {
		if !ordered[n] {
			continue
		}
		for at != n && !ordered[at] {
			at = at.next
		}
		if at != n {
			return at.Error(BadOutline, at.String()+" has an effect, or reads what an effect writes, and would have to run after "+n.String()).
				WithHint("add it to the nodes, or leave out those after it")
		}
		at = at.next
	}
	return nil
}

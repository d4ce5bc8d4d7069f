package graph

import (
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
// stands behind the call now; it is an error when effects would change their order.
// The graph is as it was when there is an error. Inline is the inverse.
func Outline(name string, nodes []*Node) (call *Node, err error) {
	o, err := newOutliner(nodes)
	if err != nil {
		return nil, err
	}
	if err := o.arrange(); err != nil {
		return nil, err
	}
	if err := o.boundary(); err != nil {
		return nil, err
	}
	o.sub = o.g.mod.NewSub(name)
	call, err = o.build()
	if err != nil {
		m := o.g.mod
		m.subs = slices.DeleteFunc(m.subs, func(g *Graph) bool { return g == o.sub })
		return nil, err
	}
	o.replace(call)
	return call, nil
}

// outliner turns nodes of g into sub.
type outliner struct {
	g, sub *Graph
	in     map[*Node]bool // the nodes
	nodes  []*Node        // in order
	behind []*Node        // others among them that come to stand behind the call
	needs  []string       // symbols of g that the nodes speak of
	args   []*Node        // inputs, as values of g
	outs   []*Node        // results
	to     map[*Node]*Node
	inner  map[string]bool // symbols that nothing outside speaks of
}

func newOutliner(nodes []*Node) (*outliner, error) {
	if len(nodes) == 0 {
		return nil, diag.New(BadOutline, "no nodes are given, expected one or more")
	}
	o := &outliner{g: nodes[0].g, in: make(map[*Node]bool, len(nodes)), to: map[*Node]*Node{}, inner: map[string]bool{}}
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
	for n := range o.g.Nodes() {
		if a := n.Arg(0); n.op == op.GetItem && a != nil {
			if o.in[n] = o.in[a]; !o.in[n] {
				delete(o.in, n)
			}
		}
		if o.in[n] {
			o.nodes = append(o.nodes, n)
		}
	}
	if len(o.nodes) == 0 {
		return nil, nodes[0].Error(BadOutline, "there are only getitem nodes, which go with the call that they take apart")
	}
	return o, nil
}

// arrange finds what must stand behind the call, and refuses what would have to
// stand before and behind it, and effects that would change places.
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
	written := o.g.mod.writes()
	ordered := func(n *Node) bool {
		if n.acts(nil) {
			return true
		}
		if len(written) == 0 {
			return false
		}
		reads := n.opcode == GetAttr && written[n.target]
		for a := range n.Inputs() {
			root := a.memory()
			reads = reads || root.opcode == GetAttr && written[root.target]
		}
		return reads
	}
	at := o.nodes[0]
	for _, n := range order {
		if !ordered(n) {
			continue
		}
		for at != n && !ordered(at) {
			at = at.next
		}
		if at != n {
			return at.Error(BadOutline, at.String()+" has an effect, or reads what an effect writes, and would come to stand behind "+n.String()).
				WithHint("add it to the nodes, or leave out those behind it")
		}
		at = at.next
	}
	return nil
}

// acts reports whether a node has effects: control flow and calls, if what they run has.
func (n *Node) acts(entered []*Graph) bool {
	bodies := n.Bodies()
	if len(bodies) == 0 {
		return n.effectful()
	}
	for _, g := range bodies {
		if slices.Contains(entered, g) {
			continue
		}
		for m := range g.Nodes() {
			if m.acts(append(entered, g)) {
				return true
			}
		}
	}
	return false
}

// memory returns the node whose memory n may be a view of, else n itself.
func (n *Node) memory() *Node {
	for {
		o := n.Op()
		if o == nil || o.ViewOf == 0 && len(o.Mutates) == 0 || len(n.args) == 0 {
			return n
		}
		k := o.ViewOf - 1
		if k < 0 {
			k = o.Mutates[0]
		}
		a := n.Arg(k)
		if a == nil {
			return n
		}
		n = a
	}
}

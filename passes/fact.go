package passes

import (
	"iter"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Fact is something that may be true of a graph and that a pass relies on. Facts
// are looked up in the graph, not remembered, so that they hold for graphs from
// anywhere.
type Fact struct {
	Name string // "typed", for messages
	Cure string // what makes it true
	// Violation returns a node for which the fact does not hold, nil when it holds. The driver
	// asks before and after each pass: that of a graph.Analysis answers at once where
	// the pass between has changed nothing.
	Violation func(g *graph.Graph) *graph.Node
}

// The facts that the built-in passes speak of.
var (
	// Typed: element type and rank of every value are known.
	Typed = Fact{"typed", "give the inputs types when tracing, or run shape-prop", first("typed", func(n *graph.Node) bool {
		return n.Opcode() != graph.Output && !known(n.Type())
	})}
	// Functional: every call is a call_function, so that operands are visible.
	Functional = Fact{"functional", "run functionalize", first("functional", func(n *graph.Node) bool {
		return n.Opcode() == graph.CallMethod || n.Opcode() == graph.CallModule
	})}
	// Decomposed: no operator is composite.
	Decomposed = Fact{"decomposed", "run decompose", first("decomposed", func(n *graph.Node) bool {
		return n.Op() != nil && n.Op().Composite()
	})}
	// EvalMode: no operator is in training mode.
	EvalMode = Fact{"eval mode", "trace the model in evaluation mode", first("eval mode", Training)}
	// Flat: no node calls a sub-graph.
	Flat = Fact{"flat", "run inline", first("flat", func(n *graph.Node) bool { return n.Op() == op.Call })}
)

// Facts are the facts of this package.
var Facts = []Fact{Typed, Functional, Decomposed, EvalMode, Flat}

func hasFact(list []Fact, f Fact) bool {
	for _, x := range list {
		if x.Name == f.Name {
			return true
		}
	}
	return false
}

// first returns the Violation of a fact that the node for which bad holds violates.
func first(fact string, bad func(n *graph.Node) bool) func(*graph.Graph) *graph.Node {
	return graph.NewAnalysis("not "+fact, func(g *graph.Graph) *graph.Node {
		for n := range whole(g) {
			if bad(n) {
				return n
			}
		}
		return nil
	}).Of
}

// whole yields the nodes of g: those of the module, where g is the graph of one.
func whole(g *graph.Graph) iter.Seq[*graph.Node] {
	if m := g.Module(); m != nil && m.Graph == g {
		return m.All()
	}
	return g.All()
}

func known(t shape.Type) bool {
	switch t.Kind() {
	case shape.Tuple:
		for i := range t.Len() {
			if !known(t.Member(i)) {
				return false
			}
		}
		return true
	case shape.Tensor:
		return t.Ranked() && t.DType() != array.Invalid
	}
	return false
}

// Training reports whether the node calls an operator in training mode, as the
// operator's record tells.
func Training(n *graph.Node) bool {
	o := n.Op()
	return o != nil && o.Training(n.Attrs())
}

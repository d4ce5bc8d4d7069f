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
	// Violation returns a node for which the fact does not hold, nil when it holds.
	Violation func(g *graph.Graph) *graph.Node
}

// The facts that the built-in passes speak of.
var (
	// Typed: element type and rank of every value are known.
	Typed = Fact{"typed", "give the inputs types when tracing, or run shape-prop", first(func(n *graph.Node) bool {
		return n.Opcode() != graph.Output && !known(n.Type())
	})}
	// Functional: every call is a call_function, so that operands are visible.
	Functional = Fact{"functional", "run functionalize", first(func(n *graph.Node) bool {
		return n.Opcode() == graph.CallMethod || n.Opcode() == graph.CallModule
	})}
	// Decomposed: no operator is composite.
	Decomposed = Fact{"decomposed", "run decompose", first(func(n *graph.Node) bool {
		return n.Op() != nil && n.Op().Composite()
	})}
	// EvalMode: no operator is in training mode.
	EvalMode = Fact{"eval mode", "trace the model in evaluation mode", first(Training)}
	// Flat: no node calls a sub-graph.
	Flat = Fact{"flat", "run inline", first(func(n *graph.Node) bool { return n.Op() == op.Call })}
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

func first(bad func(n *graph.Node) bool) func(*graph.Graph) *graph.Node {
	return func(g *graph.Graph) *graph.Node {
		for n := range whole(g) {
			if bad(n) {
				return n
			}
		}
		return nil
	}
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

// Effect returns what may be done with the node: op.Effectful nodes stay where
// they are, op.Random ones may be removed when unused but not merged, op.Pure
// ones may be merged. Control flow has the effect of its regions, a call of a
// sub-graph that of the sub-graph; what is not known is effectful.
func Effect(n *graph.Node) op.Effect {
	if !n.Opcode().IsCall() {
		return op.Pure
	}
	o := n.Op()
	if o == nil || len(o.Mutates) > 0 {
		return op.Effectful
	}
	if len(n.Bodies()) == 0 || !o.Structural() {
		return o.Effect
	}
	worst := op.Pure
	for m := range n.Inner() {
		if len(m.Bodies()) == 0 {
			worst = max(worst, Effect(m))
		}
	}
	return worst
}

// Memory returns the node whose memory n's value may share; see graph.Node.Memory.
func Memory(n *graph.Node) *graph.Node { return n.Memory() }

// Overwritten reports whether what n reads from memory may change: its value lies, or
// may lie, in state of the paths or in other memory that is written. A read of such a
// value must not move over a write. See Written and WrittenMemory.
func Overwritten(n *graph.Node, paths map[string]bool, memory map[*graph.Node]bool) bool {
	return memory[n.Memory()] || n.InState(paths)
}

// WrittenMemory returns the nodes of the graph, of its module where it has one, and
// of regions whose memory an operator with Mutates writes, also through views.
func WrittenMemory(g *graph.Graph) map[*graph.Node]bool {
	var written map[*graph.Node]bool
	for n := range state(g) {
		o := n.Op()
		if o == nil {
			continue
		}
		for _, i := range o.Mutates {
			if a := n.Arg(i); a != nil {
				if written == nil {
					written = map[*graph.Node]bool{}
				}
				written[Memory(a)] = true
			}
		}
	}
	return written
}

// state yields the nodes that share the state of g.
func state(g *graph.Graph) iter.Seq[*graph.Node] {
	if m := g.Module(); m != nil {
		return m.All()
	}
	return g.All()
}

// Written returns the paths of the parameters and buffers that a node of the
// graph, of its module or of its regions writes. A read of such a path gives another value
// after the write than before it.
func Written(g *graph.Graph) map[string]bool {
	var paths map[string]bool
	for n := range WrittenMemory(g) {
		if n.Opcode() == graph.GetAttr {
			if paths == nil {
				paths = map[string]bool{}
			}
			paths[n.Target()] = true
		}
	}
	return paths
}

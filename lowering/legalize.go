package lowering

import (
	"context"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// Source is the call of the user's graph that a node of a prepared graph comes from.
type Source struct {
	Node string
	Op   string // the operator as the user called it
}

// Origin holds the Source of calls that stand for others: what is made of a call
// by expansion, or by rules of a target, inherits it.
var Origin = graph.NewInheritedKey[Source]("origin")

// SourceOf returns where a node comes from: itself when nothing else is recorded.
func SourceOf(n *graph.Node) Source {
	if s, ok := Origin.Get(n); ok {
		return s
	}
	s := Source{Node: n.Name()}
	if o := n.Op(); o != nil {
		s.Op = o.Name
	}
	return s
}

// Rules is a target's table of what it makes of operators. Look-up is by the
// operator alone; what has no rule is expanded and tried again, see Legalize.
type Rules[R any] map[*op.Op]R

// Find returns the rule of the operator that the node calls.
func (r Rules[R]) Find(n *graph.Node) (rule R, ok bool) {
	rule, ok = r[n.Op()]
	return rule, ok
}

// Legalize expands composite calls of g until takes accepts every call, and
// drops what nothing uses then. The error lists all calls which takes does not
// accept, with its reasons. Regions are expanded too but not judged: they are
// lowered on their own, for the types that they are called with. Calls of primitive
// operators are expanded by the first of the tables that has the operator, package
// passes/expand has one; where that leaves a call as it is, its reason is in the error.
// A call of a user's operator that writes an operand (Mutates) is refused: a target's memory
// has other owners than the graph's values.
func Legalize(g *graph.Graph, target string, takes func(n *graph.Node) (bool, string), tables ...simplify.Expansions) error {
	direct := func(n *graph.Node) (bool, string) {
		if o := n.Op(); o != nil && len(o.Mutates) > 0 && o != op.Assign {
			return false, "it writes an operand in place; interpret the graph, or let the operator return the new value"
		}
		return takes(n)
	}
	legal := passes.Fact{Name: "legal for " + target, Violation: func(g *graph.Graph) *graph.Node {
		for n := range g.Nodes() {
			if !n.Opcode().IsCall() {
				continue
			}
			if ok, _ := direct(n); !ok {
				return n
			}
		}
		return nil
	}}
	if legal.Violation(g) == nil {
		return nil
	}
	for n := range g.All() {
		if n.Opcode().IsCall() {
			Origin.Set(n, SourceOf(n))
		}
	}
	ctx := passes.NewCtx(context.Background(), g.Module())
	keep := func(n *graph.Node) bool { ok, _ := direct(n); return ok }
	left := map[*graph.Node]string{}
	refused := func(n *graph.Node, why string) { left[n] = why }
	if _, err := simplify.ExpandExcept(keep, refused, tables...).Run(ctx, g); err != nil {
		return err
	}
	var errs diag.List
	for n := range g.Nodes() {
		if !n.Opcode().IsCall() {
			continue
		}
		switch ok, why := direct(n); {
		case ok:
		case n.Op() != nil && n.Op().Composite():
			errs = append(errs, unknown(n))
		case left[n] != "":
			errs = append(errs, Refuse(n, target, joined(why, "it is not expanded: "+left[n])))
		default:
			errs = append(errs, Refuse(n, target, why))
		}
	}
	if len(errs) > 0 {
		errs.Sort()
		return errs
	}
	_, err := simplify.DCE.Run(ctx, g)
	return err
}

// joined says two things of which either may be missing.
func joined(why, more string) string {
	if why != "" && more != "" {
		why += "; "
	}
	return why + more
}

// unknown reports a call that cannot be expanded because an operand's rank is
// not known.
func unknown(n *graph.Node) *diag.Error {
	for a := range n.Inputs() {
		if !a.Type().Ranked() {
			return At(n, UnknownSize, "operand "+a.String()+" is "+a.Type().String()+", expected a known rank").
				WithHint("capture the graph with input types, or pin the symbols that decide the rank")
		}
	}
	return At(n, UnknownSize, "the operand types are not known")
}

// TryCall says whether a target takes a call, for Target.Supports: try gets the call alone
// (IsolateCall), to be legalized as the target does it. Where that fails and sizes are symbols, the
// call is tried with numbers, which a target has that lowers when they come.
func TryCall(n *graph.Node, try func(m *graph.Module) error) (ok bool, reason string) {
	m := IsolateCall(n)
	if m == nil {
		return false, "an operand is a tuple"
	}
	sized := atSizes(m)
	err := try(m)
	if err != nil && sized != nil {
		err = try(sized)
	}
	if err == nil {
		return true, ""
	}
	var l diag.List
	l.Add(err)
	msg := l[0].Msg
	if _, why, found := strings.Cut(msg, " cannot run "+n.Op().Key()+": "); found {
		msg = why
	}
	return false, msg
}

// someSize stands for the sizes of symbols where a call is tried.
const someSize = 4

// atSizes returns a trial whose symbols have a size, nil where it has none.
func atSizes(m *graph.Module) *graph.Module {
	sizes := map[string]int{}
	size := func(symbol string) shape.Dim {
		sizes[symbol] = someSize
		return shape.Const(someSize)
	}
	var types []shape.Type
	for n := range m.Graph.Nodes() {
		switch {
		case n.Opcode() == graph.Placeholder:
			types = append(types, n.Type().Bind(size))
		case n.Op() != nil:
			n.Op().Codec().Symbols(n.Attrs(), func(d shape.Dim) { d.Bind(size) })
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	sized, err := prepare(m, m.Graph, types, Options{Shapes: sizes})
	if err != nil {
		return nil // the sizes do not fit together
	}
	return sized
}

// IsolateCall returns a module of one call, like node, on inputs of the types of node's
// operands, whose results are those of the call: what a target can try its rules on
// without touching node's graph. nil when node's operands are not tensors.
func IsolateCall(node *graph.Node) *graph.Module {
	if node.Op() == nil || len(node.Regions()) > 0 {
		return nil
	}
	g := graph.New("trial")
	module := graph.NewModule(g)
	cursor := g.At()
	var types []shape.Type
	for _, a := range node.Args() {
		if a == nil {
			types = append(types, shape.Type{})
			continue
		}
		if a.Type().Kind() == shape.Tuple {
			return nil
		}
		types = append(types, a.Type())
	}
	if b := node.Bound(); b != nil {
		for _, path := range b.Params {
			t := shape.Type{}
			if p := node.Graph().Module().Param(path); p != nil {
				t = p.TypeOf()
			}
			types = append(types, t)
		}
	}
	args := make([]*graph.Node, len(types))
	for i, t := range types {
		if t.Kind() != shape.None {
			args[i] = cursor.Placeholder("x", t, nil)
		}
	}
	cursor.OnError = func(error) {}
	v := cursor.Function(node.Op(), node.Attrs(), args...)
	if count, tuple := node.Op().NumResults(node.Attrs()); tuple {
		results := &graph.Structure{Kind: graph.Results}
		items := make([]*graph.Node, count)
		for i := range items {
			items[i] = cursor.ItemNode(v, i)
			results.Fields = append(results.Fields, graph.Leaf(i))
		}
		cursor.Output(results, items...)
		return module
	}
	cursor.Output(nil, v)
	return module
}

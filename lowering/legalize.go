package lowering

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Source is the call of the user's graph that a node of a prepared graph comes from.
type Source struct {
	Node string
	Op   string // the operator as the user called it
}

// Origin holds the Source of the calls of a prepared graph; expansion hands it on.
var Origin = graph.NewKey[Source]("origin")

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

// maxExpansions bounds the work on operators that decompose into themselves.
const maxExpansions = 1 << 18

// Legalize expands composite calls of g until direct accepts every call. The
// error lists all calls for which it does not, with its reasons.
func Legalize(g *graph.Graph, target string, direct func(n *graph.Node) (bool, string)) error {
	var errs diag.List
	budget := maxExpansions
	for n := g.First(); n != nil; {
		next := n.Next()
		if !n.Opcode().IsCall() {
			n = next
			continue
		}
		ok, why := direct(n)
		if ok {
			n = next
			continue
		}
		if budget--; budget < 0 {
			return append(errs, Refuse(n, target, "its decomposition does not end"))
		}
		refusal, prev, src, typ := Refuse(n, target, why), n.Prev(), SourceOf(n), n.Type()
		out, err := g.Expand(n)
		switch {
		case err != nil:
			errs.Add(err)
			n = next
			continue
		case out == nil:
			if o := n.Op(); o != nil && o.Composite() {
				refusal = unknown(n)
			}
			errs = append(errs, refusal)
			n = next
			continue
		}
		if d := out.Type().DType(); d != array.Invalid && typ.DType() != array.Invalid && d != typ.DType() {
			errs = append(errs, diag.Bug("the decomposition of "+src.Op+" gives "+out.Type().String()+", its type rule says "+typ.String()))
		}
		// What was known of the call stays known where the expansion says less.
		if t := out.Type(); !t.Ranked() && t.Kind() != shape.Tuple && typ.Ranked() {
			out.SetType(typ)
		}
		first := g.First()
		if prev != nil {
			first = prev.Next()
		}
		for m := first; m != nil && m != next; m = m.Next() {
			if _, ok := Origin.Get(m); !ok {
				Origin.Set(m, src)
			}
		}
		n = first
	}
	errs.Sort()
	return errs.Err()
}

// unknown reports a call that cannot be expanded because an operand's rank is
// not known.
func unknown(n *graph.Node) *diag.Error {
	for a := range n.Inputs() {
		if !a.Type().Ranked() {
			return n.Error(UnknownSize, "operand "+a.String()+" is "+a.Type().String()+", expected a known rank").
				WithHint("capture the graph with input types, or pin the symbols that decide the rank")
		}
	}
	return n.Error(UnknownSize, "the operand types are not known")
}

// Prune erases calls whose value nobody uses, except those with effects.
func Prune(g *graph.Graph) {
	for n := range g.Backward() {
		o := n.Op()
		if n.NumUses() > 0 || n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output {
			continue
		}
		if n.Opcode().IsCall() && (o == nil || o.Effect == op.Effectful || len(o.Mutates) > 0) {
			continue
		}
		if len(g.SymbolsOf(n)) == 0 {
			// The conditions of Erase have just been checked.
			_ = g.Erase(n)
		}
	}
}

// Trial returns a module of one call, like n, on inputs of the types of n's
// operands: what a target can try its rules on without touching n's graph. nil
// when n's operands are not tensors.
func Trial(n *graph.Node) *graph.Module {
	if n.Op() == nil || len(n.Regions()) > 0 {
		return nil
	}
	g := graph.New("trial")
	m := graph.NewModule(g)
	c := g.At()
	var types []shape.Type
	for _, a := range n.Args() {
		if a == nil {
			types = append(types, shape.Type{})
			continue
		}
		if a.Type().Kind() == shape.Tuple {
			return nil
		}
		types = append(types, a.Type())
	}
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			t := shape.Type{}
			if p := n.Graph().Module().Param(path); p != nil {
				t = p.TypeOf()
			}
			types = append(types, t)
		}
	}
	args := make([]*graph.Node, len(types))
	for i, t := range types {
		if t.Kind() != shape.None {
			args[i] = c.Placeholder("x", t, nil)
		}
	}
	c.OnError = func(error) {}
	v := c.Function(n.Op(), n.Attrs(), args...)
	c.Output(nil, v)
	return m
}

package simplify

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Expansion writes a call of an operator with calls of others on b. in has nil for
// absent operands; the others are of known ranks. results are the value of the call, or
// its members where the operator gives a tuple. A call that it leaves as it is gives nil,
// with the reason in why, or with "" where there is nothing simpler.
type Expansion func(b op.Builder, attrs any, in []op.Value) (results []op.Value, why string)

// Expansions say by operator how calls are written that no Decompose of the operator's
// own expands. package passes/expand has such a table.
type Expansions map[*op.Op]Expansion

// ExpandExcept is DecomposeExcept that expands calls of primitive operators, too, by the
// first of the tables that has the operator. refused, where it is not nil, is told of
// every call that a table has an entry for and leaves as it is for a reason.
func ExpandExcept(keep func(n *graph.Node) bool, refused func(n *graph.Node, why string), tables ...Expansions) passes.Pass {
	e := &expander{keep: keep, refused: refused, tables: tables}
	return passes.Pass{
		Name: "expand",
		Doc:  "Expands composite operators, and primitive ones by a table, into fewer ones.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			before := c.Matches()
			err := e.graph(c, g)
			return c.Matches() > before, err
		},
	}
}

// expander expands calls, those of primitive operators by tables.
type expander struct {
	keep    func(n *graph.Node) bool
	refused func(n *graph.Node, why string)
	tables  []Expansions
}

// find returns how a call of the operator is written with others, nil where nobody says.
func (e *expander) find(o *op.Op) Expansion {
	for _, t := range e.tables {
		if x := t[o]; x != nil {
			return x
		}
	}
	return nil
}

// byTable expands a call of a primitive operator. It tells whether it did.
func (e *expander) byTable(ctx *passes.Ctx, g *graph.Graph, node *graph.Node) (bool, error) {
	x := e.find(node.Op())
	if x == nil {
		return false, nil
	}
	results, why, err := written(g, node, x)
	if err != nil {
		return false, err
	}
	if results == nil {
		if why != "" {
			ctx.Refuse(node, why)
			if e.refused != nil {
				e.refused(node, why)
			}
		}
		return false, nil
	}
	if err := check(node, results); err != nil {
		return false, err
	}
	old, err := supplant(g, node, results)
	if err != nil {
		return false, err
	}
	for _, o := range old { // last: a pass that is to stop ends here
		ctx.Rewrote(o.node, o.by, "expanded")
	}
	return true, nil
}

// replaced is a node and what gives its value now.
type replaced struct{ node, by *graph.Node }

// supplant puts the results into the place of the call, or of its members, and erases
// these.
func supplant(g *graph.Graph, node *graph.Node, results []*graph.Node) ([]replaced, error) {
	if _, tuple := node.Op().NumResults(node.Attrs()); !tuple {
		return []replaced{{node, results[0]}}, replace(g, node, node, results[0])
	}
	var old []replaced
	for u := range node.Users() {
		old = append(old, replaced{u, results[u.Attrs().(op.GetItemAttrs).Index]})
	}
	for _, o := range old {
		if err := replace(g, node, o.node, o.by); err != nil {
			return nil, err
		}
	}
	return append(old, replaced{node, nil}), g.Erase(node)
}

// written asks the expansion for the results of the call.
func written(g *graph.Graph, node *graph.Node, x Expansion) (results []*graph.Node, why string, err error) {
	if node.Opcode() == graph.CallModule {
		return nil, "it is a call of a module; run functionalize first", nil
	}
	in := make([]op.Value, node.NumArgs())
	for i, a := range node.Args() {
		switch {
		case a == nil:
		case a.Type().Kind() != shape.Tensor || !a.Type().Ranked():
			return nil, "the rank of an operand is not known", nil
		default:
			in[i] = a
		}
	}
	if _, tuple := node.Op().NumResults(node.Attrs()); tuple {
		for u := range node.Users() {
			if u.Op() != op.GetItem {
				return nil, "its results are used as one tuple", nil
			}
		}
	}
	defer diag.Catch(&err)
	values, why := x(g.Before(node), node.Attrs(), in)
	for _, v := range values {
		results = append(results, v.(*graph.Node))
	}
	return results, why, nil
}

// check holds an expansion to the type rule of the operator.
func check(node *graph.Node, results []*graph.Node) error {
	n, tuple := node.Op().NumResults(node.Attrs())
	if len(results) != n {
		return diag.Bug("the expansion of " + node.Op().Name + " gives " + strconv.Itoa(len(results)) + " results, expected " + strconv.Itoa(n))
	}
	for i, r := range results {
		want := node.Type()
		if tuple {
			want = want.Member(i)
		}
		if why := passes.DescribeConflict(r.Type(), want); why != "" {
			return diag.Bug("the expansion of " + node.Op().Name + " gives " + why)
		}
	}
	return nil
}

// replace puts out, a new node or an operand of call, into the place of node.
func replace(g *graph.Graph, call, node, out *graph.Node) error {
	known := false
	for a := range call.Inputs() {
		known = known || a == out
	}
	if !known {
		passes.KeepType(out, node.Type())
		graph.CopyMeta(out, node)
	}
	node.ReplaceUses(out, nil)
	return g.Erase(node)
}

package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

// Forms: the computation of a file may depend on whether sizes are equal, or one is larger. Squeeze
// without axes drops dimensions that are 1 when the model runs, and an If may ask for sizes;
// results then have other ranks. A graph is imported for the form that the given sizes
// (Options.Sizes) decide, and its guards refuse sizes of other forms. Without sizes the graph
// decides in its run, which the interpreter can where ranks depend on it.

// claim is the statement of a comparison of sizes: a relation, or several of them.
type claim struct {
	rel  shape.Relation
	both [2]*claim // both hold, or with either one of them
	not  *claim

	either bool
}

// truth decides a claim; ok is false where the sizes are not known. need is told each relation that it
// rests on.
func (dr *draft) truth(c *claim, need func(r shape.Relation)) (yes, ok bool) {
	switch {
	case c.not != nil:
		yes, ok = dr.truth(c.not, need)
		return !yes, ok
	case c.both[0] != nil:
		first, ok := dr.truth(c.both[0], need)
		if !ok || first == c.either {
			return first, ok
		}
		return dr.truth(c.both[1], need)
	}
	switch c.rel.Truth() {
	case shape.True:
		return true, true
	case shape.False:
		return false, true
	}
	if c.rel.Rel == shape.EQ {
		if equal, known := dr.mod.Graph.CompareDims(c.rel.A, c.rel.B); known {
			return equal, true
		}
	}
	_, _, yes, err := c.rel.Eval(dr.sizeOf)
	if err != nil {
		return false, false
	}
	r := c.rel
	if !yes {
		r, _ = r.Not() // which comparisons have
	}
	need(r)
	return yes, true
}

// sizeOf is the size that a symbol of an input has in the run that the graph is imported for.
func (dr *draft) sizeOf(symbol string) (int, bool) {
	s, ok := dr.mod.Graph.Symbol(symbol)
	if !ok {
		return 0, false
	}
	dims := dr.sizes[dr.inputs[s.Node]]
	if s.Axis >= len(dims) {
		return 0, false
	}
	return dims[s.Axis], true
}

// decide is the outcome of a claim for the sizes given, which the graph is guarded to have then. ok is
// false where they are not known.
func (c *call) decide(of *claim, at *graph.Node) (yes, ok bool) {
	dr := c.dr
	var all []shape.Relation
	yes, ok = dr.truth(of, func(r shape.Relation) { all = append(all, r) })
	if !ok {
		dr.undecided = true
		return false, false
	}
	for _, r := range all {
		dr.rely(r, at)
	}
	return yes, true
}

// rely guards the graph to be given sizes with which a relation holds.
func (dr *draft) rely(r shape.Relation, at *graph.Node) {
	if at != nil && at.Graph() != dr.mod.Graph {
		at = nil
	}
	if err := dr.mod.Graph.Assume(r, at); err != nil {
		panic(firstOf(err))
	}
	dr.mod.Graph.NoteSpecialisation(graph.Specialisation{What: r.String(), Guard: guard.Size{Relation: r}})
}

func firstOf(err error) *diag.Error {
	var l diag.List
	l.Add(err)
	return l[0]
}

// force relies on a claim having an outcome; false where that is no relation of sizes.
func (c *call) force(of *claim, outcome bool, at *graph.Node) bool {
	switch {
	case of.not != nil:
		return c.force(of.not, !outcome, at)
	case of.both[0] != nil:
		return of.either != outcome && c.force(of.both[0], outcome, at) && c.force(of.both[1], outcome, at)
	}
	r := of.rel
	if !outcome {
		r, _ = r.Not()
	}
	c.dr.rely(r, at)
	return true
}

// ones tells which sizes of a type are 1; ok is false where that depends on sizes that are not
// known. rely is then the condition to guard the graph by.
func (dr *draft) ones(t shape.Type) (axes []int, rely []shape.Relation, ok bool) {
	for i, d := range t.Dims().Slice() {
		yes, known := false, false
		if !d.IsUnknown() {
			yes, known = dr.truth(&claim{rel: shape.Equality(d, shape.Const(1))}, func(r shape.Relation) { rely = append(rely, r) })
		}
		if !known {
			dr.undecided = true
			return nil, nil, false
		}
		if yes {
			axes = append(axes, i)
		}
	}
	return axes, rely, true
}

// claims notes the statements of outcomes of comparisons of sizes, so that an If can be decided
// by them.
func (c *call) claims(outs []*value) {
	if len(outs) != 1 || outs[0] == nil || outs[0].arr != nil || domain(c.n.Domain) != "" || len(c.in) == 0 || c.in[0] == nil {
		return
	}
	first := c.in[0].claim
	switch c.n.Op {
	case "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual":
		outs[0].claim = c.compared()
	case "Not":
		if first != nil {
			outs[0].claim = &claim{not: first}
		}
	case "And", "Or":
		if first != nil && c.has(1) && c.in[1].claim != nil {
			outs[0].claim = &claim{both: [2]*claim{first, c.in[1].claim}, either: c.n.Op == "Or"}
		}
	case "Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten":
		outs[0].claim = first
	case "Cast":
		if outs[0].typ().DType() == array.Bool {
			outs[0].claim = first
		}
	}
}

// compared is the statement of a comparison of two sizes, nil for other operands.
func (c *call) compared() *claim {
	var d [2]shape.Dim
	for i := range d {
		if !c.has(i) {
			return nil
		}
		s, ok := c.in[i].asSizes()
		if !ok || len(s.dims) != 1 || s.dims[0].IsUnknown() || c.dr.isLate(s.dims[0]) {
			return nil
		}
		d[i] = s.dims[0]
	}
	switch a, b := d[0], d[1]; c.n.Op {
	case "Equal":
		return &claim{rel: shape.Equality(a, b)}
	case "Greater":
		return &claim{rel: shape.AtLeast(a, b.AddInt(1))}
	case "Less":
		return &claim{rel: shape.AtLeast(b, a.AddInt(1))}
	case "GreaterOrEqual":
		return &claim{rel: shape.AtLeast(a, b)}
	default:
		return &claim{rel: shape.AtLeast(b, a)}
	}
}

// String is for messages.
func (c *claim) String() string {
	switch {
	case c.not != nil:
		return "not (" + c.not.String() + ")"
	case c.both[0] != nil:
		return c.both[0].String() + map[bool]string{true: " or ", false: " and "}[c.either] + c.both[1].String()
	}
	return c.rel.String()
}

// sizesHint is the cure for values that the sizes of a run would make known.
const sizesHint = "give the sizes of the inputs when importing (Options.Sizes), as -shape NAME=2,3 does"

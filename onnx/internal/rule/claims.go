package rule

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/shape"
)

// Forms: the computation of a file may depend on whether sizes are equal, or one is larger. Squeeze
// without axes drops dimensions that are 1 when the model runs, and an If may ask for sizes;
// results then have other ranks. A graph is imported for the form that the given sizes
// (Options.Sizes) decide, and its guards refuse sizes of other forms. Without sizes the graph
// decides in its run, which the interpreter can where ranks depend on it.

// Claim is the statement of a comparison of sizes: a relation, or several of them.
type Claim struct {
	Rel  shape.Relation
	both [2]*Claim // both hold, or with either one of them
	not  *Claim

	either bool
}

// truth decides a claim; ok is false where the sizes are not known. need is told each relation that it
// rests on.
func (dr *Draft) truth(c *Claim, need func(r shape.Relation)) (yes, ok bool) {
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
	switch c.Rel.Truth() {
	case shape.True:
		return true, true
	case shape.False:
		return false, true
	}
	if c.Rel.Rel == shape.EQ {
		if equal, known := dr.Module.Graph.CompareDims(c.Rel.A, c.Rel.B); known {
			return equal, true
		}
	}
	_, _, yes, err := c.Rel.Eval(dr.sizeOf)
	if err != nil {
		return false, false
	}
	r := c.Rel
	if !yes {
		r, _ = r.Not() // which comparisons have
	}
	need(r)
	return yes, true
}

// sizeOf is the size that a symbol of an input has in the run that the graph is imported for.
func (dr *Draft) sizeOf(symbol string) (int, bool) {
	s, ok := dr.Module.Graph.Symbol(symbol)
	if !ok {
		return 0, false
	}
	dims := dr.sizes[dr.InputNames[s.Node]]
	if s.Axis >= len(dims) {
		return 0, false
	}
	return dims[s.Axis], true
}

// Decide is the outcome of a claim for the sizes given, which the graph is guarded to have then. ok is
// false where they are not known.
func (c *Call) Decide(of *Claim, at *graph.Node) (yes, ok bool) {
	dr := c.Draft
	var all []shape.Relation
	yes, ok = dr.truth(of, func(r shape.Relation) { all = append(all, r) })
	if !ok {
		dr.undecided = true
		return false, false
	}
	for _, r := range all {
		dr.Rely(r, at)
	}
	return yes, true
}

// Rely guards the graph to be given sizes with which a relation holds.
func (dr *Draft) Rely(r shape.Relation, at *graph.Node) {
	if at != nil && at.Graph() != dr.Module.Graph {
		at = nil
	}
	if err := dr.Module.Graph.Assume(r, at); err != nil {
		panic(FirstOf(err))
	}
	dr.Module.Graph.NoteSpecialisation(graph.Specialisation{What: r.String(), Guard: guard.Size{Relation: r}})
}

// FirstOf returns the first error of a list, or the error itself.
func FirstOf(err error) *diag.Error {
	var l diag.List
	l.Add(err)
	return l[0]
}

// Force relies on a claim having an outcome; false where that is no relation of sizes.
func (c *Call) Force(of *Claim, outcome bool, at *graph.Node) bool {
	switch {
	case of.not != nil:
		return c.Force(of.not, !outcome, at)
	case of.both[0] != nil:
		return of.either != outcome && c.Force(of.both[0], outcome, at) && c.Force(of.both[1], outcome, at)
	}
	r := of.Rel
	if !outcome {
		r, _ = r.Not()
	}
	c.Draft.Rely(r, at)
	return true
}

// Ones tells which sizes of a type are 1; ok is false where that depends on sizes that are not
// known. rely is then the condition to guard the graph by.
func (dr *Draft) Ones(t shape.Type) (axes []int, rely []shape.Relation, ok bool) {
	for i, d := range t.Dims().Slice() {
		yes, known := false, false
		if !d.IsUnknown() {
			yes, known = dr.truth(&Claim{Rel: shape.Equality(d, shape.Const(1))}, func(r shape.Relation) { rely = append(rely, r) })
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

// Claims notes the statements of outcomes of comparisons of sizes, so that an If can be decided
// by them.
func (c *Call) Claims(outs []*Datum) {
	if len(outs) != 1 || outs[0] == nil || outs[0].Arr != nil || modelfile.Domain(c.Node.Domain) != "" || len(c.In) == 0 || c.In[0] == nil {
		return
	}
	first := c.In[0].Claim
	switch c.Node.Op {
	case "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual":
		outs[0].Claim = c.compared()
	case "Not":
		if first != nil {
			outs[0].Claim = &Claim{not: first}
		}
	case "And", "Or":
		if first != nil && c.Has(1) && c.In[1].Claim != nil {
			outs[0].Claim = &Claim{both: [2]*Claim{first, c.In[1].Claim}, either: c.Node.Op == "Or"}
		}
	case "Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten":
		outs[0].Claim = first
	case "Cast":
		if outs[0].Type().DType() == array.Bool {
			outs[0].Claim = first
		}
	}
}

// compared is the statement of a comparison of two sizes, nil for other operands.
func (c *Call) compared() *Claim {
	var d [2]shape.Dim
	for i := range d {
		if !c.Has(i) {
			return nil
		}
		s, ok := c.In[i].AsSizes()
		if !ok || len(s.Dims) != 1 || s.Dims[0].IsUnknown() || c.Draft.Late(s.Dims[0]) {
			return nil
		}
		d[i] = s.Dims[0]
	}
	switch a, b := d[0], d[1]; c.Node.Op {
	case "Equal":
		return &Claim{Rel: shape.Equality(a, b)}
	case "Greater":
		return &Claim{Rel: shape.AtLeast(a, b.AddInt(1))}
	case "Less":
		return &Claim{Rel: shape.AtLeast(b, a.AddInt(1))}
	case "GreaterOrEqual":
		return &Claim{Rel: shape.AtLeast(a, b)}
	default:
		return &Claim{Rel: shape.AtLeast(b, a)}
	}
}

// String is for messages.
func (c *Claim) String() string {
	switch {
	case c.not != nil:
		return "not (" + c.not.String() + ")"
	case c.both[0] != nil:
		return c.both[0].String() + map[bool]string{true: " or ", false: " and "}[c.either] + c.both[1].String()
	}
	return c.Rel.String()
}

// SizesHint is the cure for values that the sizes of a run would make known.
const SizesHint = "give the sizes of the inputs when importing (Options.Sizes), as -shape NAME=2,3 does"

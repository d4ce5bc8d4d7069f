package onnx

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
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
func (im *importer) truth(c *claim, need func(r shape.Relation)) (yes, ok bool) {
	switch {
	case c.not != nil:
		yes, ok = im.truth(c.not, need)
		return !yes, ok
	case c.both[0] != nil:
		first, ok := im.truth(c.both[0], need)
		if !ok || first == c.either {
			return first, ok
		}
		return im.truth(c.both[1], need)
	}
	switch c.rel.Truth() {
	case shape.True:
		return true, true
	case shape.False:
		return false, true
	}
	if c.rel.Rel == shape.EQ {
		if equal, known := im.mod.Graph.CompareDims(c.rel.A, c.rel.B); known {
			return equal, true
		}
	}
	_, _, yes, err := c.rel.Eval(im.sizeOf)
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
func (im *importer) sizeOf(symbol string) (int, bool) {
	s, ok := im.mod.Graph.Symbol(symbol)
	if !ok {
		return 0, false
	}
	dims := im.sizes[im.inputs[s.Node]]
	if s.Axis >= len(dims) {
		return 0, false
	}
	return dims[s.Axis], true
}

// decide is the outcome of a claim for the sizes given, which the graph is guarded to have then. ok is
// false where they are not known.
func (c *call) decide(of *claim, at *graph.Node) (yes, ok bool) {
	im := c.im
	var all []shape.Relation
	yes, ok = im.truth(of, func(r shape.Relation) { all = append(all, r) })
	if !ok {
		im.undecided = true
		return false, false
	}
	for _, r := range all {
		im.rely(r, at)
	}
	return yes, true
}

// rely guards the graph to be given sizes with which a relation holds.
func (im *importer) rely(r shape.Relation, at *graph.Node) {
	if at != nil && at.Graph() != im.mod.Graph {
		at = nil
	}
	if err := im.mod.Graph.Assume(r, at); err != nil {
		panic(firstOf(err))
	}
	im.mod.Graph.NoteSpecialisation(graph.Specialisation{What: r.String(), Guard: guard.Size{Relation: r}})
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
	c.im.rely(r, at)
	return true
}

// ones tells which sizes of a type are 1; ok is false where that depends on sizes that are not
// known. rely is then the condition to guard the graph by.
func (im *importer) ones(t shape.Type) (axes []int, rely []shape.Relation, ok bool) {
	for i, d := range t.Dims().Slice() {
		yes, known := false, false
		if !d.IsUnknown() {
			yes, known = im.truth(&claim{rel: shape.Equality(d, shape.Const(1))}, func(r shape.Relation) { rely = append(rely, r) })
		}
		if !known {
			im.undecided = true
			return nil, nil, false
		}
		if yes {
			axes = append(axes, i)
		}
	}
	return axes, rely, true
}

// form is the set of decisions that the given sizes made about a graph.
type form struct {
	guards []guard.Guard     // of what was fixed
	sizes  map[string]sizeAt // what symbols stand for
	// decide are the inputs whose values say which branch an If takes, where the branches have results of
	// other ranks: with them it is known.
	decide []string
}

// sizeAt is a size of an input of the model.
type sizeAt struct {
	input string
	axis  int
}

// fits reports whether inputs are such as the graph was imported for.
func (f *form) fits(inputs map[string]*array.Array) bool {
	given := formInputs{f, inputs}
	return !slices.ContainsFunc(f.guards, func(g guard.Guard) bool {
		return g.Check(given) != nil || slices.ContainsFunc(g.Symbols(), func(s string) bool { _, ok := given.Size(s); return !ok })
	})
}

// formInputs are inputs of the model as what the guards of a form look at.
type formInputs struct {
	*form
	arrays map[string]*array.Array
}

// Input implements guard.Inputs.
func (x formInputs) Input(name string) (shape.Type, bool) {
	a := x.arrays[name]
	if a == nil {
		return shape.Type{}, false
	}
	return shape.TypeOf(a), true
}

// Size implements guard.Inputs.
func (x formInputs) Size(symbol string) (diag.SizeOf, bool) {
	at, ok := x.sizes[symbol]
	a := x.arrays[at.input]
	if !ok || a == nil || at.axis >= a.Rank() {
		return diag.SizeOf{}, false
	}
	return diag.SizeOf{Symbol: symbol, Input: at.input, Axis: at.axis, Value: a.Dim(at.axis)}, true
}

// formed is the form of the graph that has been imported.
func (im *importer) formed() *form {
	f := &form{sizes: map[string]sizeAt{}, decide: im.form.decide}
	for _, s := range im.mod.Graph.Specialisations() {
		if s.Guard != nil {
			f.guards = append(f.guards, s.Guard)
		}
	}
	for _, s := range im.mod.Graph.Symbols() {
		if name, ok := im.inputs[s.Node]; ok {
			f.sizes[s.Name] = sizeAt{name, s.Axis}
		}
	}
	return f
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
		if !ok || len(s.dims) != 1 || s.dims[0].IsUnknown() || c.im.isLate(s.dims[0]) {
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

// squeezeAll drops the dimensions that are 1 when the model runs.
func (c *call) squeezeAll() []op.Value {
	t := c.typ(0)
	axes, rely, known := c.im.ones(t)
	if !t.Ranked() || !known {
		return c.one(std.Squeeze, nil, c.x(0))
	}
	v := c.x(0)
	if len(axes) > 0 {
		v = c.squeezed(axes)
	}
	for _, r := range rely {
		c.im.rely(r, v.(*graph.Node))
	}
	return []op.Value{v}
}

// squeezed drops dimensions that are known to be 1: by their types, or by guards, which type rules do not
// ask.
func (c *call) squeezed(axes []int) op.Value {
	v := c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axes...)}, c.x(0))
	n, ok := v.(*graph.Node)
	if t := c.typ(0); ok && t.Ranked() && !n.Type().Ranked() {
		var dims []shape.Dim
		for i, d := range t.Dims().Slice() {
			if !slices.Contains(axes, i) {
				dims = append(dims, d)
			}
		}
		n.SetType(t.WithDims(shape.Of(dims...)))
	}
	return v
}

// sizesHint is the cure for values that the sizes of a run would make known.
const sizesHint = "give the sizes of the inputs when importing (Options.Sizes), as -shape NAME=2,3 does"

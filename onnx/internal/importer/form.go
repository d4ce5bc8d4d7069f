package importer

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

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
	for _, s := range im.Module.Graph.Specialisations() {
		if s.Guard != nil {
			f.guards = append(f.guards, s.Guard)
		}
	}
	for _, s := range im.Module.Graph.Symbols() {
		if name, ok := im.InputNames[s.Node]; ok {
			f.sizes[s.Name] = sizeAt{name, s.Axis}
		}
	}
	return f
}

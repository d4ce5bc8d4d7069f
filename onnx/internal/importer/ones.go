package importer

import (
	"maps"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes of 1. A graph in which two letters meet relies on it that they are equal, as
// broadcasting of letters would have no type; where one of them is 1 when the model runs,
// another graph is meant, in which it is the number 1.

// equalities are the sizes of a graph that must be equal, and the sizes of its inputs.
type equalities struct {
	names  []string     // of the inputs, in their order
	types  []shape.Type // theirs
	guards []shape.Relation
}

// equalitiesOf returns those of a graph that was imported with values bound.
func equalitiesOf(f *modelfile.File, m *graph.Module, lengths map[string]int, bound []string) *equalities {
	e := &equalities{}
	e.guards = m.Graph.Relations().Equalities()
	e.names = f.ArgNames(lengths, bound)
	for _, n := range m.Graph.Inputs() {
		e.types = append(e.types, n.Type())
	}
	return e
}

// ones returns the letters that are 1 in the values, and because of which the graph cannot
// take them.
func (e *equalities) ones(values map[string]*array.Array) map[string]bool {
	if len(e.guards) == 0 || len(e.names) != len(e.types) {
		return nil
	}
	sizes := map[string]int{}
	for i, name := range e.names {
		a, t := values[name], e.types[i]
		if a == nil || a.Rank() != t.Rank() {
			continue
		}
		for axis, n := range a.Shape() {
			if letter, ok := t.Dim(axis).IsSymbol(); ok {
				sizes[letter] = n
			}
		}
	}
	var ones map[string]bool
	for _, g := range e.guards {
		if _, _, ok, err := g.Eval(func(s string) (int, bool) { n, ok := sizes[s]; return n, ok }); ok || err != nil {
			continue
		}
		for _, side := range []shape.Dim{g.A, g.B} {
			if letter, ok := side.IsSymbol(); ok && sizes[letter] == 1 {
				if ones == nil {
					ones = map[string]bool{}
				}
				ones[letter] = true
			}
		}
	}
	return ones
}

// declare adds to the types given those in which letters are 1.
func (e *equalities) declare(given map[string]shape.Type, ones map[string]bool) map[string]shape.Type {
	out := map[string]shape.Type{}
	maps.Copy(out, given)
	for i, name := range e.names {
		t := e.types[i].Bind(func(s string) shape.Dim {
			if ones[s] {
				return shape.Const(1)
			}
			return shape.Sym(s)
		})
		if !t.Same(e.types[i]) {
			out[name] = t
		}
	}
	return out
}

// fits reports whether the graph takes inputs of these sizes, as far as sizes of 1 decide it.
func (e *equalities) fits(values map[string]*array.Array) bool {
	for i, name := range e.names {
		a, t := values[name], e.types[i]
		if a == nil || a.Rank() != t.Rank() {
			continue
		}
		for axis, n := range a.Shape() {
			if t.Dim(axis).Is(1) && n != 1 {
				return false
			}
		}
	}
	return len(e.ones(values)) == 0
}

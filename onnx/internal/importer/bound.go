package importer

import (
	"errors"
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
)

// Imported is a graph that was imported for the values of inputs.
type Imported struct {
	Module *graph.Module
	Names  []string // of the inputs that have the values
	form   *form
	sizes  *equalities
}

// Fits reports whether inputs are such as the graph was imported for, as far as sizes decide it.
func (b *Imported) Fits(inputs map[string]*array.Array) bool {
	return b.sizes.fits(inputs) && b.form.fits(inputs)
}

// ImportFor imports a model to be run on the given values. Inputs that sizes follow from are bound
// to theirs. Lengths, ranks and sizes that the options do not give are those of the values.
func ImportFor(f *modelfile.File, values map[string]*array.Array, o Options) (*Imported, error) {
	out := &Imported{}
	given := map[string]*array.Array{}
	for name, a := range o.Values {
		given[name] = a
	}
	o.Values, o.Lengths = given, f.LengthsOf(values, o.Lengths)
	if o.Ranks == nil {
		o.Ranks = map[string]int{}
		for name, a := range values {
			o.Ranks[name] = a.Rank()
		}
	}
	sizes := maps.Clone(o.Sizes)
	for name, a := range values {
		if sizes == nil {
			sizes = map[string][]int{}
		}
		if sizes[name] == nil {
			sizes[name] = a.Shape()
		}
	}
	o.Sizes = sizes
	bind := func(names []string) (more bool) {
		for _, name := range names {
			if a := values[name]; a != nil && given[name] == nil {
				given[name], more = a, true
				out.Names = append(out.Names, name)
			}
		}
		return more
	}
	for {
		var err error
		if out.Module, out.form, err = Import(f, o); err == nil {
			if bind(out.form.decide) {
				continue
			}
			out.sizes = equalitiesOf(f, out.Module, o.Lengths, slices.AppendSeq(slices.Clone(out.Names), maps.Keys(o.Values)))
			if ones := out.sizes.ones(values); len(ones) > 0 {
				o.Inputs = out.sizes.declare(o.Inputs, ones)
				continue // each time there are fewer letters
			}
			slices.Sort(out.Names)
			return out, nil
		}
		if !bind(NeedsValues(err)) {
			return nil, err
		}
	}
}

// NeedsValues lists the inputs of which an error says that their values are needed.
func NeedsValues(err error) (names []string) {
	var l diag.List
	if !errors.As(err, &l) {
		return nil
	}
	for _, e := range l {
		var u *rule.Unbound
		if errors.As(e, &u) {
			names = append(names, u.Inputs...)
		}
	}
	return names
}

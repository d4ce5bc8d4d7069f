package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// entry makes the inputs, the symbols that their sizes define, and the guards.
func (b *builder) entry(g *graph.Graph) {
	same := b.defined(g)
	b.probe.start(b.p.Symbols, b.guards(g, same))
	for i, n := range g.Inputs() {
		if !b.known(n, n.Type()) {
			continue
		}
		k := b.buffer(n.Name(), plan.Input, n.Type())
		b.p.Buffers[k].Updated = slices.ContainsFunc(b.opts.Into, func(p lowering.Into) bool { return p.Input == i })
		b.p.Buffers[k].Donated = slices.Contains(b.opts.Donate, i) && !b.p.Buffers[k].Updated
		b.p.Inputs = append(b.p.Inputs, k)
		value, _ := n.Default().(*array.Array)
		b.p.Defaults = append(b.p.Defaults, value)
		b.p.Names = append(b.p.Names, n.Target())
	}
}

// sameSize is a symbol that guards make of the others, and what they make it.
type sameSize struct {
	guard.Symbol
	size shape.Dim
}

// defined enters the symbols that sizes of inputs define. Those that guards determine by
// others are no symbols of the plan: lowering.Prepare has replaced them wherever they
// stood, in the type of their own input too.
func (b *builder) defined(g *graph.Graph) (same []sameSize) {
	index := map[*graph.Node]int{}
	for i, n := range g.Inputs() {
		index[n] = i
	}
	for _, s := range g.Symbols() {
		i, ok := index[s.Node]
		if !ok {
			continue
		}
		symbol := guard.Symbol{Name: s.Name, Input: i, Axis: s.Axis}
		if size := s.Node.Type().Dim(s.Axis); !size.IsUnknown() && !size.Equal(shape.Sym(s.Name)) {
			same = append(same, sameSize{symbol, size})
			continue
		}
		b.p.Symbols = append(b.p.Symbols, symbol)
		b.symbols[s.Name] = true
	}
	return same
}

// guards enters what is checked besides the types of the inputs. A relation keeps symbols that
// follow from others, because it tells what needs them; sizes that options fix are numbers. It
// returns the relations over the symbols of the plan.
func (b *builder) guards(g *graph.Graph, same []sameSize) (relations guard.Relations) {
	size := map[string]shape.Dim{}
	for _, s := range same {
		size[s.Name] = s.size
	}
	defines := map[string]bool{}
	for _, d := range g.Needed() {
		need := d.Need()
		if need.Op != "" {
			need.Op = lowering.SourceOf(d.Node).Op
		}
		need.Relation = d.Bind(func(name string) shape.Dim {
			if known, ok := size[name]; ok && len(known.Symbols()) == 0 {
				return known
			}
			return shape.Sym(name)
		})
		bound := d.Bind(func(name string) shape.Dim {
			if known, ok := size[name]; ok {
				return known
			}
			return shape.Sym(name)
		})
		switch {
		case bound.Truth() == shape.True && (d.Rel != shape.EQ || !slices.ContainsFunc(d.Symbols(), func(s string) bool { return len(size[s].Symbols()) > 0 })):
			continue // said by the types
		case bound.Truth() == shape.True: // determines a symbol
			need.Relation = d.Relation
		case b.waits(d):
			continue
		case !b.computable(bound.A) || !b.computable(bound.B):
			b.errs = append(b.errs, unchecked(d))
			continue
		}
		for _, name := range need.Symbols() {
			defines[name] = true
		}
		b.p.Guards, relations = append(b.p.Guards, need), append(relations, bound)
	}
	for _, s := range same {
		if defines[s.Name] {
			b.p.Same = append(b.p.Same, s.Symbol)
		}
	}
	return relations
}

// computable reports whether d follows from the sizes of inputs.
func (b *builder) computable(d shape.Dim) bool {
	return !d.IsUnknown() && !slices.ContainsFunc(d.Symbols(), func(s string) bool { return !b.symbols[s] })
}

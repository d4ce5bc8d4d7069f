package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// entry makes the inputs, the symbols that their sizes define, and the guards.
func (b *builder) entry(g *graph.Graph) {
	same := b.defined(g)
	b.guards(g, same)
	b.probe.start(b.p.Symbols, b.p.Guards)
	for i, n := range g.Inputs() {
		if !b.known(n, n.Type()) {
			continue
		}
		k := b.buffer(n.Name(), plan.Input, n.Type())
		b.p.Buffers[k].Donated = slices.Contains(b.opts.Donate, i)
		b.p.Inputs = append(b.p.Inputs, k)
		value, _ := n.Default().(*array.Array)
		b.p.Defaults = append(b.p.Defaults, value)
	}
}

// sameSize is a symbol that guards make of the others, and what they make it.
type sameSize struct {
	plan.Symbol
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
		symbol := plan.Symbol{Name: s.Name, Input: i, Axis: s.Axis}
		if size := s.Node.Type().Dim(s.Axis); !size.IsUnknown() && !size.Equal(shape.Sym(s.Name)) {
			same = append(same, sameSize{symbol, size})
			continue
		}
		b.p.Symbols = append(b.p.Symbols, symbol)
		b.symbols[s.Name] = true
	}
	return same
}

// guards enters what is checked beside the types of the inputs, over the symbols of the
// plan. An equality that determines another symbol stays as it is, because it tells
// what needs it.
func (b *builder) guards(g *graph.Graph, same []sameSize) {
	size := map[string]shape.Dim{}
	for _, s := range same {
		size[s.Name] = s.size
	}
	defines := map[string]bool{}
	for _, d := range g.Guards() {
		guard := plan.Guard{Relation: d.Bind(func(name string) shape.Dim {
			if known, ok := size[name]; ok {
				return known
			}
			return shape.Sym(name)
		})}
		if d.Node != nil {
			guard.Pos = d.Node.Pos()
			guard.Text = guard.Pos.String()
			if d.Node.Op() != nil {
				guard.Op = lowering.SourceOf(d.Node).Op
			}
		}
		switch {
		case guard.Truth() == shape.True: // said by the types, or what determines a symbol
			names := d.Symbols()
			if d.Rel != shape.EQ || !slices.ContainsFunc(names, func(s string) bool { return len(size[s].Symbols()) > 0 }) {
				continue
			}
			guard.Relation = d.Relation
			for _, name := range names {
				defines[name] = true
			}
		case b.waits(d):
			continue
		case !b.computable(guard.A) || !b.computable(guard.B):
			b.errs = append(b.errs, unchecked(d))
			continue
		}
		b.p.Guards = append(b.p.Guards, guard)
	}
	for _, s := range same {
		if defines[s.Name] {
			b.p.Same = append(b.p.Same, s.Symbol)
		}
	}
}

// computable reports whether d follows from the sizes of inputs.
func (b *builder) computable(d shape.Dim) bool {
	return !d.IsUnknown() && !slices.ContainsFunc(d.Symbols(), func(s string) bool { return !b.symbols[s] })
}

package interp

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// define binds the symbols that are sizes of n, and checks guards that have
// become decidable. The inputs are checked together, when all are there.
func (f *frame) define(n *graph.Node, v Result) error {
	if f.defines[n] && v.T != nil {
		f.types[nameOf(n)] = v.T.Type()
		for _, s := range f.g.SymbolsOf(n) {
			f.symbols[s.Name] = v.T.Size(s.Axis).Dim()
		}
	}
	switch {
	case n.Opcode() == graph.Placeholder:
		f.given = append(f.given, v.T)
		if len(f.given) == len(f.entry.Inputs) {
			return f.enter()
		}
	case f.defines[n]:
		return f.check(n, v.T)
	}
	return nil
}

// enter checks the guards that the inputs decide, then their sizes. Where these are expressions of a
// trace, since the graph is captured as part of another one, the trace is told what it relies on.
func (f *frame) enter() error {
	if err := f.check(nil, nil); err != nil {
		return err
	}
	return f.entry.Sizes(&guard.Given{At: f.at, Number: func(name string) (int, bool) { return f.symbol(name).Int() },
		Dim: func(name string) shape.Dim {
			if f.binds(name) {
				return f.symbol(name)
			}
			return shape.Unknown
		},
		Demand: func(i int, r shape.Relation) {
			f.demand(r, func(k int) bool { return k == i })
		},
	})
}

// at is the value of input i, nil for a hook's that is no tensor.
func (f *frame) at(i int) guard.Argument {
	return valueOf(f.given[i])
}

// check refuses sizes that break a guard, as far as the sizes are known. node is
// the node that the last one came from, nil when a graph is entered; x its value.
func (f *frame) check(node *graph.Node, x *tensor.Tensor) error {
	pending := f.guards[:0:0]
	var errs diag.List
	for _, g := range f.guards {
		if slices.ContainsFunc(g.Symbols(), func(s string) bool { return !f.known(s) }) {
			if !f.handOn(g, x) {
				pending = append(pending, g)
			}
			continue
		}
		errs.Add(f.refused(g, node))
	}
	f.guards = pending
	if len(errs) == 1 {
		return errs[0]
	}
	return errs.Err()
}

// refused is the error of a guard that does not hold, at the node that the last size came from.
func (f *frame) refused(g graph.Guard, node *graph.Node) error {
	err := g.Need().Check(sizes{f})
	if e, ok := err.(*diag.Error); ok && node != nil {
		e.Node = node.Name()
	}
	return err
}

// handOn gives a guard whose sizes are all bound, to expressions of another trace,
// to that trace; false when it is not ready. x is a value of the trace, nil for that of an
// input.
func (f *frame) handOn(g graph.Guard, x *tensor.Tensor) bool {
	for _, name := range g.Symbols() {
		if d := f.symbol(name); d.IsUnknown() || d.Equal(shape.Sym(name)) && !f.binds(name) {
			return false
		}
	}
	r := g.Relation.Bind(f.symbol)
	if x == nil {
		inputs := f.g.Inputs()
		return f.demand(r, func(i int) bool {
			return slices.ContainsFunc(f.g.SymbolsOf(inputs[i]), func(s graph.Symbol) bool { return slices.Contains(g.Symbols(), s.Name) })
		})
	}
	e, ok := x.Engine().(tensor.Symbolic)
	if ok {
		e.Guard(x, r)
	}
	return ok
}

// demand tells a trace what it relies on, by an input that is a value of it: the last of those that are
// about the relation, or another one where these are eager. It is false where no input is of a trace.
func (f *frame) demand(r shape.Relation, about func(i int) bool) bool {
	var x *tensor.Tensor
	for i, t := range f.given {
		if t == nil {
			continue
		}
		if _, ok := t.Engine().(tensor.Symbolic); ok && (x == nil || about(i)) {
			x = t
		}
	}
	if x == nil {
		return false
	}
	x.Engine().(tensor.Symbolic).Guard(x, r)
	return true
}

// binds reports whether a symbol has a value here or in the enclosing graphs.
func (f *frame) binds(name string) bool {
	for ; f != nil; f = f.outer {
		if _, ok := f.symbols[name]; ok {
			return true
		}
	}
	return false
}

func (f *frame) known(symbol string) bool {
	_, ok := f.symbol(symbol).Int()
	return ok
}

// sizes are the values of a frame, and of those around it, as what guards look at.
type sizes struct{ *frame }

// Size implements guard.Inputs.
func (x sizes) Size(symbol string) (diag.SizeOf, bool) {
	for f := x.frame; f != nil; f = f.outer {
		d, ok := f.symbols[symbol]
		if !ok {
			continue
		}
		s, _ := f.g.Symbol(symbol)
		size := diag.SizeOf{Symbol: symbol, Input: nameOf(s.Node), Axis: s.Axis}
		size.Value, ok = d.Int()
		return size, ok
	}
	return diag.SizeOf{}, false
}

// nameOf returns what users call a value: an input by its own name.
func nameOf(n *graph.Node) string {
	if n.Opcode() == graph.Placeholder {
		return n.Target()
	}
	return n.String()
}

// Input implements guard.Inputs: the type of what defines symbols, here or around.
func (x sizes) Input(name string) (shape.Type, bool) {
	for f := x.frame; f != nil; f = f.outer {
		if t, ok := f.types[name]; ok {
			return t, true
		}
	}
	return shape.Type{}, false
}

// symbol looks a symbol up here and in the enclosing graphs.
func (f *frame) symbol(name string) shape.Dim {
	for ; f != nil; f = f.outer {
		if d, ok := f.symbols[name]; ok {
			return d
		}
	}
	return shape.Sym(name)
}

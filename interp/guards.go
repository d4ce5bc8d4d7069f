package interp

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// define binds the symbols that are sizes of n, and checks guards that have
// become decidable.
func (f *frame) define(n *graph.Node, v Value) error {
	if f.defines[n] {
		if v.T != nil {
			f.types[nameOf(n)] = v.T.Type()
			for _, s := range f.g.SymbolsOf(n) {
				f.symbols[s.Name] = v.T.Size(s.Axis).Dim()
			}
		}
		if err := f.check(n, v.T); err != nil {
			return err
		}
	}
	if n.Opcode() != graph.Placeholder {
		return nil
	}
	f.given = append(f.given, v.T)
	if len(f.given) < len(f.all) {
		return nil
	}
	return f.enter()
}

// enter compares the sizes of all inputs with what their types make of them. Where they are expressions
// of a trace, since the graph is captured as part of another one, the trace is told what it relies on.
func (f *frame) enter() error {
	return f.all.Sizes(Given{
		Type: func(i int) shape.Type { return f.given[i].Type() },
		Size: func(i, axis int) shape.Dim {
			if f.given[i] == nil { // a hook's
				return shape.Unknown
			}
			return f.given[i].Size(axis).Dim()
		},
		Symbol: func(name string) shape.Dim {
			if f.binds(name) {
				return f.symbol(name)
			}
			return shape.Unknown
		},
		Demand: func(i int, got, want shape.Dim) {
			if e, ok := f.given[i].Engine().(tensor.Symbolic); ok {
				e.Guard(f.given[i], shape.Equality(got, want))
			}
		},
	})
}

// check refuses sizes that break a guard, as far as the sizes are known. node is
// the node that the last one came from, nil when a region is entered; x its value.
func (f *frame) check(node *graph.Node, x *tensor.Tensor) error {
	pending := f.guards[:0:0]
	for _, g := range f.guards {
		if slices.ContainsFunc(g.Symbols(), func(s string) bool { return !f.known(s) }) {
			if !f.handOn(g, x) {
				pending = append(pending, g)
			}
			continue
		}
		c, err := g.Check(f.sizeOf)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		e := refusal(c, g.Node, f.typeOf(c.Input))
		if node != nil {
			e.Node = node.Name()
		}
		return e
	}
	f.guards = pending
	return nil
}

// handOn gives a guard whose sizes are all bound, to expressions of another trace,
// to that trace; false when it is not ready.
func (f *frame) handOn(g graph.Guard, x *tensor.Tensor) bool {
	for _, name := range g.Symbols() {
		if d := f.symbol(name); d.IsUnknown() || d.Equal(shape.Sym(name)) && !f.binds(name) {
			return false
		}
	}
	if x == nil {
		return false
	}
	e, ok := x.Engine().(tensor.Symbolic)
	if ok {
		e.Guard(x, g.Relation.Bind(f.symbol))
	}
	return ok
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

// refusal is the error of sizes that break a guard, which came from a node if
// that is known; typ is the type of the input that the claim speaks of.
func refusal(c *diag.Claim, from *graph.Node, typ string) *diag.Error {
	c.Type = typ
	var related []diag.Related
	if from != nil {
		if o := from.Op(); o != nil {
			c.Op = o.Name
		}
		related = []diag.Related{{Pos: from.Pos(), Msg: "required by " + from.String()}}
	}
	e := diag.New(GuardFailed, c.String()).WithHint("give other sizes, or capture the graph again for these")
	e.Related = related
	if from != nil {
		e.Pos = from.Pos()
	}
	return e
}

func (f *frame) known(symbol string) bool {
	_, ok := f.symbol(symbol).Int()
	return ok
}

// sizeOf tells which size a symbol stands for.
func (f *frame) sizeOf(symbol string) (diag.SizeOf, bool) {
	for ; f != nil; f = f.outer {
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

// typeOf returns the type of what defines symbols, here or around.
func (f *frame) typeOf(name string) string {
	for ; f != nil; f = f.outer {
		if t, ok := f.types[name]; ok {
			return t.String()
		}
	}
	return ""
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

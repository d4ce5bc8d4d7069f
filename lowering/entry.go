package lowering

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
)

// Entry is where a graph is entered: it checks the inputs of a run for an executable, with the errors of
// package interp.
type Entry struct {
	// Inputs are the placeholders.
	Inputs interp.Inputs

	symbols []graph.Symbol // sizes of inputs
	guards  []graph.Guard  // over these alone
}

// NewEntry returns the entry of a graph. Guards over sizes that are found within are not asked at it.
func NewEntry(g *graph.Graph) *Entry {
	e := &Entry{Inputs: g.Inputs()}
	for _, s := range g.Symbols() {
		if s.Node.Opcode() == graph.Placeholder {
			e.symbols = append(e.symbols, s)
		}
	}
	for _, d := range g.Guards() {
		if !slices.ContainsFunc(d.Symbols(), func(name string) bool { return e.symbol(name) < 0 }) {
			e.guards = append(e.guards, d)
		}
	}
	return e
}

func (e *Entry) symbol(name string) int {
	return slices.IndexFunc(e.symbols, func(s graph.Symbol) bool { return s.Name == name })
}

// Open returns the symbols that have no size before a run: Prepare has put those that are pinned, or follow
// from others, into the types.
func (e *Entry) Open() (list []graph.Symbol) {
	for _, s := range e.symbols {
		if s.Open() {
			list = append(list, s)
		}
	}
	return list
}

// Check returns the values of a run, one for each input: defaults stand for those that are missing or nil. Each
// has the element type, rank and sizes that the graph says of its input, and together they keep its guards.
func (e *Entry) Check(in []Value) ([]Value, error) {
	if err := e.Inputs.Count(len(in)); err != nil {
		return nil, err
	}
	out := make([]Value, len(e.Inputs))
	copy(out, in)
	for i, n := range e.Inputs {
		if out[i] == nil {
			a, _ := n.Default().(*array.Array)
			out[i] = Host(a)
		}
		if out[i] == nil {
			return nil, e.Inputs.Missing(i)
		}
		if err := interp.CheckInput(n, out[i].Type()); err != nil {
			return nil, err
		}
	}
	at := func(name string) (diag.SizeOf, bool) { return e.sizeOf(name, out) }
	for _, g := range e.guards {
		c, err := g.Check(at)
		if err != nil {
			return nil, err
		}
		if c != nil {
			return nil, e.Inputs.Refusal(c, g.Node, func(i int) shape.Type { return out[i].Type() })
		}
	}
	err := e.Inputs.Sizes(interp.Given{
		Type: func(i int) shape.Type { return out[i].Type() },
		Size: func(i, axis int) shape.Dim { return out[i].Type().Dim(axis) },
		Symbol: func(name string) shape.Dim {
			if s, ok := e.sizeOf(name, out); ok {
				return shape.Const(s.Value)
			}
			return shape.Unknown
		},
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Size returns what a symbol of an input is for values that Check has returned.
func (e *Entry) Size(symbol string, values []Value) (n int, ok bool) {
	s, ok := e.sizeOf(symbol, values)
	return s.Value, ok
}

func (e *Entry) sizeOf(symbol string, values []Value) (diag.SizeOf, bool) {
	k := e.symbol(symbol)
	if k < 0 {
		return diag.SizeOf{}, false
	}
	s := e.symbols[k]
	n, _ := values[slices.Index(e.Inputs, s.Node)].Type().Dim(s.Axis).Int()
	return diag.SizeOf{Symbol: symbol, Input: s.Node.Target(), Axis: s.Axis, Value: n}, true
}

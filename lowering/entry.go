package lowering

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
)

// Entry is where a graph is entered: it checks the inputs of a run for an executable.
type Entry struct {
	*guard.Entry
	// Defaults are what stands for values that are missing, nil for inputs that must be given.
	Defaults []*array.Array

	symbols []graph.Symbol // sizes of inputs
}

// NewEntry returns the entry of a graph. Guards over sizes that are found within are not asked at it.
func NewEntry(g *graph.Graph) *Entry {
	e := &Entry{Entry: g.Entry()}
	for _, n := range g.Inputs() {
		a, _ := n.Default().(*array.Array)
		e.Defaults = append(e.Defaults, a)
	}
	for _, s := range g.Symbols() {
		if s.Node.Opcode() == graph.Placeholder {
			e.symbols = append(e.symbols, s)
		}
	}
	return e
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
	if err := e.Count(len(in)); err != nil {
		return nil, err
	}
	out := make([]Value, len(e.Inputs))
	copy(out, in)
	for i, v := range out {
		if v == nil {
			out[i] = Host(e.Defaults[i])
		}
	}
	if err := e.Entry.Check(e.On(valuesOf(out))); err != nil {
		return nil, err
	}
	return out, nil
}

// valuesOf returns values as what inputs are given.
func valuesOf(list []Value) func(i int) guard.Argument {
	values := make([]guard.Argument, len(list))
	for i, v := range list {
		if v != nil {
			values[i] = guard.Of(v.Type())
		}
	}
	return func(i int) guard.Argument { return values[i] }
}

// Size returns what a symbol of an input is for values that Check has returned.
func (e *Entry) Size(symbol string, values []Value) (n int, ok bool) {
	s, ok := e.Entry.Size(symbol, valuesOf(values))
	return s.Value, ok
}

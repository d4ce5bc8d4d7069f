package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Expect states what a program is right for: the types of its inputs in their order, with
// their names, and relations of their sizes, as in Expect("x: f32[N,3]; y: f32[M]; N >= M", x, y).
// A symbol is one size in all of them. Other inputs are refused: at once, or by what a trace
// records. An absent input (nil) is not looked at. A relation that an operator needs, as in
// "C % 2 == 0 from glu", is left to its call where a trace records. Generated code begins with it.
func Expect(claims string, inputs ...*Tensor) {
	e, err := guard.ParseEntry(claims)
	if err != nil || len(e.Inputs) > len(inputs) {
		panic((&diag.Error{Code: kernel.CodeArgument, Op: "Expect", Msg: strconv.Itoa(len(inputs)) + " inputs for the claims " + strconv.Quote(claims), Err: err}).At(diag.Here()))
	}
	x := expected{e, inputs}
	given := e.On(x.at)
	given.Dim, given.Demand = x.size, func(i int, r shape.Relation) { x.demand(r) }
	if err := e.Check(given); err != nil {
		var all diag.List
		all.Add(err)
		panic(all[0].At(diag.Here()))
	}
	for _, n := range e.Needs {
		if r := n.Bind(x.size); n.Op == "" && len(r.Symbols()) > 0 && r.Truth() != shape.True {
			x.demand(r)
		}
	}
}

// expected are the inputs of a program that says what they are.
type expected struct {
	*guard.Entry
	inputs []*Tensor
}

// at returns an input; one that is absent fits.
func (x expected) at(i int) guard.Argument {
	if x.inputs[i] == nil {
		return guard.Of(shape.Type{})
	}
	return traced{x.inputs[i]}
}

// size is what a symbol is here, which may be an expression of a trace.
func (x expected) size(symbol string) shape.Dim {
	for _, s := range x.Symbols {
		if t := x.inputs[s.Input]; s.Name == symbol && t != nil && s.Axis < rankOf(t) {
			return t.Size(s.Axis).Dim()
		}
	}
	return shape.Unknown
}

// demand hands a relation on to the trace that records the program.
func (x expected) demand(r shape.Relation) {
	if r = r.Normal(); r.IsUnknown() || r.Truth() == shape.True {
		return
	}
	for _, t := range x.inputs {
		if t == nil {
			continue
		}
		if k, ok := t.Engine().(Symbolic); ok {
			k.Guard(nil, r)
			return
		}
	}
}

// traced is a tensor as what an input is given.
type traced struct{ *Tensor }

func (t traced) DType() array.DType { return t.Type().DType() }

func (t traced) Rank() int { return rankOf(t.Tensor) }

// Size implements guard.Argument. A size of a value of unknown rank would be a new one.
func (t traced) Size(axis int) shape.Dim {
	if rankOf(t.Tensor) < 0 {
		return shape.Unknown
	}
	return t.Tensor.Size(axis).Dim()
}

func rankOf(t *Tensor) int { return guard.Of(t.Type()).Rank() }

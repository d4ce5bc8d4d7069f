package interp

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// Inputs are the placeholders of a graph. Engines that check at entry what they are given refuse it by
// these methods, and CheckInput, in the interpreter's words.
type Inputs []*graph.Node

// Count reports more values than there are inputs.
func (p Inputs) Count(given int) error {
	if given <= len(p) {
		return nil
	}
	return diag.New(ExtraInput, extra(given, len(p)))
}

// Missing is the error of input i, which has no default, where it is not given.
func (p Inputs) Missing(i int) *diag.Error { return missing(p[i]) }

// Refusal is the error of sizes that break a guard, which came from a node if that is known; typ
// returns the type of what input i is given.
func (p Inputs) Refusal(c *diag.Claim, from *graph.Node, typ func(i int) shape.Type) *diag.Error {
	about := "" // no input
	if i := slices.IndexFunc(p, func(n *graph.Node) bool { return n.Target() == c.Input }); i >= 0 {
		about = typ(i).String()
	}
	return refusal(c, from, about)
}

// Sizes reports the first size that is not what its input's type says: both sizes of f32[N,N] are N.
// Engines ask it after CheckInput, and after the guards, which tell what needs a size.
func (p Inputs) Sizes(given Given) error {
	for i, n := range p {
		for axis := range n.Type().Dims().Len() {
			want := n.Type().Dim(axis)
			if want.IsUnknown() {
				continue
			}
			_, fixed := want.Int()
			want, err := evaluated(want, given.Symbol)
			if err != nil {
				return err
			}
			got := given.Size(i, axis)
			if got.IsUnknown() || want.IsUnknown() || got.Equal(want) {
				continue
			}
			k, known := want.Int()
			if _, number := got.Int(); known && number {
				if fixed {
					continue // CheckInput has compared it
				}
				return p.Differs(i, axis, k, given.Type(i))
			}
			if given.Demand != nil {
				given.Demand(i, got, want)
			}
		}
	}
	return nil
}

// Given says what inputs are given.
type Given struct {
	Type   func(i int) shape.Type
	Size   func(i, axis int) shape.Dim
	Symbol func(name string) shape.Dim // Unknown for one without a value
	// Demand is told which sizes have to be equal, where one is an expression of a trace.
	Demand func(i int, got, want shape.Dim)
}

// evaluated replaces the symbols of d. It is an error when all are known and d has no value.
func evaluated(d shape.Dim, size func(symbol string) shape.Dim) (shape.Dim, error) {
	bound := d.Bind(size)
	if !bound.IsUnknown() || d.IsUnknown() {
		return bound, nil
	}
	for _, name := range d.Symbols() {
		if _, known := size(name).Int(); !known {
			return shape.Unknown, nil
		}
	}
	n, err := d.Eval(func(name string) (int, bool) { return size(name).Int() })
	return shape.Const(n), err
}

// Differs is the error of input i, of type got, whose size at axis should be want by what its type and the
// other sizes say.
func (p Inputs) Differs(i, axis, want int, got shape.Type) *diag.Error {
	n := p[i]
	return n.Error(GuardFailed, "input "+strconv.Quote(n.Target())+" is "+got.String()+", dimension "+strconv.Itoa(axis)+" is expected to be "+
		n.Type().Dim(axis).String()+", which is "+strconv.Itoa(want)+" here").WithHint("give inputs whose sizes agree, or capture the graph with other symbols")
}

func extra(given, takes int) string {
	return strconv.Itoa(given) + " inputs, the graph takes " + strconv.Itoa(takes)
}

func missing(n *graph.Node) *diag.Error {
	return n.Error(MissingInput, "input "+strconv.Quote(n.Target())+" is missing")
}

// CheckInput reports an input whose type does not fit the placeholder's: the
// guard that every engine applies at entry.
func CheckInput(node *graph.Node, got shape.Type) error {
	want := node.Type()
	otherType, otherShape := differ(want, got)
	if !otherType && !otherShape {
		return nil
	}
	hint := "capture it again for these sizes, or with symbolic ones"
	if otherType {
		hint = "cast the input to " + want.DType().String()
	}
	return &diag.Error{Code: GuardFailed, Node: node.Name(), Pos: node.Pos(), Msg: "input " + strconv.Quote(node.Target()) + " is " + got.String() + ", the graph was captured for " + want.String(),
		Hint: hint}
}

// checkParam reports a parameter whose type does not fit that of the get_attr node which reads it.
func checkParam(node *graph.Node, got shape.Type) error {
	want := node.Type()
	if otherType, otherShape := differ(want, got); !otherType && !otherShape {
		return nil
	}
	return &diag.Error{Code: GuardFailed, Node: node.Name(), Pos: node.Pos(), Msg: "parameter " + strconv.Quote(node.Target()) + " is " + got.String() + ", the graph reads " + want.String(),
		Hint: "give the parameter a tensor of that type (Module.SetParam)"}
}

// differ compares what is known of both.
func differ(want, got shape.Type) (dtype, dims bool) {
	dtype = want.DType() != array.Invalid && got.DType() != array.Invalid && want.DType() != got.DType()
	if !want.Ranked() || !got.Ranked() {
		return dtype, false
	}
	dims = want.Rank() != got.Rank()
	for i := 0; !dims && i < want.Rank(); i++ {
		w, wk := want.Dim(i).Int()
		g, gk := got.Dim(i).Int()
		dims = wk && gk && w != g
	}
	return dtype, dims
}

package xla

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/shape"
)

// EmitBounded returns one program for all sizes up to the bounds of symbols: arguments that have
// them are of types such as tensor<?x4xf32, #stablehlo.bounds<8, ?>>. Symbols that have no bound are
// pinned by Options.Shapes.
//
// A program can leave a size open where its operations are the same for all sizes. The error
// (lowering.Unsupported), at the call, is of one that needs the size as a number, or joins it
// with another: such a graph has a program for each of its sizes (Emit).
func EmitBounded(m *graph.Module, o lowering.Options, bounds map[string]int) (p *Program, err error) {
	defer diag.Catch(&err)
	e, p, err := pinned(m, o, bounds)
	if err != nil {
		return nil, err
	}
	var symbols []stablehlo.Symbol
	outputs := p.Outputs
	list := slices.Sorted(maps.Keys(bounds))
	for _, name := range list {
		n := bounds[name]
		if n < 2 {
			return nil, diag.New(lowering.BadOption, "symbol "+name+" has the bound "+strconv.Itoa(n)+", expected 2 or more").
				WithHint("pin a symbol of one size by Options.Shapes")
		}
		s := stablehlo.Symbol{Bound: n, Sizes: []int{n - 1, n - 2}}
		if n < 4 { // a size of 1 is special to what broadcasts
			s.Sizes = []int{n + 1, n + 2}
		}
		for _, size := range s.Sizes {
			other := maps.Clone(bounds)
			other[name] = size
			_, q, err := pinned(m, o, other)
			if err != nil {
				return nil, err
			}
			s.Others = append(s.Others, q.code)
			outputs = symbolic(outputs, q.Outputs, name)
		}
		symbols = append(symbols, s)
	}
	code, err := stablehlo.Bounded(p.code, symbols)
	var misfit *stablehlo.Misfit
	switch {
	case errors.As(err, &misfit) && misfit.Op >= 0 && misfit.Op < len(e.made):
		return nil, lowering.At(e.made[misfit.Op], lowering.Unsupported, "target "+Name+" cannot leave a size open: "+misfit.Error()).
			WithHint("pin the symbol by Options.Shapes; a program is made for each size then")
	case err != nil:
		return nil, diag.New(lowering.Unsupported, "target "+Name+" cannot leave a size open: "+err.Error()).
			WithHint("pin the symbol by Options.Shapes; a program is made for each size then")
	}
	if err := stablehlo.Verify(code); err != nil {
		return nil, diag.Bug("the program of bounded sizes does not verify: " + err.Error())
	}
	p.code, p.Outputs = code, outputs
	for i := range p.Inputs {
		p.Inputs[i].Bounded = code.Main.Args[i].Type.Bounded
	}
	return p, nil
}

// symbolic returns the types of results with a symbol for what other sizes of it change.
func symbolic(types, other []shape.Type, symbol string) []shape.Type {
	out := slices.Clone(types)
	for i, t := range types {
		for d := range min(t.Rank(), other[i].Rank()) {
			if n, fixed := t.Dim(d).Int(); fixed && !other[i].Dim(d).Is(n) {
				t = t.WithDims(t.Dims().With(d, shape.Sym(symbol)))
			}
		}
		out[i] = t
	}
	return out
}

// pinned emits the program for some sizes of the symbols.
func pinned(m *graph.Module, o lowering.Options, sizes map[string]int) (*emitter, *Program, error) {
	shapes := maps.Clone(sizes)
	maps.Copy(shapes, o.Shapes)
	o.Shapes = shapes
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, nil, err
	}
	e := &emitter{module: ready}
	p, err := emitted(e)
	return e, p, err
}

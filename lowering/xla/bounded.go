package xla

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/shape"
)

// EmitBounded returns one program for all sizes up to the bounds of symbols. Arguments and results that
// have them are as large as the bounds, and main takes the sizes as scalars of i32 (Program.Sizes): what lies
// after them in an argument is not read, and in a result it is anything. Within, values are of types such
// as tensor<?x4xf32, #stablehlo.bounds<8, ?>>. Symbols that have no bound are pinned by Options.Shapes.
//
// A program can leave a size open where its operations are the same for all sizes. The error
// (lowering.Unsupported), at the call, is of one that needs the size as a number, or joins it
// with another: such a graph has a program for each of its sizes (Emit). Sizes of 0 have programs of
// their own.
func EmitBounded(m *graph.Module, o lowering.Options, bounds map[string]int) (p *Program, err error) {
	defer diag.Catch(&err)
	if err := checkBounds(m.Graph, bounds); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if n, pinned := o.Shapes[name]; pinned {
			return nil, diag.New(lowering.BadOption, "symbol "+name+" has the bound "+strconv.Itoa(bounds[name])+", and is pinned to "+strconv.Itoa(n)).
				WithHint("leave one of the two out")
		}
	}
	free, err := uniform(m, o)
	if err != nil {
		return nil, err
	}
	e, p, err := pinned(m, o, bounds)
	if err != nil {
		return nil, err
	}
	p.Sizes = slices.Sorted(maps.Keys(bounds))
	var symbols []stablehlo.Symbol
	for _, name := range p.Sizes {
		s, err := p.sampled(m, o, bounds, name)
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, s)
	}
	code, err := stablehlo.Bounded(p.code, symbols)
	var misfit *stablehlo.Misfit
	switch {
	case errors.As(err, &misfit) && misfit.Op >= 0 && misfit.Op < len(e.made):
		return nil, lowering.At(e.made[misfit.Op], lowering.Unsupported, "target "+Name+" cannot leave a size open: "+misfit.Error()).
			WithHint(pinIt)
	case err != nil:
		return nil, diag.New(lowering.Unsupported, "target "+Name+" cannot leave a size open: "+err.Error()).
			WithHint(pinIt)
	}
	if err := computed(free.Graph); err != nil {
		return nil, err
	}
	if err := stablehlo.Verify(code); err != nil {
		return nil, diag.Bug("the program of bounded sizes does not verify: " + err.Error())
	}
	p.code = code
	return p, nil
}

// sampled looks at the programs for other sizes of a symbol, and notes what of arguments and results
// they change.
func (p *Program) sampled(m *graph.Module, o lowering.Options, bounds map[string]int, name string) (stablehlo.Symbol, error) {
	s := stablehlo.Symbol{Bound: bounds[name]}
	var refused error
	for _, size := range samples(s.Bound) {
		other := maps.Clone(bounds)
		other[name] = size
		_, q, err := pinned(m, o, other)
		if errors.Is(err, lowering.BadOption) {
			refused = cmp.Or(refused, err) // the graph does not take this size, and may take others
			continue
		}
		if err != nil {
			return s, err
		}
		s.Sizes, s.Others = append(s.Sizes, size), append(s.Others, q.code)
		p.Outputs = symbolic(p.Outputs, q.Outputs, name)
		for k := range p.Inputs {
			p.Inputs[k].bound(q.Inputs[k])
		}
	}
	if len(s.Others) < 2 {
		return s, refused
	}
	return s, smallest(m, o, bounds, name)
}

// smallest reports a call that does not take a symbol of size 1 though no guard of the graph says so: a program
// for all sizes would compute something where each size by itself is an error.
func smallest(m *graph.Module, o lowering.Options, bounds map[string]int, name string) error {
	other := maps.Clone(bounds)
	other[name] = 1
	_, _, err := pinned(m, o, other)
	if err == nil || errors.Is(err, lowering.BadOption) {
		return nil
	}
	var l diag.List
	l.Add(err)
	e := *l[0]
	e.Code, e.Msg, e.Hint = lowering.Unsupported, "target "+Name+" cannot leave a size open: of size 1 for "+name+", "+e.Msg, pinIt
	return &e
}

// uniform returns the graph with its symbols, and reports calls whose results have sizes, or a rank, that
// are not known before those of symbols are: of squeeze a dimension of size 1 is gone.
func uniform(m *graph.Module, o lowering.Options) (*graph.Module, error) {
	free, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	var errs diag.List
	for n := range free.Graph.Nodes() {
		if n.Opcode().IsCall() && !sizesKnown(n.Type()) {
			errs = append(errs, n.Error(lowering.Unsupported, "target "+Name+" cannot leave a size open: the result is "+n.Type().String()+" before it is known").
				WithHint(pinIt))
		}
	}
	for _, g := range free.Graph.Guards() {
		for _, name := range g.Symbols() {
			if s, ok := free.Graph.Symbol(name); ok && s.Node.Opcode() != graph.Placeholder {
				errs = append(errs, s.Node.Error(lowering.Unsupported, "target "+Name+" cannot leave a size open: the graph relies on "+g.String()+", of which a run knows the sizes of inputs").
					WithHint(pinIt))
			}
		}
	}
	return free, errs.Err()
}

// computed reports calls with a size that is computed from symbols, though it did not differ among the
// programs that were compared, or was a symbol in each: (N+6)//8 is 1 for most small sizes, and 0 for 1.
func computed(g *graph.Graph) error {
	var errs diag.List
	for n := range g.Nodes() {
		if !n.Opcode().IsCall() {
			continue
		}
		var bad shape.Dim
		look := func(d shape.Dim) {
			_, number := d.Int()
			if _, symbol := d.IsSymbol(); !number && !symbol {
				bad = d
			}
		}
		eachSize(n.Type(), look)
		if n.Op() != nil {
			n.Op().Codec().Symbols(n.Attrs(), look)
		}
		if !bad.Is(0) {
			errs = append(errs, n.Error(lowering.Unsupported, "target "+Name+" cannot leave a size open: one is computed, "+bad.String()).WithHint(pinIt))
		}
	}
	return errs.Err()
}

// eachSize calls f for the sizes of a type.
func eachSize(t shape.Type, f func(d shape.Dim)) {
	for i := range t.Len() {
		eachSize(t.Member(i), f)
	}
	if t.Ranked() {
		for _, d := range t.Dims().Slice() {
			f(d)
		}
	}
}

// sizesKnown reports whether a type has sizes, each a number or an expression of symbols.
func sizesKnown(t shape.Type) bool {
	for i := range t.Len() {
		if !sizesKnown(t.Member(i)) {
			return false
		}
	}
	if t.Kind() == shape.Tuple {
		return true
	}
	return t.Ranked() && !slices.ContainsFunc(t.Dims().Slice(), shape.Dim.IsUnknown)
}

// pinIt is the cure of what needs its sizes as numbers.
const pinIt = "pin the symbol by Options.Shapes (fxgen lower: leave its -bound out); a program is made for each size then"

// checkBounds reports bounds that are none.
func checkBounds(g *graph.Graph, bounds map[string]int) error {
	var errs diag.List
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		n := strconv.Itoa(bounds[name])
		_, known := g.Symbol(name)
		switch {
		case !known:
			errs = append(errs, lowering.NoSymbol(g, name, "has the bound "+n))
		case bounds[name] < 2:
			errs = append(errs, diag.New(lowering.BadOption, "symbol "+name+" has the bound "+n+", expected 2 or more").
				WithHint("pin a symbol of one size by Options.Shapes"))
		case bounds[name] > math.MaxInt32:
			errs = append(errs, diag.New(lowering.BadOption, "symbol "+name+" has the bound "+n+", expected 2147483647 or less").
				WithHint("sizes of a run are numbers of 32 bits"))
		}
	}
	return errs.Err()
}

// samples are sizes for which a program is looked at, besides the bound, of which a graph must take two:
// those next to it, and some that are far from it, where a number that follows from the size differs though
// it was rounded. A size of 1 is special to what broadcasts.
func samples(bound int) []int {
	if bound < 4 {
		return []int{bound + 1, bound + 2}
	}
	list := []int{bound - 1, bound - 2}
	for _, n := range []int{bound / 2, 3, 2} {
		if n > 1 && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// bound notes dimensions of which another size makes another argument.
func (a *Argument) bound(other Argument) {
	for d, n := range a.Dims {
		if n == other.Dims[d] {
			continue
		}
		if a.Bounded == nil {
			a.Bounded = make([]bool, len(a.Dims))
		}
		a.Bounded[d] = true
	}
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
	if err := o.RefuseInto(Name + " with bounds"); err != nil {
		return nil, nil, err
	}
	shapes := maps.Clone(sizes)
	maps.Copy(shapes, o.Shapes)
	o.Shapes = shapes
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, nil, err
	}
	e := &emitter{module: ready, donate: o.Donate, open: true}
	p, err := emitted(e)
	return e, p, err
}

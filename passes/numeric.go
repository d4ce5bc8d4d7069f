package passes

import (
	"context"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Numeric asks for a comparison of what the graph computes, by interpretation,
// before the first pass and after each one.
type Numeric struct {
	// Inputs are the inputs of both runs; nil makes pseudo-random ones of the
	// placeholders' types.
	Inputs []*array.Array
	// Sizes gives symbols their sizes; the others are small and, where the guards
	// allow it, different from each other.
	Sizes map[string]int
	Seed  uint64
	// Rel and Abs bound the differences: Abs + Rel·(largest value of the result).
	// Both 0 stands for 1e-5 each. Integers must be equal.
	Rel, Abs float64
}

// Against runs a module and returns a check of others: nil of one that computes the
// same, else the error of Options.Numeric.
func (n Numeric) Against(ctx context.Context, m *graph.Module) (check func(context.Context, *graph.Module) error, err error) {
	b, err := newBaseline(ctx, &n, m)
	if err != nil {
		return nil, err
	}
	return b.compare, nil
}

// baseline is the run of the original graph.
type baseline struct {
	Numeric
	out    []*array.Array
	random bool // values cannot be compared
}

func newBaseline(ctx context.Context, spec *Numeric, module *graph.Module) (*baseline, error) {
	base := &baseline{Numeric: *spec}
	for n := range module.All() {
		base.random = base.random || n.Effect() == op.Random
	}
	if base.Inputs == nil {
		in, err := Inputs(module.Graph, spec.Sizes, spec.Seed)
		if err != nil {
			return nil, err
		}
		base.Inputs = in
	}
	for _, p := range module.Params() {
		if p.Value == nil {
			return nil, diag.New(NoInputs, "the numeric check needs the values of the parameters, "+strconv.Quote(p.Path)+" has none").
				WithHint("load the weights first")
		}
	}
	var err error
	base.out, err = base.run(ctx, module)
	if err != nil {
		return nil, &diag.Error{Code: NoInputs, Msg: "the original graph does not run on the inputs of the numeric check", Err: err,
			Hint: "give Numeric.Sizes for the symbols, or Numeric.Inputs"}
	}
	return base, nil
}

// run interprets a copy of the module, whose buffers are its own.
func (b *baseline) run(ctx context.Context, m *graph.Module) ([]*array.Array, error) {
	p := interp.Interpreter{State: interp.NewState(graph.Clone(m))}
	return p.RunArrays(ctx, b.Inputs)
}

func (b *baseline) compare(ctx context.Context, m *graph.Module) error {
	out, err := b.run(ctx, m)
	if err != nil {
		return &diag.Error{Code: NumericChange, Msg: "the graph does not run any more", Err: err}
	}
	if len(out) != len(b.out) {
		return diag.New(NumericChange, strconv.Itoa(len(out))+" results, the original has "+strconv.Itoa(len(b.out)))
	}
	for i := range out {
		if msg := b.differ(out[i], b.out[i]); msg != "" {
			e := diag.New(NumericChange, "result "+strconv.Itoa(i)+" "+msg)
			if o := m.Graph.Output(); o != nil && o.Arg(i) != nil {
				e.Node, e.Pos = o.Arg(i).Name(), o.Arg(i).Pos()
			}
			return e
		}
	}
	return nil
}

func (b *baseline) differ(got, want *array.Array) string {
	if b.random && got != nil && want != nil {
		if shape.TypeOf(got).Same(shape.TypeOf(want)) {
			return ""
		}
		return "is " + shape.TypeOf(got).String() + ", the original gives " + shape.TypeOf(want).String()
	}
	return b.Differ(got, want)
}

// Differ compares a result with that of the original, by the function Differ with the
// bounds of n; nil stands for an absent one.
func (n Numeric) Differ(got, want *array.Array) string {
	switch {
	case got == nil && want == nil:
		return ""
	case got == nil || want == nil:
		return "is nil in one run only"
	case n.Rel == 0 && n.Abs == 0:
		n.Rel, n.Abs = 1e-5, 1e-5
	}
	return Differ(got, want, n.Rel, n.Abs)
}

// Differ compares two arrays and says how they differ, "" when they have the same
// type and no element differs by more than abs + rel·(the largest finite |want|).
// NaN equals NaN; arrays that are not of floats must be equal.
func Differ(got, want *array.Array, rel, abs float64) string {
	if g, w := shape.TypeOf(got), shape.TypeOf(want); !g.Same(w) {
		return "is " + g.String() + ", the original gives " + w.String()
	}
	bound := 0.0
	n := want.Len()
	if want.DType().IsFloat() {
		for i := range n {
			if v := math.Abs(array.Float64At(want, i)); v > bound && !math.IsInf(v, 0) {
				bound = v
			}
		}
		bound = abs + rel*bound
	} else if array.Equal(got, want) {
		return ""
	}
	for i := range n {
		g, w := array.Float64At(got, i), array.Float64At(want, i)
		if g == w || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= bound {
			continue
		}
		return "differs at element " + strconv.Itoa(i) + ": " + strconv.FormatFloat(g, 'g', 8, 64) + ", the original gives " + strconv.FormatFloat(w, 'g', 8, 64)
	}
	return ""
}

// Inputs makes pseudo-random inputs for the placeholders of a graph: floats in
// [-1,1), integers 0 and 1, nil for inputs with a default. Symbols get the given
// sizes, or small ones that the guards allow.
func Inputs(g *graph.Graph, sizes map[string]int, seed uint64) ([]*array.Array, error) {
	env, err := chooseSizes(g, sizes)
	if err != nil {
		return nil, err
	}
	var out []*array.Array
	gen := Random{seed}
	for _, n := range g.Inputs() {
		if n.Default() != nil {
			out = append(out, nil)
			continue
		}
		d, dims, ok := n.Type().Bind(env).Concrete()
		if !ok {
			return nil, n.Error(NoInputs, "no input of type "+n.Type().String()+" can be made").
				WithHint("give the inputs types when tracing, or give Numeric.Inputs")
		}
		out = append(out, gen.Array(d, dims...))
	}
	return out, nil
}

// chooseSizes returns sizes for all symbols of the placeholders.
func chooseSizes(g *graph.Graph, sizes map[string]int) (func(string) shape.Dim, error) {
	var chosen []symbolSize
	for _, sym := range g.Symbols() {
		if n, given := sizes[sym.Name]; given {
			chosen = append(chosen, symbolSize{sym.Name, n})
		}
	}
	solver, c := solveSizes(g, chosen)
	if c != nil {
		first, second := c.Words(g.Relations())
		return nil, diag.New(NoInputs, "the sizes contradict the guards of the graph: "+first+" and "+second)
	}
	next := 2
	for _, sym := range g.Symbols() {
		if _, known := solver.Resolve(shape.Sym(sym.Name)).Int(); known || sym.Node.Opcode() != graph.Placeholder {
			continue
		}
		step := g.Relations().Of(sym.Name).Step
		for tries := 0; ; tries++ {
			size := (next + step - 1) / step * step
			trial, c := solveSizes(g, append(chosen, symbolSize{sym.Name, size}))
			next = size + 1
			if c == nil {
				solver, chosen = trial, append(chosen, symbolSize{sym.Name, size})
				break
			}
			if tries == 64 {
				return nil, sym.Node.Error(NoInputs, "no size was found for "+sym.Name+" that fits the guards").WithHint("give Numeric.Sizes")
			}
		}
	}
	return func(name string) shape.Dim { return solver.Resolve(shape.Sym(name)) }, nil
}

type symbolSize struct {
	name string
	n    int
}

// solveSizes collects what the guards and the sizes chosen so far say.
func solveSizes(g *graph.Graph, chosen []symbolSize) (*shape.Solver, *guard.Contradiction) {
	var solver shape.Solver
	list := g.Relations()
	for _, x := range chosen {
		list = append(list, shape.Equality(shape.Sym(x.name), shape.Const(x.n)))
	}
	return &solver, list.Solve(&solver)
}

// Random makes pseudo-random arrays, the same for a seed on every machine.
// Ref: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014.
type Random struct{ State uint64 }

// Next returns 64 pseudo-random bits.
func (r *Random) Next() uint64 {
	r.State += 0x9E3779B97F4A7C15
	z := r.State
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Array returns an array of floats in [-1,1), of integers 0 and 1, or of bools.
func (r *Random) Array(d array.DType, dims ...int) *array.Array {
	a := array.New(array.F64, dims...)
	v := array.Data[float64](a)
	for i := range v {
		v[i] = float64(r.Next()>>11)*0x1p-52 - 1
		if !d.IsFloat() {
			v[i] = float64(r.Next() & 1)
		}
	}
	return array.Cast(a, d)
}

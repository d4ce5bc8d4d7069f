package lowering

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// Prepare returns a copy of the module, sharing only the arrays of its state,
// in the form that targets start from: only the wanted outputs are left and
// nothing unused, calls of sub-graphs are inlined, every call is a call_function, pinned symbols and those that
// guards determine are replaced, and types are inferred again. It is an error when
// the options do not fit (BadOption), when graph.Lint refuses the graph, or when Bound
// refuses a value: rules may then rely on what these have checked.
func Prepare(m *graph.Module, o Options) (*graph.Module, error) {
	if m == nil {
		return nil, diag.New(graph.NoOutput, "there is no graph").WithHint("look at the error of what should have made it")
	}
	if m.Graph.Output() == nil {
		return nil, diag.New(graph.NoOutput, "graph "+m.Graph.Name+" has no output node")
	}
	if err := graph.Lint(m.Graph).Err(); err != nil {
		return nil, err
	}
	if err := o.Check(m); err != nil {
		return nil, err
	}
	return prepare(m, m.Graph, nil, o)
}

// PrepareRegion returns a region of a prepared module as a module of its own:
// its inputs have the given types, and those of their sizes that are symbols
// define them.
func PrepareRegion(m *graph.Module, region *graph.Graph, inputs []shape.Type) (*graph.Module, error) {
	if region.Output() == nil || len(region.Inputs()) != len(inputs) {
		return nil, diag.New(NoRegions, "region "+region.Name+" takes "+strconv.Itoa(len(region.Inputs()))+" values, is given "+strconv.Itoa(len(inputs)))
	}
	return prepare(m, region, inputs, Options{})
}

func prepare(m *graph.Module, src *graph.Graph, inputs []shape.Type, o Options) (*graph.Module, error) {
	p := &pins{src: src, opts: o}
	if err := p.solve(); err != nil {
		return nil, err
	}
	out := m.WithGraph(src.Clone())
	g := out.Graph
	if o.Outputs != nil {
		choose(g, o.Outputs)
	}
	c := passes.NewCtx(context.Background(), out)
	if err := ensure(c, passes.Flat, simplify.Inline); err != nil {
		return nil, err
	}
	if err := ensure(c, passes.Functional, simplify.FunctionalizeAll); err != nil {
		return nil, err
	}
	for i, n := range g.Inputs()[:len(inputs)] {
		for axis, d := range inputs[i].Dims().Slice() {
			if name, ok := d.IsSymbol(); ok {
				g.DefineSymbol(name, n, axis)
			}
		}
	}
	if _, err := shapeprop.Bind(c, g, inputs, p.bind); err != nil {
		return nil, err
	}
	if _, err := simplify.DCE.Run(c, g); err != nil {
		return nil, err
	}
	if err := Bound(g, o); err != nil {
		return nil, err
	}
	for n := range g.All() { // bodies are lowered by themselves
		for _, r := range n.Regions() {
			r.CaptureSizes()
		}
	}
	return out, nil
}

// ensure runs the pass that makes a fact true, unless it is true already.
func ensure(c *passes.Ctx, f passes.Fact, p passes.Pass) error {
	if f.Violation(c.Module.Graph) == nil {
		return nil
	}
	_, err := p.Run(c, c.Module.Graph)
	return err
}

// choose makes the graph return some of its results.
func choose(g *graph.Graph, outputs []int) {
	old := g.Output()
	chosen := make([]*graph.Node, len(outputs))
	s := &graph.Structure{Kind: graph.Results}
	for i, k := range outputs {
		chosen[i] = old.Arg(k)
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c := g.After(old)
	// Nothing uses an output.
	_ = g.Erase(old)
	c.Output(s, chosen...)
}

// pins are the sizes that options and guards give to symbols.
type pins struct {
	src    *graph.Graph
	opts   Options
	solver shape.Solver
}

// solve enters pins and guards into the solver.
func (p *pins) solve() error {
	g := p.src
	for _, s := range g.Symbols() {
		// Symbols of inputs come up first, so that they are the ones that stay.
		if s.Node.Opcode() == graph.Placeholder {
			p.solver.Equal(shape.Sym(s.Name), shape.Sym(s.Name), shape.Fact{})
		}
	}
	for _, s := range p.opts.symbols() {
		size := shape.Const(p.opts.Shapes[s])
		if c := p.solver.Equal(shape.Sym(s), size, shape.Fact{Text: "symbol " + s + " is pinned to " + size.String()}); c != nil {
			return unequal(c, c.First.Text, c.Second.Text)
		}
	}
	return p.guards()
}

// guards solves what the graph relies on, and refuses pins that contradict it.
func (p *pins) guards() error {
	list := slices.DeleteFunc(slices.Clone(p.src.Guards()), func(d graph.Guard) bool { return d.Rel == shape.EQ && p.found(d.Relation) })
	relations := make(guard.Relations, len(list))
	for i, d := range list {
		relations[i] = d.Relation
	}
	c := relations.Solve(&p.solver)
	if c == nil {
		return nil
	}
	at := list[c.At]
	e := diag.New(BadOption, "the graph relies on "+at.String()+", which no size that is left has")
	if x := c.Conflict; x != nil {
		first := x.First.Text
		if c.Earlier >= 0 {
			first = "the graph relies on " + first
		}
		e = unequal(x, first, "the graph relies on "+x.Second.Text)
	} else {
		for _, s := range p.opts.symbols() {
			e = e.WithHint("symbol " + s + " is pinned to " + strconv.Itoa(p.opts.Shapes[s]))
		}
	}
	if at.Node != nil {
		e = e.At(at.Node.Pos())
	}
	return e
}

// unequal is the error of two facts that contradict each other.
func unequal(c *shape.Conflict, first, second string) *diag.Error {
	return diag.New(BadOption, "size "+c.A.String()+" must be "+c.B.String()+" ("+second+")").WithHint(first + " does not agree with it")
}

// found reports whether an equality speaks of sizes that a node finds when it runs: it
// is asked where these are known. Two names of one size are the same at once.
func (p *pins) found(r shape.Relation) bool {
	late := false
	for _, name := range r.Symbols() {
		s, ok := p.src.Symbol(name)
		late = late || ok && s.Node.FindsSizes()
	}
	return late && !p.oneSize(r)
}

func (p *pins) oneSize(r shape.Relation) bool {
	a, aOk := r.A.IsSymbol()
	b, bOk := r.B.IsSymbol()
	x, xOk := p.src.Symbol(a)
	y, yOk := p.src.Symbol(b)
	return aOk && bOk && xOk && yOk && x.Node == y.Node && x.Axis == y.Axis
}

func (p *pins) bind(symbol string) shape.Dim { return p.solver.Resolve(shape.Sym(symbol)) }

package shapeprop

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Infer makes a pass that infers every type again for inputs of the given types,
// by input name; other inputs keep their types. Symbols may be renamed: what
// the graph says in terms of the old ones is restated, and what it relies on is
// guarded. A sub-graph is inferred for the types that its inputs declare, a call of it
// for those of its operands. All mistakes are reported; two lines that force one symbol to two
// sizes make one error that cites both. Infer(nil) fills in what is not known.
func Infer(inputs map[string]shape.Type) passes.Pass {
	return passes.Pass{
		Name:  "shape-prop",
		Whole: true, Module: true,
		Doc: "Infers all types again from the types of the inputs.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			if err := checkInputs(g, inputs); err != nil {
				return false, err
			}
			p := &prop{c: c}
			p.called(g, map[*graph.Graph]bool{})
			p.graph(g, nil, func(n *graph.Node, _ int) shape.Type {
				if t, ok := inputs[n.Target()]; ok {
					return t
				}
				return n.Type()
			})
			p.errs.Sort()
			return p.changed, p.errs.Err()
		},
	}
}

func checkInputs(g *graph.Graph, inputs map[string]shape.Type) error {
	var have []string
	for _, n := range g.Inputs() {
		have = append(have, n.Target())
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		if !slices.Contains(have, name) {
			return diag.New(NoSuchInput, "no input "+strconv.Quote(name)).WithHint("the inputs are " + strings.Join(have, ", "))
		}
	}
	return nil
}

// prop is one run over a graph and its regions.
type prop struct {
	c       *passes.Ctx
	errs    diag.List
	changed bool
}

// called retypes the sub-graphs that a graph calls, those first that these call.
func (p *prop) called(g *graph.Graph, done map[*graph.Graph]bool) {
	for n := range g.All() {
		sub := n.Callee()
		if sub == nil || done[sub] {
			continue
		}
		done[sub] = true
		p.called(sub, done)
		p.graph(sub, nil, func(in *graph.Node, _ int) shape.Type { return in.Type() })
	}
}

// scope restates old symbols in terms of new sizes.
type scope struct {
	outer *scope
	size  map[string]shape.Dim
}

func (s *scope) bind(name string) shape.Dim {
	for ; s != nil; s = s.outer {
		if d, ok := s.size[name]; ok {
			return d
		}
	}
	return shape.Sym(name)
}

// graph retypes one graph; input gives the types of its placeholders.
func (p *prop) graph(g *graph.Graph, outer *scope, input func(n *graph.Node, i int) shape.Type) {
	symbols, guards := slices.Clone(g.Symbols()), slices.Clone(g.Guards())
	defines := map[*graph.Node][]graph.Symbol{}
	for _, s := range symbols {
		defines[s.Node] = append(defines[s.Node], s)
	}
	g.ResetFacts()
	sc := &scope{outer: outer, size: map[string]shape.Dim{}}
	i := 0
	for n := range g.Nodes() {
		old := n.Type()
		if n.Opcode() == graph.Placeholder {
			n.SetType(input(n, i))
			i++
			p.inputSymbols(n, outer)
		} else {
			p.node(n, sc)
		}
		for _, sym := range defines[n] {
			sc.size[sym.Name] = restate(n, sym)
		}
		p.changed = p.changed || !old.Same(n.Type())
	}
	p.oldGuards(g, guards, sc)
	g.BindSpecialisations(sc.bind)
	p.resolve(g)
}

// inputSymbols enters the symbols of an input's type: a plain one is defined by
// the first size that it names; further sizes, and expressions, are guarded.
func (p *prop) inputSymbols(node *graph.Node, outer *scope) {
	g := node.Graph()
	for axis, size := range node.Type().Dims().Slice() {
		name, plain := size.IsSymbol()
		if outer != nil || len(size.Symbols()) == 0 {
			continue // the symbols of a region are those of its surroundings
		}
		if _, defined := g.Symbol(name); plain && !defined {
			g.DefineSymbol(name, node, axis)
			continue
		}
		for _, s := range size.Symbols() {
			if _, defined := g.Symbol(s); !defined {
				p.errs.Add(node.Error(graph.UndefinedSymbol, "the type "+node.Type().String()+" uses the symbol "+s+" only inside an expression").
					WithHint("make it the whole size of one input's axis before"))
				return
			}
		}
		g.AddGuard(size, g.NewSymbolFor(node, axis), node) // the earlier symbols stay
	}
}

// node retypes a node that is no input.
func (p *prop) node(n *graph.Node, s *scope) {
	old := n.Type().Bind(s.bind)
	p.regions(n, s)
	if o := n.Op(); o != nil && o.Codec().HasDims() {
		switch attrs := o.Codec().Bind(n.Attrs(), s.bind); {
		case o.Codec().Equal(attrs, n.Attrs()):
		case n.Opcode() == graph.CallModule:
			b := *n.Bound()
			b.Attrs = attrs
			p.c.Module.SetBound(n.Target(), b)
		default:
			p.c.Rewrote(n, nil, "sizes restated")
			_ = n.SetAttrs(attrs) // a mistake is reported below
		}
	}
	if err := n.Retype(); err != nil {
		p.errs.Add(err)
		return
	}
	if o := n.Op(); o != nil && o.AdHoc && n.Type().Kind() == shape.None {
		n.SetType(old) // there is no rule; what was declared is all that is known
	}
}

// regions retypes the regions of control flow for the operands' types.
func (p *prop) regions(n *graph.Node, sc *scope) {
	for _, r := range n.Regions() {
		p.graph(r, sc, func(in *graph.Node, i int) shape.Type {
			switch n.Op() {
			case op.Cond:
				i++
			case op.Scan:
				a := n.Attrs().(op.LoopAttrs)
				if i >= a.Carry && i < a.Carry+a.Seqs && n.Arg(i) != nil && n.Arg(i).Type().Rank() > 0 {
					t := n.Arg(i).Type()
					return t.WithDims(t.Dims().Sub(1, t.Rank()))
				}
			}
			if a := n.Arg(i); a != nil {
				return a.Type()
			}
			return in.Type().Bind(sc.bind)
		})
	}
}

// restate says what an old symbol is now: a size that is known, or a symbol of
// the same name where that is free.
func restate(n *graph.Node, sym graph.Symbol) shape.Dim {
	t := n.Type()
	if d := t.Dim(sym.Axis); !d.IsUnknown() {
		return d
	}
	g := n.Graph()
	d := shape.Sym(sym.Name)
	if _, taken := g.Symbol(sym.Name); taken {
		d = g.NewSymbolFor(n, sym.Axis)
	} else {
		g.DefineSymbol(sym.Name, n, sym.Axis)
	}
	if t.Ranked() {
		n.SetType(t.WithDims(t.Dims().With(sym.Axis, d)))
	}
	return d
}

// oldGuards keeps what the graph relied on before, and reports what contradicts
// the new types.
func (p *prop) oldGuards(g *graph.Graph, guards []graph.Guard, s *scope) {
	g.RequireAll(guards, s.bind)
	if len(p.errs) > 0 {
		return // most likely the same mistakes
	}
	if _, err := solve(g); err != nil {
		p.errs.Add(err)
	}
}

// resolve states types in terms of what the guards say about symbols. Inputs
// keep the symbols that they were given.
func (p *prop) resolve(g *graph.Graph) {
	if len(g.Guards()) == 0 || len(p.errs) > 0 {
		return
	}
	s, _ := solve(g)
	for n := range g.Nodes() {
		if n.Opcode() != graph.Placeholder && n.Type().Kind() != shape.None {
			n.SetType(n.Type().Bind(func(name string) shape.Dim { return s.Resolve(shape.Sym(name)) }))
		}
	}
}

// solve gives a solver the guards of a graph; a contradiction is an error at one
// of the two lines that cites the other.
func solve(g *graph.Graph) (*shape.Solver, error) {
	var solver shape.Solver
	c := g.Relations().Solve(&solver)
	if c == nil {
		return &solver, nil
	}
	at := g.Guards()[c.At]
	msg := at.Relation.String() + " is needed here, which is " + c.Is.String()
	if c.Conflict != nil {
		msg = c.Conflict.A.String() + " must be " + c.Conflict.B.String() + " here (" + c.Conflict.Second.Text + ")"
	}
	e := diag.New(graph.Contradiction, msg)
	if n := at.Node; n != nil {
		e.Node, e.Pos = n.Name(), n.Pos()
	}
	if c.Earlier >= 0 {
		if n := g.Guards()[c.Earlier].Node; n != nil {
			e.Related = []diag.Related{{Pos: n.Pos(), Msg: "but " + c.Conflict.First.Text + " was required by " + n.String()}}
		}
	}
	return &solver, e
}

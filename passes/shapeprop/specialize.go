package shapeprop

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Specialize makes a pass that fixes symbols to numbers, and with them what the
// guards derive: in types, attributes and regions. The symbols stay, guarded to
// have these sizes, so that other inputs are refused at entry.
func Specialize(sizes map[string]int) passes.Pass {
	return passes.Pass{
		Name:  "specialize",
		Whole: true, Module: true,
		Doc: "Fixes symbolic sizes to numbers.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) { return specialize(c, g, sizes) },
	}
}

func specialize(ctx *passes.Ctx, g *graph.Graph, sizes map[string]int) (bool, error) {
	var have []string
	for _, s := range g.Symbols() {
		have = append(have, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		s, ok := g.Symbol(name)
		switch {
		case !ok:
			return false, diag.New(NoSuchSymbol, "no symbol "+strconv.Quote(name)).WithHint("the symbols are " + strings.Join(have, ", "))
		case sizes[name] < 0:
			return false, s.Node.Error(NoSuchSymbol, "the size of "+name+" is "+strconv.Itoa(sizes[name])+", expected 0 or more")
		}
		g.AddGuard(shape.Sym(name), shape.Const(sizes[name]), s.Node)
	}
	s, err := solve(g)
	if err != nil {
		return false, err
	}
	return bind(&binder{c: ctx, strict: true, env: func(name string) shape.Dim { return s.Resolve(shape.Sym(name)) }}, g, nil)
}

// Bind replaces symbols by what env says of them, in types, attributes and
// regions, and infers again the types of what is computed from values that are
// known otherwise than before. inputs, unless nil, are new types of g's inputs.
// Symbols and guards of the graph stay as they are. Sizes that a region of it cannot run with are
// no error: it may be one that does not run, and who binds it by itself is told.
func Bind(c *passes.Ctx, g *graph.Graph, inputs []shape.Type, env func(symbol string) shape.Dim) (changed bool, err error) {
	return bind(&binder{c: c, env: env}, g, inputs)
}

func bind(b *binder, g *graph.Graph, inputs []shape.Type) (changed bool, err error) {
	b.retyped = map[*graph.Node]bool{}
	for i, n := range g.Inputs() {
		if inputs != nil {
			b.setType(n, inputs[i])
		}
	}
	before := b.c.Matches()
	b.graph(g)
	return len(b.retyped) > 0 || b.c.Matches() > before, b.errs.Err()
}

type binder struct {
	c       *passes.Ctx
	env     func(symbol string) shape.Dim
	strict  bool                 // what is wrong in regions counts
	retyped map[*graph.Node]bool // nodes whose type is another one now
	errs    diag.List
}

func (b *binder) graph(g *graph.Graph) {
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			before := len(b.errs)
			b.graph(r)
			b.guards(r)
			if !b.strict {
				b.errs = b.errs[:before]
			}
		}
		b.node(n)
	}
}

// guards restates what a region relies on, which speaks of the sizes around it.
func (b *binder) guards(r *graph.Graph) {
	symbols, guards := slices.Clone(r.Symbols()), slices.Clone(r.Guards())
	if !slices.ContainsFunc(guards, func(d graph.Guard) bool { return d.Bind(b.env).String() != d.Relation.String() }) {
		return
	}
	r.ResetFacts()
	for _, s := range symbols {
		r.DefineSymbol(s.Name, s.Node, s.Axis)
	}
	r.RequireAll(guards, b.env)
}

func (b *binder) node(n *graph.Node) {
	old := n.Type()
	infer := len(n.Regions()) > 0
	for a := range n.Inputs() {
		infer = infer || b.retyped[a]
	}
	if o := n.Op(); o != nil && o.Codec().HasDims() {
		attrs := o.Codec().Bind(n.Attrs(), b.env)
		switch {
		case o.Codec().Equal(attrs, n.Attrs()):
		case n.Opcode() == graph.CallModule:
			bound := *n.Bound()
			bound.Attrs = attrs
			b.c.Module.SetBound(n.Target(), bound)
			infer = true
		default:
			b.errs.Add(n.SetAttrs(attrs))
			b.c.Rewrote(n, nil, "sizes fixed")
			infer = false
		}
	}
	if infer {
		b.errs.Add(n.Retype())
	}
	b.setType(n, passes.MergeTypes(n.Type().Bind(b.env), old.Bind(b.env)))
	if !n.Type().Same(old) {
		b.retyped[n] = true
	}
}

func (b *binder) setType(n *graph.Node, t shape.Type) {
	if !n.Type().Same(t) {
		n.SetType(t)
		b.retyped[n] = true
	}
}

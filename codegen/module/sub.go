package module

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
)

// unit is one function of the generated code: of the graph or of a sub-graph. Long
// ones are split into parts.
type unit struct {
	name         string
	doc          []string
	params       []*goVar
	body         *body
	types, exprs []jen.Code // of the results
	defaults     []jen.Code // statements that give inputs their default values
	parts        []*part
}

// subFunc is the function of a sub-graph.
type subFunc struct {
	name   string
	static []bool // inputs that a call gives a tensor of the model
	traced []bool // inputs that a call gives anything else
}

// subs prints sub-graphs, each as one function, and the calls of them.
type subs struct {
	*printer
	order []*graph.Graph // callers first
	funcs map[*graph.Graph]*subFunc
	clean *goname.Set // the names that no local may have
}

// prepare puts calls in the form in which the parameters of a called module are
// operands, finds the sub-graphs that are called, and names their functions.
func (p *subs) prepare() {
	p.funcs = map[*graph.Graph]*subFunc{}
	var visit func(g *graph.Graph)
	visit = func(g *graph.Graph) {
		for n := range g.All() {
			if sub := n.Callee(); sub != nil && p.funcs[sub] == nil {
				p.funcs[sub] = &subFunc{static: make([]bool, len(sub.Inputs())), traced: make([]bool, len(sub.Inputs()))}
				visit(sub)
				p.order = append([]*graph.Graph{sub}, p.order...)
			}
		}
	}
	visit(p.m.Graph)
	for _, g := range p.m.Subs() {
		if f := p.funcs[g]; f != nil {
			f.name = p.decls.Lower(g.Name)
			p.names.Reserve(f.name)
		}
	}
	p.clean = goname.NewSet()
	p.clean.Include(p.names)
}

// called turns calls of sub-graphs by a module's path into calls with the parameters
// as operands, in a copy of the module. Without such calls it is the module itself.
func called(m *graph.Module) *graph.Module {
	for n := range m.All() {
		if n.Opcode() == graph.CallModule && n.Op() == op.Call {
			c := graph.Clone(m)
			for g := range c.Graphs() {
				inlineModules(g, func(b *graph.Bound) bool { return b.Op == op.Call })
			}
			return c
		}
	}
	return m
}

// call prints a call of a sub-graph.
func (p *subs) call(node *graph.Node) {
	if err := node.CheckCall(); err != nil {
		p.errs = append(p.errs, err)
		return
	}
	callee := node.Callee()
	f := p.funcs[callee]
	if f == nil {
		p.fail(node, ForeignOp, "nothing is known of the sub-graph", "call it in a module that has it")
		return
	}
	var args []jen.Code
	if p.self != nil {
		code := p.ref(p.self)
		if !p.method {
			args = append(args, code)
		}
	}
	recorded := p.anchor == nil
	for _, a := range node.Args() {
		recorded = recorded || !p.value(a).static
	}
	for i, a := range node.Args() {
		v := p.value(a)
		if i == 0 && !recorded {
			f.traced[i] = true
			args = append(args, p.traced(a)) // else a trace would run the call at once
			continue
		}
		f.static[i] = f.static[i] || v.static
		f.traced[i] = f.traced[i] || !v.static
		args = append(args, p.write(v))
	}
	rhs := functions{p.printer}.prefix(f.name).Call(args...)
	out := callee.Output()
	if out.Structure() == nil && out.NumArgs() == 1 {
		p.define(node, rhs, false, 0)
		return
	}
	p.several(node, rhs, out.NumArgs(), false, 0)
}

// function prints a sub-graph. An input that some call gives a tensor of the model is
// written as such a tensor is.
func (p *subs) function(g *graph.Graph) *unit {
	f := p.funcs[g]
	p.locals = goname.NewSet()
	p.locals.Include(p.clean)
	p.anchor = nil
	p.body = newBody(g, nil)
	u := &unit{name: f.name, doc: []string{gosrc.CommentLine(f.name + " computes the sub-graph " + g.Name + ".")}, body: p.body}
	var expected []*graph.Node
	for i, n := range g.Inputs() {
		v := p.local(n.Target(), tensorType())
		u.params = append(u.params, v)
		p.values[n] = value{v: v, static: f.static[i]}
		p.body.defined[n] = true
		if !f.static[i] {
			if p.anchor == nil {
				p.anchor = v
			}
		}
		if f.traced[i] {
			expected = append(expected, n)
		}
	}
	p.expect(g, expected)
	p.sizes.symbols()
	p.nodes()
	out := g.Output()
	for _, a := range out.Args() {
		u.types = append(u.types, tensorType())
		u.exprs = append(u.exprs, p.write(p.value(a)))
	}
	return u
}

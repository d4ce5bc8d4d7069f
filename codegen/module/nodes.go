package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// function prints the nodes of the graph itself.
func (p *printer) function(g *graph.Graph) *body {
	p.body = newBody(g, nil)
	for i, n := range g.Inputs() {
		v := p.local(n.Target(), tensorType())
		if i == 0 {
			p.anchor = v
		}
		p.params = append(p.params, v)
		p.values[n] = value{v: v}
	}
	p.expect(g)
	p.nodes()
	b := p.body
	out := g.Output()
	p.results.output(out)
	// What the return statement uses is the pending list of the body.
	return b
}

// expect states the types of the inputs where they fix anything: code that was
// captured for them computes something else for others.
func (p *printer) expect(g *graph.Graph) {
	var types []string
	args := []jen.Code{nil}
	fixed, symbols := false, map[string]bool{}
	for _, n := range g.Inputs() {
		t := n.Type()
		fixed = fixed || t.DType() != array.Invalid
		for _, d := range t.Dims().Slice() {
			name, plain := d.IsSymbol()
			fixed = fixed || !d.IsUnknown() && (!plain || symbols[name])
			symbols[name] = plain
		}
		types = append(types, t.String())
		args = append(args, p.ref(p.values[n].v))
	}
	if !fixed {
		p.body.pending = nil
		return
	}
	args[0] = jen.Lit(strings.Join(types, "; "))
	p.emit(&stmt{rhs: gosrc.From("tensor", "Expect").Call(args...), alone: true})
}

// nodes prints all nodes of the current graph but the output.
func (p *printer) nodes() {
	for n := range p.body.g.Nodes() {
		switch {
		case n.Opcode() == graph.Placeholder:
		case n.Opcode() == graph.GetAttr:
			p.getAttr(n)
		case n.Opcode() == graph.Output:
			continue
		case n.Op() == op.GetItem:
			p.getItem(n)
		default:
			p.call(n)
		}
		p.body.defined[n] = true
		p.sizes.symbols()
	}
}

// getAttr makes a tensor of the state available. One that the graph writes is
// read where the graph reads it.
func (p *printer) getAttr(n *graph.Node) {
	code := p.byPath[n.Target()]
	if code == nil {
		code = func() *jen.Statement { return jen.Nil() } // reported already
	}
	expr := func() *jen.Statement {
		if p.self != nil {
			p.ref(p.self)
		}
		return code()
	}
	if !p.written[n.Target()] && n.NumUses() > 0 || p.anchor == nil {
		p.values[n] = value{code: expr, static: true}
		return
	}
	p.values[n] = value{code: expr, static: true}
	if onlyWritten(n) {
		return
	}
	rhs := p.traced(n)
	v := p.local(n.Name(), tensorType())
	p.values[n] = value{v: v}
	p.emit(&stmt{defs: []*goVar{v}, rhs: rhs, scope: n.Scope(), typ: gosrc.TypeComment(n.Type())})
}

// onlyWritten reports whether a read of a buffer only says what an assign writes.
func onlyWritten(n *graph.Node) bool {
	for u := range n.Users() {
		if u.Op() != op.Assign || u.Arg(0) != n || u.NumArgs() > 1 && u.Arg(1) == n {
			return false
		}
	}
	return n.NumUses() > 0
}

// call prints a call of any spelling.
func (p *printer) call(n *graph.Node) {
	o := n.Op()
	switch {
	case o == nil:
		p.fail(n, OpaqueModule, "nothing is known of module "+gosrc.CommentLine(n.Target()), "say what it does with Module.SetBound")
	case o == op.Assign:
		p.assign(n)
	case len(n.Regions()) > 0:
		regions{p}.control(n)
	case n.Opcode() == graph.CallModule:
		p.calls.moduleCall(n)
	default:
		p.calls.operatorCall(n)
	}
}

// assign prints a write to a tensor of the state.
func (p *printer) assign(n *graph.Node) {
	path := assigned(n)
	code := p.byPath[path]
	if path == "" || code == nil || n.NumArgs() != 2 || n.Arg(1) == nil {
		p.fail(n, BadAssign, "the write is not to a tensor of the state", "assign to what a get_attr node reads")
		return
	}
	v := p.traced(n.Arg(1))
	p.ref(p.self)
	rhs := code().Dot("AssignInPlace").Call(v)
	s := &stmt{rhs: rhs, alone: true, scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	used := false
	for u := range n.Users() {
		used = used || u.Op() != op.Assign || u.Arg(0) != n || u.Arg(1) == n
	}
	if used && p.anchor != nil {
		d := p.local(n.Name(), tensorType())
		s.rhs = gosrc.From("tensor", "On").Call(p.ref(p.anchor), rhs)
		s.defs, s.alone = []*goVar{d}, false
		p.values[n] = value{v: d}
	}
	p.emit(s)
}

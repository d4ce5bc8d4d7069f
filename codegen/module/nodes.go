package module

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/op"
)

// function prints the nodes of the graph itself.
func (p *printer) function(whole *graph.Graph) *unit {
	p.body = newBody(whole, nil)
	for i, n := range whole.Inputs() {
		v := p.local(n.Target(), tensorType())
		if i == 0 {
			p.anchor = v
		}
		p.params = append(p.params, v)
		p.values[n] = value{v: v}
	}
	p.expect(whole, whole.Inputs())
	p.nodes()
	// The values that the return statement uses are the pending list of the body.
	p.results.output(whole.Output())
	return &unit{name: p.Func, doc: p.doc(), params: p.params, body: p.body, types: p.results.types, exprs: p.results.exprs,
		defaults: functions{p}.defaults()}
}

// expect states the types of inputs, and of all of them the guards over their sizes, where that fixes
// anything: code that was captured for them computes something else for others.
func (p *printer) expect(g *graph.Graph, inputs []*graph.Node) {
	entry := g.Entry()
	whole := len(inputs) == len(entry.Inputs)
	if !whole {
		entry = entryOf(inputs)
	}
	args := []jen.Code{jen.Lit(entry.String())}
	fixed, symbols := len(entry.Needs) > 0, map[string]bool{}
	for _, n := range inputs {
		t := n.Type()
		fixed = fixed || t.DType() != array.Invalid
		for _, d := range t.Dims().Slice() {
			name, plain := d.IsSymbol()
			fixed = fixed || !d.IsUnknown() && (!plain || symbols[name])
			symbols[name] = plain
		}
		args = append(args, p.ref(p.values[n].v))
	}
	if !fixed {
		p.body.pending = nil
		return
	}
	p.body.expects = whole
	p.emit(&stmt{rhs: gosrc.From("tensor", "Expect").Call(args...), alone: true})
}

// entryOf has the types of some inputs alone.
func entryOf(inputs []*graph.Node) *guard.Entry {
	e := &guard.Entry{}
	for _, n := range inputs {
		e.Inputs = append(e.Inputs, guard.Input{Type: guard.Type{Input: n.Target(), Type: n.Type()}})
	}
	return e
}

// nodes prints all nodes of the current graph but the output.
func (p *printer) nodes() {
	for node := range p.body.g.Nodes() {
		switch {
		case node.Opcode() == graph.Placeholder:
		case node.Opcode() == graph.GetAttr:
			p.getAttr(node)
		case node.Opcode() == graph.Output:
			continue
		case node.Op() == op.GetItem:
			p.getItem(node)
		default:
			p.call(node)
		}
		p.body.defined[node] = true
		p.sizes.symbols()
	}
}

// getAttr makes a tensor of the state available. One that the graph writes is
// read where the graph reads it.
func (p *printer) getAttr(node *graph.Node) {
	code := p.byPath[node.Target()]
	if code == nil {
		code = func() *jen.Statement { return jen.Nil() } // reported already
	}
	expr := func() *jen.Statement {
		if p.self != nil {
			p.ref(p.self)
		}
		return code()
	}
	if !p.written[node.Target()] && node.NumUses() > 0 || p.anchor == nil {
		p.values[node] = value{code: expr, static: true}
		return
	}
	p.values[node] = value{code: expr, static: true}
	if onlyWritten(node) {
		return
	}
	rhs := p.traced(node)
	v := p.local(node.Name(), tensorType())
	p.values[node] = value{v: v}
	p.emit(&stmt{defs: []*goVar{v}, rhs: rhs, scope: node.Scope(), typ: gosrc.TypeComment(node.Type())})
}

// onlyWritten reports whether a read of a buffer only serves an assign that writes it.
func onlyWritten(n *graph.Node) bool {
	for u := range n.Users() {
		if u.Op() != op.Assign || u.Arg(0) != n || u.NumArgs() > 1 && u.Arg(1) == n {
			return false
		}
	}
	return n.NumUses() > 0
}

// call prints a call of any spelling.
func (p *printer) call(node *graph.Node) {
	o := node.Op()
	switch {
	case o == nil:
		p.fail(node, OpaqueModule, "nothing is known of module "+gosrc.CommentLine(node.Target()), "say what it does with Module.SetBound")
	case o == op.Assign:
		p.assign(node)
	case o == op.Call:
		p.subs.call(node)
	case len(node.Regions()) > 0:
		regions{printer: p}.control(node)
	case node.Opcode() == graph.CallModule:
		p.calls.moduleCall(node)
	default:
		p.calls.operatorCall(node)
	}
}

// assign prints a write to a tensor of the state.
func (p *printer) assign(node *graph.Node) {
	path := node.Place().Path
	code := p.byPath[path]
	if path == "" || code == nil || node.NumArgs() != 2 || node.Arg(1) == nil {
		p.fail(node, BadAssign, "the write is not to a tensor of the state", "assign to what a get_attr node reads")
		return
	}
	written := p.traced(node.Arg(1))
	p.ref(p.self)
	rhs := code().Dot("AssignInPlace").Call(written)
	line := &stmt{rhs: rhs, alone: true, scope: node.Scope(), typ: gosrc.TypeComment(node.Type())}
	used := false
	for u := range node.Users() {
		used = used || u.Op() != op.Assign || u.Arg(0) != node || u.Arg(1) == node
	}
	if used && p.anchor != nil {
		d := p.local(node.Name(), tensorType())
		line.rhs = gosrc.From("tensor", "On").Call(p.ref(p.anchor), rhs)
		line.defs, line.alone = []*goVar{d}, false
		p.values[node] = value{v: d}
	}
	p.emit(line)
}

package module

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// goVar is a variable of the generated code.
type goVar struct {
	name string
	typ  *jen.Statement
	uses int
}

// stmt is one statement: defs := rhs.
type stmt struct {
	defs  []*goVar // nil for results that nothing uses
	rhs   *jen.Statement
	alone bool // rhs may stand without definitions
	// dropped tells that nothing is lost without the statement when no definition
	// is used.
	dropped bool
	uses    []*goVar
	scope   graph.Scope
	typ     string
}

// body is a list of statements being printed: of the function or of a region.
type body struct {
	g       *graph.Graph
	list    []*stmt
	pending []*goVar // variables used since the last statement
	guarded bool     // the guards have been printed
	queue   []graph.Symbol
	defined map[*graph.Node]bool
	outer   *body
}

// value is what a node is in the generated code.
type value struct {
	v    *goVar // nil for expressions
	code source
	// static tells that the expression is an eager tensor while the code is
	// traced: it is recorded by its recipe, of this depth, at its first use.
	static bool
	depth  int
}

// maxRecipe is how many calls deep package tensor remembers how an eager tensor
// was made.
const maxRecipe = 16

// ref notes a use of a variable and returns it as an expression.
func (p *printer) ref(v *goVar) *jen.Statement {
	v.uses++
	p.body.pending = append(p.body.pending, v)
	return jen.Id(v.name)
}

// write returns the expression of a value.
func (p *printer) write(v value) *jen.Statement {
	if v.v != nil {
		return p.ref(v.v)
	}
	return v.code()
}

// traced returns the expression of a node's value as something that a trace
// records, also when it is a tensor of the model.
func (p *printer) traced(n *graph.Node) *jen.Statement {
	v := p.value(n)
	if !v.static || p.anchor == nil {
		return p.write(v)
	}
	return gosrc.From("tensor", "On").Call(p.ref(p.anchor), p.write(v))
}

func (p *printer) value(n *graph.Node) value {
	if n == nil {
		return value{code: func() *jen.Statement { return jen.Nil() }} // absent
	}
	if v, ok := p.values[n]; ok {
		return v
	}
	if n.NumArgs() > 0 || n.Opcode() == graph.CallFunction {
		if _, tuple := p.tuples[n]; tuple {
			p.fail(n, WholeTuple, n.String()+" has several results and is used as one value", "take its results apart with getitem")
		}
	}
	return value{code: func() *jen.Statement { return jen.Nil() }}
}

// emit adds a statement.
func (p *printer) emit(s *stmt) {
	s.uses, p.body.pending = p.body.pending, nil
	p.body.list = append(p.body.list, s)
}

// local makes a variable named after a node.
func (p *printer) local(hint string, typ *jen.Statement) *goVar {
	return &goVar{name: p.names.Lower(hint), typ: typ}
}

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
	p.results = p.output(out)
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

func newBody(g *graph.Graph, outer *body) *body {
	return &body{g: g, queue: g.Symbols(), defined: map[*graph.Node]bool{}, outer: outer}
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
		p.symbols()
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
		p.control(n)
	case n.Opcode() == graph.CallModule:
		p.moduleCall(n)
	default:
		p.operatorCall(n)
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

// define emits the statement of a call whose expression is given; the results
// become the values of the node or of the getitem nodes that take it apart.
func (p *printer) define(n *graph.Node, rhs *jen.Statement, static bool, depth int) {
	s := &stmt{rhs: rhs, scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	if static && p.anchor != nil && n.NumUses() == 0 {
		s.rhs = gosrc.From("tensor", "On").Call(p.ref(p.anchor), rhs)
		static = false
	}
	v := p.local(n.Name(), tensorType())
	s.defs = []*goVar{v}
	p.values[n] = value{v: v, static: static, depth: depth}
	p.emit(s)
}

// tuple is a call with several results.
type tuple struct {
	items  map[int]value
	static bool
	depth  int
}

// several emits the statement of a call that returns its results one by one.
func (p *printer) several(n *graph.Node, rhs *jen.Statement, count int, static bool, depth int) {
	t := &tuple{items: map[int]value{}, static: static, depth: depth}
	p.tuples[n] = t
	s := &stmt{rhs: rhs, defs: make([]*goVar, count), scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	for u := range n.Users() {
		i, ok := itemIndex(u, n)
		if !ok || i < 0 || i >= count {
			continue
		}
		if _, known := t.items[i]; !known {
			v := p.local(itemName(n, u, i), tensorType())
			s.defs[i] = v
			t.items[i] = value{v: v, static: static, depth: depth}
		}
	}
	p.emit(s)
}

// list emits the statement of a call that returns a list; from is the index of
// the list's first element among the results.
func (p *printer) list(n *graph.Node, rhs *jen.Statement, static bool, depth int) {
	t := &tuple{items: map[int]value{}, static: static, depth: depth}
	p.tuples[n] = t
	used := map[int]*graph.Node{}
	var order []int
	for u := range n.Users() {
		if i, ok := itemIndex(u, n); ok && used[i] == nil {
			used[i] = u
			order = append(order, i)
		}
	}
	s := &stmt{rhs: rhs, scope: n.Scope(), typ: gosrc.TypeComment(n.Type())}
	if len(order) == 1 {
		v := p.local(itemName(n, used[order[0]], order[0]), tensorType())
		if t := n.Type(); t.Kind() == shape.Tuple && order[0] < t.Len() {
			s.typ = gosrc.TypeComment(t.Member(order[0]))
		}
		s.rhs = rhs.Index(jen.Lit(order[0]))
		s.defs = []*goVar{v}
		t.items[order[0]] = value{v: v, static: static, depth: depth}
		p.emit(s)
		return
	}
	v := p.local(n.Name(), jen.Index().Add(tensorType()))
	s.defs = []*goVar{v}
	p.emit(s)
	p.elements(t, v, order, 0)
}

// elements makes the elements of a list variable results, from the given one on.
func (p *printer) elements(t *tuple, v *goVar, order []int, from int) {
	for _, i := range order {
		t.items[i] = value{static: t.static, depth: t.depth, code: func() *jen.Statement { return p.ref(v).Index(jen.Lit(i - from)) }}
	}
}

// itemName names a member of a tuple: as its node is named, unless that name only
// says that it is a member.
func itemName(tuple, item *graph.Node, i int) string {
	if !strings.HasPrefix(item.Name(), op.GetItem.Name) {
		return item.Name()
	}
	if r := tuple.Op().Results; i < len(r) && r[i] != "..." && !tuple.Op().AdHoc {
		return r[i]
	}
	return tuple.Name()
}

func itemIndex(u, tuple *graph.Node) (int, bool) {
	if u.Op() != op.GetItem || u.Arg(0) != tuple {
		return 0, false
	}
	return u.Attrs().(op.GetItemAttrs).Index, true
}

func (p *printer) getItem(n *graph.Node) {
	t := p.tuples[n.Arg(0)]
	i, _ := itemIndex(n, n.Arg(0))
	v, ok := value{}, false
	if t != nil {
		v, ok = t.items[i]
	}
	if !ok {
		if len(p.errs) == 0 {
			p.errs.Add(n.Error(diag.Code(WholeTuple), "getitem of something that has no member "+gosrc.TypeComment(n.Arg(0).Type())))
		}
		v = value{code: func() *jen.Statement { return jen.Nil() }}
	}
	p.values[n] = v
}

// hasSymbols reports whether attributes hold sizes that are no numbers.
func hasSymbols(o *op.Op, attrs any) bool {
	found := false
	o.Codec().Symbols(attrs, func(d shape.Dim) {
		if _, known := d.Int(); !known {
			found = true
		}
	})
	return found
}

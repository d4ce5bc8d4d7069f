package graph

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// body reads the statements of one graph or region.
type body struct {
	p     *parser
	g     *Graph
	depth int
	// values has every name defined so far; nil for those whose line has a
	// mistake, so that their uses are not reported as well.
	values   map[string]*Node
	returned bool
	// Of the statement that is being read: its cursor, what is wrong with its type, and
	// memory for its parts.
	cur             Cursor
	bad             error
	onError         func(error)
	args            []*Node
	names, literals []string
}

// region reads "name(%x: f32[2]) {", after the keyword, and the block.
func (p *parser) region(graph *Graph, line *scan, depth int) {
	if line.peek() != '(' {
		graph.Name, _ = line.word("a name or '('")
	}
	b := &body{p: p, g: graph, depth: depth}
	if b.values = map[string]*Node{}; depth == 0 {
		b.values = make(map[string]*Node, p.nodes)
		p.nodes = 0 // sub-graphs mostly are small
	}
	line.need('(')
	for !line.failed && !line.accept(')') {
		b.input(line)
		if !line.accept(',') {
			line.need(')')
			break
		}
	}
	line.need('{')
	line.end()
	if line.failed && !line.endsOpen() {
		return
	}
	b.statements(line.pos(0))
	if depth == 0 {
		defineInputSymbols(graph)
	}
}

// defineInputSymbols lets the sizes of inputs define the symbols that they are
// and that the text does not define: "%x: f32[N,3]" says enough.
func defineInputSymbols(g *Graph) {
	for n := g.first; n != nil && n.opcode == Placeholder; n = n.next {
		for i := range n.typ.Dims().Len() {
			if name, ok := n.typ.Dim(i).IsSymbol(); ok {
				g.DefineSymbol(name, n, i)
			}
		}
	}
}

// input reads one placeholder of a signature: %x "target": f32[2] = 1 in "scope" at "pos"
func (b *body) input(c *scan) {
	c.peek()
	at := c.i
	name := c.value()
	target := name
	if c.peek() == '"' {
		target = c.quoted("a string")
	}
	c.need(':')
	b.placeholder(c, at, name, target, c.typ())
}

// placeholder reads what may follow the type of a placeholder and makes it.
func (b *body) placeholder(c *scan, at int, name, target string, t shape.Type) {
	var def any
	if c.accept('=') {
		def = c.defaultValue()
	}
	cur := b.cursor(c)
	if c.failed {
		b.define(c, at, name, nil)
		return
	}
	cur.name = b.free(name)
	b.define(c, at, name, cur.Placeholder(target, t, def))
}

// free returns a name that is not defined yet, "" for one that is: define says so.
func (b *body) free(name string) string {
	if _, ok := b.values[name]; ok {
		return ""
	}
	return name
}

// cursor reads scope and position and returns a cursor that carries them.
func (b *body) cursor(c *scan) *Cursor {
	cur := &b.cur
	*cur = Cursor{g: b.g}
	if c.keyword("in") {
		s := Scope{Path: c.quoted("a string")}
		if c.peek() == '"' {
			s.Type = c.quoted("a string")
		}
		if !c.failed {
			cur.scope = b.g.Scope(s)
		}
	}
	cur.static = c.position()
	return cur
}

// position reads: at "model.go:41:9" "(*Net).Forward"
func (c *scan) position() (pos diag.Pos) {
	if !c.keyword("at") {
		return pos
	}
	c.peek()
	start := c.i
	rest, last, ok := cutNumber(c.quoted("a string"))
	pos.File, pos.Line = rest, last
	if rest, line, two := cutNumber(rest); two {
		pos.File, pos.Line, pos.Col = rest, line, last
	}
	if !c.failed && (!ok || pos.File == "") {
		c.fail(start, SyntaxError, "position has no line, expected \"file:line\" or \"file:line:column\"")
	}
	if c.peek() == '"' {
		pos.Func = c.quoted("a string")
	}
	return pos
}

// define enters a name; n is nil when its line has a mistake.
func (b *body) define(c *scan, at int, name string, n *Node) {
	if name == "" {
		return
	}
	if _, ok := b.values[name]; ok {
		c.failed = false
		c.fail(at, Redefined, "%"+clip(name)+" is defined twice")
		return
	}
	b.values[name] = n
}

// statements reads lines up to the closing brace.
func (b *body) statements(open diag.Pos) {
	p := b.p
	for {
		at := p.mark()
		if !p.next() || p.atTop() {
			p.back(at)
			if !p.full {
				p.report(diag.New(Misplaced, "block is not closed, expected '}'").At(open))
			}
			return
		}
		c := p.cur
		if c.accept('}') {
			c.end()
			return
		}
		if b.returned {
			c.fail(c.i, Misplaced, "statement after return, expected '}'")
			p.skipBlock(&c)
			continue
		}
		b.statement(&c)
	}
}

func (b *body) statement(line *scan) {
	switch text := line.first(); {
	case line.peek() == '%':
		b.node(line)
	case text == "return":
		b.output(line)
	case text == "symbol":
		b.symbol(line)
	case text == "guard":
		b.guard(line)
	case text == "note":
		line.keyword("note")
		s := Specialisation{What: line.quoted("a string")}
		if line.keyword("guard") {
			s.Guard = line.claim(" at ")
		}
		s.Pos = line.position()
		if line.end(); !line.failed {
			b.g.NoteSpecialisation(s)
		}
	case text == "region":
		line.fail(line.i, Misplaced, "region outside of a call, expected it in the block after a call")
		b.p.skipBlock(line)
	default:
		line.expected("%name =, return, symbol, guard, note or '}'")
		b.p.skipBlock(line)
	}
}

// stmt is one call while its line is being read.
type stmt struct {
	name, target    string
	at, targetAt    int
	opcode          Opcode
	live            bool
	args            []*Node
	silent          bool // an operand's line has a mistake
	attrsAt, typeAt int
	attrsEnd        int
	names, literals []string
	typ             shape.Type
	typed           bool
}

// node reads one call, get_attr or placeholder.
func (b *body) node(line *scan) {
	statement := &stmt{at: line.i}
	statement.name = line.value()
	line.need('=')
	b.head(line, statement)
	if statement.opcode == Placeholder && !line.failed {
		line.need(':')
		b.placeholder(line, statement.at, statement.name, statement.target, line.typ())
		line.end()
		return
	}
	if statement.opcode.IsCall() && !line.failed {
		b.operands(line, statement)
		if statement.opcode != CallModule {
			line.peek()
			statement.attrsAt = line.i
			statement.names, statement.literals = line.attrs(b.names[:0], b.literals[:0])
			b.names, b.literals = statement.names, statement.literals
			statement.attrsEnd = line.i
		}
	}
	if line.accept(':') {
		line.peek()
		statement.typeAt, statement.typed = line.i, true
		statement.typ = line.typ()
	}
	cur := b.cursor(line)
	var regions []*Graph
	if (statement.opcode == CallFunction || statement.opcode == CallMethod) && line.accept('{') {
		line.end()
		if !line.failed {
			regions = b.regions(line)
		}
	}
	if line.end(); line.failed {
		if regions == nil {
			b.p.skipBlock(line)
		}
		b.define(line, statement.at, statement.name, nil)
		return
	}
	b.define(line, statement.at, statement.name, b.build(line, cur, statement, regions))
}

// head reads opcode and target.
func (b *body) head(line *scan, statement *stmt) {
	found := false
	line.peek()
	for o := Placeholder; o < Output && !found; o++ {
		if found = line.keyword(o.String()); found {
			statement.opcode = o
		}
	}
	if !found {
		line.expected("placeholder, get_attr, call_function, call_method or call_module")
		return
	}
	line.need('[')
	line.peek()
	statement.targetAt = line.i
	statement.target, _ = line.word("a target")
	line.need(']')
	statement.live = statement.opcode == GetAttr && line.keyword("live")
}

// operands reads (%a, _, %b).
func (b *body) operands(c *scan, s *stmt) {
	c.need('(')
	if c.accept(')') {
		return
	}
	s.args = b.args[:0]
	defer func() { b.args = s.args }()
	for !c.failed {
		n, ok := b.operand(c)
		s.silent = s.silent || !ok
		s.args = append(s.args, n)
		if !c.accept(',') {
			c.need(')')
			return
		}
	}
}

// operand reads %name or _; ok is false for names whose line has a mistake.
func (b *body) operand(c *scan) (n *Node, ok bool) {
	if c.peek() == '_' {
		c.i++
		return nil, true
	}
	at := c.i
	name := c.value()
	if c.failed {
		return nil, false
	}
	n, ok = b.values[name]
	if !ok {
		c.fail(at, Undefined, "%"+clip(name)+" is not defined, expected a value of a line before in the same graph or region")
	}
	return n, n != nil
}

// regions reads the block after a call.
func (b *body) regions(line *scan) []*Graph {
	p := b.p
	if b.depth+1 > maxNesting {
		line.fail(0, TextLimit, "regions nest deeper than "+strconv.Itoa(maxNesting)+" levels, expected fewer")
		p.skipBlock(line)
		return []*Graph{}
	}
	list := []*Graph{}
	for {
		at := p.mark()
		if !p.next() || p.atTop() {
			p.back(at)
			if !p.full {
				line.fail(0, Misplaced, "block is not closed, expected '}'")
			}
			return list
		}
		d := p.cur
		switch {
		case d.accept('}'):
			d.end()
			line.failed = line.failed || d.failed
			return list
		case len(list) == maxRegions:
			d.fail(0, BadRegions, "call with more than "+strconv.Itoa(maxRegions)+" regions")
			line.failed = true
			p.skipBlock(&d)
		case d.keyword("region"):
			before := len(p.errs)
			g := b.g.NewRegion("")
			p.region(g, &d, b.depth+1)
			line.failed = line.failed || len(p.errs) > before
			list = append(list, g)
		default:
			d.expected("region or '}'")
			line.failed = true
			p.skipBlock(&d)
		}
	}
}

// maxRegions is the most that an operator takes.
const maxRegions = 2

// build makes the node and checks its type.
func (b *body) build(line *scan, cur *Cursor, statement *stmt, regions []*Graph) *Node {
	b.bad = nil
	if cur.OnError = b.onError; b.onError == nil {
		b.onError = func(err error) { b.bad = err }
		cur.OnError = b.onError
	}
	var operator *op.Op
	var attrs any
	if statement.opcode == CallFunction || statement.opcode == CallMethod {
		if operator = line.op(statement.targetAt, statement.target); operator != nil {
			attrs = line.decode(statement, operator)
		}
	}
	if line.failed || statement.silent {
		return nil
	}
	called, given := operator, attrs
	if bound := b.p.m.Bound(statement.target); statement.opcode == CallModule && bound != nil {
		called, given = bound.Op, bound.Attrs
	}
	if !b.callee(line, called, given, statement.args) || !b.results(line, called, given, statement.args) || !b.sizes(line, called, given) {
		return nil
	}
	cur.name = b.free(statement.name)
	node, err := b.make(cur, statement, operator, attrs, regions)
	if err != nil {
		line.typeError(statement.at, err)
		return nil
	}
	if b.limit(line); !b.inferred(line, node) || !statement.typed || line.failed {
		return node
	}
	t, ok := stated(b.g, statement.typ, node)
	if !ok {
		line.fail(statement.typeAt, WrittenType, "written type is "+clip(statement.typ.String())+", inferred is "+clip(node.typ.String())).
			WithHint("leave the type out, or correct it")
		return nil
	}
	node.typ = t
	return node
}

// limit ends the reading of a text with very many guards.
func (b *body) limit(c *scan) {
	if len(b.g.symbols.guards) > maxGuards {
		c.fail(0, TextLimit, "graph needs more than "+strconv.Itoa(maxGuards)+" guards, expected fewer").
			WithHint("use the same symbol for sizes that are equal")
		b.p.full = true
	}
}

// typeError reports what a type rule says about the line.
func (c *scan) typeError(at int, err error) {
	var l diag.List
	l.Add(err)
	c.failed = true
	for _, e := range l {
		d := *e
		if d.Pos.File != "" {
			d.Related = append(d.Related[:len(d.Related):len(d.Related)], diag.Related{Pos: d.Pos, Msg: "recorded here"})
		}
		d.Pos = c.pos(at)
		d.Msg = clipLong(d.Msg)
		c.p.report(&d)
	}
}

// symbol reads: symbol N = dim(%x, 0)
func (b *body) symbol(line *scan) {
	line.keyword("symbol")
	line.peek()
	at := line.i
	name, _ := line.word("the name of a symbol")
	if !line.failed && !shape.ValidSymbol(name) {
		line.fail(at, SyntaxError, "symbol is "+strconv.Quote(clip(name))+", expected a letter or underscore, then letters, digits, underscores")
	}
	line.need('=')
	if !line.keyword("dim") {
		line.expected("dim(%x, axis)")
	}
	line.need('(')
	node, ok := b.operand(line)
	line.need(',')
	axis := line.number("an axis")
	line.need(')')
	line.end()
	if line.failed || !ok {
		return
	}
	if _, twice := b.g.Symbol(name); twice {
		line.fail(at, Redefined, "symbol "+name+" is defined twice")
		return
	}
	if node == nil {
		line.fail(at, SyntaxError, "symbol of an absent value, expected a value")
		return
	}
	b.g.DefineSymbol(name, node, axis)
}

// guard reads: guard 2*N == M from %y, and the same with >=, <=, or N % 2 == 0
func (b *body) guard(line *scan) {
	line.keyword("guard")
	r := line.relation(" from ")
	var n *Node
	ok := true
	if line.keyword("from") {
		n, ok = b.operand(line)
	}
	line.end()
	if line.failed || !ok {
		return
	}
	if !b.p.spend(line, 4*costBytes*(expensive(r.A)+expensive(r.B))) {
		return
	}
	err := b.g.symbols.assume(r, n)
	if err == nil {
		err = b.g.symbols.impossible(r)
	}
	if err != nil {
		line.typeError(0, err)
	}
	b.limit(line)
}

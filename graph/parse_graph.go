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
}

// region reads "name(%x: f32[2]) {", behind the keyword, and the block.
func (p *parser) region(g *Graph, c *scan, depth int) {
	if c.peek() != '(' {
		g.Name, _ = c.word("a name or '('")
	}
	b := &body{p: p, g: g, depth: depth, values: map[string]*Node{}}
	c.need('(')
	for !c.failed && !c.accept(')') {
		b.input(c)
		if !c.accept(',') {
			c.need(')')
			break
		}
	}
	c.need('{')
	c.end()
	if c.failed && !c.endsOpen() {
		return
	}
	b.statements(c.pos(0))
	if depth == 0 {
		g.defineInputSymbols()
	}
}

// defineInputSymbols lets the sizes of inputs define the symbols that they are
// and that the text does not define: "%x: f32[N,3]" says enough.
func (g *Graph) defineInputSymbols() {
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
	n := cur.Placeholder(target, t, def)
	n.setName(name)
	b.define(c, at, name, n)
}

// cursor reads scope and position and returns a cursor that carries them.
func (b *body) cursor(c *scan) *Cursor {
	cur := b.g.At()
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
			c.fail(c.i, Misplaced, "statement behind return, expected '}'")
			p.skipBlock(&c)
			continue
		}
		b.statement(&c)
	}
}

func (b *body) statement(c *scan) {
	switch w := c.first(); {
	case c.peek() == '%':
		b.node(c)
	case w == "return":
		b.output(c)
	case w == "symbol":
		b.symbol(c)
	case w == "guard":
		b.guard(c)
	case w == "note":
		c.keyword("note")
		s := Specialisation{What: c.quoted("a string")}
		s.Pos = c.position()
		if c.end(); !c.failed {
			b.g.NoteSpecialisation(s)
		}
	case w == "region":
		c.fail(c.i, Misplaced, "region outside of a call, expected it in the block behind a call")
		b.p.skipBlock(c)
	default:
		c.expected("%name =, return, symbol, guard, note or '}'")
		b.p.skipBlock(c)
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
	names, literals []string
	typ             shape.Type
	typed           bool
}

// node reads one call, get_attr or placeholder.
func (b *body) node(c *scan) {
	s := &stmt{at: c.i}
	s.name = c.value()
	c.need('=')
	b.head(c, s)
	if s.opcode == Placeholder && !c.failed {
		c.need(':')
		b.placeholder(c, s.at, s.name, s.target, c.typ())
		c.end()
		return
	}
	if s.opcode.IsCall() && !c.failed {
		b.operands(c, s)
		if s.opcode != CallModule {
			c.peek()
			s.attrsAt = c.i
			s.names, s.literals = c.attrs()
		}
	}
	if c.accept(':') {
		c.peek()
		s.typeAt, s.typed = c.i, true
		s.typ = c.typ()
	}
	cur := b.cursor(c)
	var regions []*Graph
	if (s.opcode == CallFunction || s.opcode == CallMethod) && c.accept('{') {
		c.end()
		if !c.failed {
			regions = b.regions(c)
		}
	}
	if c.end(); c.failed {
		if regions == nil {
			b.p.skipBlock(c)
		}
		b.define(c, s.at, s.name, nil)
		return
	}
	b.define(c, s.at, s.name, b.build(c, cur, s, regions))
}

// head reads opcode and target.
func (b *body) head(c *scan, s *stmt) {
	found := false
	c.peek()
	for o := Placeholder; o < Output && !found; o++ {
		if found = c.keyword(o.String()); found {
			s.opcode = o
		}
	}
	if !found {
		c.expected("placeholder, get_attr, call_function, call_method or call_module")
		return
	}
	c.need('[')
	c.peek()
	s.targetAt = c.i
	s.target, _ = c.word("a target")
	c.need(']')
	s.live = s.opcode == GetAttr && c.keyword("live")
}

// operands reads (%a, _, %b).
func (b *body) operands(c *scan, s *stmt) {
	c.need('(')
	if c.accept(')') {
		return
	}
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

// regions reads the block behind a call.
func (b *body) regions(c *scan) []*Graph {
	p := b.p
	if b.depth+1 > maxNesting {
		c.fail(0, TextLimit, "regions nest deeper than "+strconv.Itoa(maxNesting)+" levels, expected fewer")
		p.skipBlock(c)
		return []*Graph{}
	}
	list := []*Graph{}
	for {
		at := p.mark()
		if !p.next() || p.atTop() {
			p.back(at)
			if !p.full {
				c.fail(0, Misplaced, "block is not closed, expected '}'")
			}
			return list
		}
		d := p.cur
		switch {
		case d.accept('}'):
			d.end()
			c.failed = c.failed || d.failed
			return list
		case d.keyword("region"):
			before := len(p.errs)
			g := b.g.NewRegion("")
			p.region(g, &d, b.depth+1)
			c.failed = c.failed || len(p.errs) > before
			list = append(list, g)
		default:
			d.expected("region or '}'")
			c.failed = true
			p.skipBlock(&d)
		}
	}
}

// build makes the node and checks its type.
func (b *body) build(c *scan, cur *Cursor, s *stmt, regions []*Graph) *Node {
	var bad error
	cur.OnError = func(err error) { bad = err }
	var o *op.Op
	var attrs any
	if s.opcode == CallFunction || s.opcode == CallMethod {
		if o = c.op(s.targetAt, s.target); o != nil {
			attrs = c.decode(s.attrsAt, o, s.names, s.literals)
		}
	}
	if c.failed || s.silent {
		return nil
	}
	var n *Node
	err := safely(s.target, func() error {
		switch s.opcode {
		case GetAttr:
			n = cur.GetAttr(s.target)
			n.SetLive(s.live)
		case CallModule:
			n = cur.Module(s.target, s.args...)
		case CallMethod:
			n = cur.call(CallMethod, o, attrs, s.args, regions)
		default:
			n = cur.call(CallFunction, o, attrs, s.args, regions)
		}
		return bad
	})
	if err != nil {
		c.typeError(s.at, err)
		return nil
	}
	n.setName(s.name)
	if b.limit(c); !s.typed || c.failed {
		return n
	}
	t, ok := b.g.agree(s.typ, n.typ)
	if !ok {
		c.fail(s.typeAt, WrittenType, "written type is "+clip(s.typ.String())+", inferred is "+clip(n.typ.String())).
			WithHint("leave the type out, or correct it")
		return nil
	}
	n.typ = t
	return n
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
func (b *body) symbol(c *scan) {
	c.keyword("symbol")
	c.peek()
	at := c.i
	name, _ := c.word("the name of a symbol")
	if !c.failed && !shape.ValidSymbol(name) {
		c.fail(at, SyntaxError, "symbol is "+strconv.Quote(clip(name))+", expected a letter or underscore, then letters, digits, underscores")
	}
	c.need('=')
	if !c.keyword("dim") {
		c.expected("dim(%x, axis)")
	}
	c.need('(')
	n, ok := b.operand(c)
	c.need(',')
	axis := c.number("an axis")
	c.need(')')
	c.end()
	if c.failed || !ok {
		return
	}
	if _, twice := b.g.Symbol(name); twice {
		c.fail(at, Redefined, "symbol "+name+" is defined twice")
		return
	}
	if n == nil {
		c.fail(at, SyntaxError, "symbol of an absent value, expected a value")
		return
	}
	b.g.DefineSymbol(name, n, axis)
}

// guard reads: guard 2*N == M from %y, and the same with >=, <=, or N % 2 == 0
func (b *body) guard(c *scan) {
	c.keyword("guard")
	r := c.relation(" from ")
	var n *Node
	ok := true
	if c.keyword("from") {
		n, ok = b.operand(c)
	}
	c.end()
	if c.failed || !ok {
		return
	}
	if err := b.g.symbols.assume(r, n); err != nil {
		c.typeError(0, err)
	}
	b.limit(c)
}

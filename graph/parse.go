package graph

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// maxGuards bounds the guards of one graph, written or inferred: what can be
// derived from them takes time that grows with the square of their number.
const maxGuards = 1024

// maxErrors ends the reading of a text that is not a graph at all.
const maxErrors = 100

// Parse reads the text form. Every mistake is reported, with its place in file:
// the error is a diag.List sorted by position. Parameters have types but no
// values (see Load). Types are inferred, and a written type may say more than
// what can be inferred, but nothing else. Parse accepts graphs that Lint refuses
// where the text says clearly what is meant.
//
// The text may come from anywhere: memory is bounded by a multiple of its size, and
// what would take more is a TextLimit.
func Parse(src []byte, file string) (*Module, error) {
	p := &parser{file: file, src: string(src), m: NewModule(New("")), left: budgetBase + budgetFactor*len(src),
		nodes: bytes.Count(src, []byte(" = ")), types: map[string]shape.Type{}, attrs: map[call]any{}}
	if p.version() {
		body := p.mark()
		p.state()
		p.reset(body)
		p.top()
	}
	p.errs.Sort()
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return p.m, nil
}

// parser reads lines. The state (param, module, type) is read first, because the
// types of the graph's nodes follow from it and it stands after the graph.
type parser struct {
	file string
	src  string
	off  int // of the line after cur
	cur  scan
	line int
	m    *Module
	errs diag.List
	full bool // the rest is not read
	left int  // see budget
	// nodes is about how many the text defines.
	nodes int
	types map[string]shape.Type // by their texts
	attrs map[call]any
	subs  map[string]*subText
}

func (p *parser) report(e *diag.Error) {
	switch {
	case p.full:
	case len(p.errs) == maxErrors:
		p.full = true
		p.errs = append(p.errs, &diag.Error{Code: TooMany, Pos: e.Pos, Msg: "more than " + strconv.Itoa(maxErrors) + " mistakes, the rest of the text was not read"})
	default:
		p.errs = append(p.errs, e)
	}
}

// next makes cur the next line that is not blank; false at the end.
func (p *parser) next() bool {
	for p.off < len(p.src) && !p.full {
		s := p.src[p.off:]
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[:i]
		}
		p.off += len(s) + 1
		p.line++
		p.cur = scan{p: p, s: s, line: p.line}
		if p.cur.peek() != 0 {
			return true
		}
	}
	p.cur = scan{p: p, line: p.line + 1}
	return false
}

type place struct{ off, line int }

func (p *parser) mark() place { return place{p.off, p.line} }

func (p *parser) reset(at place) { p.off, p.line = at.off, at.line }

// back makes the current line the next one again.
func (p *parser) back(at place) { p.reset(at) }

func (p *parser) version() bool {
	if p.next() {
		c := &p.cur
		if c.keyword("gofx") {
			if v, _ := c.word("a version"); v == strconv.Itoa(TextVersion) {
				c.end()
				return !c.failed
			}
		}
	}
	p.report((&diag.Error{Code: TextVersionError, Pos: diag.Pos{File: p.file, Line: p.cur.line, Col: 1},
		Msg: "first line is " + strconv.Quote(clip(p.cur.s)) + ", expected \"gofx " + strconv.Itoa(TextVersion) + "\""}).
		WithHint("a text of another version was written by another version of gofx"))
	return false
}

// state reads the lines that describe parameters and leaf modules, and finds the
// sub-graphs.
func (p *parser) state() {
	for {
		at := p.mark()
		if !p.next() {
			return
		}
		c := &p.cur
		switch c.first() {
		case "subgraph":
			p.declareSub(c, at)
		case "param":
			p.param(c)
		case "module":
			p.leaf(c)
		case "type":
			c.keyword("type")
			p.m.Type = c.quoted("a string")
			c.end()
		}
	}
}

// top reads the graph, passing over what state has read.
func (p *parser) top() {
	seen := false
	for p.next() {
		line := &p.cur
		switch line.first() {
		case "param", "module", "type":
		case "subgraph":
			p.sub(line)
		case "graph":
			line.keyword("graph")
			if seen {
				line.fail(0, GraphCount, "second graph, expected one")
				p.skipBlock(line)
				continue
			}
			seen = true
			p.region(p.m.Graph, line, 0)
		default:
			line.expected("graph, subgraph, param, module or type")
			if line.endsOpen() {
				p.skipBlock(line)
			}
		}
	}
	if !seen {
		p.report(diag.New(GraphCount, "no graph, expected one").At(diag.Pos{File: p.file, Line: p.line + 1, Col: 1}))
	}
}

// endsOpen reports whether the line ends with {, comments aside.
func (c *scan) endsOpen() bool {
	s := c.s
	for i := 1; i < len(s); i++ {
		if c.comment(i) {
			s = s[:i]
			break
		}
	}
	s = strings.TrimRight(s, " \t\r")
	return strings.HasSuffix(s, "{")
}

// skipBlock passes over the block that the line c opens, if it does.
func (p *parser) skipBlock(c *scan) {
	if !c.endsOpen() {
		return
	}
	for depth := 1; depth > 0; {
		at := p.mark()
		if !p.next() {
			return
		}
		if p.atTop() {
			p.back(at)
			return
		}
		if p.cur.peek() == '}' {
			depth--
		}
		if p.cur.endsOpen() {
			depth++
		}
	}
}

// atTop reports whether the line can only stand outside of graphs.
func (p *parser) atTop() bool {
	switch p.cur.first() {
	case "graph", "subgraph", "param", "module", "type":
		return true
	}
	return false
}

// param reads: param fc.weight : f32[10,64] buffer selector "m.Fc.Weight"
func (p *parser) param(line *scan) {
	line.keyword("param")
	line.peek()
	at := line.i
	path, _ := line.word("the path of a parameter")
	line.need(':')
	q := Param{Path: path, Type: line.typ()}
	q.Buffer = line.keyword("buffer")
	if line.keyword("selector") {
		q.Selector = line.quoted("a string")
	}
	line.end()
	switch {
	case line.failed:
	case p.m.byPath[path] != nil:
		line.fail(at, Redefined, "parameter "+strconv.Quote(path)+" is declared twice")
	default:
		p.m.SetParam(q)
	}
}

// leaf reads: module conv1 = conv2d {stride=[2,2]} (weight=conv1.weight, bias=_) type "T" selector "m.Conv1"
func (p *parser) leaf(line *scan) {
	line.keyword("module")
	line.peek()
	at := line.i
	path, _ := line.word("the path of a module")
	line.need('=')
	line.peek()
	keyAt := line.i
	key, _ := line.word("an operator")
	line.peek()
	attrsAt := line.i
	names, literals := line.attrs(nil, nil)
	bound := Bound{}
	line.need('(')
	for !line.failed && !line.accept(')') {
		p.leafParam(line, &bound)
		if !line.accept(',') {
			line.need(')')
			break
		}
	}
	if strings.Join(bound.Names, "") == "" {
		bound.Names = nil
	}
	if line.keyword("type") {
		bound.Type = line.quoted("a string")
	}
	if line.keyword("selector") {
		bound.Selector = line.quoted("a string")
	}
	line.end()
	if bound.Op = line.op(keyAt, key); bound.Op != nil {
		bound.Attrs = line.attributes(attrsAt, bound.Op, names, literals)
	}
	switch {
	case line.failed:
	case p.m.Bound(path) != nil:
		line.fail(at, Redefined, "module "+strconv.Quote(path)+" is declared twice")
	default:
		p.m.SetBound(path, bound)
	}
}

func (p *parser) leafParam(c *scan, b *Bound) {
	name := ""
	path, bare := c.word("a parameter's path")
	if c.accept('=') {
		name = path
		path, bare = c.word("a parameter's path")
	}
	if bare && path == "_" {
		path = ""
	}
	b.Names, b.Params = append(b.Names, name), append(b.Params, path)
}

// op looks an operator up.
func (c *scan) op(at int, key string) *op.Op {
	if c.failed {
		return nil
	}
	o := op.Lookup(key)
	if o == nil {
		hint := "import the package that defines it, so that it is linked"
		if i := strings.LastIndexByte(key, '.'); i > 0 {
			hint = "import " + strconv.Quote(clip(key[:i])) + ", so that it is linked"
		}
		var known []string
		for _, o := range op.All() {
			known = append(known, o.Key())
		}
		hint = near.Hint(key, known, hint)
		c.fail(at, UnknownOp, "operator "+strconv.Quote(clip(key))+" is unknown").WithHint(hint)
	}
	return o
}

// call is an operator with the text of its attributes.
type call struct {
	op   *op.Op
	text string
}

// decode turns the texts of attributes into the operator's struct, which calls with the
// same text share.
func (c *scan) decode(s *stmt, o *op.Op) any {
	if c.failed {
		return nil
	}
	key := call{o, c.s[s.attrsAt:s.attrsEnd]}
	if a, ok := c.p.attrs[key]; ok {
		return a
	}
	a := c.attributes(s.attrsAt, o, s.names, s.literals)
	if !c.failed && len(key.text) <= maxKnownText {
		c.p.attrs[key] = a
	}
	return a
}

func (c *scan) attributes(at int, o *op.Op, names, literals []string) any {
	if c.failed {
		return nil
	}
	a, err := o.Codec().Parse(names, literals)
	if err != nil {
		var l diag.List
		l.Add(err)
		e := *l[0]
		e.Pos, e.Op = c.pos(at), o.Name
		e.Msg = clipLong(e.Msg)
		c.failed = true
		c.p.report(&e)
		return nil
	}
	return a
}

// clipLong bounds messages that quote text from outside.
func clipLong(s string) string {
	if len(s) > 400 {
		return s[:400] + "..."
	}
	return s
}

// safely is of, with what a rule panics with as an error.
func (t *typing) safely(node *Node) (typ shape.Type, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = broken(node.targetText(), r)
		}
	}()
	return t.of(node)
}

// broken is the error of a type rule that panicked.
func broken(what string, r any) error {
	switch r := r.(type) {
	case *diag.Error:
		return r
	case error:
		return diag.Bug("type rule of " + what + ": " + r.Error())
	}
	return diag.Bug("type rule of " + what + " failed")
}

// agree combines the written type with the inferred one: either may say more
// where the other says nothing; ok is false where they contradict.
func agree(g *Graph, written, inferred shape.Type) (typ shape.Type, ok bool) {
	switch {
	case inferred.Kind() == shape.None || inferred.Same(written):
		return written, true
	case written.Kind() == shape.None:
		return inferred, true
	case written.Kind() != inferred.Kind():
		return inferred, false
	case written.Kind() == shape.Tuple:
		return agreeTuple(g, written, inferred)
	}
	typ = inferred
	switch {
	case inferred.DType() == 0:
		typ = typ.WithDType(written.DType())
	case written.DType() != 0 && written.DType() != inferred.DType():
		return inferred, false
	}
	switch {
	case !written.Ranked():
		return typ, true
	case !inferred.Ranked():
		return typ.WithDims(written.Dims()), true
	case written.Rank() != inferred.Rank():
		return inferred, false
	}
	dims := make([]shape.Dim, written.Rank())
	for i := range dims {
		w, d := written.Dim(i), inferred.Dim(i)
		switch {
		case d.IsUnknown():
			dims[i] = w
		case w.IsUnknown():
			dims[i] = d
		case g.symbols.equal(w, d):
			dims[i] = w
		default:
			return inferred, false
		}
	}
	return typ.WithDims(shape.Of(dims...)), true
}

// stated combines the written type of a node with its inferred one.
func stated(g *Graph, written shape.Type, node *Node) (shape.Type, bool) {
	if t, ok := agree(g, written, node.typ); ok {
		return t, true
	}
	demand(g, written, node.typ, node)
	return agree(g, written, node.typ)
}

// demand makes guards of the bounds under which the inferred type of a node is the written one: N-4 is
// written of what has N-min(N,4) elements where N is at least 4.
func demand(g *Graph, written, inferred shape.Type, node *Node) {
	if written.Kind() == shape.Tuple && inferred.Kind() == shape.Tuple && written.Len() == inferred.Len() {
		for i := range written.Len() {
			demand(g, written.Member(i), inferred.Member(i), node)
		}
		return
	}
	if !written.Ranked() || !inferred.Ranked() || written.Rank() != inferred.Rank() {
		return
	}
	for i := range written.Rank() {
		if r := shape.Equality(written.Dim(i), inferred.Dim(i)).Normal(); r.Rel == shape.GE && r.Truth() == shape.Open {
			g.Require(r, node)
		}
	}
}

func agreeTuple(g *Graph, written, inferred shape.Type) (shape.Type, bool) {
	if written.Len() != inferred.Len() {
		return inferred, false
	}
	m := make([]shape.Type, written.Len())
	for i := range m {
		var ok bool
		if m[i], ok = agree(g, written.Member(i), inferred.Member(i)); !ok {
			return inferred, false
		}
	}
	return shape.TupleType(m...), true
}

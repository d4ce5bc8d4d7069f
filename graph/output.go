package graph

import (
	"encoding/base64"
	"iter"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Structure describes how an output node's operands are packed into a Go value:
// a leaf (one operand), or a list, struct or map of structures.
type Structure struct {
	Kind  StructureKind
	Index int // operand of a Leaf
	// Type is the Go type of a struct, "import/path.Name"; "" for several results.
	Type   string
	Keys   []string // field names or map keys
	Fields []*Structure
}

// NameLeaves sets the names of the leaves, as far as names has places for them: the keys
// that lead to them, joined by dots.
func (s *Structure) NameLeaves(names []string) { s.nameLeaves("", names) }

func (s *Structure) nameLeaves(prefix string, names []string) {
	if s.Kind == LeafValue {
		if s.Index < len(names) {
			names[s.Index] = prefix
		}
		return
	}
	for i, f := range s.Fields {
		key := ""
		switch {
		case i < len(s.Keys):
			key = s.Keys[i]
		case s.Kind == SliceOf:
			key = strconv.Itoa(i)
		}
		if prefix != "" && key != "" {
			key = "." + key
		}
		f.nameLeaves(prefix+key, names)
	}
}

// StructureKind tells what a Structure is.
type StructureKind uint8

// The kinds of structure.
const (
	LeafValue StructureKind = iota // one tensor
	Results                        // several results of a function
	SliceOf
	StructOf
	MapOf
	NoValue // a nil tensor
)

// Leaf returns the structure of operand i.
func Leaf(i int) *Structure { return &Structure{Kind: LeafValue, Index: i} }

// All yields s and everything in it, outermost first; nothing for nil.
func (s *Structure) All() iter.Seq[*Structure] {
	return func(yield func(*Structure) bool) { s.visit(yield) }
}

func (s *Structure) visit(yield func(*Structure) bool) bool {
	if s == nil {
		return true
	}
	if !yield(s) {
		return false
	}
	for _, f := range s.Fields {
		if !f.visit(yield) {
			return false
		}
	}
	return true
}

func (p *printer) output(n *Node) {
	p.str("return")
	if s := n.Structure(); s != nil {
		p.str(" ")
		p.structure(n, s, 0)
	} else {
		for i := range n.args {
			if i > 0 {
				p.str(",")
			}
			p.str(" ")
			p.mark(n.g, n.args[i].def)
		}
	}
	p.tail(n)
}

// maxNesting bounds the nesting of structures and regions.
const maxNesting = 64

func (p *printer) structure(n *Node, s *Structure, depth int) {
	switch {
	case s == nil || depth > maxNesting:
		p.str("?")
	case s.Kind == NoValue:
		p.str("nil")
	case s.Kind == LeafValue && (s.Index < 0 || s.Index >= len(n.args)):
		p.str("?")
	case s.Kind == LeafValue:
		p.mark(n.g, n.args[s.Index].def)
	default:
		p.packed(n, s, depth)
	}
}

func (p *printer) packed(node *Node, tree *Structure, depth int) {
	open, shut := "(", ")"
	switch tree.Kind {
	case SliceOf:
		open, shut = "[", "]"
	case StructOf, MapOf:
		open, shut = "{", "}"
	}
	switch {
	case tree.Kind == MapOf && tree.Type != "":
		p.str("map ", word(tree.Type))
	case tree.Kind == StructOf && tree.Type == "":
		p.str("struct")
	case tree.Type != "":
		p.str(word(tree.Type))
	}
	p.str(open)
	for i, f := range tree.Fields {
		if i > 0 {
			p.str(", ")
		}
		if open == "{" {
			key := ""
			if i < len(tree.Keys) {
				key = tree.Keys[i]
			}
			p.str(word(key), ": ")
		}
		p.structure(node, f, depth+1)
	}
	p.str(shut)
}

// output reads the results: return %a, or a structure.
func (b *body) output(c *scan) {
	c.keyword("return")
	r := &results{b: b}
	s, args := b.operandsOf(c, r)
	cur := b.cursor(c)
	c.end()
	b.returned = true
	for i, n := range args {
		// Types of regions that return tuples of tuples would double at each level.
		if b.depth > 0 && n != nil && n.typ.Kind() == shape.Tuple {
			c.fail(0, BadRegions, "result "+strconv.Itoa(i)+" of the region is a tuple, expected a tensor").WithHint("take its members apart with getitem")
		}
	}
	if !c.failed && !r.silent {
		cur.Output(s, args...)
	}
}

// operandsOf reads a plain value or list of values (nil structure), or a structure.
func (b *body) operandsOf(line *scan, r *results) (*Structure, []*Node) {
	switch at := line.i; {
	case line.peek() == 0:
		return nil, nil
	case line.keyword("in") || line.keyword("at"):
		line.i = at // no results, only scope and position
		return nil, nil
	case line.atOperand():
		for !line.failed {
			r.leaf(line)
			if !line.accept(',') {
				break
			}
		}
		return nil, r.args
	}
	s := r.structure(line, 0)
	return s, r.args
}

// atOperand reports whether %name or _ stands here.
func (c *scan) atOperand() bool {
	b := c.peek()
	return b == '%' || b == '_' && (c.i+1 == len(c.s) || !wordByte(c.s[c.i+1]))
}

// results collects the operands of an output while its structure is read.
type results struct {
	b      *body
	args   []*Node
	silent bool
}

func (r *results) leaf(c *scan) *Structure {
	n, ok := r.b.operand(c)
	r.silent = r.silent || !ok
	r.args = append(r.args, n)
	return Leaf(len(r.args) - 1)
}

func (r *results) structure(line *scan, depth int) *Structure {
	if depth > maxNesting {
		line.fail(line.i, TextLimit, "results nest deeper than "+strconv.Itoa(maxNesting)+" levels, expected fewer")
		return nil
	}
	if line.atOperand() {
		return r.leaf(line)
	}
	tree := &Structure{}
	open := line.peek()
	if open != '(' && open != '[' && open != '{' {
		if line.keyword("nil") {
			tree.Kind = NoValue
			return tree
		}
		switch {
		case line.keyword("struct"):
			tree.Kind = StructOf
		case line.keyword("map"):
			tree.Kind = MapOf
			tree.Type, _ = line.word("a type")
		default:
			tree.Type, _ = line.word("a value, nil, '(', '[', '{' or a type")
			tree.Kind = StructOf
		}
		open = line.peek()
	} else if open == '{' {
		tree.Kind = MapOf
	}
	return r.packed(line, tree, open, depth)
}

// packed reads the fields after the opening bracket.
func (r *results) packed(line *scan, tree *Structure, open byte, depth int) *Structure {
	shut := byte('}')
	switch {
	case open == '(' && tree.Kind != MapOf:
		tree.Kind, shut = Results, ')'
	case open == '[' && tree.Kind != MapOf:
		tree.Kind, shut = SliceOf, ']'
	}
	if open != '{' && shut == '}' || (open != '(' && open != '[' && open != '{') {
		line.expected("'(', '[' or '{'")
		return nil
	}
	line.need(open)
	if line.accept(shut) {
		return tree
	}
	for !line.failed {
		if shut == '}' {
			key, _ := line.word("a key")
			line.need(':')
			tree.Keys = append(tree.Keys, key)
		}
		tree.Fields = append(tree.Fields, r.structure(line, depth+1))
		if !line.accept(',') {
			line.need(shut)
			break
		}
	}
	return tree
}

// defaultValue reads a number, bool, string or array.
func (c *scan) defaultValue() any {
	if c.peek() == '"' {
		return c.quoted("a string")
	}
	at := c.i
	if c.keyword("array") {
		return c.arrayValue(at)
	}
	text, _ := c.word("a default value")
	if c.failed {
		return nil
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	c.fail(at, BadDefault, "default value "+strconv.Quote(clip(text))+" cannot be read, expected a number, true, false, a string or array type \"base64\"")
	return nil
}

// arrayValue reads: array f32[2] "base64 of the elements, little-endian".
func (c *scan) arrayValue(at int) any {
	t := c.typ()
	text := c.quoted("a string")
	if c.failed {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	d, dims, ok := t.Concrete()
	n, fits := array.NumElems(dims)
	if err != nil || !ok || !fits || n > len(data) || n*d.Size() != len(data) {
		c.fail(at, BadDefault, "default value has "+strconv.Itoa(len(data))+" bytes, expected those of "+clip(t.String())+" in base64")
		return nil
	}
	for _, v := range data {
		if !holds(d, v) {
			c.fail(at, BadDefault, "default value has the byte "+strconv.Itoa(int(v))+" as a "+d.String()+", which has no such element")
			return nil
		}
	}
	a := array.New(d, dims...)
	copy(array.Bytes(a), data)
	return a
}

// holds reports whether a byte is one of an element of type d: those of bool and of the
// types of 4 and 2 bits are not all.
func holds(d array.DType, v byte) bool {
	switch {
	case d == array.Bool:
		return v <= 1
	case d.IsNarrowInt():
		return byte(array.NarrowInt(d, v)) == v
	}
	return d != array.F4E2M1FN || v <= 15
}

// make makes the node. A type rule that cannot cope with what the text says must not take
// the reader down.
func (b *body) make(cur *Cursor, statement *stmt, operator *op.Op, attrs any, regions []*Graph) (node *Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = broken(statement.target, r)
		}
	}()
	switch statement.opcode {
	case GetAttr:
		node = cur.GetAttr(statement.target)
		node.SetLive(statement.live)
	case CallModule:
		node = cur.Module(statement.target, statement.args...)
	case CallMethod:
		node = cur.call(CallMethod, operator, attrs, statement.args, regions)
	default:
		node = cur.call(CallFunction, operator, attrs, statement.args, regions)
	}
	return node, b.bad
}

// maxSubs bounds the sub-graphs of a text, and with them how deep calls nest.
const maxSubs = 4096

// subText is where a sub-graph stands in the text. It is read when its turn comes,
// or before the first call of it, whose type follows from it.
type subText struct {
	g    *Graph
	at   place // before its first line, and blank ones before that
	line int   // of its name
	read bool
}

// declareSub notes: subgraph layer(%x: f32[N,4]) {
func (p *parser) declareSub(line *scan, at place) {
	line.keyword("subgraph")
	line.peek()
	start := line.i
	name, _ := line.word("the name of a sub-graph")
	switch {
	case line.failed:
	case name == "":
		line.fail(start, SyntaxError, "sub-graph without a name, expected one that calls can give")
	case p.subs[name] != nil:
		line.fail(start, Redefined, "sub-graph "+strconv.Quote(clip(name))+" is defined twice")
	case len(p.subs) == maxSubs:
		line.fail(start, TextLimit, "more than "+strconv.Itoa(maxSubs)+" sub-graphs, expected fewer")
		p.full = true
	default:
		s := &subText{g: New(name), at: at, line: line.line}
		p.m.addSub(s.g)
		if p.subs == nil {
			p.subs = map[string]*subText{}
		}
		p.subs[name] = s
	}
}

// sub reads a sub-graph whose line is line, unless that has been done.
func (p *parser) sub(line *scan) {
	line.keyword("subgraph")
	name, _ := line.word("the name of a sub-graph")
	s := p.subs[name]
	if line.failed || s == nil || s.read || s.line != line.line {
		p.skipBlock(line)
		return
	}
	s.read = true
	p.region(s.g, line, 0)
}

// needSub reads the sub-graph that a call names, if it stands below, and goes on
// where reading was. One that is being read calls itself: Lint says so.
func (p *parser) needSub(name string) {
	s := p.subs[name]
	if s == nil || s.read {
		return
	}
	here, cur := p.mark(), p.cur
	p.reset(s.at)
	p.next()
	p.sub(&p.cur)
	p.reset(here)
	p.cur = cur
}

// callee reads what a call names first, and charges what its type takes.
func (b *body) callee(line *scan, o *op.Op, attrs any, args []*Node) bool {
	a, ok := attrs.(op.CallAttrs)
	if o != op.Call || !ok {
		return true
	}
	b.p.needSub(a.Graph)
	g := b.p.m.Sub(a.Graph)
	if g == nil || g.Output() == nil {
		return true
	}
	cost := 4 * dimBytes * len(g.symbols.guards)
	for _, r := range g.Output().args {
		if r.def != nil {
			cost += memberBytes + dimBytes*r.def.typ.Rank() + typeBytes(r.def.typ)
		}
	}
	sizes := 0
	for _, n := range args {
		if n != nil {
			sizes += typeBytes(n.typ)
		}
	}
	return b.p.spend(line, cost+sizes*(1+len(g.symbols.guards)+len(g.Output().args)))
}

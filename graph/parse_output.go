package graph

import (
	"encoding/base64"
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// output reads the results: return %a, or a structure.
func (b *body) output(c *scan) {
	c.keyword("return")
	r := &results{b: b}
	s, args := b.results(c, r)
	cur := b.cursor(c)
	c.end()
	b.returned = true
	if !c.failed && !r.silent {
		cur.Output(s, args...)
	}
}

// results reads a plain value or list of values (nil structure), or a structure.
func (b *body) results(c *scan, r *results) (*Structure, []*Node) {
	switch at := c.i; {
	case c.peek() == 0:
		return nil, nil
	case c.keyword("in") || c.keyword("at"):
		c.i = at // no results, only scope and position
		return nil, nil
	case c.atOperand():
		for !c.failed {
			r.leaf(c)
			if !c.accept(',') {
				break
			}
		}
		return nil, r.args
	}
	s := r.structure(c, 0)
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

func (r *results) structure(c *scan, depth int) *Structure {
	if depth > maxNesting {
		c.fail(c.i, TextLimit, "results nest deeper than "+strconv.Itoa(maxNesting)+" levels, expected fewer")
		return nil
	}
	if c.atOperand() {
		return r.leaf(c)
	}
	s := &Structure{}
	open := c.peek()
	if open != '(' && open != '[' && open != '{' {
		if c.keyword("nil") {
			s.Kind = NoValue
			return s
		}
		switch {
		case c.keyword("struct"):
			s.Kind = StructOf
		case c.keyword("map"):
			s.Kind = MapOf
			s.Type, _ = c.word("a type")
		default:
			s.Type, _ = c.word("a value, nil, '(', '[', '{' or a type")
			s.Kind = StructOf
		}
		open = c.peek()
	} else if open == '{' {
		s.Kind = MapOf
	}
	return r.packed(c, s, open, depth)
}

// packed reads the fields behind the opening bracket.
func (r *results) packed(c *scan, s *Structure, open byte, depth int) *Structure {
	shut := byte('}')
	switch {
	case open == '(' && s.Kind != MapOf:
		s.Kind, shut = Results, ')'
	case open == '[' && s.Kind != MapOf:
		s.Kind, shut = SliceOf, ']'
	}
	if open != '{' && shut == '}' || (open != '(' && open != '[' && open != '{') {
		c.expected("'(', '[' or '{'")
		return nil
	}
	c.need(open)
	if c.accept(shut) {
		return s
	}
	for !c.failed {
		if shut == '}' {
			key, _ := c.word("a key")
			c.need(':')
			s.Keys = append(s.Keys, key)
		}
		s.Fields = append(s.Fields, r.structure(c, depth+1))
		if !c.accept(',') {
			c.need(shut)
			break
		}
	}
	return s
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
	w, _ := c.word("a default value")
	if c.failed {
		return nil
	}
	if w == "true" || w == "false" {
		return w == "true"
	}
	if n, err := strconv.Atoi(w); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(w, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(w, 64); err == nil {
		return f
	}
	c.fail(at, BadDefault, "default value "+strconv.Quote(clip(w))+" cannot be read, expected a number, true, false, a string or array type \"base64\"")
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
		if d == array.Bool && v > 1 {
			c.fail(at, BadDefault, "default value has the byte "+strconv.Itoa(int(v))+" as a bool, expected 0 or 1")
			return nil
		}
	}
	a := array.New(d, dims...)
	copy(array.Bytes(a), data)
	return a
}

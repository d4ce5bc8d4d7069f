package graph

import (
	"encoding/base64"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

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

// packed reads the fields behind the opening bracket.
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
		if d == array.Bool && v > 1 {
			c.fail(at, BadDefault, "default value has the byte "+strconv.Itoa(int(v))+" as a bool, expected 0 or 1")
			return nil
		}
	}
	a := array.New(d, dims...)
	copy(array.Bytes(a), data)
	return a
}

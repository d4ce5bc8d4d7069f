package graph

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// place writes the position of a node. Many nodes share one.
func (p *printer) place(n *Node) {
	if n.pos == 0 || n.extra != nil {
		p.at(n.Pos())
		return
	}
	text, known := p.places[n.pos]
	if !known {
		before := len(p.b)
		p.at(n.Pos())
		if p.places == nil {
			p.places = map[PosID]string{}
		}
		text, p.b = string(p.b[before:]), p.b[:before]
		p.places[n.pos] = text
	}
	p.str(text)
}

// at writes a position where positions are wanted.
func (p *printer) at(pos diag.Pos) {
	if !p.Positions || pos.File == "" {
		return
	}
	file := pos.File
	if p.BaseNames {
		file = baseName(file)
	}
	// The last one or two numbers are line and column, so that a file name that
	// itself ends like a line number needs both.
	text, col := file+":"+within(pos.Line), within(pos.Col)
	if _, _, ok := cutNumber(file); col != "0" || ok {
		text += ":" + col
	}
	p.str(" at ", strconv.Quote(text))
	if pos.Func != "" {
		p.str(" ", strconv.Quote(pos.Func))
	}
}

// within is the text of a line or column; one that no file has means unknown.
func within(n int) string {
	if n < 0 || n > math.MaxInt32 {
		n = 0
	}
	return strconv.Itoa(n)
}

// baseName is the last element of a path with slashes of either kind. A name that
// ends in slashes keeps them.
func baseName(file string) string {
	name := strings.TrimRight(file, `/\`)
	return file[strings.LastIndexAny(name, `/\`)+1:]
}

// cutNumber takes ":digits" off the end of s.
func cutNumber(s string) (rest string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i == len(s)-1 || s[i+1] < '0' || s[i+1] > '9' {
		return s, 0, false
	}
	v, err := strconv.ParseUint(s[i+1:], 10, 31)
	return s[:i], int(v), err == nil
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

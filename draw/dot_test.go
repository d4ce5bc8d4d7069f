package draw_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// dotGraph is the content of a DOT text that the tests read.
type dotGraph struct {
	attrs    map[string]string
	nodes    map[string]map[string]string // by id, in the order of ids
	order    []string
	edges    []dotEdge
	clusters []*dotCluster
	top      []string // nodes in no cluster
}

type dotEdge struct {
	from, to string
	attrs    map[string]string
}

type dotCluster struct {
	name     string
	attrs    map[string]string
	nodes    []string
	clusters []*dotCluster
}

// label finds the cluster whose label begins with the text, at any depth.
func (g *dotGraph) cluster(label string) *dotCluster { return findCluster(g.clusters, label) }

func findCluster(list []*dotCluster, label string) *dotCluster {
	for _, c := range list {
		if strings.HasPrefix(c.attrs["label"], label) {
			return c
		}
		if d := findCluster(c.clusters, label); d != nil {
			return d
		}
	}
	return nil
}

// clusterOf is the name of the cluster that a node is in, "" for none.
func (g *dotGraph) clusterOf(id string) string {
	for _, c := range g.clusters {
		if slices.Contains(c.nodes, id) {
			return c.name
		}
	}
	return ""
}

func (g *dotGraph) edge(from, to string) *dotEdge {
	for i, e := range g.edges {
		if e.from == from && e.to == to {
			return &g.edges[i]
		}
	}
	return nil
}

// ends are the ends of an edge in the direction of the value.
func (e dotEdge) ends() (from, to string) {
	if e.attrs["dir"] == "back" {
		return e.to, e.from
	}
	return e.from, e.to
}

// parseDOT reads the DOT language (https://graphviz.org/doc/info/lang.html) as
// far as package draw writes it, and fails on everything else, on a node that is
// defined twice and on an edge of a node that is not defined.
func parseDOT(t require.TestingT, s string) *dotGraph {
	p := &dotParser{s: s, g: &dotGraph{attrs: map[string]string{}, nodes: map[string]map[string]string{}}}
	func() {
		defer func() {
			if r := recover(); r != nil {
				p.failure = fmt.Sprint(r)
			}
		}()
		p.next()
		p.expect("digraph")
		p.word()
		p.body(nil)
		p.expect("")
		for _, e := range p.g.edges {
			if p.g.nodes[e.from] == nil || p.g.nodes[e.to] == nil {
				panic("edge of an unknown node: " + e.from + " -> " + e.to)
			}
		}
	}()
	require.Empty(t, p.failure, s)
	return p.g
}

type dotParser struct {
	s       string
	at      int
	token   string
	quoted  bool
	g       *dotGraph
	failure string
}

func (p *dotParser) next() {
	for p.at < len(p.s) && strings.ContainsRune(" \n\t", rune(p.s[p.at])) {
		p.at++
	}
	p.quoted = false
	from := p.at
	switch {
	case p.at == len(p.s):
		p.token = ""
	case strings.HasPrefix(p.s[p.at:], "->"):
		p.at += 2
		p.token = "->"
	case strings.ContainsRune("{}[]=;,", rune(p.s[p.at])):
		p.at++
		p.token = p.s[from:p.at]
	case p.s[p.at] == '"':
		p.string()
	case p.s[p.at] == '<':
		p.table()
	default:
		for p.at < len(p.s) && (p.s[p.at] == '_' || p.s[p.at] == '.' || p.s[p.at] >= '0' && p.s[p.at] <= '9' || p.s[p.at]|32 >= 'a' && p.s[p.at]|32 <= 'z') {
			p.at++
		}
		if from == p.at {
			panic(fmt.Sprintf("character %q at byte %d", p.s[p.at], p.at))
		}
		p.token = p.s[from:p.at]
	}
}

// string reads a quoted string and interprets the escapes of labels.
func (p *dotParser) string() {
	var b strings.Builder
	for p.at++; p.at < len(p.s) && p.s[p.at] != '"'; p.at++ {
		c := p.s[p.at]
		if c == '\n' || c == 0 {
			panic("line end in a string")
		}
		if c == '\\' {
			p.at++
			switch p.s[p.at] {
			case 'n':
				c = '\n'
			case '\\', '"':
				c = p.s[p.at]
			default:
				panic("escape \\" + string(p.s[p.at]))
			}
		}
		b.WriteByte(c)
	}
	if p.at >= len(p.s) {
		panic("string without end")
	}
	p.at++
	p.token, p.quoted = strings.ReplaceAll(b.String(), "&amp;", "&"), true
}

// table reads an HTML-like label, whose elements must be closed.
func (p *dotParser) table() {
	from, depth := p.at, 0
	for ; p.at < len(p.s); p.at++ {
		switch p.s[p.at] {
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			p.at++
			break
		}
	}
	if depth != 0 {
		panic("table without end")
	}
	p.token, p.quoted = p.s[from:p.at], true
	d := xml.NewDecoder(strings.NewReader(p.token[1 : len(p.token)-1]))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
	}
}

func (p *dotParser) expect(token string) {
	if p.token != token || p.quoted {
		panic(fmt.Sprintf("%q at byte %d, expected %q", p.token, p.at, token))
	}
	if token != "" {
		p.next()
	}
}

func (p *dotParser) word() string {
	if !p.quoted && (p.token == "" || strings.ContainsAny(p.token, "{}[]=;,>")) {
		panic(fmt.Sprintf("%q at byte %d, expected a name", p.token, p.at))
	}
	w := p.token
	p.next()
	return w
}

func (p *dotParser) list() map[string]string {
	out := map[string]string{}
	if p.token != "[" || p.quoted {
		return out
	}
	p.expect("[")
	for p.token != "]" || p.quoted {
		key := p.word()
		p.expect("=")
		if _, twice := out[key]; twice {
			panic("attribute twice: " + key)
		}
		out[key] = p.word()
		if p.token == "," && !p.quoted {
			p.next()
		}
	}
	p.expect("]")
	return out
}

func (p *dotParser) body(c *dotCluster) {
	p.expect("{")
	for p.token != "}" || p.quoted {
		p.statement(c)
		if p.token == ";" && !p.quoted {
			p.next()
		}
	}
	p.expect("}")
}

func (p *dotParser) statement(c *dotCluster) {
	g := p.g
	if p.token == "subgraph" && !p.quoted {
		p.next()
		d := &dotCluster{name: p.word(), attrs: map[string]string{}}
		if !strings.HasPrefix(d.name, "cluster_") {
			panic("subgraph that is no cluster")
		}
		if c == nil {
			g.clusters = append(g.clusters, d)
		} else {
			c.clusters = append(c.clusters, d)
		}
		p.body(d)
		return
	}
	bare := !p.quoted
	id := p.word()
	switch {
	case bare && (id == "graph" || id == "node" || id == "edge"):
		list := p.list()
		if id == "graph" {
			g.attrs = list
		}
	case p.token == "=" && !p.quoted:
		p.next()
		v := p.word()
		if c != nil {
			c.attrs[id] = v
		}
	case p.token == "->" && !p.quoted:
		p.next()
		to := p.word()
		// Lines that order columns are not edges of the graph.
		if e := (dotEdge{id, to, p.list()}); e.attrs["style"] != "invis" {
			g.edges = append(g.edges, e)
		} else if g.nodes[id] == nil || g.nodes[to] == nil {
			panic("order of unknown nodes")
		}
	default:
		if g.nodes[id] != nil {
			panic("node twice: " + id)
		}
		g.nodes[id] = p.list()
		g.order = append(g.order, id)
		if c == nil {
			g.top = append(g.top, id)
		} else {
			c.nodes = append(c.nodes, id)
		}
	}
}

package passes

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Origin says which rewrite made a node.
type Origin struct {
	Pass  string
	Match int    // the number of the rewrite in its pass, from 1, as in StopAt; 0 where the pass reports none
	Why   string // "rule gelu"
	From  []Source
}

// Source is a node that was there before a rewrite. A node that was changed in place is
// its own source, and has its line itself.
type Source struct {
	Name string
	Pos  diag.Pos // the user's line, unless it was changed in place
	Made *Origin  // nil for what was captured
}

func sources(nodes []*graph.Node) []Source {
	list := make([]Source, len(nodes))
	for i, n := range nodes {
		made, _ := Made.Get(n)
		list[i] = Source{n.Name(), n.Pos(), made}
	}
	return list
}

// Made is the key of the origin of nodes that passes made under Run, or changed. The
// others were captured.
var Made = graph.NewKey[*Origin]("made")

// String returns "rewrite 2 of pass gelu, rule gelu, from %erf at net.go:9, %mul at
// net.go:10".
func (o *Origin) String() string {
	var b strings.Builder
	if o.Match > 0 {
		b.WriteString("rewrite " + strconv.Itoa(o.Match) + " of ")
	}
	b.WriteString("pass " + o.Pass)
	if o.Why != "" {
		b.WriteString(", " + o.Why)
	}
	for i, s := range o.From {
		b.WriteString([]string{", from %", ", %"}[min(i, 1)] + s.Name)
		if p := s.Pos.String(); p != "" {
			b.WriteString(" at " + p)
		}
	}
	return b.String()
}

// made gives n, and what it is computed from, an origin, as far as that is new.
func (c *Ctx) made(n *graph.Node, o *Origin) {
	if n == nil || c.known[n] {
		return
	}
	c.known[n] = true
	Made.Set(n, o)
	for a := range n.Inputs() {
		c.made(a, o)
	}
	for m := range n.Inner() {
		c.made(m, o)
	}
}

// unnamed gives an origin to what a pass made without a word.
func (c *Ctx) unnamed() {
	o := &Origin{Pass: c.pass}
	for n := range c.Module.All() {
		if !c.known[n] {
			c.known[n] = true
			if _, ok := Made.Get(n); !ok {
				Made.Set(n, o)
			}
		}
	}
}

// copyMeta is graph.CopyMeta without the origin.
func copyMeta(dst, src *graph.Node) {
	old, ok := Made.Get(dst)
	graph.CopyMeta(dst, src)
	if Made.Delete(dst); ok {
		Made.Set(dst, old)
	}
}

// MadeBy is String, by which errors of a run name the pass; see graph.Maker.
func (o *Origin) MadeBy() string { return o.String() }

// stands is the key of the name of the captured value that a node gives, where that is
// not the node's own.
var stands = graph.NewKey[string]("stands for")

// noteCapturedName notes that by has taken the place of old.
func (c *Ctx) noteCapturedName(old, by *graph.Node) {
	if c.known == nil || by == nil || by == old {
		return
	}
	if name := CapturedName(old); name != "" {
		stands.Set(by, name)
	}
}

// CapturedName returns the name of the captured value that n gives: its own, or that of the
// value whose place it has taken in rewrites. It is "" for what a pass made besides.
func CapturedName(n *graph.Node) string {
	if name, ok := stands.Get(n); ok {
		return name
	}
	if o, ok := Made.Get(n); ok && !o.inPlace(n) {
		return ""
	}
	return n.Name()
}

// inPlace reports whether the rewrite changed n and did not make it.
func (o *Origin) inPlace(n *graph.Node) bool {
	for _, s := range o.From {
		if s.Name == n.Name() {
			return true
		}
	}
	return false
}

package draw

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofx-dev/gofx/op"
)

// style is how one kind of node looks.
type style struct {
	key, name, shape, fill, line string
}

// styles lists the looks in the order of the legend. The fills differ in
// lightness as well, for people who do not see all colours.
var styles = []style{
	{"input", "input", "invhouse", "#bfdbfe", "#1d4ed8"},
	{"output", "output", "house", "#bfdbfe", "#1d4ed8"},
	{"constant", "constant", "note", "#f9fafb", "#6b7280"},
	{op.Elementwise.String(), "elementwise", "box", "#dcfce7", "#15803d"},
	{op.Reduction.String(), "reduction", "box", "#fde047", "#a16207"},
	{op.Contraction.String(), "contraction", "box", "#fdba74", "#c2410c"},
	{op.Movement.String(), "movement", "box", "#e5e7eb", "#4b5563"},
	{op.Opaque.String(), "other", "box", "#f5d0fe", "#a21caf"},
	{"box", "collapsed", "box3d", "#ffffff", "#111827"},
}

func lookStyle(key string) style {
	for _, s := range styles {
		if s.key == key {
			return s
		}
	}
	return styles[len(styles)-1]
}

func (s style) attributes() string {
	shape := s.shape
	look := "filled"
	if shape == "box" {
		look = "filled,rounded"
	}
	if shape == "box3d" {
		shape += `, margin="0.16,0.1"` // its upper rim lies inside of the box
	}
	return "shape=" + shape + ", style=" + quote(look) + ", fillcolor=" + quote(s.fill) + ", color=" + quote(s.line)
}

// dotWriter writes a drawing.
type dotWriter struct {
	d        *drawing
	b        strings.Builder
	clusters int
	column   int             // that is written
	begun    map[*block]bool // clusters of columns before
}

func (w *dotWriter) line(indent int, parts ...string) {
	for range indent {
		w.b.WriteString("  ")
	}
	for _, p := range parts {
		w.b.WriteString(p)
	}
	w.b.WriteByte('\n')
}

func (w *dotWriter) write() {
	d := w.d
	direction := "TB"
	if d.o.LeftToRight {
		direction = "LR"
	}
	w.line(0, "digraph ", quote(clean(d.title())), " {")
	w.line(1, "graph [rankdir=", direction, `, fontname="Helvetica", fontsize=14, labelloc=t, label=`, d.heading(), `, nodesep=0.25, ranksep=0.35, tooltip=" "];`)
	w.line(1, `node [fontname="Helvetica", fontsize=11, height=0.3, margin="0.12,0.05"];`)
	weight := ""
	if len(d.cuts) > 0 {
		weight = ", weight=" + strconv.Itoa(d.flowWeight())
	}
	w.line(1, `edge [fontname="Helvetica", fontsize=9, fontcolor="`+lineColor+`", color="`+lineColor+`", arrowsize=0.7`, weight, `];`)
	for w.column = range len(d.cuts) + 1 {
		w.block(d.root, 1, 0)
	}
	w.points()
	for _, e := range d.edges {
		if !e.crosses() {
			w.edge(e)
		}
	}
	for _, wire := range d.wires {
		w.wire(wire)
	}
	w.roofs()
	w.line(0, "}")
}

// size counts the nodes of the module, hidden ones and those of regions included.
func (d *drawing) size() (n int) {
	for range d.m.All() {
		n++
	}
	return n
}

// block writes what of a block is in the column. A module that is cut has a cluster in
// each column.
func (w *dotWriter) block(b *block, indent, level int) {
	for _, it := range b.items {
		switch v := w.single(it); {
		case v != nil && v.column == w.column:
			w.vertex(v, indent)
		case v == nil && w.has(it.block):
			w.cluster(it.block, indent, level)
		}
	}
}

// single is the vertex that an item is drawn as, nil for a cluster.
func (w *dotWriter) single(it item) *vertex {
	switch {
	case it.node != nil:
		return w.d.vertices[it.node]
	case it.block.collapsed:
		return w.d.boxes[it.block]
	}
	return nil
}

// has reports whether something of a block is in the column.
func (w *dotWriter) has(b *block) bool {
	if len(w.d.cuts) == 0 {
		return true
	}
	return slices.ContainsFunc(b.items, func(it item) bool {
		v := w.single(it)
		return v != nil && v.column == w.column || v == nil && w.has(it.block)
	})
}

func (w *dotWriter) cluster(b *block, indent, level int) {
	fill, look := "#f8fafc", "filled,rounded"
	if level%2 == 1 {
		fill = "#eef2f7"
	}
	if b.kind == regionBlock {
		fill = "#fffbeb"
	}
	if len(b.copies) > 0 {
		look += ",dashed"
	}
	lines := []string{b.title()}
	if b.typ != "" && b.kind == scopeBlock {
		lines[0] += "  " + base(b.typ)
	}
	if w.begun[b] {
		lines[0] += "  (continued)"
	}
	w.begun[b] = true
	w.line(indent, "subgraph cluster_", strconv.Itoa(w.clusters), " {")
	w.clusters++
	w.line(indent+1, "label=", label(lines), `; labelloc=t; labeljust=l; fontsize=11; style=`, quote(look), "; color=", quote("#94a3b8"), "; fillcolor=", quote(fill), ";")
	w.block(b, indent+1, level+1)
	w.line(indent, "}")
}

func (w *dotWriter) vertex(v *vertex, indent int) {
	w.line(indent, quote(v.id), " [id=", quote(svgID(v.id)), ", label=", label(v.lines), ", tooltip=", label(w.d.tooltip(v)), ", ", w.d.look(v), "];")
}

// svgID returns the id of a vertex in the SVG, which no id of the HTML page is.
func svgID(id string) string { return "v-" + id }

func (w *dotWriter) edge(e *edge) {
	var a []string
	if text := w.d.edgeText(e); len(text) > 0 {
		a = append(a, "label="+label(padded(text)))
	}
	if len(e.names) > 0 {
		a = append(a, "tooltip="+label([]string{strings.Join(e.names, ", ")}))
	}
	if look := e.look(); look != "solid" {
		a = append(a, "style="+look)
	}
	if e.carried || e.from.column != e.to.column {
		a = append(a, "constraint=false")
	}
	s := ""
	if len(a) > 0 {
		s = " [" + strings.Join(a, ", ") + "]"
	}
	w.line(1, quote(e.from.id), " -> ", quote(e.to.id), s, ";")
}

// edgeText returns the types of the values that run along an edge.
func (d *drawing) edgeText(e *edge) []string {
	const most = 3
	var text []string
	if !d.o.NoTypes && !e.carried {
		text = slices.Clone(e.types)
	}
	if len(text) > most {
		text = append(text[:most], "…")
	}
	if len(e.values) > 1 && len(text) == 1 {
		text[0] += "  × " + strconv.Itoa(len(e.values))
	}
	if e.to.style == "output" && len(e.names) > 0 && e.names[0] != "" {
		text = append([]string{strings.Join(e.names, ", ")}, text...)
	}
	return text
}

// quote returns a DOT string without special meaning: s has none of \ and ".
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, "", `"`, "").Replace(s) + `"`
}

const maxLine = 60

// label returns the DOT string that shows the lines as they are: backslashes,
// quotes and apparent HTML entities are escaped, control characters replaced,
// long lines shortened.
func label(lines []string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, l := range lines {
		if i > 0 {
			b.WriteString(`\n`)
		}
		b.WriteString(escapeLabel.Replace(clip(clean(l), maxLine)))
	}
	b.WriteByte('"')
	return b.String()
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;")

// clean replaces characters that cannot be shown.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "�")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffe || r == 0xffff, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '�'
		}
		return r
	}, s)
}

// clip shortens s to at most n characters.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

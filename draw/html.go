package draw

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"strings"

	"github.com/gofx-dev/gofx/graph"
)

//go:embed page.html
var page string

// pageVertex is what the page shows about a node that is clicked.
type pageVertex struct {
	ID    string      `json:"id"`
	Title string      `json:"title"`
	Facts [][2]string `json:"facts"`
	In    []string    `json:"in"`
	Out   []string    `json:"out"`
	// Also are the nodes of repetitions that the vertex stands for.
	Also []string `json:"also,omitempty"`
}

// HTML returns a page that shows svg, which must be DOT(m, o) rendered as SVG:
// it can be moved and zoomed, searched, and tells about each node. The page is
// one file that loads nothing, from the network or the disk. With an empty svg
// it shows the table of the nodes instead.
func HTML(m *graph.Module, svg string, o Options) []byte {
	d := newDrawing(m, o)
	// json.Marshal escapes <, > and &, so that no text ends the script element.
	data, err := json.Marshal(d.pageVertices())
	if err != nil {
		data = []byte("[]") // strings always marshal; invalid UTF-8 is replaced
	}
	if svg == "" {
		svg = "<pre>" + html.EscapeString(Table(m)) + "</pre>"
	}
	var b bytes.Buffer
	r := strings.NewReplacer(
		"{{title}}", html.EscapeString(clean(d.title())),
		"{{svg}}", inlineSVG(svg),
		"{{data}}", string(data),
	)
	_, _ = r.WriteString(&b, page)
	return b.Bytes()
}

// inlineSVG cuts off what stands before the svg element, and the names of XML
// namespaces, which HTML does not need and which look like addresses.
func inlineSVG(svg string) string {
	if i := strings.Index(svg, "<svg"); i > 0 {
		svg = svg[i:]
	}
	end := strings.IndexByte(svg, '>')
	if !strings.HasPrefix(svg, "<svg") || end < 0 {
		return svg
	}
	tag := svg[:end]
	for _, name := range []string{` xmlns="`, ` xmlns:xlink="`} {
		i := strings.Index(tag, name)
		if i < 0 {
			continue
		}
		if j := strings.IndexByte(tag[i+len(name):], '"'); j >= 0 {
			tag = tag[:i] + tag[i+len(name)+j+1:]
		}
	}
	return tag + svg[end:]
}

func (d *drawing) pageVertices() []*pageVertex {
	list := make([]*pageVertex, 0, len(d.order))
	byVertex := map[*vertex]*pageVertex{}
	for _, v := range d.order {
		p := &pageVertex{ID: v.id, Title: strings.Join(v.lines, " "), In: []string{}, Out: []string{}}
		var facts []fact
		if v.node != nil {
			facts = nodeFacts(v.node)
		}
		if v.block != nil {
			facts = append(facts, boxFacts(v.block)...)
		}
		if m, ok := d.marks[v]; ok {
			facts = append(facts, fact{d.o.Overlay.Name, m.Text})
		}
		for _, f := range facts {
			p.Facts = append(p.Facts, [2]string{f.name, f.value})
		}
		byVertex[v] = p
		list = append(list, p)
	}
	for n := range d.m.Graph.All() {
		if v := d.vertices[d.drawn(n)]; v != nil && v.node != n {
			p := byVertex[v]
			p.Also = append(p.Also, strings.TrimSpace(n.Name()+" "+n.Scope().Path))
		}
	}
	for _, e := range d.edges {
		from, to := byVertex[e.from], byVertex[e.to]
		from.Out = append(from.Out, to.ID)
		to.In = append(to.In, from.ID)
	}
	return list
}

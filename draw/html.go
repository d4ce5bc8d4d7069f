package draw

import (
	"bytes"
	"embed"
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"
)

//go:embed page
var page embed.FS

// scripts are the parts of the page's program, in order: each part follows the parts
// that it uses.
var scripts = []string{"model.js", "union.js", "visible.js", "rank.js", "place.js", "layout.js", "route.js", "canvas.js", "heat.js", "paint.js",
	"pane.js", "minimap.js", "outline.js", "tensor.js", "details.js", "passes.js", "search.js", "keys.js", "drop.js", "save.js", "app.js"}

// pageData is the input of the page's program.
type pageData struct {
	Format    int          `json:"gofx"` // pageFormat, first: files that begin so are stamped
	Title     string       `json:"title"`
	Strings   []string     `json:"strings"`
	Nodes     []pageNode   `json:"nodes"`
	Blocks    []pageBlock  `json:"blocks"`
	Positions []pagePos    `json:"positions"`
	Files     []pageFile   `json:"files"`
	Classes   [][2]string  `json:"classes"` // keys and names, in the order of the legend
	Stages    []*pageStage `json:"stages"`
	Tensors   []pageTensor `json:"tensors,omitempty"`
	Origin    string       `json:"origin,omitempty"` // of the values of tensors
	// Docs has what operators do, and their whole references, by key.
	Docs    map[string][2]string `json:"docs,omitempty"`
	Overlay *pageOverlay         `json:"overlay,omitempty"`
	Sizes   map[string]int       `json:"sizes,omitempty"`
	Open    pageOpen             `json:"open"`
}

// pageOpen is how the page is when it opens.
type pageOpen struct {
	Depth     int    `json:"depth"`
	LeftRight bool   `json:"leftRight"`
	NoTypes   bool   `json:"noTypes"`
	NoFold    bool   `json:"noFold"`
	Overlay   string `json:"overlay"`
}

// pageOverlay is an overlay with the nodes by number.
type pageOverlay struct {
	Name   string     `json:"name"`
	Marks  []pageMark `json:"marks"`
	Legend []pageMark `json:"legend"`
}

// pageFormat tells a viewer whether it can show data. It grows with every change of the
// data that the page's program does not read as before.
const pageFormat = 1

// HTML returns the page. The same stages and options give the same bytes.
func (r *Report) HTML() []byte {
	p := parts()
	return slices.Concat([]byte(p[0]), []byte(html.EscapeString(clean(r.title))), []byte(p[1]), r.Data(), []byte(p[2]))
}

// parts is the page without its title and data, which go between the parts.
func parts() []string {
	var program bytes.Buffer
	for _, name := range scripts {
		program.Write(asset(name))
	}
	const cut = "\x00"
	replace := strings.NewReplacer("{{title}}", cut, "{{style}}", string(asset("page.css")), "{{data}}", cut, "{{program}}", program.String())
	return strings.Split(replace.Replace(string(asset("page.html"))), cut)
}

// Viewer returns a script for pages of other people: its gofx.show(element, data) shows a
// graph in an element of the page, where data is what [Report.Data] returns. The script
// loads nothing.
func Viewer() []byte {
	page, err := json.Marshal(parts())
	if err != nil {
		panic(err) // texts always marshal
	}
	var b bytes.Buffer
	replace := strings.NewReplacer("{{page}}", string(page), "{{format}}", strconv.Itoa(pageFormat))
	_, _ = replace.WriteString(&b, string(asset("viewer.js")))
	return b.Bytes()
}

// Data returns what the page shows, as JSON for the [Viewer] of the same version of
// this package.
func (r *Report) Data() []byte {
	r.readSource()
	d := pageData{Format: pageFormat, Title: clean(r.title), Strings: r.strings, Nodes: r.nodes, Blocks: r.blocks, Positions: r.positions, Files: r.files,
		Stages: r.stages, Overlay: r.overlay(), Sizes: r.o.Sizes, Tensors: r.tensors, Docs: r.docs,
		Open: pageOpen{r.o.Depth, r.o.LeftToRight, r.o.NoTypes, r.o.NoFold, r.opening()}}
	if len(r.tensors) > 0 {
		d.Origin = clean(r.o.Origin)
	}
	for _, s := range styles {
		d.Classes = append(d.Classes, [2]string{s.key, s.name})
	}
	// json.Marshal escapes <, > and &, so that no text ends the script element.
	data, err := json.Marshal(d)
	if err != nil {
		data = []byte("{}") // strings and numbers always marshal; invalid UTF-8 is replaced
	}
	return data
}

// asset is a part of the page, which is linked into this program.
func asset(name string) []byte {
	text, err := page.ReadFile("page/" + name)
	if err != nil {
		panic(err) // a file that HTML names and the folder has not; the tests open the page
	}
	return text
}

// opening is the overlay that the page opens with.
func (r *Report) opening() string {
	if r.Overlay == nil {
		return ""
	}
	return clean(r.Overlay.Name)
}

// overlay finds the marked nodes in the last stage. That of the costs the page makes
// itself, of every stage.
func (r *Report) overlay() *pageOverlay {
	o := r.Overlay
	if o == nil || o.Name == costName {
		return nil
	}
	out := &pageOverlay{Name: clean(o.Name), Marks: []pageMark{}}
	for _, m := range o.Legend {
		out.Legend = append(out.Legend, pageMark{-1, m.heat(), clean(m.Text)})
	}
	for name, m := range o.Marks {
		if uid, ok := r.last[name]; ok {
			out.Marks = append(out.Marks, pageMark{uid, m.degree(), clean(m.Text)})
		}
	}
	slices.SortFunc(out.Marks, func(a, b pageMark) int { return a.Node - b.Node })
	return out
}

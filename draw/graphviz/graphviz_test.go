//go:build !js

package graphviz_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/draw/graphviz"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer"
)

func load(t *testing.T, name string) *graph.Module {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + name)
	require.NoError(t, err)
	m, err := graph.Parse(text, name)
	require.NoError(t, err)
	return m
}

func render(t *testing.T, dot, format string) []byte {
	t.Helper()
	out, err := graphviz.Render(context.Background(), dot, format)
	require.NoError(t, err)
	return out
}

// classes counts the elements of each class of an SVG, and lists the ids.
func classes(t *testing.T, svg []byte) (count map[string]int, ids map[string]bool) {
	t.Helper()
	count, ids = map[string]int{}, map[string]bool{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return count, ids
		}
		require.NoError(t, err)
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "class":
				count[a.Value]++
			case "id":
				ids[a.Value] = true
			}
		}
	}
}

func TestSVGHasTheNodesOfTheDOT(t *testing.T) {
	for _, name := range []string{"resblock.fx", "regions.fx"} {
		for depth := range 3 {
			m := load(t, name)
			o := draw.Options{Depth: depth, ShowConstants: depth == 2}
			dot := draw.DOT(m, o)
			svg := render(t, dot, "svg")
			count, ids := classes(t, svg)
			require.Equal(t, strings.Count(dot, `[id="v-`), count["node"])
			require.Equal(t, strings.Count(dot, ` -> `), count["edge"])
			require.Equal(t, strings.Count(dot, "subgraph cluster_"), count["cluster"])
			for _, line := range strings.Split(dot, "\n") {
				if _, rest, ok := strings.Cut(line, `[id="`); ok {
					id, _, _ := strings.Cut(rest, `"`)
					require.True(t, ids[id], "the page finds %s", id)
				}
			}
			require.Equal(t, svg, render(t, dot, "svg"), "the same text gives the same picture")
		}
	}
}

func TestSVGShowsTextAsItIs(t *testing.T) {
	m := graph.NewModule(graph.New("g"))
	m.Type = `a"b\N<c>&lt;` + "\x00\xff"
	c := m.Graph.At()
	c.Output(nil, c.Placeholder(`<&"\G>`, shape.Type{}, nil))
	text := string(render(t, draw.DOT(m, draw.Options{}), "svg"))
	require.Contains(t, text, `>a&quot;b\N&lt;c&gt;&amp;lt;��</text>`)
	classes(t, []byte(text))
}

// box is the content of an SVG group: the outermost shape, and its lines of text.
type box struct {
	id, class string
	from, to  float64 // of the shape, in x
	lines     []textLine
	plates    []textLine // rectangles, which say how much they hide
}

type textLine struct {
	text      string
	x, length float64 // 0 for a length that is not said
}

var number = regexp.MustCompile(`-?[0-9.]+`)

// boxes reads the nodes and the clusters of an SVG.
func boxes(t *testing.T, svg []byte) (list []*box) {
	t.Helper()
	value := func(e xml.StartElement, name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	float := func(s string) float64 { f, _ := strconv.ParseFloat(s, 64); return f }
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "g":
			if c := value(e, "class"); c != "" {
				list = append(list, &box{id: value(e, "id"), class: c, from: math.Inf(1), to: math.Inf(-1)})
			}
		case "polygon", "path":
			b := list[len(list)-1]
			for i, n := range number.FindAllString(value(e, "points")+value(e, "d"), -1) {
				if i%2 == 0 {
					b.from, b.to = min(b.from, float(n)), max(b.to, float(n))
				}
			}
		case "rect":
			b := list[len(list)-1]
			b.plates = append(b.plates, textLine{text: value(e, "fill-opacity"), x: float(value(e, "x")), length: float(value(e, "width"))})
		case "text":
			require.Equal(t, "spacingAndGlyphs", value(e, "lengthAdjust"))
			line := textLine{x: float(value(e, "x")), length: float(value(e, "textLength"))}
			if value(e, "text-anchor") == "middle" {
				line.x -= line.length / 2
			}
			tok, err = d.Token()
			require.NoError(t, err)
			line.text = string(tok.(xml.CharData))
			list[len(list)-1].lines = append(list[len(list)-1].lines, line)
		}
	}
}

func zoo(t *testing.T, name string) *graph.Module {
	t.Helper()
	entry := models.Lookup(name)
	tr := tracer.Tracer{}
	for _, in := range entry.Inputs {
		tr.Inputs = append(tr.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	m, err := tr.Trace(context.Background(), entry.New())
	require.NoError(t, err)
	return m
}

// TestTextStaysInItsBox holds whatever fonts a viewer has: an SVG says how wide each
// line is.
func TestTextStaysInItsBox(t *testing.T) {
	wide := newModule(t, strings.Repeat("W", 50), strings.Repeat("i", 50), "ÄÖÜ × …", "<&> \"x\"", "  a  b  ")
	for name, m := range map[string]*graph.Module{"names": wide, "resblock": load(t, "resblock.fx"), "regions": load(t, "regions.fx"), "bert": zoo(t, "bert_base")} {
		lines := 0
		for _, b := range boxes(t, render(t, draw.DOT(m, draw.Options{}), "svg")) {
			for _, l := range b.lines {
				require.Positive(t, l.length, "%s: %q", name, l.text)
				if b.class == "node" || b.class == "cluster" {
					require.GreaterOrEqual(t, l.x, b.from, "%s: %q", name, l.text)
					require.LessOrEqual(t, l.x+l.length, b.to, "%s: %q", name, l.text)
					lines++
				}
			}
		}
		require.Greater(t, lines, 5, name)
	}
}

// Texts of clusters and edges come last, each over a plate that is wider than it and lies in the cluster.
func TestTextsLieOverEdges(t *testing.T) {
	for name, m := range map[string]*graph.Module{"resblock": load(t, "resblock.fx"), "regions": load(t, "regions.fx"), "bert": zoo(t, "bert_base")} {
		list := boxes(t, render(t, draw.DOT(m, draw.Options{}), "svg"))
		top := list[len(list)-1]
		require.Equal(t, "texts", top.class, name)
		require.Len(t, top.plates, len(top.lines))
		titles, types := 0, 0
		for i, l := range top.lines {
			require.InDelta(t, l.x-1, top.plates[i].x, 0.02, "%s: %q", name, l.text)
			require.InDelta(t, l.length+2, top.plates[i].length, 0.02, "%s: %q", name, l.text)
			in := 0
			for _, b := range list {
				if b.class == "cluster" && b.from <= l.x && l.x+l.length <= b.to {
					in++
				}
			}
			if top.plates[i].text == "0.7" {
				types++
			} else {
				titles++
				require.Positive(t, in, "%s: %q lies in no cluster", name, l.text)
			}
		}
		require.Positive(t, types, name)
		clusters := 0
		for _, b := range list {
			if b.class == "cluster" {
				clusters++
			}
			if b.class == "cluster" || b.class == "edge" {
				require.Empty(t, b.lines, name)
			}
		}
		require.Positive(t, clusters, name)
		require.Equal(t, clusters, titles, name)
	}
}

// newModule is a graph of inputs of these names.
func newModule(t *testing.T, names ...string) *graph.Module {
	t.Helper()
	m := graph.NewModule(graph.New("g"))
	c := m.Graph.At()
	var list []*graph.Node
	for _, n := range names {
		list = append(list, c.Placeholder(n, shape.Type{}, nil))
	}
	c.Output(nil, list...)
	return m
}

// TestPixelsOfTextStayInTheirBox draws text without a margin, of letters that are
// wider in the font of this program.
func TestPixelsOfTextStayInTheirBox(t *testing.T) {
	for _, text := range []string{strings.Repeat("f", 60), strings.Repeat("W", 30), strings.Repeat("m_", 30), strings.Repeat("[", 40)} {
		img, err := png.Decode(bytes.NewReader(render(t, `digraph { node [shape=box, margin=0, fontsize=40, fontname=Helvetica, color="#00ff00", label="`+text+`"] a }`, "png")))
		require.NoError(t, err)
		first, last := math.MaxInt, 0 // columns of the box
		var dark []int
		b := img.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				c := img.At(x, y)
				if r, g, b, _ := c.RGBA(); near(c, 0, 255, 0) {
					first, last = min(first, x), max(last, x)
				} else if max(r, g, b)>>8 < 100 {
					dark = append(dark, x)
				}
			}
		}
		require.NotEmpty(t, dark, text)
		require.GreaterOrEqual(t, slices.Min(dark), first, text)
		require.LessOrEqual(t, slices.Max(dark), last, text)
	}
}

// Edges that leave a vertex at its side, and those that enter one there.
var (
	leaves = regexp.MustCompile(`"(\S+)" -> "\S+" \[minlen=0, tailport=e`)
	enters = regexp.MustCompile(`"\S+" -> "(\S+)" \[minlen=0, headport=w`)
)

// TestDeepNetworksAreNoRibbons measures drawings with all levels, whose columns are
// read from left to right: a value goes to the right from its column to the next.
func TestDeepNetworksAreNoRibbons(t *testing.T) {
	for name, wires := range map[string]int{"resnet18": 2, "unet": 3, "mobilenet_v2": 4, "efficientnet_b0": 4} {
		m := zoo(t, name)
		dot := draw.DOT(m, draw.Options{})
		svg := string(render(t, dot, "svg"))
		at := map[string]*box{}
		for _, b := range boxes(t, []byte(svg)) {
			at[b.id] = b
		}
		left := leaves.FindAllStringSubmatch(dot, -1)
		require.Len(t, left, wires, name)
		found := 0
		for _, e := range enters.FindAllStringSubmatch(dot, -1) {
			node := m.Graph.Find(e[1])
			for _, s := range left {
				if slices.Contains(slices.Collect(node.Inputs()), m.Graph.Find(s[1])) {
					found++ // of a folded repetition the last one is the operand
					require.Less(t, at["v-"+s[1]].to, at["v-"+e[1]].from, "%s: from %s to %s", name, s[1], e[1])
				}
			}
		}
		require.GreaterOrEqual(t, found, 2, name)
		var width, height float64
		_, err := fmt.Sscanf(svg[strings.Index(svg, "viewBox"):], `viewBox="0.00 0.00 %f %f"`, &width, &height)
		require.NoError(t, err)
		require.LessOrEqual(t, height, 4*width, name)
		require.LessOrEqual(t, width, 3*height, name)
	}
}

// TestColumnsAreLaidOut for random graphs: Graphviz is asked for more of its features than
// in drawings of one column.
func TestColumnsAreLaidOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := draw.Options{Columns: rapid.IntRange(2, 4).Draw(rt, "columns"), LeftToRight: rapid.Bool().Draw(rt, "left to right"), NoFold: rapid.Bool().Draw(rt, "no fold")}
		out, err := graphviz.Render(context.Background(), draw.DOT(fxtest.RandomGraph(rt), o), "svg")
		require.NoError(rt, err)
		require.NotEmpty(rt, out)
	})
}

func near(c color.Color, r, g, b uint32) bool {
	cr, cg, cb, _ := c.RGBA()
	far := func(x, y uint32) bool { return x>>8 > y+6 || y > x>>8+6 }
	return !far(cr, r) && !far(cg, g) && !far(cb, b)
}

func share(img image.Image, is func(c color.Color) bool) float64 {
	n := 0
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if is(img.At(x, y)) {
				n++
			}
		}
	}
	return float64(n) / float64(b.Dx()*b.Dy())
}

// TestPNGIsFilledAsAsked checks the cure of the library's renderer, which draws
// edges as black areas.
func TestPNGIsFilledAsAsked(t *testing.T) {
	dot := `digraph { node [label="", style=filled, width=1, height=1]
		a [shape=ellipse, fillcolor="#00ff00", color="#ff0000", penwidth=4]
		b [shape=box, fillcolor="#00ff00", color="#ff0000", penwidth=4]
		a -> b [color="#0000ff", penwidth=3] a -> b [color="#0000ff", penwidth=3] }`
	img, err := png.Decode(bytes.NewReader(render(t, dot, "png")))
	require.NoError(t, err)
	green := share(img, func(c color.Color) bool { return near(c, 0, 255, 0) })
	red := share(img, func(c color.Color) bool { return near(c, 255, 0, 0) })
	blue := share(img, func(c color.Color) bool { return near(c, 0, 0, 255) })
	black := share(img, func(c color.Color) bool { return near(c, 0, 0, 0) })
	white := share(img, func(c color.Color) bool { return near(c, 255, 255, 255) })
	require.Greater(t, green, 0.3, "both shapes are filled")
	require.Greater(t, red, 0.02, "both have outlines")
	require.Greater(t, blue, 0.005, "the edges are there")
	require.Less(t, blue, 0.1, "the edges are lines and arrow heads, not areas")
	require.Less(t, black, 0.001)
	require.Greater(t, white, 0.2)
}

func TestPNGOfAGraph(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(render(t, draw.DOT(load(t, "resblock.fx"), draw.Options{}), "png")))
	require.NoError(t, err)
	require.Greater(t, img.Bounds().Dx(), 200)
	require.Greater(t, img.Bounds().Dy(), 400)
	orange := share(img, func(c color.Color) bool { return near(c, 0xfd, 0xba, 0x74) })
	require.Greater(t, orange, 0.01, "contractions")
	dark := share(img, func(c color.Color) bool { r, g, b, _ := c.RGBA(); return r>>8 < 100 && g>>8 < 100 && b>>8 < 100 })
	require.Greater(t, dark, 0.001, "text")
	require.Less(t, dark, 0.1)
}

func TestRefusals(t *testing.T) {
	var many strings.Builder
	many.WriteString("digraph {")
	for i := range graphviz.MaxPNGNodes + 1 {
		fmt.Fprintf(&many, " n%d", i)
	}
	many.WriteString("}")
	for _, c := range []struct {
		dot, format string
		code        diag.Code
	}{
		{many.String(), "png", graphviz.TooLarge},
		{`digraph { a [width=2000, height=2000] }`, "png", graphviz.TooLarge},
		{`digraph {`, "svg", graphviz.BadDOT},
		{``, "svg", graphviz.BadDOT},
		{"digraph { a \x00 }", "svg", graphviz.BadDOT},
		{`digraph {}`, "gif", graphviz.Format},
	} {
		_, err := graphviz.Render(context.Background(), c.dot, c.format)
		require.ErrorIs(t, err, c.code, c.dot[:min(len(c.dot), 20)])
		_, ok := diag.Lookup(c.code)
		require.True(t, ok)
	}
	_, err := graphviz.Render(context.Background(), many.String(), "svg")
	require.NoError(t, err, "an SVG has no limit")
	require.NotEmpty(t, render(t, "digraph { a -> b }", "png"), "refusals leave the engine usable")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = graphviz.Render(ctx, "digraph {}", "svg")
	require.ErrorIs(t, err, context.Canceled)
}

func TestManyGoroutines(t *testing.T) {
	dot := draw.DOT(load(t, "resblock.fx"), draw.Options{})
	want := render(t, dot, "svg")
	var wait sync.WaitGroup
	got := make([][]byte, 8)
	for i := range got {
		wait.Go(func() { got[i], _ = graphviz.Render(context.Background(), dot, "svg") })
	}
	wait.Wait()
	for _, g := range got {
		require.Equal(t, want, g)
	}
}

var update = flag.Bool("update", false, "write the picture of the documentation")

// TestPictureOfTheDocumentation keeps docs/img/resblock.svg up to date.
func TestPictureOfTheDocumentation(t *testing.T) {
	const file = "../../docs/img/resblock.svg"
	got := render(t, draw.DOT(load(t, "resblock.fx"), draw.Options{}), "svg")
	if *update {
		require.NoError(t, os.MkdirAll("../../docs/img", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go test ./draw/graphviz -update")
}

package draw_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/browser"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer"
)

// The tests of the page open it in Chromium and use it as a reader does: by mouse and keys.

// resnet50 is a page of ResNet-50 before the default pipeline and after each of its
// passes.
var resnet50 = sync.OnceValue(func() []byte {
	entry := models.Lookup("resnet50")
	tr := tracer.Tracer{}
	for _, in := range entry.Inputs {
		tr.Inputs = append(tr.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	net := entry.New()
	models.Synthetic(entry, net, "gofx-1")
	m, err := tr.Trace(context.Background(), net)
	if err != nil {
		panic(err)
	}
	r := draw.NewReport(m, draw.Options{Source: os.ReadFile, Sizes: map[string]int{"N": 1}, Origin: "made-up values"})
	if _, err := passes.Run(context.Background(), m, fx.Optimise(), passes.Options{OnPass: r.OnPass}); err != nil {
		panic(err)
	}
	return r.HTML()
})

const windowWidth, windowHeight = 1440, 960

func open(t testing.TB, page []byte) *browser.Page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, page, 0o644))
	p := browser.Open(t, file, windowWidth, windowHeight)
	p.Wait("document.documentElement.dataset.ready === 'yes'")
	t.Cleanup(func() { require.Empty(t, p.Complaints()) })
	return p
}

// spot finds where a pane draws a node, or the title of a module.
func spot(t testing.TB, p *browser.Page, pane int, name string) (x, y float64) {
	t.Helper()
	var at []float64
	p.Eval(&at, `
		const { app, camera } = gofx, [pane, name] = arguments;
		const is = x => x.uid >= 0 && app.nodeOf(x.uid).name === name || x.block && x.block.path === name;
		const x = app.v.vertices.find(is), g = app.v.groups.find(g => g.parent && g.block.path === name && g.kind === 'module');
		const b = x || g, box = app.panes[pane].canvas.getBoundingClientRect();
		if (!b) return [];
		const dy = x ? b.h / 2 : 17, dx = x ? b.w / 2 : 40;
		return [box.left + camera.x + (b.x + dx) * camera.k, box.top + camera.y + (b.y + dy) * camera.k];`, pane, name)
	require.Len(t, at, 2, "%s is not drawn", name)
	return at[0], at[1]
}

// number evaluates an expression.
func number(p *browser.Page, expression string) (n float64) {
	p.Eval(&n, "const { app, camera, stages } = gofx; return Number("+expression+")")
	return n
}

func settled(p *browser.Page) { p.Wait("!gofx.app.drawing") }

func TestThePageOpens(t *testing.T) {
	p := open(t, resnet50())
	require.Equal(t, "models.ResNet", p.Text("#title"))
	require.EqualValues(t, 2, number(p, "app.panes.length"), "before and after")
	require.Contains(t, p.Text("#passes"), "conv-bn")
	require.Contains(t, p.Text(".pane:nth-child(1) .pane-bar"), "177 nodes")
	require.Contains(t, p.Text(".pane:nth-child(2) .pane-bar"), "124 nodes\n−53\n~53")
	require.Contains(t, p.Text("#legend"), "removed")
	requirePicture(t, p.Screenshot())
}

// requirePicture checks that the picture has many colours, which an empty one cannot
// have.
func requirePicture(t *testing.T, data []byte) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	seen := map[color.Color]bool{}
	for y := 130; y < img.Bounds().Dy(); y += 3 {
		for x := 280; x < img.Bounds().Dx(); x += 3 {
			seen[img.At(x, y)] = true
		}
	}
	require.Greater(t, len(seen), 50)
}

func TestModulesOpenAndClose(t *testing.T) {
	p := open(t, resnet50())
	p.Press("c")
	settled(p)
	closed := number(p, "app.v.vertices.length")
	require.EqualValues(t, 13, closed, "x, conv1, bn1, relu, maxpool, four layers, avgpool, flatten, fc, output")
	x, y := spot(t, p, 0, "layer1")
	p.Click(x, y)
	p.Wait("!document.getElementById('details').hidden")
	require.Equal(t, "layer1", p.Text("#what"))
	p.Press(browser.Enter)
	p.Wait("gofx.app.v.groups.some(g => g.block.path === 'layer1' && g.kind === 'module')")
	require.Greater(t, number(p, "app.v.vertices.length"), closed)
	x, y = spot(t, p, 0, "layer1")
	p.Click(x-22*number(p, "camera.k"), y) // the triangle before the title
	p.Wait(fmt.Sprint("gofx.app.v.vertices.length === ", closed))
}

func TestRepetitionsFoldAndUnfold(t *testing.T) {
	p := open(t, resnet50())
	p.Press("e")
	settled(p)
	folded := number(p, "app.v.vertices.length")
	require.Contains(t, p.Text("#legend"), "to the next repetition")
	p.Press("r")
	settled(p)
	require.EqualValues(t, 177, number(p, "app.v.vertices.length"))
	require.NotContains(t, p.Text("#legend"), "to the next repetition")
	p.Press("r")
	settled(p)
	require.EqualValues(t, folded, number(p, "app.v.vertices.length"))
	require.Less(t, folded, 120.0)
	p.ClickOn("#outline .times") // of the first run alone
	settled(p)
	require.Greater(t, number(p, "app.v.vertices.length"), folded)
	require.Less(t, number(p, "app.v.vertices.length"), 177.0)
}

func TestSubGraphsOpenAndClose(t *testing.T) {
	p := open(t, draw.HTML(load(t, "calls.fx"), draw.Options{Depth: 1}))
	shown := func(name string) float64 {
		return number(p, `app.v.vertices.filter(x => x.uid >= 0 && app.nodeOf(x.uid).name === '`+name+`').length`)
	}
	require.EqualValues(t, 2, number(p, "app.v.vertices.filter(x => x.kind === 'box' && x.block.kind === 'region').length"), "one for each sub-graph")
	require.Zero(t, shown("tail.exp"))
	p.Eval(nil, "const { app } = gofx; app.goTo([...app.v.panes[0].byUID.values()].find(n => n.name === 'tail.exp').uid)")
	settled(p)
	require.EqualValues(t, 1, shown("tail.exp"), "search opens it")
	require.EqualValues(t, 1, shown("tail.neg"))
	require.Zero(t, shown("layer.relu"), "the other one stays closed")
	requirePicture(t, p.Screenshot())
}

func TestSearchFindsAndGoesThere(t *testing.T) {
	p := open(t, resnet50())
	p.Press("c/op:conv in:layer3.5")
	require.Equal(t, "3 found", p.Text("#found"))
	p.Press(browser.Enter)
	require.Equal(t, "1 of 3", p.Text("#found"))
	require.Equal(t, "%layer3_5_conv1", p.Text("#which"))
	require.True(t, number(p, "app.v.groups.some(g => g.block.path === 'layer3')") == 1, "what is around it is open")
	settled(p)
	x, y := spot(t, p, 0, "layer3_1_conv1") // the repetition that is drawn
	require.InDelta(t, number(p, "(b => (b.left + b.right) / 2)(app.panes[0].canvas.getBoundingClientRect())"), x, 2)
	require.InDelta(t, number(p, "(b => (b.top + b.bottom) / 2)(app.panes[0].canvas.getBoundingClientRect())"), y, 2)
	p.Press(browser.Enter + browser.Enter + browser.Enter)
	require.Equal(t, "1 of 3", p.Text("#found"), "round and round")
	p.Press(browser.Escape)
	require.Empty(t, p.Text("#found"))
	p.Press("/is:removed")
	require.Equal(t, "53 found", p.Text("#found"))
}

func TestSelectionTellsAll(t *testing.T) {
	p := open(t, resnet50())
	x, y := spot(t, p, 0, "conv1")
	p.Click(x, y)
	p.Wait("!document.getElementById('details').hidden")
	text := p.Text("#details")
	for _, part := range []string{"conv2d", "%conv1", "~ changed by conv-bn: weights", "f32[N,64,112,112]", "stride=[2]", "conv1.weight f32[64,3,7,7]", "conv1.weight_folded",
		"MFLOP", "%x", "%relu", "models/resnet.go:", "m.Conv1.Forward", "conv-bn"} {
		require.Contains(t, text, part)
	}
	p.Press(browser.Down)
	require.Equal(t, "%bn1", p.Text("#which"))
	require.Contains(t, p.Text("#details"), "− removed")
	p.Press(browser.Up + browser.Up)
	require.Equal(t, "%x", p.Text("#which"))
	p.Press(browser.Escape)
	p.Wait("document.getElementById('details').hidden")
}

func TestPanesAreSynchronous(t *testing.T) {
	p := open(t, resnet50())
	settled(p)
	x1, y1 := spot(t, p, 0, "conv1")
	x2, y2 := spot(t, p, 1, "conv1")
	p.Drag(700, 700, 650, 640)
	settled(p)
	for pane, was := range [][2]float64{{x1, y1}, {x2, y2}} {
		x, y := spot(t, p, pane, "conv1")
		require.InDelta(t, was[0]-50, x, 1)
		require.InDelta(t, was[1]-60, y, 1)
	}
	before := number(p, "camera.k")
	p.Wheel(700, 600, -200)
	settled(p)
	require.Greater(t, number(p, "camera.k"), before)
	p.ClickOn(".chip[data-stage='2']") // conv-bn
	require.EqualValues(t, 1, number(p, "app.shown[0].index"))
	require.EqualValues(t, 2, number(p, "app.shown[1].index"))
	p.Eval(nil, "document.querySelector('.chip[data-stage=\"15\"]').dispatchEvent(new MouseEvent('click', {shiftKey: true}))")
	require.EqualValues(t, 3, number(p, "app.panes.length"))
	p.ClickOn(".pane:nth-child(2) .quiet")
	require.EqualValues(t, 2, number(p, "app.panes.length"))
}

// TestDifferencesHaveColours looks at the pixels.
func TestDifferencesHaveColours(t *testing.T) {
	p := open(t, resnet50())
	settled(p)
	img, err := png.Decode(bytes.NewReader(p.Screenshot()))
	require.NoError(t, err)
	require.Equal(t, "#fdf0cd", at(t, p, img, 0, "conv1"))
	require.Equal(t, "#fdf0cd", at(t, p, img, 1, "conv1"))
	require.Equal(t, "#fde3e1", at(t, p, img, 0, "bn1"))
	require.Equal(t, "#f6f7f9", at(t, p, img, 1, "bn1"), "only an outline")
	require.Equal(t, "#ffffff", at(t, p, img, 1, "maxpool"))
}

// at returns the colour of a node by its text.
func at(t *testing.T, p *browser.Page, img image.Image, pane int, name string) string {
	t.Helper()
	_, y := spot(t, p, pane, name)
	right := number(p, fmt.Sprintf("(x => (x.x + x.w - 5) * camera.k + camera.x + app.panes[%d].canvas.getBoundingClientRect().left)(app.v.vertices.find(x => x.uid >= 0 && app.nodeOf(x.uid).name === '%s'))", pane, name))
	r, g, b, _ := img.At(int(right), int(y)).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func TestLooksAndExport(t *testing.T) {
	p := open(t, resnet50())
	p.Press("d")
	require.Equal(t, "dark", func() (s string) { p.Eval(&s, "return document.documentElement.dataset.theme"); return s }())
	p.Press("l")
	settled(p)
	require.Greater(t, number(p, "app.v.width"), number(p, "app.v.height"))
	p.Press("o")
	require.Contains(t, p.Text("#legend"), "FLOPs")
	require.EqualValues(t, 1, number(p, "app.v.vertices.some(x => x.lines[0].some(l => /MFLOP/.test(l.text)))"))
	p.Press("t")
	require.EqualValues(t, 0, number(p, "app.v.vertices.some(x => x.lines.flat().some(l => l.text === 'f32[N,64,112,112]'))"))
	p.Press("?")
	require.Contains(t, p.Text("#help"), "select nothing")
	p.Press(browser.Escape)
	whole, part := savedSVG(t, p, false), savedSVG(t, p, true)
	require.Equal(t, 2, strings.Count(whole.Text, ">max_pool2d</text>"), "in both panes")
	require.Contains(t, whole.Text, `lengthAdjust="spacingAndGlyphs"`)
	require.NotRegexp(t, `http(s)?://[^w]|<image|@font-face`, whole.Text)
	require.InDelta(t, 2*number(p, "app.v.width")+16, whole.Width, 1)
	require.InDelta(t, 2*number(p, "app.panes[0].width")+16, part.Width, 1)
	require.InDelta(t, number(p, "app.panes[0].height"), part.Height, 1)
	require.Less(t, len(part.Text), len(whole.Text))
}

// svg is a picture that the page saves.
type svg struct {
	Text, Error   string
	Width, Height float64
}

func savedSVG(t *testing.T, p *browser.Page, part bool) (s svg) {
	t.Helper()
	p.Eval(&s, `const text = gofx.saveSVG(gofx.app, arguments[0]), doc = new DOMParser().parseFromString(text, 'image/svg+xml'), e = doc.documentElement;
		return { Text: text, Error: (doc.querySelector('parsererror') || {}).textContent || '', Width: Number(e.getAttribute('width')), Height: Number(e.getAttribute('height')) }`, part)
	require.Empty(t, s.Error)
	return s
}

// TestNothingOverlaps holds for the drawings of several networks, whichever is open.
func TestNothingOverlaps(t *testing.T) {
	const count = `
		const { v } = app, bad = [];
		const over = (a, b) => a.x < b.x + b.w - 0.5 && b.x < a.x + a.w - 0.5 && a.y < b.y + b.h - 0.5 && b.y < a.y + a.h - 0.5;
		for (const g of v.groups) {
			const c = g.children;
			for (let i = 0; i < c.length; i++) {
				if (g.parent && (c[i].x < g.x || c[i].y < g.y + 20 || c[i].x + c[i].w > g.x + g.w || c[i].y + c[i].h > g.y + g.h)) bad.push(g.key + ' does not hold ' + c[i].key);
				for (let k = 0; k < i; k++) if (over(c[i], c[k])) bad.push(c[i].key + ' ' + c[k].key);
			}
		}
		for (const x of v.vertices) for (const e of x.in) if (!e.carried && !v.segments.some(s => s.end === x && s.source === e.from.id)) bad.push('no line to ' + x.key);
		for (const s of v.segments) if (!Number.isFinite(s.x1 + s.y1 + s.x2 + s.y2)) bad.push('a line to nowhere');
		return bad.slice(0, 5);`
	k := newMaker()
	a := k.call("shared", std.Tanh, k.call("shared", std.Neg, k.input("x")))
	b := k.call("shared", std.Tanh, k.call("shared", std.Neg, k.call("", std.Exp, a)))
	pages := map[string][]byte{"resnet50": resnet50(), "regions": draw.HTML(load(t, "regions.fx"), draw.Options{}),
		"constants": draw.HTML(load(t, "resblock.fx"), draw.Options{ShowConstants: true}), "calls": draw.HTML(k.done(t, b), draw.Options{}),
		"hostile": draw.HTML(hostile(t), draw.Options{}), "swapped": swapped(t), "broken": broken(),
		"empty": draw.HTML(graph.NewModule(graph.New("")), draw.Options{}), "branches": draw.HTML(branches(t, 400), draw.Options{})}
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			p := open(t, page)
			for _, keys := range []string{"", "e", "r", "l", "c"} {
				if keys != "" {
					p.Press(keys)
				}
				settled(p)
				var bad []string
				p.Eval(&bad, "const { app } = gofx;"+count)
				require.Empty(t, bad, "after %q", keys)
			}
		})
	}
}

// hostile has names that are no names, modules in modules, and a value with many users.
func hostile(t *testing.T) *graph.Module {
	k := newMaker()
	k.m.Type = `</script><script>alert(1)</script>`
	x := k.input("a\"b<c>&amp;\u2028</script>")
	deep := strings.TrimSuffix(strings.Repeat("<i>.", 40), ".")
	y := k.call(deep, std.Relu, k.call(deep, std.Neg, x))
	for range 300 {
		k.call("constructor.__proto__", std.Exp, k.call("constructor.__proto__", std.Abs, y))
	}
	return k.done(t, k.call("hasOwnProperty", std.Add, x, y))
}

// swapped has two stages with calls in opposite order: together they have a cycle.
func swapped(t *testing.T) []byte {
	build := func(first, second *op.Op) *graph.Module {
		k := newMaker()
		return k.done(t, k.call("b", std.Exp, k.call("b", second, k.call("a", std.Tanh, k.call("a", first, k.input("x"))))))
	}
	r := draw.NewReport(build(std.Neg, std.Relu), draw.Options{})
	r.OnPass(passes.PassReport{Name: "swap"}, build(std.Relu, std.Neg))
	k := newMaker()
	x := k.input("x")
	r.OnPass(passes.PassReport{Name: "cycle"}, k.done(t, k.call("a", std.Neg, k.call("a", std.Tanh, k.call("b", std.Relu, k.call("b", std.Exp, x))))))
	return r.HTML()
}

// broken is of a graph that lint refuses.
func broken() []byte {
	g := graph.New("broken")
	m := graph.NewModule(g)
	c := g.At()
	y := c.Module("no.such.module", c.Placeholder("x", shape.Type{}, nil), nil)
	c.Output(nil, y, c.GetAttr("no.such.param"))
	return draw.HTML(m, draw.Options{ShowConstants: true})
}

// branches is a graph of so many calls without modules, many of which join others.
func branches(t require.TestingT, n int) *graph.Module {
	ops := []*op.Op{std.Neg, std.Relu, std.Exp, std.Tanh, std.Abs, std.Sigmoid, std.Sqrt}
	k := newMaker()
	values := []*graph.Node{k.input("x")}
	for i := range n {
		last := len(values) - 1
		if i%5 == 4 {
			values = append(values, k.call("", std.Add, values[last], values[max(0, last-1-(i*i/7)%30)]))
		} else {
			values = append(values, k.call("", ops[(i*i/3+i/7)%len(ops)], values[max(0, last-(i%4)*(i%3))]))
		}
	}
	return k.done(t, values[len(values)-1])
}

// TestTenThousandNodes opens a graph that has no modules at all.
func TestTenThousandNodes(t *testing.T) {
	p := open(t, draw.HTML(branches(t, 10_000), draw.Options{}))
	require.EqualValues(t, 10_002, number(p, "app.v.vertices.length"))
	p.Press("/add_1999" + browser.Enter)
	require.Equal(t, "%add_1999", p.Text("#which"))
	settled(p)
	x, y := spot(t, p, 0, "add_1999")
	p.Press(browser.Escape + browser.Escape)
	p.Click(x, y)
	require.Equal(t, "%add_1999", p.Text("#which"))
	requirePicture(t, p.Screenshot())
}

// BenchmarkTenThousandNodes is the time from opening the file until the page can be used.
func BenchmarkTenThousandNodes(b *testing.B) {
	file := filepath.Join(b.TempDir(), "page.html")
	require.NoError(b, os.WriteFile(file, draw.HTML(branches(b, 10_000), draw.Options{}), 0o644))
	total := 0.0
	for range b.N {
		p := browser.Open(b, file, windowWidth, windowHeight)
		p.Wait("document.documentElement.dataset.ready === 'yes'")
		total += number(p, "performance.getEntriesByType('navigation')[0].domInteractive")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(total/float64(b.N), "ms/open")
}

// TestScreenshots makes the pictures of the documentation, if -update says so.
func TestScreenshots(t *testing.T) {
	if !*update {
		t.Skip("the pictures are made with -update")
	}
	p := open(t, resnet50())
	save := func(name string) {
		settled(p)
		data := fewColours(t, p.Screenshot())
		require.Less(t, len(data), 200<<10)
		require.NoError(t, os.WriteFile(filepath.Join("..", "docs", "img", name), data, 0o644))
	}
	p.Press("/layer1_0_bn1" + browser.Enter + browser.Escape + "--")
	p.Eval(nil, "gofx.app.centreOn(gofx.app.thingAt(gofx.app.state.selected))")
	save("page-diff.png")
	p.Press("/op:conv in:layer3" + browser.Enter)
	save("page-search.png")
	p.Press(browser.Escape + browser.Escape)
	p.ClickOn(".pane:nth-child(2) .quiet")
	p.Press("cdol/layer2_0_conv2" + browser.Enter + browser.Escape + browser.Escape)
	save("page-cost.png")
}

// fewColours makes a PNG smaller: of colours that are alike it keeps the one that it has most of.
func fewColours(t *testing.T, data []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	count, coarse, most := map[color.RGBA]int{}, map[color.RGBA]int{}, map[color.RGBA]color.RGBA{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			alike := color.RGBA{c.R >> 3, c.G >> 3, c.B >> 3, 0}
			count[c]++
			coarse[alike]++
			if count[c] > count[most[alike]] {
				most[alike] = c
			}
		}
	}
	colours := slices.SortedFunc(maps.Keys(coarse), func(a, b color.RGBA) int {
		return cmp.Or(coarse[b]-coarse[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, most[c])
	}
	few := image.NewPaletted(b, palette)
	imagedraw.Draw(few, b, img, b.Min, imagedraw.Src)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))
	return out.Bytes()
}

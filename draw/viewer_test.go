package draw_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/browser"
	"github.com/gofx-dev/gofx/op/std"
)

// TestSelectionShowsWeights clicks on a convolution whose weights are known.
func TestSelectionShowsWeights(t *testing.T) {
	p := open(t, resnet50())
	x, y := spot(t, p, 0, "conv1")
	p.Click(x, y)
	p.Wait("document.querySelectorAll('.histogram i').length === 24 * document.querySelectorAll('.tensor').length")
	text := p.Text("#details")
	for _, part := range []string{"conv1.weight_folded f32[64,3,7,7]", "of 9,408 elements", "std ", "from made-up values", std.Conv2d.Doc} {
		require.Contains(t, text, part)
	}
	var sum float64
	p.Eval(&sum, "return [...document.querySelectorAll('.tensor[open] .histogram i')].reduce((s, i) => s + Number(i.title.replaceAll(',', '')), 0)")
	require.EqualValues(t, 9408, sum)
	require.NotContains(t, text, "func Conv2d")
	p.Eval(nil, "document.querySelector('#doc + details').open = true")
	require.Contains(t, p.Text("#details"), "func Conv2d")
	p.Press("/name:maxpool" + browser.Enter)
	require.NotContains(t, strings.ToLower(p.Text("#details")), "values of weights")
}

// drop drops a file on the page.
func drop(p *browser.Page, name, text string) {
	p.Eval(nil, `const [name, text] = arguments, data = new DataTransfer();
		data.items.add(new File([text], name));
		document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));`, name, text)
}

// TestOverlaysAreDropped on the page: one of each kind of value, and what is wrong.
func TestOverlaysAreDropped(t *testing.T) {
	p := open(t, draw.HTML(load(t, "resblock.fx"), draw.Options{}))
	drop(p, "mine.json", `{"name": "latency", "unit": "ms", "nodes": {"stem": 4, "%scaled": {"value": 2, "text": "slow"}, "x": "int8"}}`)
	p.Wait("gofx.app.state.overlay === 'latency'")
	settled(p)
	require.Contains(t, p.Text("#legend"), "latency 2 ms")
	require.Contains(t, p.Text("#legend"), "latency 3 ms")
	require.Contains(t, p.Text("#legend"), "latency 4 ms")
	img, err := png.Decode(bytes.NewReader(p.Screenshot()))
	require.NoError(t, err)
	require.Equal(t, "#ef5b5b", at(t, p, img, 0, "stem"), "the hottest")
	require.Equal(t, "#dbe8fe", at(t, p, img, 0, "x"), "its class")
	p.Press("/name:scaled" + browser.Enter)
	require.Contains(t, p.Text("#details"), "latency\n2 ms, slow")
	drop(p, "worse.json", `{"steem": 1, "stem": 2}`)
	p.Wait("!document.getElementById('told').hidden")
	require.Equal(t, "worse.json: no node of captured is called steem", p.Text("#told"))
	require.EqualValues(t, 1, number(p, "app.state.overlay === 'latency'"), "the one before stays")
	drop(p, "next.json", `{"stem": 1}`)
	p.Wait("gofx.app.state.overlay === 'overlay' && document.getElementById('told').hidden")
	p.Press("o")
	require.Zero(t, number(p, "app.state.overlay"), "by kind, after the last one")
}

// TestOverlaysAreReadAlike by the page and by this package.
func TestOverlaysAreReadAlike(t *testing.T) {
	m, err := graph.Parse([]byte(chain), "net.fx")
	require.NoError(t, err)
	p := open(t, draw.HTML(m, draw.Options{}))
	type mark struct {
		Name string
		H    float64
		T    string
	}
	read := func(text string) (got struct {
		Error, Name   string
		Marks, Legend []mark
	}) {
		p.Eval(&got, `const { app, readOverlay } = gofx, list = ms => ms.map(m => ({ Name: m.n === undefined ? '' : app.nodeOf(m.n).name, H: m.h, T: m.t }));
			try { const o = readOverlay(arguments[0], app.shown[0]); return { Name: o.name, Marks: list(o.marks), Legend: list(o.legend) }; } catch (e) { return { Error: e.message }; }`, text)
		return got
	}
	for text, want := range goodOverlays {
		got := read(text)
		require.Empty(t, got.Error, text)
		require.Equal(t, want.Name, got.Name, text)
		require.Len(t, got.Marks, len(want.Marks), text)
		for _, g := range got.Marks {
			w := want.Marks[g.Name]
			require.Equal(t, w.Text, g.T, text)
			require.Equal(t, w.Plain, g.H < 0, text)
			require.InDelta(t, w.Heat, max(0, g.H), 1e-9, text)
		}
		require.Len(t, got.Legend, len(want.Legend), text)
		for i, w := range want.Legend {
			require.Equal(t, mark{H: w.Heat, T: w.Text}, got.Legend[i], text)
		}
	}
	for text := range badOverlays {
		require.NotEmpty(t, read(text).Error, text)
	}
}

// TestPixelsAreSaved decodes what the page saves, and compares a colour in it.
func TestPixelsAreSaved(t *testing.T) {
	p := open(t, draw.HTML(load(t, "resblock.fx"), draw.Options{}))
	for _, part := range []bool{false, true} {
		p.Eval(nil, `delete gofx.saved; gofx.savePNG(gofx.app, arguments[0]).then(async b => { gofx.saved = [...new Uint8Array(await b.arrayBuffer())]; })`, part)
		p.Wait("gofx.saved")
		var list []int
		p.Eval(&list, "return gofx.saved")
		data := make([]byte, len(list))
		for i, b := range list {
			data[i] = byte(b)
		}
		img, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		x, y := number(p, "2 * (v => v.x + v.w - 5)(app.v.vertices[1])"), number(p, "2 * (v => v.y + v.h / 2)(app.v.vertices[1])")
		width := number(p, "2 * app.v.width")
		if part {
			x = number(p, "2 * ((v => v.x + v.w - 5)(app.v.vertices[1]) * camera.k + camera.x)")
			y = number(p, "2 * ((v => v.y + v.h / 2)(app.v.vertices[1]) * camera.k + camera.y)")
			width = number(p, "2 * app.panes[0].width")
		}
		require.InDelta(t, width, img.Bounds().Dx(), 1)
		r, g, b, _ := img.At(int(x), int(y)).RGBA()
		require.Equal(t, "#ffe3cc", fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8), "a contraction")
	}
	p.Press("sSpP")
	require.EqualValues(t, 1, number(p, "document.getElementById('told').hidden"))
}

// TestViewersStandInOtherPages: two in one page, each of its own graph, which know nothing of
// each other.
func TestViewersStandInOtherPages(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	write("viewer.js", draw.Viewer())
	var host bytes.Buffer
	host.WriteString(`<!DOCTYPE html><title>host</title><style>div { height: 400px }</style><div id="one"></div><div id="two"></div><script src="viewer.js"></script><script>
		gofx.show('#one', ` + string(draw.NewReport(load(t, "resblock.fx"), draw.Options{}).Data()) + `);
		gofx.show(document.getElementById('two'), ` + "JSON.stringify(" + string(draw.NewReport(hostile(t), draw.Options{}).Data()) + `));
		gofx.failed = [() => gofx.show('#three', '{}'), () => gofx.show('#one', {}), () => gofx.show('#one', { gofx: 0 })].map(f => { try { f(); return ''; } catch (e) { return e.message; } });
	</script>`)
	write("host.html", host.Bytes())
	p := browser.Open(t, filepath.Join(dir, "host.html"), windowWidth, windowHeight)
	t.Cleanup(func() { require.Empty(t, p.Complaints()) })
	p.Wait("[...document.querySelectorAll('iframe')].filter(f => f.contentDocument && f.contentDocument.documentElement.dataset.ready === 'yes').length === 2")
	var got []string
	p.Eval(&got, "return [...document.querySelectorAll('iframe')].map(f => f.contentDocument.getElementById('title').textContent)")
	require.Equal(t, []string{"net.Net", "script>"}, got)
	p.Eval(&got, "return gofx.failed")
	require.Equal(t, "gofx.show: #three is no element of this page", got[0])
	require.Contains(t, got[1], "expected the data of fxgen draw -o FILE.json")
	require.Contains(t, got[2], "expected the data of fxgen draw -o FILE.json")
	// A click selects in one alone; it changes no address.
	p.Eval(&got, `const [one, two] = [...document.querySelectorAll('iframe')].map(f => f.contentWindow.gofx.app);
		one.goTo(one.v.vertices[1].uid);
		return [String(one.state.selected), String(two.state.selected), location.hash]`)
	require.Equal(t, []string{"1", "null", ""}, got)
}

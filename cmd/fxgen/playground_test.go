package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/play"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/internal/testkit/browser"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// The page of the playground has a program of its own, which takes a minute to compile where nobody
// has. Tests that need it run nightly; package play compares the same results with those of the
// command in one process.

// mostBytesOfThePage is the most that somebody should have to load.
const mostBytesOfThePage = 25 << 20

var playgroundPage = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "play.html")
	if code, _, stderr := call("playground", "-o", file); code != 0 {
		return nil, fmt.Errorf("exit code %d: %s", code, stderr)
	}
	return os.ReadFile(file)
})

// element is the text of an element of the page.
func element(t testing.TB, page []byte, id string) []byte {
	_, rest, ok := bytes.Cut(page, []byte(`id="`+id+`">`))
	require.True(t, ok, id)
	text, _, ok := bytes.Cut(rest, []byte("</script>"))
	require.True(t, ok, id)
	return text
}

// playedModels are sources, with the files that are not built in.
func playedModels(t testing.TB) (sources []string, files map[string][]byte) {
	digits, err := os.ReadFile(filepath.Join(checkout, "examples", "onnx", "digits.onnx"))
	require.NoError(t, err)
	return []string{"mlp", "squeezenet1_1", "resnet18", "mobilenet_v2", "mobilenet_v3_large", "unet", "learning_to_paint", "efficientnet_b0", "digits.onnx", "net.fx"},
		map[string][]byte{"digits.onnx": digits, "net.fx": []byte(playedGraph)}
}

// checkout is where the package's module is: tests change the folder.
var checkout, _ = filepath.Abs("../..")

const playedGraph = `gofx 1

graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[erf](%x) : f32[N,4]
  %b = call_function[relu](%a) : f32[N,4]
  %c = call_function[neg](%b) : f32[N,4]
  %d = call_function[neg](%c) : f32[N,4]
  %w = get_attr[w] : f32[4]
  %e = call_function[mul](%d, %w) : f32[N,4]
  return %e
}
param w : f32[4]
`

// requests are those that the page makes for a source.
func requests(source string) (list []*play.Request) {
	pipeline := work.Optimise()
	list = append(list, &play.Request{Verb: work.Draw, Source: source, Passes: pipeline, Again: true}, &play.Request{Verb: work.Print, Source: source},
		&play.Request{Verb: work.Why, Source: source, Passes: pipeline})
	for _, p := range pipeline {
		list = append(list, &play.Request{Verb: work.Print, Source: source, Passes: pipeline, After: p})
	}
	for _, style := range []string{work.Kernel, work.Module} {
		list = append(list, &play.Request{Verb: work.Gen, Source: source, Passes: pipeline, Style: style})
	}
	return append(list, &play.Request{Verb: work.Draw, Source: source, Passes: []string{"functionalize", "dce"}})
}

// Times and memory differ from run to run; positions in the page have no folder of this machine.
var measured = regexp.MustCompile(`"(ms|allocated_bytes)": [0-9.e+-]+`)

func comparable(text []byte) string {
	text = bytes.ReplaceAll(text, []byte(filepath.ToSlash(checkout)+"/"), []byte("github.com/gofx-dev/gofx/"))
	text = regexp.MustCompile(`\n(<!-- |//)fxgen:sum [0-9a-f]+( -->)?\n`).ReplaceAll(text, []byte("\n"))
	return measured.ReplaceAllString(string(text), `"$1": 0`)
}

// sameAsTheCommand compares an answer with what the command line of the answer prints and writes.
func sameAsTheCommand(t testing.TB, r *play.Request, a *play.Answer) {
	require.True(t, a.OK, "%s: %+v", a.Command, a.Diagnostics)
	args := strings.Fields(a.Command)[1:]
	code, stdout, stderr := call(args...)
	require.Zero(t, code, "%s: %s", a.Command, stderr)
	switch r.Verb {
	case work.Draw:
		data, err := os.ReadFile(a.Name + ".html")
		require.NoError(t, err)
		require.Equal(t, comparable(data), comparable([]byte(a.Text)), a.Command)
		require.Contains(t, a.Text, "<!-- fxgen:sum ")
	case work.Gen:
		sameFiles(t, a)
		require.NoError(t, os.RemoveAll(a.Name))
	default:
		require.Equal(t, comparable([]byte(stdout)), comparable([]byte(a.Text)), a.Command)
	}
}

// sameFiles compares the files of an answer with the folder that the command has written.
func sameFiles(t testing.TB, a *play.Answer) {
	files := sameZip(t, a.Zip, a.Name)
	require.Len(t, a.Files, len(files))
	for _, f := range a.Files {
		data := files[f.Name]
		require.Len(t, data, f.Size, f.Name)
		if strings.HasSuffix(f.Name, ".go") {
			require.Equal(t, string(data), f.Text)
		}
	}
}

// sameZip compares a zip file with the folder that is in it, and returns the files.
func sameZip(t testing.TB, archive []byte, folder string) map[string][]byte {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	written, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, z.File, len(written))
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		want, err := os.ReadFile(f.Name)
		require.NoError(t, err)
		if strings.HasSuffix(f.Name, ".go") {
			require.Equal(t, comparable(want), comparable(got), f.Name)
		} else {
			require.True(t, bytes.Equal(want, got), "%s differs", f.Name)
		}
		files[strings.TrimPrefix(f.Name, folder+"/")] = got
	}
	return files
}

// TestThePlaygroundIsTheCommand does the page's requests in this process.
func TestThePlaygroundIsTheCommand(t *testing.T) {
	sources, files := playedModels(t)
	t.Chdir(t.TempDir())
	for name, data := range files {
		require.NoError(t, os.WriteFile(name, data, 0o666))
	}
	var s play.Session
	for _, source := range sources {
		if source != "mlp" && files[source] == nil && !fxtest.IsNightly() {
			continue
		}
		for _, r := range requests(source) {
			sameAsTheCommand(t, r, s.Do(t.Context(), r))
		}
	}
}

// TestThePageIsTheCommand does them by the page's program, under node.
func TestThePageIsTheCommand(t *testing.T) {
	fxtest.Nightly(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node, which Debian's package nodejs has")
	}
	page, err := playgroundPage()
	require.NoError(t, err)
	require.Less(t, len(page), mostBytesOfThePage)
	script, err := filepath.Abs("testdata/worker.cjs")
	require.NoError(t, err)
	sources, files := playedModels(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("worker.js", element(t, page, "worker"), 0o666))
	for _, id := range []string{"wasm", "sources"} {
		data, err := base64.StdEncoding.DecodeString(string(element(t, page, id)))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(id+".gz", data, 0o666))
	}
	var steps []map[string]any
	for name, data := range files {
		require.NoError(t, os.WriteFile(name, data, 0o666))
		steps = append(steps, map[string]any{"put": name})
	}
	var all []*play.Request
	for _, source := range sources {
		for _, r := range requests(source) {
			all = append(all, r)
			steps = append(steps, map[string]any{"request": r})
		}
	}
	text, err := json.Marshal(steps)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("requests.json", text, 0o666))
	out, err := exec.Command(node, script, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err = os.ReadFile("answers.json")
	require.NoError(t, err)
	var answers []*play.Answer
	require.NoError(t, json.Unmarshal(text, &answers))
	require.Len(t, answers, len(all))
	for i, a := range answers {
		if all[i].Verb == work.Gen {
			a.Zip, err = os.ReadFile(fmt.Sprint(i, ".zip"))
			require.NoError(t, err)
		}
		sameAsTheCommand(t, all[i], a)
	}
}

// opened opens the page, and waits for its first picture.
func opened(t testing.TB) *browser.Page {
	page, err := playgroundPage()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "play.html")
	require.NoError(t, os.WriteFile(file, page, 0o666))
	p := browser.Open(t, file, 1500, 950)
	p.Wait("document.documentElement.dataset.drawn && document.documentElement.dataset.done === '1'")
	return p
}

// quiet waits until the page has done all that was asked for.
func quiet(p *browser.Page, turn int) {
	p.Wait(fmt.Sprintf("document.documentElement.dataset.done === '%d'", turn))
}

func TestThePlaygroundInABrowser(t *testing.T) {
	fxtest.Nightly(t)
	p := opened(t)
	var drawn float64
	p.Eval(&drawn, "return Number(document.documentElement.dataset.drawn)")
	t.Logf("the first picture came %v after the page was opened", time.Duration(drawn*1e6).Round(time.Millisecond))
	all := len(work.Optimise())
	require.Contains(t, p.Text("#status"), fmt.Sprintf("mlp: 3 rewrites by %d passes", all))
	downloads := t.TempDir()
	p.Downloads(downloads)

	// A node of the drawing is clicked.
	var at []float64
	p.Eval(&at, `const b = document.getElementById('drawing').getBoundingClientRect(); return [b.left + b.width / 4, b.top + b.height * 0.35]`)
	before := p.Screenshot()
	p.Click(at[0], at[1])
	require.Eventually(t, func() bool { return !bytes.Equal(before, p.Screenshot()) }, time.Minute, 50*time.Millisecond)

	// A pass tells what it did.
	p.ClickOn("#passes li:nth-child(1) .name")
	p.Wait("document.querySelectorAll('#detail .add').length > 0")
	p.ClickOn("#about [data-view=why]")
	require.Contains(t, p.Text("#detail"), "%fc1 changed: module")
	p.ClickOn("#about [data-view=text]")
	p.Wait("document.getElementById('detail').textContent.startsWith('gofx 1')")

	// A file is dropped.
	_, files := playedModels(t)
	drop(p, "digits.onnx", files["digits.onnx"])
	quiet(p, 2)
	require.Contains(t, p.Text("#status"), "digits.onnx")
	requireColours(t, p.Screenshot())

	// A pass is switched off, on, and moved.
	last := fmt.Sprintf("#passes li:nth-child(%d) input", all)
	p.ClickOn(last)
	quiet(p, 3)
	require.Contains(t, p.Text("#status"), fmt.Sprintf("by %d passes", all-1))
	require.NotContains(t, p.Text("#command code"), "drop-unused")
	p.ClickOn(last)
	quiet(p, 4)
	p.ClickOn("#passes li:nth-child(2) button:nth-of-type(3)")
	quiet(p, 5)
	require.Contains(t, p.Text("#command code"), "functionalize,algebra,identity")
	var focused string
	p.Eval(&focused, "return document.activeElement.getAttribute('aria-label')")
	require.Equal(t, "move identity down", focused)

	// The package is saved.
	p.ClickOn("#results [data-view=code]")
	p.Wait("document.getElementById('listing').textContent.includes('package digits')")
	p.ClickOn("#save")
	archive := savedAs(t, filepath.Join(downloads, "digits.zip"))
	command := p.Text("#command code")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("digits.onnx", files["digits.onnx"], 0o666))
	code, _, stderr := call(strings.Fields(command)[1:]...)
	require.Zero(t, code, stderr)
	require.Contains(t, sameZip(t, archive, "digits"), "model.go")

	// Text is edited, with a mistake, then without.
	p.ClickOn("#results [data-view=drawing]")
	edit(p, strings.Replace(playedGraph, "[relu](%a)", "[relu](%nobody)", 1))
	quiet(p, 6)
	require.Contains(t, p.Text("#diagnostics"), "graph.fx:6")
	edit(p, playedGraph)
	quiet(p, 7)
	require.Empty(t, p.Text("#diagnostics"))
	require.Contains(t, p.Text("#status"), "graph.fx")
	require.Empty(t, p.Complaints())
}

// requireColours checks that a picture has many colours, which an empty page cannot have.
func requireColours(t testing.TB, picture []byte) {
	img, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	seen := map[color.Color]bool{}
	for y := 0; y < img.Bounds().Dy(); y += 2 {
		for x := img.Bounds().Dx() / 2; x < img.Bounds().Dx(); x += 2 {
			seen[img.At(x, y)] = true
		}
	}
	require.Greater(t, len(seen), 50)
}

func drop(p *browser.Page, name string, data []byte) {
	p.Eval(nil, `const raw = atob(arguments[1]), data = Uint8Array.from(raw, c => c.charCodeAt(0)), moved = new DataTransfer();
		moved.items.add(new File([data], arguments[0]));
		document.getElementById('drop').dispatchEvent(new DragEvent('drop', { dataTransfer: moved, bubbles: true, cancelable: true }))`,
		name, base64.StdEncoding.EncodeToString(data))
}

func edit(p *browser.Page, text string) {
	p.Eval(nil, `const box = document.getElementById('edit'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))`, text)
	p.ClickOn("#apply")
}

// savedAs waits for a file that the browser saves.
func savedAs(t testing.TB, file string) (data []byte) {
	require.Eventually(t, func() bool {
		var err error
		data, err = os.ReadFile(file)
		return err == nil && len(data) > 0
	}, time.Minute, 20*time.Millisecond)
	return data
}

// BenchmarkFirstPicture opens the page and waits for its first drawing.
func BenchmarkFirstPicture(b *testing.B) {
	for b.Loop() {
		p := opened(b)
		var drawn float64
		p.Eval(&drawn, "return Number(document.documentElement.dataset.drawn)")
		b.ReportMetric(drawn, "ms/picture")
	}
}

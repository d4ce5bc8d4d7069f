package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const top = "../../.."

// pages returns the pages that people write. Of ops.md, errors.md and grad.md, which are generated, the
// tests of internal/testkit/conform and internal/testkit/faults run their examples.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(top, "docs", "*", "*.md"))
	require.NoError(t, err)
	text := map[string]string{}
	for _, path := range append(append(paths, more...), filepath.Join(top, "README.md"), filepath.Join(top, "CHANGELOG.md")) {
		if name := filepath.Base(path); name == "ops.md" || name == "errors.md" || name == "grad.md" {
			continue
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		text[path] = string(b)
	}
	return text
}

// blocks returns the fenced blocks of a language on a page.
func blocks(page, language string) []string {
	var list []string
	for {
		_, rest, ok := strings.Cut(page, "```"+language+"\n")
		if !ok {
			return list
		}
		block, after, _ := strings.Cut(rest, "```")
		list, page = append(list, block), after
	}
}

// snippets are blocks of pages that no Go file has word for word, each with the
// file that has the same statements.
var snippets = map[string]string{
	"func (m *RNN) Forward(x, h *tensor.Tensor) *tensor.Tensor {\n\tfor t := range x.Dim(0) {\n\t\th = m.cell(x.Select(0, t), h)\n\t}\n\treturn h\n}\n": "internal/testkit/compiled/rolls/programs.go",
	"func Cropped(m *Model, x, y *tt) *tt {\n\tn := x.Dim(0)\n\tif n > 9 {\n\t\tn = 9\n\t}\n\treturn x.Narrow(0, 0, n).Sum(0)\n}\n":                     "internal/testkit/compiled/ints/programs.go",
	"slog.Info(\"step\", \"name\", d.Name)\nreports.Add(1) // an *expvar.Int\n":                                                                         "internal/testkit/compiled/breaks.go",
	"//go:generate fxgen compile -o fx_compile.go Decoder.Step Classify Scale\n\ntype Decoder struct {\n\tWords *tensor.Tensor\n\tPast  *tensor.Tensor\n\tSteps int\n}\n\n// Step takes one token more.\nfunc (d *Decoder) Step(ids *tensor.Tensor) *tensor.Tensor {\n\tp := tensor.Embedding(ids, d.Words)\n\td.Past = p\n\td.Steps++\n\treturn p\n}\n": "cmd/fxgen/testdata/script/compilegen.txtar",
	"step := CompileDecoderStep()\nfor range 10 {\n\tstep.Call(a, ids)\n}\n": "cmd/fxgen/testdata/script/compilegen.txtar",
	"m, err := step.New(file.Get, runtime.GOMAXPROCS(0))\nstate, err := m.NewState()\nfor _, b := range batches {\n\tn := len(b.Labels)\n\tr, err := m.Forward(ctx, state, array.DenseOf(b.Images, n, 8, 8), array.DenseOf(b.Labels, n))\n}\n": "cmd/fxgen/testdata/script/step.txtar",
	"// It imports the package that was written, and \"github.com/gofx-dev/gofx/array\".\nnet, err := digitsnet.New()\nlogits, err := net.Forward(ctx, array.DenseOf(pixels, n, 1, 8, 8))\n":                                                   "examples/digits/guide_test.go",
}

// TestGuidesShowCodeThatIsCompiled looks for every Go block of the pages in the Go
// files of the repository, and for the statements that differ in names only in
// the files that have them.
func TestGuidesShowCodeThatIsCompiled(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && path != filepath.Join(top, "internal", "generators", "docs", "guide_test.go") {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			source.WriteString(plain(string(b)))
		}
		return nil
	})
	require.NoError(t, err)
	all, found := source.String(), 0
	for path, page := range pages(t) {
		for _, block := range blocks(page, "go") {
			found++
			if filepath.Base(path) == "fxvet.md" {
				continue // TestDocumentShowsEachRule of cmd/fxvet compiles it
			}
			if slices.Contains(append([]string{"install.md"}, followed...), filepath.Base(path)) && wholeFile(block) {
				continue // TestGuidesAreFollowedWordByWord compiles it, and the trial of a release the page of the installation
			}
			if wholeFile(block) && filepath.Base(path) == "README.md" {
				_, err := parser.ParseFile(token.NewFileSet(), "", block, parser.SkipObjectResolution)
				require.NoError(t, err, "%s:\n%s", path, block)
				require.True(t, contains(all, asExample.Replace(block)), "%s shows a program that no example is", path)
				continue
			}
			_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+block+"\n}\n", parser.SkipObjectResolution)
			if err != nil {
				_, err = parser.ParseFile(token.NewFileSet(), "", "package p\n"+block, parser.SkipObjectResolution)
			}
			require.NoError(t, err, "%s:\n%s", path, block)
			if file, ok := snippets[block]; ok {
				sameCalls(t, block, file)
				continue
			}
			require.True(t, contains(all, block), "%s shows code that no Go file has:\n%s", path, block)
		}
	}
	require.Greater(t, found, 5)
}

// asExample makes the README's program of the example that is one in a test.
var asExample = strings.NewReplacer("package main\n", "package fx_test\n", "func main() {", "func Example() {")

// wholeFile reports whether a block is a file with its package clause.
func wholeFile(block string) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", block, parser.PackageClauseOnly)
	return err == nil
}

// plain drops blank lines, comment lines and indentation.
func plain(src string) string {
	var b strings.Builder
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if line != "" && (!strings.HasPrefix(line, "//") || strings.HasPrefix(line, "//go:")) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// contains reports whether the lines of a block stand in the source; a line that
// begins with //go:generate may leave out flags.
func contains(all, block string) bool {
	if rest, ok := strings.CutPrefix(block, "//go:generate "); ok {
		for line := range strings.Lines(all) {
			if line, ok := strings.CutPrefix(line, "//go:generate "); ok && subset(strings.Fields(rest), strings.Fields(line)) {
				return true
			}
		}
		return false
	}
	return strings.Contains(all, plain(block))
}

// subset reports whether the words of a occur in b in the same order.
func subset(a, b []string) bool {
	for _, w := range b {
		if len(a) > 0 && a[0] == w {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// sameCalls requires that a file has every call that a snippet makes.
func sameCalls(t *testing.T, snippet, file string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(top, file))
	require.NoError(t, err)
	for _, call := range regexp.MustCompile(`\w+\.\w+\(`).FindAllString(snippet, -1) {
		require.Contains(t, string(b), call, "the snippet of %s", file)
	}
}

// TestLinksOfPagesLead follows the links and images of the pages to files.
func TestLinksOfPagesLead(t *testing.T) {
	fence := regexp.MustCompile("(?s)```.*?```")
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	found := 0
	for path, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			_, err := os.Stat(filepath.Join(filepath.Dir(path), m[1]))
			require.NoError(t, err, "%s links to %s", path, m[1])
		}
	}
	require.Greater(t, found, 5)
}

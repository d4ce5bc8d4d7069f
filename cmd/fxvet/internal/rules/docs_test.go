package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

// uses are the packages that code of docs/fxvet.md names.
var uses = map[string]string{"tensor": "github.com/gofx-dev/gofx/tensor", "nn": "github.com/gofx-dev/gofx/nn", "slices": "slices", "maps": "maps"}

// header writes the head of a file with a piece of code.
func header(code string) string {
	out := "package p\n\n"
	for _, name := range []string{"maps", "slices", "nn", "tensor"} {
		if strings.Contains(code, name+".") {
			out += "import \"" + uses[name] + "\"\n"
		}
	}
	return out + "\n"
}

// TestDocumentShowsEachRule holds that the code before in docs/fxvet.md is found by its rule alone, with a
// code that the section names, and that nothing is found in the code after it.
func TestDocumentShowsEachRule(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(top, "docs/fxvet.md"))
	require.NoError(t, err)
	mod, err := os.ReadFile("testdata/go.mod")
	require.NoError(t, err)
	here, err := filepath.Abs(top)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(regexp.MustCompile(`=> .*`).ReplaceAllString(string(mod), "=> "+here)), 0o600))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```")
	sections := map[string]string{}
	for _, a := range All() {
		_, section, ok := strings.Cut(string(doc), "\n## "+a.Name+"\n")
		require.True(t, ok, "docs/fxvet.md has no section %s", a.Name)
		section, _, _ = strings.Cut(section, "\n## ")
		sections[a.Name] = section
		code := blocks.FindAllStringSubmatch(section, -1)
		require.Len(t, code, 2, a.Name)
		for i, when := range []string{"before", "after"} {
			at := filepath.Join(dir, a.Name, when)
			require.NoError(t, os.MkdirAll(at, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(at, "p.go"), []byte(header(code[i][1])+code[i][1]), 0o600))
		}
	}
	got := foundIn(t, dir, nil, "./...")
	for _, a := range All() {
		require.Empty(t, got[filepath.Join(dir, a.Name, "after", "p.go")], a.Name)
		before := got[filepath.Join(dir, a.Name, "before", "p.go")]
		require.NotEmpty(t, before, a.Name)
		for _, f := range before {
			_, code, _ := strings.Cut(f, " ")
			if _, known := diag.Lookup(diag.Code(code)); known {
				require.Contains(t, sections[a.Name], code)
			} else {
				require.Equal(t, "fxscope", a.Name, fmt.Sprint(f))
			}
		}
	}
}

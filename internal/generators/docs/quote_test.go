package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPagesQuoteFilesAsTheyAre(t *testing.T) {
	for path, page := range pages(t) {
		fresh, err := quoted([]byte(page), top)
		require.NoError(t, err, path)
		require.Equal(t, string(fresh), page, "%s: run go run ./internal/generators/docs", path)
	}
}

// TestExamplePassesAreShortAndQuoted holds examples/passes to its promise.
func TestExamplePassesAreShortAndQuoted(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(top, "docs", "add-a-pass.md"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(top, "examples", "passes", "*.go"))
	require.NoError(t, err)
	passes := 0
	for _, path := range files {
		if name := filepath.Base(path); name != "doc.go" && !strings.HasSuffix(name, "_test.go") {
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Less(t, bytes.Count(src, []byte("\n")), 60, name)
			require.Contains(t, string(guide), "<!-- copied from examples/passes/"+name+" -->")
			require.FileExists(t, strings.TrimSuffix(path, ".go")+"_test.go")
			passes++
		}
	}
	require.Equal(t, 6, passes)
}

// TestTutorialHasTenSteps holds each step to something that is done in it, which
// TestGuidesAreFollowedWordByWord does.
func TestTutorialHasTenSteps(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(top, "docs", "tutorial.md"))
	require.NoError(t, err)
	steps := strings.Split(string(page), "\n## ")[1:]
	require.Len(t, steps, 11, "ten, and where to go from here")
	for i, step := range steps[:10] {
		require.True(t, strings.HasPrefix(step, strconv.Itoa(i+1)+". "), step)
		require.Regexp(t, "```(go|sh)\n", step)
	}
}

// TestQuotationsAreReplaced changes a page and gets it back.
func TestQuotationsAreReplaced(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nimport (\n\t\"os\"\n)\n\n// F is.\nfunc F() { os.Exit(1) }\n"), 0o666))
	const want = "text\n<!-- copied from a.go -->\n```go\n// F is.\nfunc F() { os.Exit(1) }\n```\nmore ```go\nkept\n```\n"
	for _, page := range []string{want, strings.Replace(want, "// F is.", "// F was.", 1), strings.Replace(want, "// F is.\nfunc F() { os.Exit(1) }\n", "", 1)} {
		fresh, err := quoted([]byte(page), dir)
		require.NoError(t, err)
		require.Equal(t, want, string(fresh))
	}
	_, err := quoted([]byte("<!-- copied from none.go -->\n```go\n```\n"), dir)
	require.ErrorContains(t, err, "none.go")
}

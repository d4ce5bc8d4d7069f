package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	require.NoError(t, repo.WithGenerated("kernel", Generate, (*repo.Generated).Current))
}

// generate returns the output for families given as sources by name.
func generate(t *testing.T, families map[string]string) (map[string][]byte, error) {
	t.Helper()
	dir := t.TempDir()
	for name, src := range families {
		at := filepath.Join(dir, "internal", name)
		require.NoError(t, os.MkdirAll(at, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(at, name+".go"), []byte("package "+name+"\n\n"+src), 0o644))
	}
	g, err := Generate(dir)
	if err != nil {
		return nil, err
	}
	return g.Files, nil
}

func TestNamesOfAFamily(t *testing.T) {
	files, err := generate(t, map[string]string{"plain": "// Hidden is not named.\ntype Hidden int\n", "first": `import "github.com/gofx-dev/gofx/array"

// Work is memory.
//
//gofx:kernel
type Work struct{ n int }

// What is done.
//
//gofx:kernel
const (
	// Add adds.
	Add = iota
	Sub // a-b
)

// Make makes T.
//
//gofx:kernel
func Make[T array.Elem](w *Work, n ...int) []T { return nil }
`, "second": `import "github.com/gofx-dev/gofx/kernel/internal/first"

// Use uses.
//
//gofx:kernel
func Use(w *first.Work) {}
`})
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, header+`
package kernel

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/first"
)

// Work is memory.
type Work = first.Work

// What is done.
const (
	// Add adds.
	Add = first.Add
	Sub = first.Sub // a-b
)

// Make makes T.
func Make[T array.Elem](w *Work, n ...int) []T {
	return first.Make[T](w, n...)
}
`, string(files["first_gen.go"]))
	require.Contains(t, string(files["second_gen.go"]), "func Use(w *Work) {\n\tsecond.Use(w)\n}")
}

func TestMistakesOfMarks(t *testing.T) {
	for _, c := range []struct{ src, message string }{
		{"//gofx:kernel\nfunc hidden() {}", "expected an exported name"},
		{"//gofx:kernel\nfunc F(x Hidden) {}", "F: its signature has Hidden, which kernel does not name"},
		{"type T int\n//gofx:kernel\nfunc (T) M() {}", "method M has //gofx:kernel: mark its type"},
		{"//gofx:kernel\ntype Work int", `no other family (here "a") has`},
	} {
		_, err := generate(t, map[string]string{"a": "//gofx:kernel\ntype Work int", "b": c.src})
		require.ErrorContains(t, err, c.message)
	}
}

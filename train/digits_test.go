package train_test

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// TestStep_generatedTrainsDigits trains the network of examples/digits from random weights with a step that is
// generated Go, which imports kernels and arrays, with the files and coded errors that they stand on. The losses are those of the plan, bit for bit.
func TestStep_generatedTrainsDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the go command builds programs")
	}
	top, err := repo.Root()
	require.NoError(t, err)
	dir, data := t.TempDir(), filepath.Join(top, "examples", "digits")
	require.NoError(t, repo.WriteModule(dir, "example.com/trained"))
	for to, from := range map[string]string{
		"make/main.go": "testdata/digits/make.go.txt", "make/model.go": filepath.Join(data, "model.go"), "loop/main.go": "testdata/digits/loop.go.txt",
	} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(to)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, to), text, 0o644))
	}
	var want struct {
		Results  [][2]float32
		Tested   float64
		PerEpoch int
	}
	file := filepath.Join(dir, "batches.json")
	require.NoError(t, json.Unmarshal(goRun(t, dir, nil, "./make", data, filepath.Join(dir, "step"), file), &want))
	requireImports(t, filepath.Join(dir, "step"))
	batches, err := os.ReadFile(file)
	require.NoError(t, err)
	var got [][2]float32
	require.NoError(t, json.Unmarshal(goRun(t, dir, batches, "./loop"), &got))
	require.Equal(t, want.Results, got)

	accuracy := float32(0)
	for _, r := range got[len(got)-want.PerEpoch:] {
		accuracy += r[1] / float32(want.PerEpoch)
	}
	t.Logf("the loss was %.3f and is %.3f after %d steps; of the last epoch's images %.3f were right, and %.3f of the test images are", got[0][0], got[len(got)-1][0], len(got), accuracy, want.Tested)
	require.Less(t, got[len(got)-1][0], got[0][0]/20)
	require.Greater(t, accuracy, float32(0.97))
	require.Greater(t, want.Tested, 0.97)
}

// goRun runs a program of a module and returns what it prints.
func goRun(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "-mod=mod"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return out
}

// requireImports requires that the files of a package import kernels, arrays, the reader of the file with its
// weights, the errors of all three, and the standard library.
func requireImports(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var own []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !slices.Contains(own, path) {
				own = append(own, path)
			}
		}
	}
	slices.Sort(own)
	require.Equal(t, []string{repo.Module + "/array", repo.Module + "/array/safetensors", repo.Module + "/diag", repo.Module + "/kernel"}, own)
}

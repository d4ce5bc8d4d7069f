package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/cli"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// call runs the command line in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(args, &out, &errs)
	return code, out.String(), errs.String()
}

// tree returns a hash of the names and contents of all files in a folder.
func tree(t *testing.T, dir string) string {
	h := sha256.New()
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		fmt.Fprintf(h, "%s %d\n", path, len(data))
		h.Write(data)
		return err
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Twenty generations give the same bytes, whatever the machine around them is.
func TestSameBytes(t *testing.T) {
	hashes := map[string]string{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i := range 20 {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deep/", i%4))
		require.NoError(t, os.MkdirAll(dir, 0o777))
		t.Chdir(dir)
		runtime.GOMAXPROCS(1 + i%5)
		t.Setenv("TZ", []string{"UTC", "Asia/Tokyo", "America/New_York"}[i%3])
		t.Setenv("LANG", []string{"C", "de_DE.UTF-8"}[i%2])
		t.Setenv("GOARCH", []string{"amd64", "arm64", "wasm"}[i%3])
		for _, style := range []string{"kernel", "module"} {
			code, _, stderr := call("gen", "-style", style, "-o", style, "-package", "net", "mlp")
			require.Zero(t, code, stderr)
			h := tree(t, style)
			if hashes[style] == "" {
				hashes[style] = h
				checkSource(t, style, dir)
			}
			require.Equal(t, hashes[style], h, "generation %d in style %s", i, style)
		}
	}
	require.NotEqual(t, hashes["kernel"], hashes["module"])
}

// checkSource checks header, format, and that nothing of the machine is in it.
func checkSource(t *testing.T, dir, cwd string) {
	header := regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\n`)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		require.Regexp(t, header, string(src), f)
		require.NotContains(t, string(src), cwd, f)
		pretty, err := format.Source(src)
		require.NoError(t, err)
		require.Equal(t, string(pretty), string(src), "%s is formatted", f)
	}
}

// A saved folder is a source with weights of its own.
func TestSavedFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		return x.Add(tensor.FromSlice([]float32{10, 20, 30}, 3))
	}, fx.Name("shift"), fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	require.NoError(t, graph.Save("shift", gm.Module))

	code, stdout, stderr := call("run", "./shift", "-in", "x=ramp")
	require.Zero(t, code, stderr)
	require.Equal(t, "add f32[1,3]\ntensor([[ 8.5000, 19.5000, 30.5000]])\n", stdout)

	code, _, stderr = call("gen", "-o", "out", "-weights-mode", "literal", "./shift")
	require.Zero(t, code, stderr)
	_, err = os.Stat("out/model.go")
	require.NoError(t, err)
	code, _, stderr = call("print", "./out")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "./out holds no graph.fx")
}

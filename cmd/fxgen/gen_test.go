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

package kernel

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that multiplies links the product's assembly and no other.
func TestProductLinksAlone(t *testing.T) {
	tool := goCommand(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("not amd64, whose assembly's symbols it reads")
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	const program = `package main

import "github.com/gofx-dev/gofx/kernel"

func main() {
	c := make([]float32, 4)
	kernel.Gemm(&kernel.Workspace{}, false, false, 2, 2, 2, make([]float32, 4), 2, make([]float32, 4), 2, c, 2, false)
	println(c[0])
}
`
	// An overlay places the program in this module without writing into it.
	file, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o644))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "linktest", "main.go"): file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+".json", overlay, 0o644))
	build := exec.Command(tool, "build", "-overlay", file+".json", "-o", bin, "./linktest")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(tool, "tool", "nm", bin).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var linked []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		path, own := strings.CutPrefix(f[2], "github.com/gofx-dev/gofx/kernel/internal/")
		_, name, _ := strings.Cut(strings.TrimSuffix(path, ".abi0"), ".")
		if own && (strings.HasSuffix(name, "AVX512") || strings.HasSuffix(name, "AVX2") || strings.HasSuffix(name, "VNNI")) {
			linked = append(linked, name)
		}
	}
	require.Contains(t, linked, "gemmTileAVX512")
	for _, name := range linked {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "AVX512"), "AVX2")
		require.Contains(t, []string{"gemmTile", "gemmTilePack", "gemmStrip", "packTranspose", "packCopy", "dots", "addRows", "thinTile", "epilogueTile", "packSegment"}, base)
	}
}

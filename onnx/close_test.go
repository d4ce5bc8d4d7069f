package onnx

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// Files that are refused leave nothing mapped, and good ones can be closed, with the files of
// their external data.
func TestFilesAreGivenBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lists mappings in a file")
	}
	dir := t.TempDir()
	mapped := func() int {
		b, err := os.ReadFile("/proc/self/maps")
		require.NoError(t, err)
		return bytes.Count(b, []byte(dir))
	}
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, b, 0o600))
		return path
	}
	for name, b := range map[string][]byte{"damaged": []byte("no model at all"), "no graph": {}, "cut": {0x3a, 0x7f}} {
		_, err := Read(put(name+".onnx", b))
		require.Error(t, err, name)
		require.Zero(t, mapped(), name)
	}
	beside := func(name string) *pb.Tensor {
		return &pb.Tensor{Name: name, Type: pb.Float, Dims: []int64{2}, Location: 1, External: []*pb.Entry{{Key: "location", Value: "data"}}}
	}
	model := func(list ...*pb.Tensor) string {
		return put("m.onnx", pb.Append(nil, &pb.Model{IRVersion: 8, Graph: &pb.Graph{Initializers: list}}))
	}
	put("data", make([]byte, 8))
	_, err := OpenWeights(model(beside("w"), beside("w")))
	require.ErrorIs(t, err, CodeModel)
	require.Zero(t, mapped())
	_, err = OpenWeights(model(beside("w")) + "#none")
	require.Error(t, err)
	require.Zero(t, mapped())

	f, err := OpenWeights(model(beside("w")))
	require.NoError(t, err)
	_, err = f.Get("w")
	require.NoError(t, err)
	require.Equal(t, 2, mapped())
	for range 2 {
		require.NoError(t, f.Close())
		require.Zero(t, mapped())
	}
	_, err = f.Get("w")
	require.ErrorContains(t, err, "was closed")
}

// A pipe is refused, and not waited for.
func TestPipesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	makePipe(t, path)
	if _, err := os.Stat(path); err != nil {
		t.Skip("this system has no named pipes")
	}
	_, err := Read(path)
	require.ErrorIs(t, err, CodeRead)
}

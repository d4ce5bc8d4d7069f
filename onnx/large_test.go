package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// largeFile writes a model with 100 MiB of weights; pad decides how they are aligned.
func largeFile(t testing.TB, pad string) string {
	m := parseText(`<ir_version: 8, opset_import: ["" : 17]> g (float[n,1024] x) => (float[n,25600] y) { y = MatMul(x, w) }`)
	m.Graph.Initializers = []*pb.Tensor{{Name: "w", Type: pb.Float, Dims: []int64{1024, 25600}, Raw: make([]byte, 100<<20)}}
	m.Graph.Name += pad
	path := filepath.Join(t.TempDir(), "large.onnx")
	require.NoError(t, os.WriteFile(path, pb.Append(nil, m), 0o644))
	return path
}

// Opening maps the file: aligned weights cost nothing, others one copy.
func TestLargeFileIsMapped(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files are read into memory here")
	}
	aligned := false
	const weights = 100 << 20
	for _, pad := range []string{"", "a", "ab", "abc"} {
		path := largeFile(t, pad)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := importFile(path)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Len(t, m.Params(), 1)
		extra := after.TotalAlloc - before.TotalAlloc
		require.Less(t, extra, uint64(weights*6/5))
		aligned = aligned || extra < 4<<20
	}
	require.True(t, aligned, "one of the placements is aligned, and costs nothing")
}

func BenchmarkOpen100MB(b *testing.B) {
	for _, pad := range []string{"", "a", "ab", "abc"} {
		path := largeFile(b, pad)
		b.Run("pad"+pad, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := importFile(path)
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkImport5000Nodes(b *testing.B) {
	var text strings.Builder
	text.WriteString(`<ir_version: 8, opset_import: ["" : 17]> g (float[n,64] x0) => (float[n,64] x5000) <float[64] w = "` + strings.Repeat("00", 256) + `"> {`)
	for i := range 5000 {
		if i%2 == 0 {
			fmt.Fprintf(&text, " x%d = Relu(x%d)", i+1, i)
		} else {
			fmt.Fprintf(&text, " x%d = Add(x%d, w)", i+1, i)
		}
	}
	data := pb.Append(nil, parseText(text.String()+" }"))
	b.ReportAllocs()
	for b.Loop() {
		f, err := Parse(data, "m.onnx")
		require.NoError(b, err)
		_, err = f.Import(Options{})
		require.NoError(b, err)
	}
}

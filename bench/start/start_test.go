package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/peers"
)

// The process of gofx and those of the peers compute the same from one file.
func TestStarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net.onnx")
	require.NoError(t, export("squeezenet1_1", file))
	own := ours(file, 1)
	require.Positive(t, own.Load)
	require.Positive(t, own.First)
	require.Positive(t, own.Sum)
	t.Chdir("..")
	if _, err := peers.Python("peers"); err != nil {
		t.Skip(err)
	}
	for _, engine := range engines[1:] {
		s, err := start(engine, file, 1)
		if err != nil && strings.Contains(err.Error(), "ModuleNotFoundError") {
			t.Skip(err)
		}
		require.NoError(t, err)
		require.InEpsilon(t, own.Sum, s.Sum, tolerance, engine)
		require.Positive(t, s.KiB)
	}
}

func TestRows(t *testing.T) {
	var b strings.Builder
	row(&b, "net", []started{{1, 2, 1024, 0}, {4, 2, 2048, 0}, {3, 2, 4096, 0}})
	require.Equal(t, "| net | gofx | 1.0 | 2.0 | 3.0 | 0.60 | 1 | 0.50 |\n|  | onnxruntime | 4.0 | 2.0 | 6.0 |  | 2 |  |\n|  | openvino | 3.0 | 2.0 | 5.0 |  | 4 |  |\n", b.String())
}

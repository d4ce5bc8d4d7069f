package onnx

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/weights"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// weightsFile writes a model that has initializers.
func weightsFile(t *testing.T, list ...*pb.Tensor) string {
	path := filepath.Join(t.TempDir(), "m.onnx")
	m := &pb.Model{IRVersion: 8, Graph: &pb.Graph{Initializers: list}}
	require.NoError(t, os.WriteFile(path, pb.Append(nil, m), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "beside"), []byte{0, 0, 0, 0, 0, 0, 128, 63}, 0o600))
	return path
}

func TestOpenWeights(t *testing.T) {
	beside := func(name, file string) *pb.Tensor {
		return &pb.Tensor{Name: name, Type: pb.Float, Dims: []int64{1}, Location: 1, External: []*pb.Entry{{Key: "location", Value: file}, {Key: "offset", Value: "4"}}}
	}
	path := weightsFile(t,
		&pb.Tensor{Name: "net.w", Type: pb.Float, Dims: []int64{1}, Raw: []byte{0, 0, 128, 63}},
		&pb.Tensor{Name: "net.q", Type: pb.Int4, Dims: []int64{3}, Raw: []byte{0x21, 0x03}},
		&pb.Tensor{Name: "axes", Type: pb.Int64, Dims: []int64{1}, Int64s: []int64{7}},
		&pb.Tensor{Name: "eps", Type: pb.Float, Floats: []byte{0, 0, 0, 0}},
		&pb.Tensor{Name: "text", Type: pb.String, Dims: []int64{1}, Strings: [][]byte{{}}},
		&pb.Tensor{Name: "huge", Type: pb.Float, Dims: []int64{-1}},
		beside("beside", "beside"), beside("out", "../m.onnx"))
	f, err := OpenWeights(path)
	require.NoError(t, err)
	require.Equal(t, []string{"net.w", "net.q", "text", "huge", "beside", "out"}, f.Names())
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for name, want := range map[string]float64{"net.w": 1, "net.q": 1, "axes": 7, "eps": 0, "beside": 1} {
				a, err := f.Get(name)
				if err != nil || array.Float64At(a, 0) != want {
					t.Error(name, a, err)
				}
			}
		})
	}
	wait.Wait()
	for name, code := range map[string]error{"text": CodeType, "huge": CodeTensor, "out": CodeExternal, "none": weights.CodeName} {
		_, err := f.Get(name)
		require.ErrorIs(t, err, code, name)
	}
	d, dims, ok := f.Type("net.q")
	require.True(t, ok)
	require.Equal(t, array.I4, d)
	require.Equal(t, []int{3}, dims)
	d, _, ok = f.Type("text")
	require.True(t, ok)
	require.Equal(t, array.Invalid, d)
	_, _, ok = f.Type("none")
	require.False(t, ok)
	require.Equal(t, "int4", f.Format("net.q"))
	require.Empty(t, f.Format("none"))

	part, err := OpenWeights(path + "#net")
	require.NoError(t, err)
	require.Equal(t, []string{"w", "q"}, part.Names())
	_, err = OpenWeights(path + "#nothing")
	require.ErrorIs(t, err, weights.CodeName)
}

func TestOpenWeightsRefuses(t *testing.T) {
	_, err := OpenWeights("no/such.onnx")
	require.ErrorIs(t, err, CodeRead)
	w := &pb.Tensor{Name: "w", Type: pb.Float, Dims: []int64{0}}
	_, err = OpenWeights(weightsFile(t, w, w))
	require.ErrorIs(t, err, CodeModel)
}

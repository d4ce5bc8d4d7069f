package onnx_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/tensor"
)

// The sign of NaN is NaN in ONNX and 0 here: both ways keep the value. The mask of a Dropout has the type
// of its data before version 10. Compared with ONNX Runtime 1.32.
func TestSignAndMask(t *testing.T) {
	x := array.FromSlice([]float32{float32(math.NaN()), -2, 0, 3}, 4)
	model := func(opset int64, node *pb.Node, outs ...*pb.ValueInfo) []byte {
		shape := &pb.Shape{Dims: []*pb.Dim{{Known: true, Size: 4}}}
		in := &pb.ValueInfo{Name: "x", Type: &pb.Type{Tensor: &pb.TensorType{Elem: pb.Float, Shape: shape}}}
		return pb.Append(nil, &pb.Model{IRVersion: 8, Opsets: []*pb.Opset{{Version: opset}},
			Graph: &pb.Graph{Name: "g", Nodes: []*pb.Node{node}, Inputs: []*pb.ValueInfo{in}, Outputs: outs}})
	}
	run := func(data []byte) []*array.Array {
		f, err := onnx.Parse(data, "model.onnx")
		require.NoError(t, err)
		m, err := f.Import(onnx.Options{})
		require.NoError(t, err)
		out, err := fx.NewGraphModule(m).RunArrays(t.Context(), []*array.Array{x})
		require.NoError(t, err)
		return out
	}
	got := array.Data[float32](run(model(17, &pb.Node{Op: "Sign", Inputs: []string{"x"}, Outputs: []string{"y"}}, &pb.ValueInfo{Name: "y"}))[0])
	require.True(t, math.IsNaN(float64(got[0])))
	require.Equal(t, []float32{-1, 0, 1}, got[1:])

	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { return x.Sign() }, fx.Input("x", "f32[4]"))
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, onnx.Export(&b, gm.Module, onnx.ExportOptions{}))
	require.Equal(t, []float32{0, -1, 0, 1}, array.Data[float32](run(b.Bytes())[0]))

	for opset, want := range map[int64]array.DType{7: array.F32, 9: array.F32, 10: array.Bool, 17: array.Bool} {
		out := run(model(opset, &pb.Node{Op: "Dropout", Inputs: []string{"x"}, Outputs: []string{"y", "m"}}, &pb.ValueInfo{Name: "y"}, &pb.ValueInfo{Name: "m"}))
		require.Equal(t, want, out[1].DType(), "version %d", opset)
	}
}

// Values of a sample that the model does not take, such as those of an initializer that it also lists as
// an input, are a mistake: nobody would compute with them.
func TestSamples_withMoreThanTheModelHas(t *testing.T) {
	c := &pb.Tensor{Name: "k", Type: pb.Float, Dims: []int64{1}, Raw: []byte{0, 0, 128, 63}}
	typ := &pb.Type{Tensor: &pb.TensorType{Elem: pb.Float, Shape: &pb.Shape{Dims: []*pb.Dim{{Known: true, Size: 1}}}}}
	f, err := onnx.Parse(pb.Append(nil, &pb.Model{IRVersion: 8, Opsets: []*pb.Opset{{Version: 17}}, Graph: &pb.Graph{Name: "g",
		Nodes:        []*pb.Node{{Op: "Add", Inputs: []string{"x", "k"}, Outputs: []string{"y"}}},
		Initializers: []*pb.Tensor{c},
		Inputs:       []*pb.ValueInfo{{Name: "x", Type: typ}, {Name: "k", Type: typ}}, Outputs: []*pb.ValueInfo{{Name: "y", Type: typ}}}}), "model.onnx")
	require.NoError(t, err)
	for _, name := range []string{"input_1.pb", "output_1.pb"} {
		dir := t.TempDir()
		set := filepath.Join(dir, "test_data_set_0")
		require.NoError(t, os.Mkdir(set, 0o777))
		data := pb.Append(nil, c)
		for _, file := range []string{"input_0.pb", "output_0.pb"} {
			require.NoError(t, os.WriteFile(filepath.Join(set, file), data, 0o666))
		}
		_, err = f.Samples(dir)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(set, name), data, 0o666))
		_, err = f.Samples(dir)
		require.ErrorIs(t, err, onnx.CodeRead)
		require.ErrorContains(t, err, name)
	}
}

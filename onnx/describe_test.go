package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"

	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// The types that a description gives are those of numbers: names of sizes, and sizes that
// no tensor has, are unknown.
func TestDescribedTypes(t *testing.T) {
	m := parseText(`<ir_version: 8, opset_import: ["" : 17]> g (float["N",3] x, string[2] s, int64 k) => (float[3] y) { y = Identity(x) }`)
	m.Graph.Inputs = append(m.Graph.Inputs, &pb.ValueInfo{Name: "nothing"}, &pb.ValueInfo{Name: "unranked", Type: &pb.Type{Tensor: &pb.TensorType{Elem: pb.Float}}},
		&pb.ValueInfo{Name: "negative", Type: &pb.Type{Tensor: &pb.TensorType{Elem: pb.Float, Shape: &pb.Shape{Dims: []*pb.Dim{{Known: true, Size: -3}}}}}})
	f, err := Parse(pb.Append(nil, m), "m.onnx")
	require.NoError(t, err)
	got := map[string]string{}
	for _, in := range f.Describe().Inputs {
		got[in.Name] = in.Type.String()
		if !in.Type.Ranked() {
			got[in.Name] = "?"
		}
	}
	require.Equal(t, map[string]string{"x": "f32[?,3]", "s": "?", "k": "i64[]", "nothing": "?", "unranked": "?", "negative": "f32[?]"}, got)
	require.Equal(t, "f32[3]", f.Describe().Outputs[0].Type.String())
}

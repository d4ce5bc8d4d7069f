package onnxpb

import (
	"testing"

	"github.com/stretchr/testify/require"

	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// Reading an encoded model gives the original.
func TestEncode(t *testing.T) {
	m := Model{
		Opset: 17, Domains: []string{"d"},
		Nodes: []Node{{Op: "Relu", Domain: "d", In: []string{"x"}, Out: []string{"y"},
			Attrs: []Attr{{"i", -1}, {"f", float32(1.5)}, {"s", "hi"}, {"n", []int{1, 2}}}}},
		Inputs:   []ValueInfo{{"x", Float, []int{300}}},
		Outputs:  []ValueInfo{{"y", Uint8, nil}},
		Constant: []Tensor{{"w", Int8, []int{2}, []byte{1, 255}}},
	}
	got := &pb.Model{}
	require.NoError(t, pb.Read(m.Encode(), got))
	require.Equal(t, &pb.Model{IRVersion: 8, Opsets: []*pb.Opset{{Version: 17}, {Domain: "d", Version: 1}}, Graph: &pb.Graph{
		Name: "g",
		Nodes: []*pb.Node{{Op: "Relu", Domain: "d", Inputs: []string{"x"}, Outputs: []string{"y"}, Attrs: []*pb.Attr{
			{Name: "i", Type: pb.AttrInt, I: -1}, {Name: "f", Type: pb.AttrFloat, F: 1.5}, {Name: "s", Type: pb.AttrString, S: []byte("hi")},
			{Name: "n", Type: pb.AttrInts, Ints: []int64{1, 2}}}}},
		Initializers: []*pb.Tensor{{Name: "w", Type: pb.Int8, Dims: []int64{2}, Raw: []byte{1, 255}}},
		Inputs:       []*pb.ValueInfo{{Name: "x", Type: &pb.Type{Tensor: &pb.TensorType{Elem: pb.Float, Shape: &pb.Shape{Dims: []*pb.Dim{{Known: true, Size: 300}}}}}}},
		Outputs:      []*pb.ValueInfo{{Name: "y", Type: &pb.Type{Tensor: &pb.TensorType{Elem: pb.Uint8, Shape: &pb.Shape{}}}}},
	}}, got)
	require.PanicsWithValue(t, "onnxpb: attribute a is not an int, []int, float32 or string", func() { Attr{"a", 1.0}.proto() })
}

package onnx

import (
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// The documented example of each code has the fault, and the message says where.
func TestDocumentedExamples(t *testing.T) {
	tensor := func(f func(t *pb.Tensor)) error {
		x := &pb.Tensor{Name: "w", Type: pb.Float, Dims: []int64{2}}
		f(x)
		m := parseText(`<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Add(x, w) }`)
		m.Graph.Initializers = []*pb.Tensor{x}
		file, err := Parse(pb.Append(nil, m), "model.onnx")
		require.NoError(t, err)
		_, err = file.Import(Options{})
		return err
	}
	calls := map[string]func() error{
		`onnx.Read("no/such/file.onnx")`: func() error { _, err := Read("no/such/file.onnx"); return err },
		`a tensor float[2] with 4 bytes`: func() error { return tensor(func(t *pb.Tensor) { t.Raw = make([]byte, 4) }) },
		`a sample of float[2] and the result float[3]`: func() error {
			s := Sample{Name: "test_data_set_0", Outputs: []*array.Array{array.New(array.F32, 2)}, file: "model.onnx"}
			_, err := s.Check([]*array.Array{array.New(array.F32, 3)}, StandardTolerance)
			return err
		},
		`a tensor with external data at ../weights.bin`: func() error {
			return tensor(func(t *pb.Tensor) {
				t.Location, t.External = 1, []*pb.Entry{{Key: "location", Value: "../weights.bin"}}
			})
		},
	}
	calls[`onnx.Export of a graph that assigns to a buffer`] = func() error {
		m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[2]) {\n  %b = get_attr[b] : f32[2]\n  %y = call_function[assign](%b, %x) : f32[2]\n  return %y\n}\nparam b : f32[2] buffer\n"), "state.onnx")
		require.NoError(t, err)
		m.SetParam(graph.Param{Path: "b", Value: array.New(array.F32, 2), Buffer: true})
		return Export(io.Discard, m, ExportOptions{})
	}
	for _, c := range []diag.Code{pb.CodeMalformed, CodeOperator, CodeAttribute, CodeModel, CodeValue, CodeExternal, CodeTensor, CodeType, CodeRead, CodeDiffers, CodeExport} {
		info, ok := diag.Lookup(c)
		require.True(t, ok, c)
		var err error
		switch bytes, isBytes := strings.CutPrefix(info.Example, "bytes "); {
		case isBytes:
			b, bad := hex.DecodeString(strings.ReplaceAll(bytes, " ", ""))
			require.NoError(t, bad)
			_, err = Parse(b, "model.onnx")
		case calls[info.Example] != nil:
			err = calls[info.Example]()
		default:
			_, err = fromText(info.Example).Import(Options{})
		}
		require.ErrorIs(t, err, c, info.Example)
		if c != CodeExport { // which is at a node of the graph
			require.Contains(t, err.Error(), ".onnx", info.Example)
		}
	}
}

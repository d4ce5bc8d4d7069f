package onnx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// wrongLists are nodes whose lists or operands have another length or rank than the
// values they describe; each once silently meant something else, or was an internal
// error.
var wrongLists = []struct{ src, message string }{
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool<kernel_shape = [2,2,2]>(x) }`, "expected 3 spatial dimensions as kernel_shape has"},
	{`(float[1,2,5,5] x) => (float y, int64 i) { y, i = MaxPool<kernel_shape = [2,2,2]>(x) }`, "expected 3 spatial dimensions"},
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool<kernel_shape = [2]>(x) }`, "expected 1 spatial dimensions"},
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool(x) }`, "attribute kernel_shape is missing"},
	{`(float[1,2,5,5] x) => (float y) { y = AveragePool<kernel_shape = [2,2,2]>(x) }`, "expected 3 spatial dimensions"},
	{`(float[1,2,5,5] x) => (float y) { y = AveragePool<kernel_shape = [2]>(x) }`, "expected 1 spatial dimensions"},
	{`(float[1,2,5,5] x) => (float y) { y = LpPool<kernel_shape = [2,2,2]>(x) }`, "expected 3 spatial dimensions"},
	{`(float[1,2,5,5] x) => (float y) { y = LpPool<kernel_shape = [2,2], p = -1>(x) }`, "p is -1"},
	{`(float[1,2,2,2] x, int64[1,2,2,2] i) => (float y) { y = MaxUnpool<kernel_shape = [2,2,2]>(x, i) }`, "expected 3 spatial dimensions"},
	{`(float[1,2,2,2] x, int64[2,1,2,2] i) => (float y) { y = MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, i) }`, "expected the sizes [1,2,2,2]"},
	{`(float[1,2,2,2] x, int64[1,2,2,2] i) => (float y) <int64[4] s = {2,2,4,4}> { y = MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, i, s) }`, "expected its batch and channels"},
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool<kernel_shape = [2,2], strides = [2]>(x) }`, "strides has 1 entries, expected 2"},
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool<kernel_shape = [2,2], pads = [1,1,1]>(x) }`, "pads has 3 entries, expected 4"},
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool<kernel_shape = [2,2], dilations = [1,1,1]>(x) }`, "dilations has 3 entries"},
	{`(float[1,2,5,5] x) => (float y) { y = MaxPool<kernel_shape = [9223372036854775807,2]>(x) }`, "kernel_shape has the entry 9223372036854775807"},
	{`(float[1,2,5,5] x, float[3,2,3] w) => (float y) { y = Conv(x, w) }`, "expected 1 spatial dimensions as the weight has"},
	{`(float[2,5,5] x, float[3,2,3,3] w) => (float y) { y = Conv(x, w) }`, "expected 2 spatial dimensions as the weight has"},
	{`(float[1,2,5,5] x, float[3,2,3,3] w) => (float y) { y = Conv<kernel_shape = [3]>(x, w) }`, "kernel_shape does not agree with the weight"},
	{`(float[2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose(x, w) }`, "expected 2 spatial dimensions as the weight has"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<output_padding = [1], strides = [2,2]>(x, w) }`, "output_padding has 1 entries, expected 2"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<output_padding = [1,1,1], strides = [2,2]>(x, w) }`, "output_padding has 3 entries, expected 2"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<output_padding = [-1,0], strides = [2,2]>(x, w) }`, "output_padding has the entry -1"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<output_shape = [9], strides = [2,2]>(x, w) }`, "output_shape has 1 entries, expected 2"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<output_shape = [1,3,9], strides = [2,2]>(x, w) }`, "output_shape has 3 entries, expected 2"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<pads = [1,1], strides = [2,2]>(x, w) }`, "pads has 2 entries, expected 4"},
	{`(float[1,2,5,5] x, float[2,3,3,3] w) => (float y) { y = ConvTranspose<dilations = [1], strides = [2,2]>(x, w) }`, "dilations has 1 entries, expected 2"},
	{`(uint8[2,5,5] x, uint8[3,2,3,3] w) => (int32 y) { y = ConvInteger(x, w) }`, "expected 2 spatial dimensions as the weight has"},
	{`(float[1,1,3,3] x, float[1,1,2,2] w, float[1,8,3,3] o) => (float y) { y = DeformConv(x, w, o) }`, "expected the sizes [1,8,2,2]"},
	{`(float[1,4,6] x) => (float y) <int64[2] i = {3,3}, int64[1] b = {2}> { y = Col2Im(x, i, b) }`, "Col2Im"},
	{`(float[1,2,3] a, float[3,4] b) => (float y) { y = Gemm(a, b) }`, "input 0 is f32[1,2,3], expected a matrix"},
	{`(float[2,3] a, float[1,3,4] b) => (float y) { y = Gemm<transB = 1>(a, b) }`, "input 1 is f32[1,3,4], expected a matrix"},
	{`(float[2,3] a, float[3,4] b, float[5,2,4] c) => (float y) { y = Gemm(a, b, c) }`, "which does not broadcast to f32[2,4]"},
	{`(float[1,3] a, float[3,4] b, float[2,4] c) => (float y) { y = Gemm<alpha = 2.0>(a, b, c) }`, "which does not broadcast to f32[1,4]"},
	{`(float[4,2,2] x) => (float y) { y = DepthToSpace<blocksize = 2, mode = "CRD">(x) }`, "expected four dimensions"},
	{`(float[3,2,4] t) => (float y) <int64[5] s = {2,1,4,5,6}> { y = AffineGrid(t, s) }`, "expected the sizes [2,3,4]"},
	{`(float[2,3,4] x) => (float y) { y = Concat<axis = 3>(x, x) }`, ""},
	{`(float[N,3] x) => (float y) <int64[1] one = {1}> { s = Shape(x) t = Concat<axis = 1>(s, one) y = Reshape(x, t) }`, ""},
	{`(float[N,3] x) => (float y) <int64[1] at = {1}> { s = Shape(x) t = Gather<axis = 5>(s, at) y = Reshape(x, t) }`, "axis 5 is out of range"},
	{`(float[2,3,4] x) => (float y) { y = Transpose<perm = [1,0]>(x) }`, ""},
	{`(float[2,3,4] x) => (float y) <int64[2] r = {1,2}> { y = Tile(x, r) }`, "there are 2 repeats for 3 dimensions"},
	{`(float[2,3,4] x) => (float y) <int64[4] r = {2,1,1,2}> { y = Tile(x, r) }`, "there are 4 repeats for 3 dimensions"},
	{`(float[6] x) => (float y, float z) <int64[3] s = {1,2,3}> { y, z = Split(x, s) }`, "there are 3 sizes for 2 outputs"},
	{`(float[4,4] x, float[2,3] u) => (float y) <int64[2,1] i = {0,1}> { y = ScatterND(x, i, u) }`, "expected the sizes [2,4]"},
	{`(float[4,4,2] x, float[4,2,2] u) => (float y) <int64[2,1] i = {0,1}> { y = ScatterND(x, i, u) }`, "expected the sizes [2,4,2]"},
	{`(float[4,4] x, float[2,2] u) => (float y) <int64[2,1] i = {0,1}> { y = ScatterElements(x, i, u) }`, "expected the sizes [2,1]"},
	{`(float[2,3,4] x) => (float y) <int64[3,2,1] i = {0,1,2,0,1,2}> { y = GatherND<batch_dims = 2>(x, i) }`, "expected the same first 2 dimensions as batch_dims says"},
	{`(float[4,4] x) => (float y) <int64[4] n = {1,2,3,4}> { y = ReverseSequence<time_axis = 1>(x, n) }`, "expected 0 and 1"},
	{`(float[4,5] x) => (float y) <int64[4] n = {1,2,3,4}> { y = ReverseSequence(x, n) }`, "expected the sizes [5]"},
	{`(float[3,2] x, bool[1,3] c) => (float y) { y = Compress<axis = 0>(x, c) }`, "expected one dimension"},
	{`(float[3,2] x) => (float y) <int64[2,2] a = {0,1,0,1}> { y = ReduceSum(x, a) }`, "expected a list"},
	{`(float[3,2] x) => (float y) { y = ReduceMax<axes = [2]>(x) }`, ""},
	{`(float[3,2] x) => (float y) { y = ReduceMax<axes = [0,-2]>(x) }`, ""},
	{`(float[3,2] x) => (float y) { y = ReduceMax<axes = [0], keepdims = 2>(x) }`, "expected 0 or 1"},
	{`(float[3,4,2] x, float[4] s) => (float y) { y = GroupNormalization<num_groups = -1>(x, s, s) }`, "num_groups is -1"},
	{`(float[2,4,8] q, float[2,4,6,8] k, float[2,4,6,8] v) => (float y) { y = Attention<q_num_heads = 2, kv_num_heads = 2>(q, k, v) }`, "expected three dimensions, or four, each"},
	{`(float[2,3,4,8] q, float[1,2,3,4,8] v) => (float y) { y = Attention(q, q, v) }`, "expected three dimensions, or four, each"},
	{`(float[2,3,4,8] q, bool m) => (float y) { y = Attention(q, q, q, m) }`, "expected one to four dimensions"},
	{`(float[4,2,8] x, float[4,1,3] w) => (float y, float s) { y, s = CausalConvWithState(x, w) }`, "expected the sizes [2,1,3]"},
	{`(float[2,3,4,8] x, float[8,4] c, float[8,3] s, int64[2,4] p) => (float y) { y = RotaryEmbedding(x, c, s, p) }`, "expected the sizes [8,4]"},
	{`(float[2,1,4,5] x, float[2,1,1,4] u) => (float y) { y = TensorScatter(x, u) }`, "expected the sizes"},
	{`(uint8[4,6] x, float[2,3] s) => (float y) { y = DequantizeLinear<axis = 1, block_size = 2>(x, s) }`, "expected the sizes [4,3]"},
	{`(uint8[4,6] x, float[4,4] s) => (float y) { y = DequantizeLinear<axis = 1, block_size = 2>(x, s) }`, "expected the sizes [4,3]"},
	{`(float[2,3] x, float[3] s) => (uint8 y) { y = QuantizeLinear<axis = 2>(x, s) }`, "axis 2 is out of range"},
	{`(float[1,5,1] x) => (float y) { y = DFT<inverse = 1, onesided = 1>(x) }`, "expected real and imaginary parts"},
	{`(float[3,4] x) => (float y) <int64[3] p = {0,1,0}> { y = Pad(x, p) }`, "pads has 3 entries"},
	{`(float[3,4] x) => (float y) <int64[1] s = {0}, int64[2] e = {1,1}> { y = Slice(x, s, e) }`, ""},
	{`(float[1,2,4,4] x) => (float y) <float[2] s = {2.0,2.0}> { y = Resize(x, _, s) }`, "there are 2 scales, expected 4"},
	{`(float[1,2,4,4] x) => (float y) <int64[2] s = {8,8}> { y = Resize(x, _, _, s) }`, "there are 2 sizes, expected 4"},
}

func TestListsGoWithRanks(t *testing.T) {
	for _, c := range wrongLists {
		t.Run(c.src, func(t *testing.T) {
			f, err := Parse(pb.Append(nil, parseText(`<ir_version: 8, opset_import: ["" : 27]> g `+c.src)), "m.onnx")
			require.NoError(t, err)
			_, err = f.Import(Options{})
			require.Error(t, err)
			require.NotErrorIs(t, err, diag.Internal)
			require.Contains(t, err.Error(), "m.onnx: node \"")
			require.Contains(t, err.Error(), c.message)
		})
	}
}

// TestMutatedLists changes lists, numbers and ranks of the operators' conformance cases,
// one at a time: whatever a file says, no rule runs into an error of its own.
func TestMutatedLists(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	cases, _ := filepath.Glob(filepath.Join(root, "..", "shared", "conformance", "node", "*", "model.onnx"))
	if len(cases) == 0 {
		t.Skip("needs ../shared/conformance")
	}
	seen, count := map[string]bool{}, 0
	for _, file := range cases {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		m := &pb.Model{}
		if pb.Read(data, m) != nil || m.Graph == nil || len(m.Graph.Nodes) != 1 || len(data) > 1<<16 {
			continue
		}
		key := m.Graph.Nodes[0].Op
		for _, a := range m.Graph.Nodes[0].Attrs {
			key += " " + a.Name
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		for what, change := range mutations(m) {
			undo := change()
			f, err := Parse(pb.Append(nil, m), filepath.Base(filepath.Dir(file)))
			require.NoError(t, err)
			if _, err = f.Import(Options{}); err != nil {
				require.NotErrorIs(t, err, diag.Internal, what)
			}
			undo()
			count++
		}
	}
	require.Greater(t, count, 1000)
}

// mutations change a model of one node in place, and return a function that undoes the
// change.
func mutations(m *pb.Model) map[string]func() func() {
	out := map[string]func() func(){}
	for _, a := range m.Graph.Nodes[0].Attrs {
		ints := func(name string, to []int64) {
			out[a.Name+" "+name] = func() func() { old := a.Ints; a.Ints = to; return func() { a.Ints = old } }
		}
		if a.Type == pb.AttrInts && len(a.Ints) > 0 {
			n := len(a.Ints)
			ints("shorter", a.Ints[:n-1])
			ints("empty", nil)
			ints("longer", append(a.Ints[:n:n], a.Ints[0]))
			ints("less", append([]int64{-1 << 62}, a.Ints[1:]...))
			ints("more", append([]int64{1<<63 - 1}, a.Ints[1:]...))
		}
		if a.Type == pb.AttrInt {
			for _, to := range []int64{-1 << 63, -100, -1, 0, 100, 1<<63 - 1} {
				out[a.Name+" number "+strings.Repeat("i", len(out))] = func() func() { old := a.I; a.I = to; return func() { a.I = old } }
			}
		}
	}
	for _, in := range m.Graph.Inputs {
		if in.Type == nil || in.Type.Tensor == nil || in.Type.Tensor.Shape == nil {
			continue
		}
		s := in.Type.Tensor.Shape
		dims := func(name string, to []*pb.Dim) {
			out[in.Name+" "+name] = func() func() { old := s.Dims; s.Dims = to; return func() { s.Dims = old } }
		}
		dims("of more dimensions", append([]*pb.Dim{{Known: true, Size: 1}}, s.Dims...))
		if n := len(s.Dims); n > 0 {
			dims("of fewer dimensions", s.Dims[1:])
			dims("open", append([]*pb.Dim{{Param: "Q"}}, s.Dims[1:]...))
			dims("empty", append([]*pb.Dim{{Known: true}}, s.Dims[1:]...))
			dims("turned", append([]*pb.Dim{s.Dims[n-1]}, s.Dims[:n-1]...))
		}
	}
	return out
}

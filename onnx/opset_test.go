package onnx

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/shape"
)

// spelling is a computation as an operator set writes it: initializers and nodes from x
// (and y) to z.
type spelling struct {
	opset int
	text  string
}

// changes are computations that operator sets write differently; all spellings of one
// mean the same. Types of inputs and of the result come first.
var changes = map[string]struct {
	types     string
	spellings []spelling
}{
	"softmax over what is behind the axis": {"(float[2,3,4] x) => (float[2,3,4] z)", []spelling{
		{1, `{ z = Softmax<axis = 1>(x) }`},
		{12, `{ z = Softmax(x) }`}, // the default is 1
		{12, `{ z = Softmax<axis = -2>(x) }`},
		{13, `<int64[2] flat = {2,12}, int64[3] back = {2,3,4}> { f = Reshape(x, flat) s = Softmax(f) z = Reshape(s, back) }`},
	}},
	"softmax of an axis": {"(float[2,3,4] x) => (float[2,3,4] z)", []spelling{
		{12, `{ z = Softmax<axis = 2>(x) }`}, {13, `{ z = Softmax(x) }`}, {17, `{ z = Softmax<axis = -1>(x) }`}}},
	"log of softmax": {"(float[2,3,4] x) => (float[2,3,4] z)", []spelling{
		{11, `{ z = LogSoftmax(x) }`},
		{13, `<int64[2] flat = {2,12}, int64[3] back = {2,3,4}> { f = Reshape(x, flat) s = LogSoftmax(f) z = Reshape(s, back) }`}}},
	"hardmax": {"(float[2,3,4] x) => (float[2,3,4] z)", []spelling{
		{11, `{ z = Hardmax(x) }`},
		{13, `<int64[2] flat = {2,12}, int64[3] back = {2,3,4}> { f = Reshape(x, flat) s = Hardmax(f) z = Reshape(s, back) }`}}},
	"dropout": {"(float[2,3] x) => (float[2,3] z)", []spelling{
		{1, `{ z = Dropout<is_test = 1, ratio = 0.25>(x) }`}, {6, `{ z = Dropout<is_test = 1>(x) }`}, {7, `{ z = Dropout<ratio = 0.25>(x) }`},
		{10, `{ z, m = Dropout(x) }`}, {12, `<float r = {0.25}> { z = Dropout(x, r) }`}, {13, `<float r = {0.5}, bool t = {0}> { z, m = Dropout<seed = 1>(x, r, t) }`}}},
	"batch norm": {"(float[2,3,2] x) => (float[2,3,2] z)", func() (list []spelling) {
		weights := `<float[3] s = {1,2,3}, float[3] b = {3,2,1}, float[3] m = {0.5,1,1.5}, float[3] v = {1,2,4}> `
		return []spelling{{1, weights + `{ z = BatchNormalization<is_test = 1, consumed_inputs = [0,0,0,1,1]>(x, s, b, m, v) }`}, {6, weights + `{ z = BatchNormalization<is_test = 1, spatial = 1>(x, s, b, m, v) }`},
			{7, weights + `{ z = BatchNormalization(x, s, b, m, v) }`}, {9, weights + `{ z = BatchNormalization(x, s, b, m, v) }`},
			{14, weights + `{ z = BatchNormalization<training_mode = 0>(x, s, b, m, v) }`}, {15, weights + `{ z = BatchNormalization<epsilon = 0.00001>(x, s, b, m, v) }`}}
	}()},
	"upsampling": {"(float[1,1,2,3] x) => (float[1,1,4,6] z)", []spelling{
		{7, `{ z = Upsample<scales = [1.0,1.0,2.0,2.0]>(x) }`}, {9, `<float[4] k = {1,1,2,2}> { z = Upsample(x, k) }`}, {10, `<float[4] k = {1,1,2,2}> { z = Resize(x, k) }`},
		{11, `<float[4] k = {1,1,2,2}> { z = Resize<coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, _, k) }`},
		{13, `<int64[4] k = {1,1,4,6}> { z = Resize<coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, _, _, k) }`},
		{18, `<float[2] k = {2,2}> { z = Resize<axes = [2,3], coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, _, k) }`}}},
	"padding": {"(float[2,3] x) => (float[3,5] z)", []spelling{
		{1, `{ z = Pad<paddings = [1,0,0,2], value = 0.5>(x) }`}, {2, `{ z = Pad<pads = [1,0,0,2], value = 0.5>(x) }`},
		{11, `<int64[4] p = {1,0,0,2}, float v = {0.5}> { z = Pad(x, p, v) }`}, {18, `<int64[4] p = {0,1,2,0}, float v = {0.5}, int64[2] a = {1,0}> { z = Pad(x, p, v, a) }`}}},
	"limits": {"(float[2,3] x) => (float[2,3] z)", []spelling{
		{1, `{ z = Clip<min = 0.25, max = 0.5, consumed_inputs = [0]>(x) }`}, {6, `{ z = Clip<min = 0.25, max = 0.5>(x) }`}, {11, `<float a = {0.25}, float b = {0.5}> { z = Clip(x, a, b) }`}}},
	"upper limit": {"(float[2,3] x) => (float[2,3] z)", []spelling{{6, `{ z = Clip<max = 0.5>(x) }`}, {11, `<float b = {0.5}> { z = Clip(x, _, b) }`}}},
	"slice": {"(float[4,5] x) => (float[2,4] z)", []spelling{
		{1, `{ z = Slice<starts = [1,-5], ends = [3,-1]>(x) }`}, {1, `{ z = Slice<axes = [1,0], starts = [0,1], ends = [4,3]>(x) }`},
		{10, `<int64[2] s = {1,0}, int64[2] e = {3,4}> { z = Slice(x, s, e) }`}, {13, `<int64[2] s = {0,-3}, int64[2] e = {-1,-1}, int64[2] a = {-1,0}, int64[2] k = {1,1}> { z = Slice(x, s, e, a, k) }`}}},
	"axes of one": {"(float[1,3,1] x) => (float[3] z)", []spelling{
		{1, `{ z = Squeeze<axes = [0,2]>(x) }`}, {11, `{ z = Squeeze<axes = [0,-1]>(x) }`}, {11, `{ z = Squeeze(x) }`}, {13, `<int64[2] a = {0,2}> { z = Squeeze(x, a) }`}}},
	"axes more": {"(float[3] x) => (float[1,3,1] z)", []spelling{
		{1, `{ z = Unsqueeze<axes = [0,2]>(x) }`}, {11, `{ z = Unsqueeze<axes = [-1,0]>(x) }`}, {13, `<int64[2] a = {0,2}> { z = Unsqueeze(x, a) }`}}},
	"sum": {"(float[2,3] x) => (float[2,1] z)", []spelling{
		{1, `{ z = ReduceSum<axes = [1]>(x) }`}, {11, `{ z = ReduceSum<axes = [-1], keepdims = 1>(x) }`}, {13, `<int64[1] a = {1}> { z = ReduceSum(x, a) }`}}},
	"mean": {"(float[2,3] x) => (float[2] z)", []spelling{
		{1, `{ z = ReduceMean<axes = [1], keepdims = 0>(x) }`}, {17, `{ z = ReduceMean<axes = [-1], keepdims = 0>(x) }`}, {18, `<int64[1] a = {1}> { z = ReduceMean<keepdims = 0>(x, a) }`}}},
	"parts": {"(float[2,6] x) => (float[2,3] z)", []spelling{
		{1, `{ a, z = Split<axis = 1, split = [3,3]>(x) }`}, {2, `{ a, z = Split<axis = 1>(x) }`}, {13, `<int64[2] s = {3,3}> { a, z = Split<axis = -1>(x, s) }`}, {18, `{ a, z = Split<axis = 1, num_outputs = 2>(x) }`}}},
	"greatest": {"(float[2,5] x) => (float[2,2] z)", []spelling{
		{1, `{ z, i = TopK<k = 2>(x) }`}, {10, `<int64[1] k = {2}> { z, i = TopK(x, k) }`}, {11, `<int64[1] k = {2}> { z, i = TopK<largest = 1, sorted = 1>(x, k) }`}}},
	"reshape": {"(float[2,6] x) => (float[3,4] z)", []spelling{
		{1, `{ z = Reshape<shape = [3,-1]>(x) }`}, {5, `<int64[2] s = {3,-1}> { z = Reshape(x, s) }`}, {14, `<int64[2] s = {3,4}> { z = Reshape<allowzero = 1>(x, s) }`}}},
	"cast": {"(float[2,3] x) => (int32[2,3] z)", []spelling{{1, `{ z = Cast<to = "INT32">(x) }`}, {6, `{ z = Cast<to = 6>(x) }`}, {19, `{ z = Cast<to = 6, saturate = 1>(x) }`}}},
	"bias by name of the axis": {"(float[2,3] x, float[2] y) => (float[2,3] z)", []spelling{
		{1, `{ z = Add<broadcast = 1, axis = 0>(x, y) }`}, {6, `{ z = Add<broadcast = 1, axis = 0>(x, y) }`}, {7, `<int64[1] a = {1}> { u = Unsqueeze<axes = [1]>(y) z = Add(x, u) }`}}},
	"power": {"(float[2,3] x, float[3] y) => (float[2,3] z)", []spelling{{1, `{ a = Abs(x) z = Pow<broadcast = 1>(a, y) }`}, {7, `{ a = Abs(x) z = Pow(a, y) }`}, {13, `{ a = Abs(x) z = Pow(a, y) }`}}},
	"product": {"(float[2,3] x, float[4] y) => (float[2,4] z)", func() (list []spelling) {
		w := `<float[3,4] w = {1,2,3,4,5,6,7,8,9,10,11,12}> `
		return []spelling{{1, w + `{ z = Gemm<broadcast = 1, alpha = 0.5>(x, w, y) }`}, {6, w + `{ z = Gemm<broadcast = 1, alpha = 0.5>(x, w, y) }`}, {7, w + `{ z = Gemm<alpha = 0.5>(x, w, y) }`}, {13, w + `{ z = Gemm<alpha = 0.5>(x, w, y) }`}}
	}()},
	"concatenation":  {"(float[2,3] x, float[2,3] y) => (float[2,6] z)", []spelling{{1, `{ z = Concat(x, y) }`}, {4, `{ z = Concat<axis = 1>(x, y) }`}, {11, `{ z = Concat<axis = -1>(x, y) }`}}},
	"flatten":        {"(float[2,3,2] x) => (float[2,6] z)", []spelling{{1, `{ z = Flatten(x) }`}, {9, `{ z = Flatten<axis = 1>(x) }`}, {11, `{ z = Flatten<axis = -2>(x) }`}}},
	"slope":          {"(float[2,3,2] x, float[3] y) => (float[2,3,2] z)", []spelling{{1, `{ z = PRelu(x, y) }`}, {6, `{ z = PRelu(x, y) }`}, {7, `{ u = Unsqueeze<axes = [1]>(y) z = PRelu(x, u) }`}, {16, `<int64[1] a = {1}> { u = Unsqueeze(y, a) z = PRelu(x, u) }`}}},
	"old attributes": {"(float[2,3] x) => (float[2,3] z)", []spelling{{1, `{ a = Elu<consumed_inputs = [0]>(x) b = Relu<consumed_inputs = [0]>(a) z = Exp<consumed_inputs = [0]>(b) }`}, {13, `{ a = Elu(x) b = Relu(a) z = Exp(b) }`}}},
	"scatter": {"(float[2,3] x, float[1,2] y) => (float[2,3] z)", []spelling{
		{9, `<int64[1,2] i = {1,0}> { z = Scatter(x, i, y) }`}, {11, `<int64[1,2] i = {1,0}> { z = ScatterElements(x, i, y) }`}, {18, `<int64[1,2] i = {-1,0}> { z = ScatterElements<reduction = "none">(x, i, y) }`}}},
	"largest pool": {"(float[1,1,4,4] x) => (float[1,1,2,2] z)", []spelling{
		{1, `{ z = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x) }`}, {8, `{ z, i = MaxPool<kernel_shape = [2,2], strides = [2,2], storage_order = 0>(x) }`}, {12, `{ z = MaxPool<kernel_shape = [2,2], strides = [2,2], dilations = [1,1], ceil_mode = 0>(x) }`}}},
	"mean pool": {"(float[1,1,4,4] x) => (float[1,1,4,4] z)", []spelling{
		{1, `{ z = AveragePool<kernel_shape = [3,3], pads = [1,1,1,1]>(x) }`}, {7, `{ z = AveragePool<kernel_shape = [3,3], pads = [1,1,1,1], count_include_pad = 0>(x) }`}, {19, `{ z = AveragePool<kernel_shape = [3,3], auto_pad = "SAME_UPPER", dilations = [1,1]>(x) }`}}},
	"group norm": {"(float[2,4,3] x) => (float[2,4,3] z)", []spelling{
		{18, `<float[2] s = {2,3}, float[2] b = {1,0}> { z = GroupNormalization<num_groups = 2>(x, s, b) }`}, {21, `<float[4] s = {2,2,3,3}, float[4] b = {1,1,0,0}> { z = GroupNormalization<num_groups = 2>(x, s, b) }`}}},
	"comparison": {"(float[2,3] x, float[3] y) => (bool[2,3] z)", []spelling{{1, `{ z = Greater<broadcast = 1>(x, y) }`}, {7, `{ z = Greater(x, y) }`}, {9, `{ z = Greater(x, y) }`}}},
	"layer norm": {"(float[2,4] x) => (float[2,4] z)", []spelling{
		{13, `<float[4] s = {1,2,3,4}, float e = {0.00001}> { m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) w = Add(v, e) r = Sqrt(w) n = Div(d, r) z = Mul(n, s) }`},
		{17, `<float[4] s = {1,2,3,4}> { z = LayerNormalization(x, s) }`}}},
	"gated swish": {"(float[2,3] x, float[2,3] y) => (float[2,3] z)", []spelling{
		{24, `{ a = Swish<alpha = 1.5>(x) z = Mul(a, y) }`}, {28, `{ z = SwiGLU<alpha = 1.5>(x, y) }`}}},
	"blocks to depth": {"(float[1,2,2,4] x) => (float[1,8,1,2] z)", []spelling{
		{13, `<int64[6] s = {1,2,1,2,2,2}, int64[4] d = {1,8,1,2}> { a = Reshape(x, s) b = Transpose<perm = [0,1,3,5,2,4]>(a) z = Reshape(b, d) }`}, {28, `{ z = SpaceToDepth<blocksize = 2, mode = "CRD">(x) }`}}},
	"blocks to depth, columns last": {"(float[1,2,2,4] x) => (float[1,8,1,2] z)", []spelling{
		{13, `{ z = SpaceToDepth<blocksize = 2>(x) }`}, {28, `{ z = SpaceToDepth<blocksize = 2, mode = "DCR">(x) }`}}},
	"remainder of floats": {"(float[2,3] x, float[3] y) => (float[2,3] z)", []spelling{
		{13, `{ q = Div(x, y) f = Floor(q) p = Mul(f, y) z = Sub(x, p) }`}, {28, `{ z = Mod(x, y) }`}, {28, `{ z = Mod<fmod = 0>(x, y) }`}}},
	"bits of truth": {"(float[2,3] x) => (uint8[2,3] z)", []spelling{
		{13, `<float k = {0.5}> { a = Greater(x, k) z = Cast<to = 2>(a) }`}, {28, `<float k = {0.5}> { a = Greater(x, k) z = BitCast<to = 2>(a) }`}}},
	"shift of signed": {"(float[2,3] x) => (int32[2,3] z)", []spelling{
		{13, `<float k = {-64.0}, float four = {4.0}> { a = Mul(x, k) b = Div(a, four) c = Floor(b) z = Cast<to = 6>(c) }`},
		{28, `<float k = {-64.0}, int32 s = {2}> { a = Mul(x, k) b = Floor(a) c = Cast<to = 6>(b) z = BitShift<direction = "RIGHT">(c, s) }`}}},
	"attention over filled places": {"(float[2,1,2,4] x, float[2,1,5,4] y) => (float[2,1,2,4] z)", []spelling{
		{24, `<bool[2,1,2,5] m = {1,1,0,0,0, 1,1,1,0,0, 1,1,1,1,0, 1,1,1,1,1}> { z = Attention(x, y, y, m) }`},
		{24, `<int64[2] n = {3,5}> { z = Attention<is_causal = 1>(x, y, y, _, _, _, n) }`}}},
	"attention of more queries than filled places": {"(float[1,1,3,4] x, float[1,1,5,4] y) => (float[1,1,3,4] z)", []spelling{
		{24, `<bool[3,5] m = {0,0,0,0,0, 1,0,0,0,0, 1,1,0,0,0}> { z = Attention(x, y, y, m) }`},
		{24, `<int64[1] n = {2}> { z = Attention<is_causal = 1>(x, y, y, _, _, _, n) }`},
		{24, `<int64[1] n = {2}> { z, k, v, w = Attention<is_causal = 1, qk_matmul_output_mode = 3>(x, y, y, _, _, _, n) }`},
		{24, `<float[3,5] m = {-inf,-inf,-inf,-inf,-inf, 0,-inf,-inf,-inf,-inf, 0,0,-inf,-inf,-inf}> { z = Attention(x, y, y, m) }`}}},
	"attention in a window": {"(float[1,2,4,4] x, float[1,2,6,4] y) => (float[1,2,4,4] z)", []spelling{
		{23, `<bool[4,6] m = {1,1,0,0,0,0, 1,1,1,0,0,0, 1,1,1,1,0,0, 0,1,1,1,1,0}> { z = Attention(x, y, y, m) }`},
		{25, `{ z = Attention<left_window_size = 2, right_window_size = 1>(x, y, y) }`},
		{25, `<bool[6] m = {1,1,1,1,1,0}> { z = Attention<left_window_size = 2, right_window_size = 1>(x, y, y, m) }`}}},
	"attention in a causal window": {"(float[1,2,4,4] x, float[1,1,6,4] y) => (float[1,2,4,4] z)", []spelling{
		{23, `<bool[4,6] m = {1,0,0,0,0,0, 1,1,0,0,0,0, 0,1,1,0,0,0, 0,0,1,1,0,0}> { z = Attention(x, y, y, m) }`},
		{25, `{ z = Attention<left_window_size = 1, right_window_size = 3, is_causal = 1>(x, y, y) }`}}},
	"hard swish": {"(float[2,3] x) => (float[2,3] z)", []spelling{
		{13, `{ a = HardSigmoid<alpha = 0.16666667, beta = 0.5>(x) z = Mul(x, a) }`}, {14, `{ z = HardSwish(x) }`}}},
}

// TestOperatorSets: another spelling in an operator set is the same computation.
func TestOperatorSets(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			require.GreaterOrEqual(t, len(c.spellings), 2)
			var want []float64
			for _, s := range c.spellings {
				src := fmt.Sprintf(`<ir_version: 8, opset_import: ["" : %d]> g %s %s`, s.opset, c.types, s.text)
				m, err := fromText(src).Import(Options{})
				require.NoError(t, err, s.text)
				require.NoError(t, graph.Lint(m.Graph).Err())
				var in []*array.Array
				for _, n := range m.Graph.Inputs() {
					d, dims, ok := n.Type().Concrete()
					require.True(t, ok)
					x := array.New(d, dims...)
					for i := range x.Len() {
						array.SetFloat64At(x, i, 2*math.Sin(float64(3*i+len(in))))
					}
					in = append(in, x)
				}
				p := interp.Interpreter{State: interp.NewState(m)}
				out, err := p.RunArrays(context.Background(), in)
				require.NoError(t, err, s.text)
				require.True(t, shape.TypeOf(out[0]).Same(resultType(t, src)), "%s: %s", s.text, shape.TypeOf(out[0]))
				var got []float64
				for i := range out[0].Len() {
					got = append(got, array.Float64At(out[0], i))
				}
				if want == nil {
					want = got
				}
				require.InDeltaSlice(t, want, got, 1e-5, "operator set %d: %s", s.opset, s.text)
			}
		})
	}
}

// resultType is the type that a model declares of its result.
func resultType(t *testing.T, src string) shape.Type {
	tt := parseText(src).Graph.Outputs[0].Type.Tensor
	d, err := modelfile.DTypeOf(tt.Elem)
	require.Nil(t, err)
	var dims []int
	for _, s := range tt.Shape.Dims {
		dims = append(dims, int(s.Size))
	}
	return shape.TensorType(d, shape.ConstDims(dims...))
}

// Nodes that the newest sets do not allow are refused.
func TestNewMeaningsAreRefused(t *testing.T) {
	for text, part := range map[string]string{
		`(float[2,3] x, float[3] y) => (float[2,3] z) { z = SwiGLU(x, y) }`:                                            "expected the sizes",
		`(float[1,1,2,4] x) => (float[1,1,2,4] z) { z = Attention<left_window_size = -2>(x, x, x) }`:                   "the window is -2 to the left",
		`(float[1,1,2,4] x) => (float[1,1,2,4] z) { z = Attention<right_window_size = 9223372036854775807>(x, x, x) }`: "expected -1 or more",
		`(float[1,1,2,2] x) => (float[1,4,1,1] z) { z = SpaceToDepth<blocksize = 2, mode = "CDR">(x) }`:                "mode",
		`(bool[2] x) => (int16[2] z) { z = BitCast<to = 5>(x) }`:                                                       "bool",
	} {
		m, err := fromText(`<ir_version: 12, opset_import: ["" : 28]> g ` + text).Import(Options{})
		if err == nil {
			err = graph.Lint(m.Graph).Err()
		}
		require.ErrorContains(t, err, part, text)
	}
}

// Old meanings that no operator computes are refused.
func TestOldMeaningsAreRefused(t *testing.T) {
	for text, part := range map[string]string{
		`(float[2,3,2] x) => (float[2,3,2] z) <float[3] s = {1,2,3}> { z = BatchNormalization<spatial = 0>(x, s, s, s, s) }`:    "spatial is 0",
		`(float[2,3] x) => (float[2,3] z) { z = Cast<to = "FLOAT32">(x) }`:                                                      "Cast",
		`(float[2,3] x) => (float[2,3] z) { z = Cast<to = 6>(x) }`:                                                              "to",
		`(float[2,3] x, float[2] y) => (float[2,3] z) { z = Add<broadcast = 1, axis = 1>(x, y) }`:                               "Add",
		`(float[2,3] x) => (float[2,3] z) <float[3] s = {1,2,3}> { z, a, b = BatchNormalization<is_test = 0>(x, s, s, s, s) }`:  "BatchNormalization",
		`(float[1,1,2,2] x) => (float[1,1,2,2] z) { z = Upsample<height_scale = 1.0, width_scale = 1.0, mode = "nearest">(x) }`: "Upsample",
	} {
		m, err := fromText(`<ir_version: 8, opset_import: ["" : 5]> g ` + text).Import(Options{})
		if err == nil {
			err = graph.Lint(m.Graph).Err()
		}
		require.ErrorContains(t, err, part, text)
	}
}

package tensor_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

type f32 = []float32

func vec(v ...float32) *tensor.Tensor { return tensor.FromSlice(v) }

func mat(rows, cols int, v ...float32) *tensor.Tensor { return tensor.FromSlice(v, rows, cols) }

func ints(v ...int64) *tensor.Tensor { return tensor.FromSlice(v) }

// close requires shape and values; an expected NaN stands for any NaN.
func requireClose(t *testing.T, shape []int, want f32, got *tensor.Tensor) {
	t.Helper()
	require.Equal(t, shape, got.Shape())
	data := tensor.Data[float32](got)
	require.Len(t, data, len(want))
	for i, w := range want {
		switch g := data[i]; {
		case math.IsNaN(float64(w)):
			require.True(t, math.IsNaN(float64(g)), "element %d is %v, expected NaN", i, g)
		case math.IsInf(float64(w), 0):
			require.Equal(t, w, g, "element %d", i)
		default:
			require.InDelta(t, w, g, 2e-6*max(1, math.Abs(float64(w))), "element %d", i)
		}
	}
}

// The expected values are those of torch 2.
func TestElementwise(t *testing.T) {
	x := vec(-2, -0.5, 0, 1.5)
	y := vec(1, 2, 3, 4)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		got  *tensor.Tensor
		want f32
	}{
		{"add", x.Add(y), f32{-1, 1.5, 3, 5.5}},
		{"add alpha", x.Add(y, tensor.AddAttrs{Alpha: tensor.Number(0.5)}), f32{-1.5, 0.5, 1.5, 3.5}},
		{"add scalar", x.AddScalar(2), f32{0, 1.5, 2, 3.5}},
		{"add function", tensor.Add(x, y), f32{-1, 1.5, 3, 5.5}},
		{"sub", x.Sub(y), f32{-3, -2.5, -3, -2.5}},
		{"rsub scalar", x.RSubScalar(1), f32{3, 1.5, 1, -0.5}},
		{"rsub scalar alpha", tensor.RSubScalar(x, 1, tensor.SubAttrs{Alpha: tensor.Number(2)}), f32{5, 2, 1, -2}},
		{"mul", x.Mul(y), f32{-2, -1, 0, 6}},
		{"mul scalar", x.MulScalar(float32(-2)), f32{4, 1, 0, -3}},
		{"div", y.Div(x), f32{-0.5, -4, inf, 2.6666667}},
		{"div floor", y.Div(x, tensor.DivAttrs{RoundingMode: "floor"}), f32{-1, -4, inf, 2}},
		{"rdiv scalar", y.RDivScalar(12), f32{12, 6, 4, 3}},
		{"pow scalar", y.PowScalar(2), f32{1, 4, 9, 16}},
		{"rpow scalar", y.RPowScalar(2), f32{2, 4, 8, 16}},
		{"remainder scalar", x.RemainderScalar(1), f32{0, 0.5, 0, 0.5}},
		{"fmod scalar", x.FmodScalar(1), f32{0, -0.5, 0, 0.5}},
		{"maximum", x.Maximum(vec(0, 0, nan, 0)), f32{0, 0, nan, 1.5}},
		{"clamp", x.Clamp(-1, 1), f32{-1, -0.5, 0, 1}},
		{"clamp below", x.Clamp(-1, nil), f32{-1, -0.5, 0, 1.5}},
		{"relu", x.Relu(), f32{0, 0, 0, 1.5}},
		{"gelu", x.Gelu(), f32{-0.04550027, -0.15426877, 0, 1.3997892}},
		{"gelu tanh", x.Gelu(tensor.GeluAttrs{Approximate: "tanh"}), f32{-0.04540229, -0.1542860, 0, 1.3995716}},
		{"silu", x.Silu(), f32{-0.23840584, -0.18877034, 0, 1.2263615}},
		{"sigmoid", x.Sigmoid(), f32{0.11920292, 0.37754068, 0.5, 0.8175745}},
		{"tanh", x.Tanh(), f32{-0.9640276, -0.46211717, 0, 0.9051482}},
		{"leaky relu", x.LeakyRelu(0.1), f32{-0.2, -0.05, 0, 1.5}},
		{"elu", x.Elu(1), f32{-0.86466473, -0.39346933, 0, 1.5}},
		{"softplus", x.Softplus(1, 20), f32{0.126928, 0.474077, 0.693147, 1.701413}},
		{"hardtanh", x.Hardtanh(-1, 1), f32{-1, -0.5, 0, 1}},
		{"exp", x.Exp(), f32{0.13533528, 0.60653067, 1, 4.4816890}},
		{"log", y.Log(), f32{0, 0.6931472, 1.0986123, 1.3862944}},
		{"sqrt of negative", x.Sqrt(), f32{nan, nan, 0, 1.2247449}},
		{"rsqrt", y.Rsqrt(), f32{1, 0.70710677, 0.57735026, 0.5}},
		{"round to even", vec(0.5, 1.5, 2.5, -0.5).Round(), f32{0, 2, 2, 0}},
		{"abs", x.Abs(), f32{2, 0.5, 0, 1.5}},
		{"where", x.GtScalar(0).Where(x, y), f32{1, 2, 3, 1.5}},
		{"where scalar", tensor.WhereScalar(x.GtScalar(0), x, 7), f32{7, 7, 7, 1.5}},
		{"masked fill", x.MaskedFill(x.LtScalar(0), math.Inf(-1)), f32{-inf, -inf, 0, 1.5}},
	} {
		t.Run(c.name, func(t *testing.T) { requireClose(t, []int{4}, c.want, c.got) })
	}
}

func TestPromotion(t *testing.T) {
	x := ints(-7, 7, 3)
	require.Equal(t, array.I64, x.AddScalar(1).DType())
	require.Equal(t, array.F32, x.AddScalar(0.5).DType())
	require.Equal(t, array.F32, x.Div(x).DType())
	require.Equal(t, []int64{-4, 3, 1}, tensor.Data[int64](x.FloorDivideScalar(2)))
	require.Equal(t, []int64{1, 1, 1}, tensor.Data[int64](x.RemainderScalar(2)))
	require.Equal(t, []int64{-1, 1, 1}, tensor.Data[int64](x.FmodScalar(2)))
	require.Equal(t, []bool{false, true, true}, tensor.Data[bool](x.GtScalar(0)))
	require.Equal(t, []int64{-7, 7, 3}, tensor.Data[int64](x.Cast(array.F32).Cast(array.I64)))
	require.Equal(t, array.F64, vec(1).Add(tensor.FromSlice([]float64{1})).DType())
}

func TestMovement(t *testing.T) {
	x := mat(2, 3, 0, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		name  string
		got   *tensor.Tensor
		shape []int
		want  f32
	}{
		{"reshape", x.Reshape(3, -1), []int{3, 2}, f32{0, 1, 2, 3, 4, 5}},
		{"reshape list", x.Reshape([]int{6}), []int{6}, f32{0, 1, 2, 3, 4, 5}},
		{"reshape sizes", x.Reshape(x.Size(1), x.Size(0)), []int{3, 2}, f32{0, 1, 2, 3, 4, 5}},
		{"reshape list of sizes", x.Reshape([]tensor.Size{x.Size(1), x.Size(0)}), []int{3, 2}, f32{0, 1, 2, 3, 4, 5}},
		{"reshape mixed list", x.Reshape([]any{1, x.Size(0).Mul(3)}), []int{1, 6}, f32{0, 1, 2, 3, 4, 5}},
		{"t", x.T(), []int{3, 2}, f32{0, 3, 1, 4, 2, 5}},
		{"transpose", x.Transpose(-1, 0), []int{3, 2}, f32{0, 3, 1, 4, 2, 5}},
		{"permute", x.Permute(1, 0), []int{3, 2}, f32{0, 3, 1, 4, 2, 5}},
		{"unsqueeze", x.Unsqueeze(1), []int{2, 1, 3}, f32{0, 1, 2, 3, 4, 5}},
		{"squeeze", x.Unsqueeze(0).Squeeze(), []int{2, 3}, f32{0, 1, 2, 3, 4, 5}},
		{"squeeze one", x.Unsqueeze(0).Unsqueeze(0).Squeeze(1), []int{1, 2, 3}, f32{0, 1, 2, 3, 4, 5}},
		{"flatten", x.Flatten(0, -1), []int{6}, f32{0, 1, 2, 3, 4, 5}},
		{"unflatten", x.Unflatten(1, 3, 1), []int{2, 3, 1}, f32{0, 1, 2, 3, 4, 5}},
		{"expand", x.Select(0, 1).Expand(2, -1), []int{2, 3}, f32{3, 4, 5, 3, 4, 5}},
		{"slice", x.Slice(1, 1, tensor.End), []int{2, 2}, f32{1, 2, 4, 5}},
		{"slice by step", x.Slice(1, 0, tensor.End, tensor.SliceAttrs{Step: 2}), []int{2, 2}, f32{0, 2, 3, 5}},
		{"narrow", x.Narrow(1, 1, x.Size(0)), []int{2, 2}, f32{1, 2, 4, 5}},
		{"select", x.Select(1, -1), []int{2}, f32{2, 5}},
		{"at", x.At(1, -2), []int{}, f32{4}},
		{"flip", x.Flip(1), []int{2, 3}, f32{2, 1, 0, 5, 4, 3}},
		{"roll", x.Roll(1, 1), []int{2, 3}, f32{2, 0, 1, 5, 3, 4}},
		{"tile", vec(1, 2).Tile(2, 2), []int{2, 4}, f32{1, 2, 1, 2, 1, 2, 1, 2}},
		{"movedim", x.Unsqueeze(0).Movedim([]int{0}, 2), []int{2, 3, 1}, f32{0, 1, 2, 3, 4, 5}},
		{"cat", tensor.Cat([]*tensor.Tensor{x, x.Slice(1, 0, 1)}, 1), []int{2, 4}, f32{0, 1, 2, 0, 3, 4, 5, 3}},
		{"stack", tensor.Stack([]*tensor.Tensor{vec(1, 2), vec(3, 4)}, 1), []int{2, 2}, f32{1, 3, 2, 4}},
		{"gather", x.Gather(tensor.FromSlice([]int64{2, 0}, 2, 1), 1), []int{2, 1}, f32{2, 3}},
		{"index select", x.IndexSelect(ints(1, 1), 0), []int{2, 3}, f32{3, 4, 5, 3, 4, 5}},
		{"tril", x.Tril(0), []int{2, 3}, f32{0, 0, 0, 3, 4, 0}},
	} {
		t.Run(c.name, func(t *testing.T) { requireClose(t, c.shape, c.want, c.got) })
	}
}

func TestSeveralResults(t *testing.T) {
	x := mat(2, 3, 0, 5, 2, 3, 4, 1)
	parts := x.Split([]int{1, 2}, 1)
	require.Len(t, parts, 2)
	requireClose(t, []int{2, 1}, f32{0, 3}, parts[0])
	requireClose(t, []int{2, 2}, f32{5, 2, 4, 1}, parts[1])
	parts = tensor.SplitSize(x, 2, -1)
	require.Len(t, parts, 2)
	requireClose(t, []int{2, 1}, f32{2, 1}, parts[1])
	require.Len(t, x.SplitSize(3, 1), 1)
	require.Len(t, x.Chunk(3, 1), 3)
	rows := x.UnbindDim(0)
	require.Len(t, rows, 2)
	requireClose(t, []int{3}, f32{3, 4, 1}, rows[1])

	values, indices := x.MaxDim(1)
	requireClose(t, []int{2}, f32{5, 4}, values)
	require.Equal(t, []int64{1, 1}, tensor.Data[int64](indices))
	values, indices = x.Topk(2, 1)
	requireClose(t, []int{2, 2}, f32{5, 2, 4, 3}, values)
	require.Equal(t, []int64{1, 2, 1, 0}, tensor.Data[int64](indices))
	values, _ = tensor.Sort(x, 0, tensor.SortAttrs{Descending: true})
	requireClose(t, []int{2, 3}, f32{3, 5, 2, 0, 4, 1}, values)
}

func TestReductions(t *testing.T) {
	x := mat(2, 3, 0, 1, 2, 3, 4, 5)
	requireClose(t, []int{}, f32{15}, x.Sum())
	requireClose(t, []int{2}, f32{3, 12}, x.Sum(1))
	requireClose(t, []int{2, 1}, f32{1, 4}, x.MeanWith(-1, tensor.ReduceAttrs{KeepDim: true}))
	requireClose(t, []int{3}, f32{3, 4, 5}, x.Amax(0))
	requireClose(t, []int{}, f32{3.5}, x.Var())
	requireClose(t, []int{}, f32{2.9166667}, x.VarWith(nil, tensor.VarAttrs{Correction: tensor.Number(0)}))
	require.Equal(t, []int64{2, 2}, tensor.Data[int64](x.Argmax(1)))
	requireClose(t, []int{2, 3}, f32{0, 1, 3, 3, 7, 12}, x.Cumsum(1))
	requireClose(t, []int{2}, f32{2.4076059, 5.4076059}, x.Logsumexp(1))
	require.True(t, x.GeScalar(0).All().Bool())
}

func TestContractionsAndLayers(t *testing.T) {
	x := mat(2, 3, 0, 1, 2, 3, 4, 5)
	w := mat(2, 3, 1, 0, -1, 2, 1, 0)
	requireClose(t, []int{2, 2}, f32{-2, 1, -2, 10}, x.Matmul(w.T()))
	requireClose(t, []int{2, 2}, f32{-2, 1, -2, 10}, x.Linear(w, nil))
	requireClose(t, []int{2, 2}, f32{-1, 3, -1, 12}, tensor.Linear(x, w, vec(1, 2)))
	requireClose(t, []int{2, 3}, f32{-1.2247357, 0, 1.2247357, -1.2247357, 0, 1.2247357}, x.LayerNorm(nil, nil, 3, 1e-5))
	requireClose(t, []int{2, 3}, f32{-1.2247357, 1, 1.2247357, -1.2247357, 1, 1.2247357}, x.LayerNorm(vec(1, 2, 1), vec(0, 1, 0), []int{3}, 1e-5))

	image := tensor.FromSlice(f32{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, 1, 3, 3)
	kernel := tensor.FromSlice(f32{1, 0, 0, 1}, 1, 1, 2, 2)
	requireClose(t, []int{1, 1, 2, 2}, f32{4, 6, 10, 12}, image.Conv2d(kernel, nil))
	requireClose(t, []int{1, 1, 2, 2}, f32{0.5, 2.5, 6.5, 12.5},
		image.Conv2d(kernel, vec(0.5), tensor.ConvAttrs{Stride: tensor.Ints(2), Padding: tensor.Ints(1)}))
	requireClose(t, []int{1, 1, 2, 2}, f32{4, 5, 7, 8}, image.MaxPool2d(2, tensor.MaxPoolAttrs{Stride: tensor.Ints(1)}))
	requireClose(t, []int{1, 1, 1, 1}, f32{4}, image.AdaptiveAvgPool2d(1))
}

func TestFactories(t *testing.T) {
	requireClose(t, []int{2, 1}, f32{0, 0}, tensor.Zeros(2, 1))
	requireClose(t, []int{2}, f32{1, 1}, tensor.Ones(2))
	requireClose(t, []int{2}, f32{0.5, 0.5}, tensor.Full(tensor.Ones(2).Size(0), 0.5))
	require.Equal(t, []int64{0, 1, 2}, tensor.Data[int64](tensor.Arange(3)))
	require.Equal(t, []int64{1, 3}, tensor.Data[int64](tensor.Arange(5, tensor.ArangeAttrs{Start: 1, Step: 2})))
	requireClose(t, []int{3}, f32{0, 0.5, 1}, tensor.Linspace(0, 1, 3))
	requireClose(t, []int{2, 2}, f32{1, 0, 0, 1}, tensor.Eye(2))
	require.Equal(t, array.F64, tensor.ZerosWith(1, tensor.SizeAttrs{DType: array.F64}).DType())
}

package onnx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

const narrowHead = `<ir_version: 11, opset_import: ["" : 25]> g `

// Weights of 4 bits, quantised in blocks along an axis that they do not divide, as
// language models have them: raw data of an odd number, and a product of their values.
func TestPackedWeights(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3, 1, 0, -1}, 2, 3)
	// Nibbles from the low one: 1 -2 3 / 4 -5 6 / 7 -8 -1.
	src := func(w string) string {
		return narrowHead + `(float[N,3] x) => (float[N,3] y) <` + w + `, float[2,3] s = {1,2,4,0.5,0.5,0.5}, int4[2,3] z = "10010f"> {
			f = DequantizeLinear<axis=0, block_size=2>(w, s, z) y = MatMul(x, f) }`
	}
	// Zero points: 0 1 1 / 0 -1 0. Values: 1 -6 8 / 4 -12 20 / 3.5 -3.5 -0.5.
	want := []float32{1 + 8 + 10.5, -6 - 24 - 10.5, 8 + 40 - 1.5, 1 - 3.5, -6 + 3.5, 8 + 0.5}
	for _, w := range []string{`int4[3,3] w = "e1436b870f"`, `int4[3,3] w = {225, 67, 107, 135, 15}`} {
		y := runText(t, src(w), x)
		require.Equal(t, want, array.Data[float32](y[0]), w)
	}
}

// MX: floats of 4 bits in blocks of powers of two, and results in f16.
func TestMicroscaling(t *testing.T) {
	y := runText(t, narrowHead+`(float4e2m1[1,4] q) => (float16 y) <float8e8m0[1,2] s = "7f82"> {
		y = DequantizeLinear<axis=1, block_size=2, output_dtype=10>(q, s) }`, array.FromSlice([]array.Float4E2M1FN{1, 7, 9, 15}, 1, 4))
	require.Equal(t, "tensor([[  0.5000,   6.0000,  -4.0000, -48.0000]], dtype=f16)", array.Format(y[0], 9))
	y = runText(t, narrowHead+`(float4e2m1[4] q) => (float y) <float8e8m0 s = "80"> { y = DequantizeLinear<output_dtype=1>(q, s) }`, array.FromSlice([]array.Float4E2M1FN{1, 7, 9, 15}))
	require.Equal(t, []float32{1, 12, -1, -12}, array.Data[float32](y[0]))
	y = runText(t, narrowHead+`(float[4] x) => (float4e2m1 y) <float8e8m0 s = "80"> { y = QuantizeLinear<output_dtype=23>(x, s) }`, array.FromSlice([]float32{1, 2.4, 2.6, -100}))
	require.Equal(t, []array.Float4E2M1FN{1, 2, 3, 15}, array.Data[array.Float4E2M1FN](y[0]))
	_, err := fromText(narrowHead + `(float4e2m1[4] q) => (float y) <float8e8m0 s = "80"> { y = DequantizeLinear(q, s) }`).Import(Options{})
	require.ErrorContains(t, err, "output_dtype is not given for scales of f8e8m0fnu")
}

// Operators that move elements move these, through control flow, too; symbols stay.
func TestNarrowValuesMove(t *testing.T) {
	x := array.New(array.F8E5M2, 3, 4)
	for i := range 12 {
		array.Bytes(x)[i] = uint8(20*i + 1)
	}
	y := runText(t, narrowHead+`(float8e5m2[N,4] x) => (float8e5m2 y, float z) <int64[2] s = {4,-1}, int64[2] at = {2,0}, float8e5m2[1,3] w = "3c7cbc"> {
		a = Transpose<perm=[1,0]>(x) b = Reshape(a, s) c = Concat<axis=0>(b, w) y = Gather<axis=1>(c, at) z = Cast<to=1>(y) }`, x)
	require.Equal(t, []int{5, 2}, y[0].Shape())
	require.Equal(t, []byte{161, 1, 181, 21, 201, 41, 221, 61, 0xbc, 0x3c}, array.Bytes(y[0]))
	require.True(t, array.Equal(array.Cast(y[0], array.F32), y[1]))

	y = runText(t, narrowHead+`(float8e5m2[N,4] x) => (float8e5m2 y) <int64 n = {3}, bool go = {1}> {
		y = Loop<body = b (int64 i, bool c, float8e5m2[N,4] v) => (bool d, float8e5m2[N,4] w) { d = Identity(c) w = Transpose<perm=[0,1]>(v) }>(n, go, x) }`, x)
	require.True(t, array.Equal(x, y[0]))
	m, err := fromText(narrowHead + `(uint2[N,4] x) => (uint2 y) { y = Identity(x) }`).Import(Options{})
	require.NoError(t, err)
	require.Equal(t, "u2[N,4]", m.Graph.Output().Arg(0).Type().String())
}

// Casts by saturate and round_mode; integers out of range keep their low bits.
func TestNarrowCasts(t *testing.T) {
	x := array.FromSlice([]float32{1.3, 1e9, -9, 0})
	for _, c := range []struct {
		attrs, want string
	}{
		{"to=17", "[  1.2500, 448.0000,  -9.0000,   0.0000]"},
		{"to=17, saturate=0", "[ 1.2500,     nan, -9.0000,  0.0000]"},
		{"to=19, saturate=0", "[ 1.2500,     inf, -8.0000,  0.0000]"},
		{"to=23, saturate=0", "[ 1.5000,  6.0000, -6.0000,  0.0000]"},
		{"to=22", "[1, 0, 7, 0]"},
		{"to=21", "[1, 0, 7, 0]"},
		{"to=26", "[ 1,  0, -1,  0]"},
		{"to=25", "[1, 0, 3, 0]"},
	} {
		y := runText(t, narrowHead+`(float[N] x) => (float y) { a = Cast<`+c.attrs+`>(x) y = Cast<to=1>(a) }`, x)
		z := runText(t, narrowHead+`(float[N] x) => (float a) { a = Cast<`+c.attrs+`>(x) }`, x)
		require.Contains(t, array.Format(z[0], 9), c.want, c.attrs)
		require.NoError(t, compare(array.Cast(z[0], array.F32), y[0]), c.attrs)
	}
	for mode, want := range map[string]byte{"up": 128, "down": 127, "nearest": 128} {
		y := runText(t, narrowHead+fmt.Sprintf(`(float[N] x) => (float8e8m0 y) { y = Cast<to=24, round_mode=%q>(x) }`, mode), array.FromSlice([]float32{1.6}))
		require.Equal(t, []byte{want}, array.Bytes(y[0]), mode)
	}
	_, err := fromText(narrowHead + `(float[N] x) => (float8e8m0 y) { y = Cast<to=24, round_mode="sideways">(x) }`).Import(Options{})
	require.ErrorIs(t, err, CodeAttribute)
	y := runText(t, narrowHead+`(float[N] x, float8e5m2[1] like) => (float8e5m2 y) { y = CastLike<saturate=0>(x, like) }`, x, array.New(array.F8E5M2, 1))
	require.Equal(t, byte(0x7c), array.Bytes(y[0])[1])
}

// Arithmetic is refused, all of it at once.
func TestNarrowArithmeticIsRefused(t *testing.T) {
	_, err := fromText(narrowHead + `(float8e5m2[N] x, int4[N] k) => (float8e5m2 y, int4 z, bool w) {
		y = Add(x, x) z = Abs(k) w = Equal(k, k) }`).Import(Options{})
	for _, want := range []string{"f8e5m2, which add does not take", "i4, which abs does not take", "i4, which eq does not take"} {
		require.ErrorContains(t, err, want)
	}
}

// Data of another length than the packed one are refused, whatever the sizes say.
func TestPackedLengths(t *testing.T) {
	for _, c := range []struct{ tensor, want string }{
		{`int4[3] w = "e1"`, "has 1 bytes of data, which are no i4[3]"},
		{`int4[3] w = "e1e1e1"`, "has 3 bytes of data, which are no i4[3]"},
		{`uint2[5] w = "ff"`, "has 1 bytes of data, which are no u2[5]"},
		{`float4e2m1[3] w = {1, 2, 3}`, "has 3 values of data, which are no f4e2m1fn[3]"},
		{`float8e4m3fn[3] w = "e1e1"`, "has 2 bytes of data, which are no f8e4m3fn[3]"},
		{`int4[4611686018427387904,2] w = "e1"`, "more elements than there are addresses"},
		{`int4[4611686018427387904] w = "e1"`, "has 1 bytes of data"},
		{`uint2[9223372036854775807] w = {1}`, "has 1 values of data"},
	} {
		_, err := fromText(narrowHead + `(float[1] x) => (float y) <` + c.tensor + `> { k = Cast<to=1>(w) y = Add(k, x) }`).Import(Options{})
		require.ErrorContains(t, err, c.want)
		require.ErrorIs(t, err, CodeTensor)
	}
	y := runText(t, narrowHead+`(float[1] x) => (float y) <int2[0] w = "", uint4[2,0] u = {}> { a = Cast<to=1>(w) y = Add(a, x) }`, array.New(array.F32, 1))
	require.Equal(t, shape.TensorType(array.F32, shape.ConstDims(0)).String(), shape.TypeOf(y[0]).String())
}

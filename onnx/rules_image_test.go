package onnx

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// runText runs a model in interp and as a plan, which agree.
func runText(t *testing.T, src string, in ...*array.Array) []*array.Array {
	t.Helper()
	m, err := fromText(src).Import(Options{})
	require.NoError(t, err)
	p := interp.Interpreter{State: interp.NewState(m)}
	outs, err := p.RunArrays(context.Background(), in)
	require.NoError(t, err)
	exe, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	planned, err := exe.Run(context.Background(), in)
	require.NoError(t, err)
	for i := range outs {
		require.Equal(t, array.Format(outs[i], 1000), array.Format(planned[i], 1000))
	}
	return outs
}

func numbers(n int, dims ...int) *array.Array {
	x := array.New(array.F32, dims...)
	for i := range x.Len() {
		array.SetFloat64At(x, i, float64(i*7%n))
	}
	return x
}

// TestPoolIndices: every index names an element of the input that is the maximum,
// whatever the padding, also where the elements are no greater than the padding.
func TestPoolIndices(t *testing.T) {
	for _, attrs := range []string{"", ", pads=[0,1,1,0]", ", pads=[1,1,1,1], dilations=[2,1]", `, auto_pad="SAME_LOWER"`} {
		for _, columns := range []bool{false, true} {
			if columns {
				attrs += ", storage_order=1"
			}
			for typ, d := range map[string]array.DType{"float": array.F32, "uint8": array.U8} {
				for _, x := range []*array.Array{numbers(11, 2, 3, 5, 4), array.New(array.F32, 2, 3, 5, 4)} {
					in := array.Cast(x, d)
					outs := runText(t, `<ir_version: 8, opset_import: ["" : 17]> g (`+typ+`[N,3,5,4] x) => (`+typ+` y, int64 i) { y, i = MaxPool<kernel_shape=[2,2]`+attrs+`>(x) }`, in)
					require.Equal(t, outs[0].Shape(), outs[1].Shape())
					for k := range outs[0].Len() {
						plane, at := k/(outs[0].Len()/6), int(array.Int64At(outs[1], k))-k/(outs[0].Len()/6)*20
						require.True(t, at >= 0 && at < 20, "%s: index %d", attrs, at)
						if columns {
							at = at%5*4 + at/5
						}
						require.Equal(t, array.Float64At(outs[0], k), array.Float64At(in, plane*20+at), attrs)
					}
				}
			}
		}
	}
}

// TestResizeSymbols: sizes follow from those of the input, and any axes may change.
func TestResizeSymbols(t *testing.T) {
	x := numbers(13, 2, 3, 4, 6)
	const scales = `s = Cast<to=1>(n) f = Cast<to=1>(d) r = Div(s, f) `
	for _, mode := range []string{`mode="nearest"`, `mode="linear"`, `mode="cubic"`, `mode="linear", coordinate_transformation_mode="half_pixel_symmetric"`} {
		src := func(dims string) string {
			return `<ir_version: 8, opset_import: ["" : 19]> g (float[` + dims + `] x) => (float y) <int64[4] n = {1,1,3,1}, int64[4] d = {1,1,2,2}> { ` + scales + `y = Resize<` + mode + `>(x, _, r) }`
		}
		free, fixed := runText(t, src("N,3,H,W"), x), runText(t, src("2,3,4,6"), x)
		require.Equal(t, []int{2, 3, 6, 3}, free[0].Shape())
		require.NoError(t, compare(free[0], fixed[0]), mode)
		// The same with other axes first: NHWC, and one more dimension.
		last := runText(t, `<ir_version: 8, opset_import: ["" : 19]> g (float[N,3,H,W] x) => (float y) <int64[5] n = {1,3,1,1,1}, int64[5] d = {1,2,2,1,1}, int64[1] k = {4}> { `+scales+
			`a = Transpose<perm=[0,2,3,1]>(x) e = Unsqueeze(a, k) b = Resize<`+mode+`>(e, _, r) c = Squeeze(b, k) y = Transpose<perm=[0,3,1,2]>(c) }`, x)
		require.NoError(t, compare(last[0], free[0]), mode)
	}
}

// TestScaledSizes: a size that is open is the one that the product in f32 has, as an
// expression where there is one, else found by the run.
func TestScaledSizes(t *testing.T) {
	for _, f := range []float32{0.1, 0.3, 1 / 3.0, 0.5, 0.6, 2 / 3.0, 0.7, 0.75, 0.9, 1.1, 1.25, 4 / 3.0, 1.5, 1.7, 2.5, 3, 0.123456, 1.3141592} {
		src := func(dim string) string {
			return `<ir_version: 8, opset_import: ["" : 19]> g (float[1,1,` + dim + `] x) => (float y) <float[3] s = {1,1,` + fmt.Sprint(f) + `}> { y = Resize<mode="linear">(x, _, s) }`
		}
		for _, n := range []int{10, 13, 20, 30, 37, 90, 100, 128, 1000} {
			x := numbers(97, 1, 1, n)
			open := runText(t, src("H"), x)
			require.Equal(t, int(math.Floor(float64(float32(n)*f))), open[0].Dim(2), "%d times %g", n, f)
			_, err := Sample{Outputs: runText(t, src(strconv.Itoa(n)), x)}.Check(open, Tolerance{Rel: 1e-3, Abs: 1e-2})
			require.NoError(t, err)
		}
	}
}

// TestResizeIntegers: integers are interpolated as numbers and cut, as ONNX's are.
func TestResizeIntegers(t *testing.T) {
	y := runText(t, `<ir_version: 8, opset_import: ["" : 19]> g (uint8[1,1,1,2] x) => (uint8 y) <int64[4] n = {1,1,1,4}> { y = Resize<mode="linear">(x, _, _, n) }`, array.FromSlice([]uint8{0, 250}, 1, 1, 1, 2))
	require.Equal(t, []uint8{0, 62, 187, 250}, array.Data[uint8](y[0]))
}

// TestUnpoolInverts: elements that MaxPool took go back to their places.
func TestUnpoolInverts(t *testing.T) {
	x := numbers(97, 2, 2, 4, 6)
	y := runText(t, `<ir_version: 8, opset_import: ["" : 17]> g (float[N,2,4,6] x) => (float z) { y, i = MaxPool<kernel_shape=[2,3], strides=[2,3]>(x) z = MaxUnpool<kernel_shape=[2,3], strides=[2,3]>(y, i) }`, x)
	require.Equal(t, x.Shape(), y[0].Shape())
	some := 0
	for i := range x.Len() {
		if v := array.Float64At(y[0], i); v != 0 {
			require.Equal(t, array.Float64At(x, i), v)
			some++
		}
	}
	require.Equal(t, 16, some)
}

// TestTransformsRefuse: constants are bounded.
func TestTransformsRefuse(t *testing.T) {
	for _, c := range []struct{ graph, want string }{
		{`g (float[1,100000,1] x) => (float y) { y = DFT<axis=1>(x) }`, "a transform of 100000 elements"},
		{`g (float[1,N,2] x) => (float y) { y = DFT<axis=1, inverse=1, onesided=1>(x) }`, "DFT needs a size that is known"},
		{`g (float[1,N,1] x) => (float y) <int64 l = {8}> { y = DFT<axis=1>(x, l) }`, "DFT needs a size that is known"},
		{`g (float[1,8,2] x) => (float y) { y = DFT<axis=1, onesided=1>(x) }`, "a one-sided DFT is one of real signals"},
		{`g (float[1,100,1] x) => (float y) <int64 s = {0}, int64 l = {8}> { y = STFT(x, s, _, l) }`, "STFT needs a positive frame_step"},
		{`g (float[1,4,4] x) => (float y) <int64[2] i = {1099511627776, 4}, int64[2] b = {2,2}> { y = Col2Im(x, i, b) }`, "Col2Im"},
		{`g (float[1,1,4,4] x) => (float y) <int64[4] n = {1,1,8,8}> { y = Resize<antialias=1>(x, _, _, n) }`, "not defined for the mode nearest"},
		{`g (float[1,1,4,4] x) => (float y) { y = Resize(x) }`, "expected one of scales and sizes"},
	} {
		_, err := fromText(`<ir_version: 8, opset_import: ["" : 18]> ` + c.graph).Import(Options{})
		require.ErrorContains(t, err, c.want)
	}
}

// compare says where two results differ.
func compare(got, want *array.Array) error {
	_, err := Sample{Outputs: []*array.Array{want}}.Check([]*array.Array{got}, StandardTolerance)
	return err
}

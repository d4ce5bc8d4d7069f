package onnx

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
)

// cutByQuotient cuts a signal to as many places as the convolution after it leaves, which exporters
// write as quotients of the length; ONNX rounds these towards zero.
const cutByQuotient = `<ir_version: 8, opset_import: ["" : 18]> g (float[N,1,L] x) => (float y)
	<float[1,1,10] w = {1,2,3,4,5,6,7,8,9,10}, float[1,1,3] v = {1,2,3}, int64 three = {3}, int64 ten = {10}, int64 two = {2}, int64 plus = {1}, int64[1] from = {0}, int64[1] axis = {2}, int64[1] list = {-1}> {
		l = Shape<start=2>(x) s = Squeeze(l) q = Div(s, ten) d = Sub(q, three) h = Div(d, two) n = Add(h, plus) m = Reshape(n, list)
		a = Conv<strides=[10]>(x, w) b = Conv<strides=[2]>(a, v) t = Slice(a, from, m, axis) y = Add(t, b) }`

// Conditions of later nodes on sizes simplify earlier sizes.
func TestSizesBeforeWhatNeedsThem(t *testing.T) {
	m, err := fromText(cutByQuotient).Import(Options{})
	require.NoError(t, err)
	require.NoError(t, graph.Lint(m.Graph).Err())
	require.Equal(t, "f32[N,1,(L-10)//20]", m.Graph.Output().Arg(0).Type().String())
	for _, n := range []int{30, 49, 50, 71} {
		x := array.New(array.F32, 2, 1, n)
		for i := range x.Len() {
			array.SetFloat64At(x, i, math.Sin(float64(i)))
		}
		got, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), []*array.Array{x})
		require.NoError(t, err)
		require.Equal(t, []int{2, 1, (n/10-3)/2 + 1}, got[0].Shape())
	}
	_, err = (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), []*array.Array{array.New(array.F32, 2, 1, 29)})
	require.ErrorContains(t, err, "L")
}

// Quotients of possibly negative numbers are rounded towards zero where nothing needs more of a
// size.
func TestQuotientsOfNegativeSizes(t *testing.T) {
	m, err := fromText(`<ir_version: 8, opset_import: ["" : 18]> g (float[L] x) => (int64 y) <int64[1] five = {5}, int64[1] two = {2}> {
		l = Shape(x) d = Sub(l, five) y = Div(d, two) }`).Import(Options{})
	require.NoError(t, err)
	for n, want := range map[int]int64{0: -2, 2: -1, 4: 0, 6: 0, 8: 1} {
		got, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), []*array.Array{array.New(array.F32, n)})
		require.NoError(t, err)
		require.Equal(t, want, array.Int64At(got[0], 0), n)
	}
}

// A table that is cut by the length of a text broadcasts: its only row serves every text.
func TestBroadcastOfCutTables(t *testing.T) {
	f := fromText(`<ir_version: 8, opset_import: ["" : 18]> g (float[S,S] x) => (float y) <float[1,8] w = {1,2,3,4,5,6,7,8}, int64 one = {1}, int64 none = {0}, int64 eight = {8},
		int64[1] list = {-1}, int64[1] rows = {0}, int64[1] columns = {1}, int64[1] far = {9223372036854775807}> {
		l = Shape<end=1>(x) s = Squeeze(l) a = Sub(one, s) b = Max(a, none) c = Sub(eight, s) d = Max(c, none) from = Reshape(b, list) start = Reshape(d, list)
		t = Slice(w, from, far, rows) u = Slice(t, start, far, columns) y = Add(x, u) }`)
	m, err := f.Import(Options{})
	require.NoError(t, err)
	require.NoError(t, graph.Lint(m.Graph).Err())
	for _, n := range []int{1, 3, 8} {
		got, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), []*array.Array{array.New(array.F32, n, n)})
		require.NoError(t, err)
		require.Equal(t, []int{n, n}, got[0].Shape())
		require.Equal(t, 8.0, array.Float64At(got[0], n*n-1))
		require.Equal(t, float64(9-n), array.Float64At(got[0], 0))
	}
}

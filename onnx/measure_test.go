package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
)

func floats(dims []int, v ...float32) *array.Array { return array.FromSlice(v, dims...) }

// refused imports a model and runs it, which must fail with a code.
func refusedInRun(t *testing.T, src string, in ...*array.Array) error {
	t.Helper()
	m, err := fromText(head + src).Import(Options{})
	require.NoError(t, err)
	p := interp.Interpreter{State: interp.NewState(m)}
	_, err = p.RunArrays(context.Background(), in)
	require.Error(t, err)
	return err
}

// The number of results depends on the values in x; operators that take it as a size
// see a symbol.
func TestSizesOfValues(t *testing.T) {
	found := ` z = NonZero(x) s = Shape(z) n = Gather<axis=0>(s, one) `
	consts := `<int64[1] one = {1}, int64 k = {1}, int64[1] zero = {0}, int64[1] minus = {-1}, int64[1] two = {2}> `
	x := floats([]int{6}, 3, 0, 5, 4, 0, 9)
	for name, c := range map[string]struct {
		body string
		out  string
		want []float64
	}{
		"TopK":            {`v, i = TopK(x, n) y = Identity(v)`, `float["a"] y`, []float64{9, 5, 4, 3}},
		"ConstantOfShape": {`y = ConstantOfShape(n)`, `float["a"] y`, []float64{0, 0, 0, 0}},
		"Slice":           {`y = Slice(x, zero, n)`, `float["a"] y`, []float64{3, 0, 5, 4}},
		"Slice behind":    {`m = Neg(n) big = Sub(n, m) y = Slice(x, m, big)`, `float["a"] y`, []float64{5, 4, 0, 9}},
		"Slice backwards": {`low = Sub(minus, n) y = Slice(x, n, low, zero, minus)`, `float["a"] y`, []float64{0, 4, 5}},
		"Slice of result": {`t = Transpose(z) u = Slice(t, zero, two, zero) w = Cast<to=1>(u) y = Reshape(w, minus)`, `float["a"] y`, []float64{0, 2}},
		"Reshape":         {`a = Gather(x, z) l = Concat<axis=0>(n, minus) b = Reshape(a, l) y = Squeeze(b, one)`, `float["a"] y`, []float64{3, 5, 4, 9}},
		"Expand":          {`y = Expand(one, n) `, `int64["a"] y`, []float64{1, 1, 1, 1}},
		"Tile":            {`y = Tile(one, n) `, `int64["a"] y`, []float64{1, 1, 1, 1}},
		"Range":           {`m = Squeeze(n, zero) y = Range(k, m, k)`, `int64["a"] y`, []float64{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			src := `(float[6] x) => (` + c.out + `) ` + consts + `{` + found + c.body + `}`
			out := interpreted(t, src, x)
			got := []float64{}
			for i := range out[0].Len() {
				got = append(got, array.Float64At(out[0], i))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A value that is no size is refused in the run, and never taken for one.
func TestValuesThatAreNoSizes(t *testing.T) {
	src := `(float[2] x) => (float["a"] y) <int64[1] zero = {0}, int64[1] one = {1}> { n = Cast<to=7>(x) s = Slice(n, zero, one) y = ConstantOfShape(s) }`
	out := interpreted(t, src, floats([]int{2}, 3, -1))
	require.Equal(t, []int{3}, out[0].Shape())
	require.ErrorContains(t, refusedInRun(t, src, floats([]int{2}, -3, 1)), "number 0 is -3, which is no size")
	many := refusedInRun(t, src, floats([]int{2}, 1e12, 1))
	require.ErrorIs(t, many, op.TooLarge)
	top := `(float[2] x) => (float["a"] y) <int64[1] zero = {0}, int64[1] one = {1}> { n = Cast<to=7>(x) s = Slice(n, zero, one) y, i = TopK(x, s) }`
	refusedInRun(t, top, floats([]int{2}, 3, 1)) // there are two
}

// Integers that come in for sizes are still to be bound: compilers know sizes then.
func TestInputsThatAreSizes(t *testing.T) {
	_, err := fromText(head + `(float[6] x, int64["k"] s) => (float["a","b"] y) { y = Reshape(x, s) }`).Import(Options{})
	require.ErrorIs(t, err, CodeValue)
	require.ErrorContains(t, err, "it is computed from s")
	x := floats([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct{ to, want []int64 }{{[]int64{3, 2}, []int64{3, 2}}, {[]int64{-1, 2}, []int64{3, 2}}, {[]int64{0, -1}, []int64{2, 3}}, {[]int64{1, 6}, []int64{1, 6}}} {
		out := interpreted(t, `(float["n",3] x, int64[2] s) => (float["a","b"] y) { y = Reshape(x, s) }`, x, array.FromSlice(c.to))
		require.Equal(t, []int{int(c.want[0]), int(c.want[1])}, out[0].Shape(), c.to)
		require.Equal(t, array.Data[float32](x), array.Data[float32](out[0]))
	}
}

// A Loop that appends to a carried value is a scan that puts the rows of one round after
// those of the previous round.
func TestLoopThatAppends(t *testing.T) {
	src := `(int64 n, float[2] x) => (float["m",2] all, float[2] last) <int64[1] zero = {0}, float[1,2] first = {7, 8}, bool yes = {1}> {
		all, last = Loop<body = b (int64 i, bool c, float["k",2] rows, float[2] v) => (bool c, float["l",2] more, float[2] w) {
			w = Add(v, x) r = Unsqueeze(w, zero) f = Cast<to=1>(rows) more = Concat<axis=0>(f, r, r) }>(n, yes, first, x) }`
	out := interpreted(t, src, single(2), floats([]int{2}, 1, 10))
	require.Equal(t, []int{5, 2}, out[0].Shape())
	require.Equal(t, []float32{7, 8, 2, 20, 2, 20, 3, 30, 3, 30}, array.Data[float32](out[0]))
	require.Equal(t, []float32{3, 30}, array.Data[float32](out[1]))
	out = interpreted(t, src, single(0), floats([]int{2}, 1, 10))
	require.Equal(t, []float32{7, 8}, array.Data[float32](out[0]), "no rounds")
	require.Equal(t, []float32{1, 10}, array.Data[float32](out[1]))
}

// A round that reads the rows that it has appended is not a scan: its carried value has another
// size in each round.
func TestLoopThatReadsWhatItAppends(t *testing.T) {
	src := `(int64 n, float[1,2] x) => (float["m",2] all) <int64[1] zero = {0}, bool yes = {1}> {
		all = Loop<body = b (int64 i, bool c, float["k",2] rows) => (bool c, float["l",2] more) {
			w = ReduceSum<keepdims=1>(rows, zero) more = Concat<axis=0>(rows, w) }>(n, yes, x) }`
	out := interpreted(t, src, single(2), floats([]int{1, 2}, 1, 2))
	require.Equal(t, []int{3, 2}, out[0].Shape())
	require.Equal(t, []float32{1, 2, 1, 2, 2, 4}, array.Data[float32](out[0]))
	m, err := fromText(head + src).Import(Options{})
	require.NoError(t, err)
	_, err = cpu.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.UnknownSize)
}

// Sizes that a body finds are used in the body.
func TestSizesInBodies(t *testing.T) {
	src := `(int64 n, float[4] x) => (float["m"] sums) <int64[1] zero = {0}, int64[1] one = {1}, bool yes = {1}, float[1] two = {2}> {
		sums = Loop<body = b (int64 i, bool c) => (bool c, float s) {
			f = Cast<to=1>(i) keep = Greater(x, f) z = NonZero(keep) h = Shape(z) k = Gather<axis=0>(h, one) o = Expand(two, k)
			s = ReduceSum<keepdims=0>(o) }>(n, yes) }`
	out := interpreted(t, src, single(3), floats([]int{4}, 0, 1, 2, 3))
	require.Equal(t, []float32{6, 4, 2}, array.Data[float32](out[0]))
}

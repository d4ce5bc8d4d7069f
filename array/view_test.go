package array

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/diag"
)

func iota32(shape ...int) *Array {
	a := New(I32, shape...)
	for i := range Data[int32](a) {
		Data[int32](a)[i] = int32(i)
	}
	return a
}

func list(a *Array) []int32 { return Data[int32](Contiguous(a)) }

func TestViews(t *testing.T) {
	a := iota32(2, 3)
	for _, c := range []struct {
		name  string
		v     *Array
		shape []int
		want  []int32
	}{
		{"permute", Permute(a, 1, 0), []int{3, 2}, []int32{0, 3, 1, 4, 2, 5}},
		{"permute negative", Permute(a, -1, 0), []int{3, 2}, []int32{0, 3, 1, 4, 2, 5}},
		{"expand", Expand(Slice(a, 1, 0, 1, 1), 2, 2, 2), []int{2, 2, 2}, []int32{0, 0, 3, 3, 0, 0, 3, 3}},
		{"expand scalar", Expand(Scalar(int32(4)), 2), []int{2}, []int32{4, 4}},
		{"expand to nothing", Expand(iota32(1), 0), []int{0}, []int32{}},
		{"slice", Slice(a, 1, 0, 3, 2), []int{2, 2}, []int32{0, 2, 3, 5}},
		{"slice negative", Slice(a, -1, -2, 100, 1), []int{2, 2}, []int32{1, 2, 4, 5}},
		{"slice empty", Slice(a, 0, 2, 1, 1), []int{0, 3}, []int32{}},
		{"slice huge step", Slice(a, 0, 0, 2, math.MaxInt), []int{1, 3}, []int32{0, 1, 2}},
		{"select", Select(a, 0, -1), []int{3}, []int32{3, 4, 5}},
		{"select inner", Select(a, 1, 1), []int{2}, []int32{1, 4}},
		{"unsqueeze", Unsqueeze(a, -1), []int{2, 3, 1}, []int32{0, 1, 2, 3, 4, 5}},
		{"unsqueeze front", Unsqueeze(Permute(a, 1, 0), 0), []int{1, 3, 2}, []int32{0, 3, 1, 4, 2, 5}},
		{"flip", Flip(a, 0, 1), []int{2, 3}, []int32{5, 4, 3, 2, 1, 0}},
		{"flip one", Flip(a, -1), []int{2, 3}, []int32{2, 1, 0, 5, 4, 3}},
		{"flip empty", Flip(iota32(2, 0), 0), []int{2, 0}, []int32{}},
		{"diagonal", Diagonal(a, 0, 0, 1), []int{2}, []int32{0, 4}},
		{"diagonal above", Diagonal(a, 1, 0, 1), []int{2}, []int32{1, 5}},
		{"diagonal below", Diagonal(a, -1, 0, 1), []int{1}, []int32{3}},
		{"diagonal outside", Diagonal(a, 9, 0, 1), []int{0}, []int32{}},
		{"diagonal batched", Diagonal(iota32(2, 2, 2), 0, 1, 2), []int{2, 2}, []int32{0, 3, 4, 7}},
		{"reshape flipped slice", Reshape(Flip(iota32(6), 0), 2, 3), []int{2, 3}, []int32{5, 4, 3, 2, 1, 0}},
	} {
		require.Equal(t, c.shape, c.v.Shape(), c.name)
		require.Equal(t, c.want, append([]int32{}, list(c.v)...), c.name)
	}
	require.Equal(t, []int{2, 3}, a.Shape(), "the source keeps its header")
	Data[int32](a)[0] = 9
	require.Equal(t, int32(9), At[int32](Permute(a, 1, 0), 0, 0), "views share the storage")
}

func TestViewsRefuse(t *testing.T) {
	a := iota32(2, 3)
	for name, f := range map[string]func(){
		"permute twice": func() { Permute(a, 0, 0) }, "permute few": func() { Permute(a, 0) }, "permute range": func() { Permute(a, 0, 2) },
		"expand": func() { Expand(a, 2, 4) }, "expand rank": func() { Expand(a, 3) }, "expand negative": func() { Expand(iota32(1), -1) },
		"step": func() { Slice(a, 0, 0, 1, 0) }, "select": func() { Select(a, 0, 2) }, "select dim": func() { Select(a, 2, 0) },
		"unsqueeze":  func() { Unsqueeze(a, 3) },
		"copy shape": func() { Copy(iota32(3), iota32(2)) }, "copy dtype": func() { Copy(New(F32, 2), iota32(2)) }, "bytes": func() { Bytes(Permute(a, 1, 0)) },
	} {
		require.Panics(t, f, name)
		msg := func() (s any) { defer func() { s = recover() }(); f(); return }()
		require.IsType(t, "", msg, "%s: a message, not a runtime error", name)
	}
	require.Nil(t, Reshape(a, 4))
	require.Nil(t, Reshape(a, -1, -6))
	require.Nil(t, Reshape(Permute(a, 1, 0), 6))
	require.Nil(t, Reshape(Slice(a, 1, 0, 2, 1), 4))
}

// A reshaped view, where there is one, has the elements of the copy; where there
// is none, no assignment of strides would do.
func TestReshapeAgreesWithCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawView(t)
		n := a.Len()
		var shape []int
		for left := n; left > 1 || rapid.Bool().Draw(t, "more"); {
			d := rapid.IntRange(1, max(left, 1)).Filter(func(d int) bool { return left%d == 0 }).Draw(t, "d")
			shape = append(shape, d)
			left /= d
			if len(shape) > 6 {
				shape = append(shape, left)
				break
			}
		}
		if m, _ := NumElems(shape); m != n {
			return
		}
		v := Reshape(a, shape...)
		want := Reshape(Clone(a), shape...)
		require.NotNil(t, want)
		if v != nil {
			require.True(t, Equal(v, want), "%v %v to %v", a.Shape(), a.Strides(), shape)
			return
		}
		require.False(t, viewExists(a, shape), "%v %v to %v", a.Shape(), a.Strides(), shape)
	})
}

// viewExists decides by brute force: the strides are those of the first step
// along each dimension, and every element must follow from them.
func viewExists(a *Array, shape []int) bool {
	strides := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] > 1 {
			strides[i] = a.index(n) - a.index(0)
		}
		n *= shape[i]
	}
	v := Make(a.dtype, shape, strides, a.offset, a.store)
	for i := range n {
		if v.index(i) != a.index(i) {
			return false
		}
	}
	return true
}

// drawView draws an array of up to four dimensions with odd strides.
func drawView(t *rapid.T) *Array {
	a := iota32(rapid.SliceOfN(rapid.IntRange(1, 4), 0, 4).Draw(t, "shape")...)
	for range rapid.IntRange(0, 3).Draw(t, "views") {
		if a.Rank() == 0 {
			break
		}
		d := rapid.IntRange(0, a.Rank()-1).Draw(t, "dim")
		switch rapid.IntRange(0, 3).Draw(t, "view") {
		case 0:
			perm := rapid.Permutation([]int{0, 1, 2, 3}[:a.Rank()]).Draw(t, "perm")
			a = Permute(a, perm...)
		case 1:
			a = Flip(a, d)
		case 2:
			a = Slice(a, d, 0, a.Dim(d), rapid.IntRange(1, 2).Draw(t, "step"))
		case 3:
			if a.Dim(d) == 1 {
				shape := append([]int{}, a.Shape()...)
				shape[d] = 2
				a = Expand(a, shape...)
			}
		}
	}
	return a
}

func TestCopyAgreesWithIndexing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawView(t)
		c := Clone(src)
		require.True(t, c.IsContiguous())
		for i := range c.Len() {
			require.Equal(t, Int64At(src, i), Int64At(c, i))
		}
		if src.Rank() > 0 { // into a view with gaps, whose other elements stay
			d := src.Rank() - 1
			shape := append([]int{}, src.Shape()...)
			shape[d] = 2*shape[d] + 1
			big := New(I32, shape...)
			dst := Slice(big, d, 1, shape[d], 2)
			Copy(dst, src)
			require.True(t, Equal(dst, src))
			for i, n := 0, src.Dim(d); i <= n; i++ {
				for _, v := range list(Select(big, d, 2*i)) {
					require.Zero(t, v)
				}
			}
		}
	})
}

func TestCopySizesRanksAndAllocations(t *testing.T) {
	for _, d := range DTypes() {
		a := New(d, 67, 45)
		for i := range a.Len() {
			SetInt64At(a, i, int64(i*i%2))
		}
		v := Permute(a, 1, 0)
		c := Contiguous(v)
		require.True(t, Equal(c, v))
		require.Equal(t, Int64At(a, 5*45+7), Int64At(c, 7*67+5))
		dst := New(d, 45, 67)
		require.Zero(t, testing.AllocsPerRun(10, func() { Copy(dst, v) }), d)
		require.True(t, Equal(dst, v))
	}
	deep := iota32(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
	perm := []int{11, 9, 7, 5, 3, 1, 0, 2, 4, 6, 8, 10}
	c := Clone(Permute(deep, perm...))
	require.Equal(t, int32(1), At[int32](c, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	require.Equal(t, int32(2), At[int32](c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
	require.Same(t, deep, Contiguous(deep))
	Copy(New(F32, 0, 2), New(F32, 0, 2))
}

func TestEqualIsBitwise(t *testing.T) {
	nan := float32(math.NaN())
	require.True(t, Equal(FromSlice([]float32{nan, 0}), FromSlice([]float32{nan, 0})))
	require.False(t, Equal(Scalar(float32(0)), Scalar(float32(math.Copysign(0, -1)))))
	require.False(t, Equal(iota32(2), iota32(2, 1)))
	require.False(t, Equal(New(I32, 2), New(U32, 2)))
	require.True(t, Equal(New(I32, 0), New(I32, 0)))
}

func TestNumElemsAndBroadcast(t *testing.T) {
	for _, c := range []struct {
		shape []int
		n     int
		ok    bool
	}{
		{nil, 1, true}, {[]int{2, 3}, 6, true}, {[]int{0, math.MaxInt, 1}, 0, true}, {[]int{0, math.MaxInt, 2}, 0, false}, {[]int{3, 4, 1 << 62}, 0, false}, {[]int{-1}, 0, false}, {[]int{0, -1}, 0, false},
		{[]int{math.MaxInt}, math.MaxInt, true}, {[]int{math.MaxInt, 2}, 0, false}, {[]int{math.MaxInt/2 + 1, math.MaxInt/2 + 1}, 0, false}, {[]int{math.MaxInt/2 + 1, 2}, 0, false},
	} {
		n, ok := NumElems(c.shape)
		require.Equal(t, c.ok, ok, c.shape)
		require.Equal(t, c.n, n, c.shape)
	}
}

// TestShapesThatCannotBeCounted: no array has sizes whose product wraps, or bytes.
func TestShapesThatCannotBeCounted(t *testing.T) {
	refused := func(what string, f func()) {
		t.Helper()
		defer func() {
			e, ok := recover().(*diag.Error)
			require.True(t, ok, what)
			require.Equal(t, CodeTooLarge, e.Code, what)
		}()
		f()
	}
	for _, s := range [][]int{{3, 4, 1 << 62}, {0, 4, 1 << 62}, {1 << 62, 4}, {1 << 32, 1 << 32}, {1 << 32, 0, 1 << 32}, {-1}, {2, -1, 0}, {math.MaxInt, 1}} {
		refused("New", func() { New(F32, s...) })
		refused("NewDense", func() { NewDense[int64](s...) })
		refused("Reset", func() { (&Array{}).Reset(F64, s) })
		refused("FromSlice", func() { FromSlice([]float32{}, s...) })
	}
	refused("bytes", func() { New(F64, 1<<61) })
	refused("Expand", func() { Expand(New(F32, 1), 1<<62, 4) })
	require.Panics(t, func() { FromBytes(nil, F32, 3, 4, 1<<62) })
	require.Panics(t, func() { FromBytes(nil, F64, 1<<61) })
	require.Nil(t, Reshape(New(F32, 0), 0, 4, 1<<62))
	require.Nil(t, Reshape(New(F32), 1<<32, 1<<32, 1))
	require.Equal(t, []int{0, 1 << 40, 1 << 20}, New(F32, 0, 1<<40, 1<<20).Shape())
}

func TestFormat(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		a    *Array
		n    int
		want string
	}{
		{FromSlice([]float32{1, 2.5, 3, 4}, 2, 2), 10, "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])"},
		{FromSlice([]float32{1, -2}), 10, "tensor([ 1., -2.])"},
		{Scalar(int64(7)), 1, "tensor(7)"},
		{FromSlice([]bool{true, false}), 9, "tensor([ true, false])"},
		{FromSlice([]float64{1e-9, 1.5}), 9, "tensor([1.0000e-09, 1.5000e+00], dtype=f64)"},
		{FromSlice([]float32{float32(math.NaN()), float32(inf), float32(-inf), 0}), 9, "tensor([ nan,  inf, -inf,   0.])"},
		{iota32(8), 5, "tensor([0, 1, 2, ..., 5, 6, 7], dtype=i32)"},
		{iota32(1, 8, 1), 7, "tensor([[[0],\n         [1],\n         [2],\n         ...,\n         [5],\n         [6],\n         [7]]], dtype=i32)"},
		{iota32(2, 1, 1), 7, "tensor([[[0]],\n\n        [[1]]], dtype=i32)"},
		{New(F32, 0), 7, "tensor([])"}, {New(U8, 2, 0), 7, "tensor([], size=[2,0], dtype=u8)"},
		{Scalar(uint64(math.MaxUint64)), 1, "tensor(18446744073709551615, dtype=u64)"},
		{FromSlice([]Half{0x3c00}), 1, "tensor([1.], dtype=f16)"},
		{Permute(iota32(2, 2), 1, 0), 9, "tensor([[0, 2],\n        [1, 3]], dtype=i32)"},
	} {
		require.Equal(t, c.want, Format(c.a, c.n))
	}
}

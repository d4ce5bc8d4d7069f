package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// tensor64 is the reference form of an array in these tests: dense float64.
type tensor64 struct {
	shape []int
	data  []float64
}

// at returns the element at a multi-index.
func (t tensor64) at(ix ...int) float64 {
	k := 0
	for i, n := range t.shape {
		k = k*n + ix[i]
	}
	return t.data[k]
}

// fill64 makes a reference tensor whose elements come from f.
func fill64(shape []int, f func(ix []int) float64) tensor64 {
	t := tensor64{shape: shape, data: make([]float64, 0)}
	each(shape, func(ix []int) { t.data = append(t.data, f(ix)) })
	return t
}

// each visits all multi-indices of shape in row-major order.
func each(shape []int, f func(ix []int)) {
	ix := make([]int, len(shape))
	var walk func(d int)
	walk = func(d int) {
		if d == len(shape) {
			f(ix)
			return
		}
		for i := range shape[d] {
			ix[d] = i
			walk(d + 1)
		}
	}
	walk(0)
}

// get returns element k of a's storage.
func get(a *array.Array, k int) float64 {
	switch a.DType() {
	case array.F32:
		return float64(array.Raw[float32](a)[k])
	case array.F64:
		return array.Raw[float64](a)[k]
	case array.F16:
		return float64(array.Raw[array.Half](a)[k].Float32())
	case array.BF16:
		return float64(array.Raw[array.BFloat](a)[k].Float32())
	case array.I8:
		return float64(array.Raw[int8](a)[k])
	case array.U8, array.Bool:
		return float64(array.Raw[uint8](a)[k])
	case array.I16:
		return float64(array.Raw[int16](a)[k])
	case array.U16:
		return float64(array.Raw[uint16](a)[k])
	case array.I32:
		return float64(array.Raw[int32](a)[k])
	case array.U32:
		return float64(array.Raw[uint32](a)[k])
	case array.I64:
		return float64(array.Raw[int64](a)[k])
	}
	return float64(array.Raw[uint64](a)[k])
}

// put sets element k of a's storage.
func put(a *array.Array, k int, v float64) {
	b := valueBits(a.DType(), v)
	switch a.DType().Size() {
	case 1:
		array.Raw[uint8](a)[k] = uint8(b)
	case 2:
		array.Raw[uint16](a)[k] = uint16(b)
	case 4:
		array.Raw[uint32](a)[k] = uint32(b)
	default:
		array.Raw[uint64](a)[k] = b
	}
}

// unpack64 reads any array into the reference form.
func unpack64(a *array.Array) tensor64 {
	return fill64(append([]int{}, a.Shape()...), func(ix []int) float64 {
		k := a.Offset()
		for i, v := range ix {
			k += v * a.Strides()[i]
		}
		return get(a, k)
	})
}

// pack64 makes a contiguous array of a reference tensor.
func pack64(d array.DType, t tensor64) *array.Array {
	a := array.New(d, t.shape...)
	for i, v := range t.data {
		put(a, i, v)
	}
	return a
}

// layouts returns arrays equal to t in several layouts: contiguous, transposed
// storage with an offset, and reversed with gaps.
func layouts(d array.DType, t tensor64) []*array.Array {
	r := len(t.shape)
	n := prod(t.shape)
	strides := make([]int, r)
	scatter := func(off int) *array.Array {
		size := off + 1
		for i, s := range strides {
			size += max(s, -s) * t.shape[i]
		}
		a := array.Make(d, t.shape, strides, off, array.NewStorage(size*d.Size()))
		k := 0
		each(t.shape, func(ix []int) {
			at := off
			for i, v := range ix {
				at += v * strides[i]
			}
			put(a, at, t.data[k])
			k++
		})
		return a
	}
	if n == 0 {
		return []*array.Array{pack64(d, t)}
	}
	list := []*array.Array{pack64(d, t)}
	step := 1
	for i := range strides {
		strides[i] = step
		step *= t.shape[i]
	}
	list = append(list, scatter(3))
	strides = make([]int, r)
	step = 2
	off := 1
	for i := r - 1; i >= 0; i-- {
		strides[i] = -step
		off += (t.shape[i] - 1) * step
		step *= t.shape[i] + 1
	}
	return append(list, scatter(off))
}

// iota64 holds 1, 2, 3, ... wrapped so that every type can hold the values.
func iota64(shape ...int) tensor64 {
	k := 0
	return fill64(shape, func([]int) float64 { k++; return float64(k % 100) })
}

func rand64(r *rand.Rand, shape ...int) tensor64 {
	return fill64(shape, func([]int) float64 { return math.Round(r.NormFloat64()*64) / 16 })
}

// same requires that got holds want exactly, NaN equal to NaN.
func same(t *testing.T, want tensor64, got *array.Array, msg ...any) {
	t.Helper()
	require.Equal(t, want.shape, append([]int{}, got.Shape()...), msg...)
	near(t, want, got, 0, msg...)
}

// near is same with a tolerance relative to 1+|want|.
func near(t *testing.T, want tensor64, got *array.Array, tol float64, msg ...any) {
	t.Helper()
	g := unpack64(got)
	require.Len(t, g.data, len(want.data), msg...)
	for i, v := range want.data {
		x := g.data[i]
		ok := x == v || math.IsNaN(x) && math.IsNaN(v) || math.Abs(x-v) <= tol*(1+math.Abs(v))
		if !ok {
			require.Failf(t, "elements differ", "element %d: got %v, want %v (%v)", i, x, v, msg)
		}
	}
}

// code requires that f panics with a diagnostic of the given code and message.
func code(t *testing.T, c diag.Code, msg string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		e, ok := recover().(*diag.Error)
		require.True(t, ok, "expected a diagnostic")
		require.Equal(t, c, e.Code)
		require.Contains(t, e.Msg, msg)
	}()
	f()
}

// run1 runs a one-output step, checks that it keeps to its scratch estimate and
// leaves no scratch behind, and returns the output.
func run1(t *testing.T, s Step, d array.DType, shape []int, in ...*array.Array) *array.Array {
	t.Helper()
	out := array.New(d, shape...)
	runOut(t, s, []*array.Array{out}, in...)
	return out
}

func runOut(t *testing.T, s Step, out []*array.Array, in ...*array.Array) {
	t.Helper()
	for _, o := range out {
		for k := range o.Len() {
			put(o, k, 77) // stale contents must not matter
		}
	}
	var w Workspace
	s.Run(&w, out, in)
	require.Zero(t, w.Mark(), "scratch left behind")
	need := 0
	if sc, ok := s.(Scratcher); ok {
		need = sc.ScratchBytes(out, in)
	}
	require.LessOrEqual(t, w.HighWater(), need, "scratch estimate")
}

// noAllocs requires that a warm Run does not allocate.
func noAllocs(t *testing.T, s Step, out []*array.Array, in ...*array.Array) {
	t.Helper()
	var w Workspace
	require.Zero(t, testing.AllocsPerRun(5, func() { s.Run(&w, out, in) }))
}

// viewAndCopy checks a Viewer both ways against want.
func viewAndCopy(t *testing.T, s Viewer, want tensor64, in *array.Array, mustView bool) {
	t.Helper()
	same(t, want, run1(t, s, in.DType(), want.shape, in))
	dst := array.New(array.Bool, want.shape...)
	ok := s.View([]*array.Array{dst}, []*array.Array{in})
	require.True(t, ok || !mustView, "expected a view")
	if ok {
		require.Same(t, in.Storage(), dst.Storage())
		same(t, want, dst)
		dsts, args := []*array.Array{dst}, []*array.Array{in}
		require.Zero(t, testing.AllocsPerRun(5, func() {
			dst.Reset(in.DType(), want.shape)
			s.View(dsts, args)
		}))
	}
}

func TestViews(t *testing.T) {
	x := iota64(2, 3, 4)
	for _, d := range array.DTypes() {
		src := x
		if d == array.Bool {
			src = fill64(x.shape, func(ix []int) float64 { return float64((ix[0] + ix[1] + ix[2]) % 2) })
		}
		for _, in := range layouts(d, src) {
			viewAndCopy(t, Permute{Dims: []int{2, 0, 1}}, fill64([]int{4, 2, 3}, func(i []int) float64 {
				return src.at(i[1], i[2], i[0])
			}), in, true)
			viewAndCopy(t, Slice{Dim: -1, Start: 1, Stop: 99, Step: 2}, fill64([]int{2, 3, 2}, func(i []int) float64 {
				return src.at(i[0], i[1], 1+2*i[2])
			}), in, true)
			viewAndCopy(t, Slice{Dim: 1, Start: -2, Stop: -1, Step: 1}, fill64([]int{2, 1, 4}, func(i []int) float64 {
				return src.at(i[0], 1, i[2])
			}), in, true)
			viewAndCopy(t, Slice{Dim: 0, Start: 2, Stop: 1, Step: 1}, tensor64{shape: []int{0, 3, 4}}, in, true)
			viewAndCopy(t, Slice{Dim: 0, Start: 0, Stop: math.MaxInt, Step: math.MaxInt}, fill64([]int{1, 3, 4}, func(i []int) float64 {
				return src.at(i...)
			}), in, true)
			viewAndCopy(t, Select{Dim: 1, Index: -1}, fill64([]int{2, 4}, func(i []int) float64 {
				return src.at(i[0], 2, i[1])
			}), in, true)
			viewAndCopy(t, Diagonal{Offset: 1, Dim1: 0, Dim2: 2}, fill64([]int{3, 2}, func(i []int) float64 {
				return src.at(i[1], i[0], i[1]+1)
			}), in, true)
			viewAndCopy(t, Diagonal{Offset: -1, Dim1: 1, Dim2: 2}, fill64([]int{2, 2}, func(i []int) float64 {
				return src.at(i[0], i[1]+1, i[1])
			}), in, true)
			viewAndCopy(t, Diagonal{Offset: 9, Dim1: 1, Dim2: 2}, tensor64{shape: []int{2, 0}}, in, true)
			same(t, src, run1(t, Copy{}, d, src.shape, in))
		}
	}
	code(t, indexCode, "index 3 is out of range for dimension 1 of size 3", func() {
		Select{Dim: 1, Index: 3}.View([]*array.Array{array.New(array.F32)}, []*array.Array{pack64(array.F32, x)})
	})
}

func TestReshape(t *testing.T) {
	for _, c := range []struct{ from, to []int }{
		{[]int{2, 3, 4}, []int{6, 4}},
		{[]int{2, 3, 4}, []int{24}},
		{[]int{2, 3, 4}, []int{2, 1, 3, 2, 2}},
		{[]int{2, 3, 4}, []int{4, 3, 2}},
		{[]int{1, 1}, []int{}},
		{[]int{}, []int{1, 1}},
		{[]int{0, 3}, []int{5, 0}},
		{[]int{2, 1, 4}, []int{1, 8, 1}},
	} {
		x := iota64(c.from...)
		for i, in := range layouts(array.I32, x) {
			viewAndCopy(t, Reshape{}, tensor64{shape: c.to, data: x.data}, in, i == 0)
		}
	}
	// Strided inputs whose reshape is still a view.
	base := pack64(array.F32, iota64(4, 6))
	rows := array.Make(array.F32, []int{2, 6}, []int{12, 1}, 0, base.Storage())
	dst := array.New(array.F32, 2, 2, 3)
	require.True(t, Reshape{}.View([]*array.Array{dst}, []*array.Array{rows}))
	require.Equal(t, []int{12, 3, 1}, dst.Strides())
	cols := array.Make(array.F32, []int{4, 3}, []int{6, 2}, 1, base.Storage())
	dst = array.New(array.F32, 12)
	require.True(t, Reshape{}.View([]*array.Array{dst}, []*array.Array{cols}))
	require.Equal(t, []int{2}, dst.Strides())
	one := array.Make(array.F32, []int{2, 1, 3}, []int{6, 99, 2}, 0, base.Storage())
	dst = array.New(array.F32, 6)
	require.True(t, Reshape{}.View([]*array.Array{dst}, []*array.Array{one}))
	require.Equal(t, []int{2}, dst.Strides())
	rep := array.Make(array.F32, []int{3, 4}, []int{0, 1}, 0, base.Storage())
	require.False(t, Reshape{}.View([]*array.Array{array.New(array.F32, 12)}, []*array.Array{rep}))
	require.True(t, Reshape{}.View([]*array.Array{array.New(array.F32, 3, 2, 2)}, []*array.Array{rep}))
	code(t, operandCode, "different numbers", func() {
		Reshape{}.View([]*array.Array{array.New(array.F32, 5)}, []*array.Array{rep})
	})
}

func TestExpandAndTile(t *testing.T) {
	x := iota64(3, 1)
	for _, in := range layouts(array.F16, x) {
		viewAndCopy(t, Expand{}, fill64([]int{2, 3, 4}, func(i []int) float64 { return x.at(i[1], 0) }), in, true)
		same(t, fill64([]int{2, 6, 4}, func(i []int) float64 { return x.at(i[1]%3, 0) }), run1(t, Tile{}, array.F16, []int{2, 6, 4}, in))
		same(t, tensor64{shape: []int{0, 6, 4}}, run1(t, Tile{}, array.F16, []int{0, 6, 4}, in))
		for _, dim := range []int{0, 1} {
			shape := []int{3, 1}
			shape[dim] *= 3
			same(t, fill64(shape, func(i []int) float64 {
				j := []int{i[0], i[1]}
				j[dim] /= 3
				return x.at(j...)
			}), run1(t, RepeatInterleave{Repeats: 3, Dim: dim}, array.F16, shape, in))
		}
	}
	viewAndCopy(t, Expand{}, tensor64{shape: []int{0, 3}}, pack64(array.F32, iota64(1, 3)), true)
	viewAndCopy(t, Expand{}, tensor64{shape: []int{2}, data: []float64{1, 1}}, pack64(array.F32, iota64()), true)
}

func TestConcat(t *testing.T) {
	a, b := iota64(2, 3, 2), iota64(2, 1, 2)
	want := fill64([]int{2, 5, 2}, func(i []int) float64 {
		switch {
		case i[1] < 3:
			return a.at(i...)
		case i[1] == 3:
			return b.at(i[0], 0, i[2])
		}
		return b.at(i[0], 0, i[2])
	})
	for _, d := range []array.DType{array.F32, array.U8, array.BF16, array.I64} {
		for k, x := range layouts(d, a) {
			y := layouts(d, b)[k]
			same(t, want, run1(t, Concat{Dim: -2}, d, want.shape, x, array.New(d, 0), y, y))
		}
	}
	code(t, operandCode, "another rank", func() {
		run1(t, Concat{}, array.F32, []int{3}, array.New(array.F32, 1), array.New(array.F32, 2, 1))
	})
	code(t, operandCode, "not joined", func() {
		run1(t, Concat{}, array.F32, []int{3, 2}, array.New(array.F32, 1, 2), array.New(array.F32, 2, 1))
	})
}

func TestFlipRollTri(t *testing.T) {
	x := iota64(3, 4, 5)
	for _, in := range layouts(array.I16, x) {
		same(t, fill64(x.shape, func(i []int) float64 { return x.at(2-i[0], i[1], 4-i[2]) }),
			run1(t, Flip{Dims: []int{0, -1}}, array.I16, x.shape, in))
		same(t, fill64(x.shape, func(i []int) float64 { return x.at(mod(i[0]-4, 3), i[1], mod(i[2]+7, 5)) }),
			run1(t, Roll{Shifts: []int{4, -7}, Dims: []int{0, 2}}, array.I16, x.shape, in))
		same(t, fill64(x.shape, func(i []int) float64 { return x.data[mod(i[0]*20+i[1]*5+i[2]-7, 60)] }),
			run1(t, Roll{Shifts: []int{7}}, array.I16, x.shape, in))
		for _, diagonal := range []int{-9, -1, 0, 2, 9} {
			for _, upper := range []bool{false, true} {
				same(t, fill64(x.shape, func(i []int) float64 {
					if keep := i[2]-i[1] <= diagonal; upper && i[2]-i[1] >= diagonal || !upper && keep {
						return x.at(i...)
					}
					return 0
				}), run1(t, Tri{Upper: upper, Diagonal: diagonal}, array.I16, x.shape, in))
			}
		}
	}
	empty := tensor64{shape: []int{0, 2}}
	in := pack64(array.F32, empty)
	same(t, empty, run1(t, Flip{Dims: []int{0}}, array.F32, empty.shape, in))
	same(t, empty, run1(t, Roll{Shifts: []int{1}, Dims: []int{0}}, array.F32, empty.shape, in))
	same(t, empty, run1(t, Tri{}, array.F32, empty.shape, in))
}

func TestMoveDoesNotAllocate(t *testing.T) {
	x := layouts(array.F32, iota64(8, 8, 8))[1]
	out := []*array.Array{array.New(array.F32, 8, 8, 8)}
	for _, s := range []Step{Copy{}, Permute{Dims: []int{1, 2, 0}}, Flip{Dims: []int{0}}, Roll{Shifts: []int{3}}, Tri{}, Reshape{}} {
		noAllocs(t, s, out, x)
	}
	noAllocs(t, Concat{Dim: 0}, []*array.Array{array.New(array.F32, 16, 8, 8)}, x, x)
}

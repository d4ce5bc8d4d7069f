package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/stretchr/testify/require"
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

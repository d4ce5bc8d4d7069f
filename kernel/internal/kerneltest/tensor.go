package kerneltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/stretchr/testify/require"
)

// Tensor64 is the reference form of an array in these tests: dense float64.
type Tensor64 struct {
	Shape []int
	Data  []float64
}

// At returns the element at a multi-index.
func (t Tensor64) At(ix ...int) float64 {
	k := 0
	for i, n := range t.Shape {
		k = k*n + ix[i]
	}
	return t.Data[k]
}

// Fill64 makes a reference tensor whose elements come from f.
func Fill64(shape []int, f func(ix []int) float64) Tensor64 {
	t := Tensor64{Shape: shape, Data: make([]float64, 0)}
	Each(shape, func(ix []int) { t.Data = append(t.Data, f(ix)) })
	return t
}

// Each visits all multi-indices of shape in row-major order.
func Each(shape []int, f func(ix []int)) {
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

// Get returns element k of a's storage.
func Get(a *array.Array, k int) float64 {
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
	b := operand.ValueBits(a.DType(), v)
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

// Unpack64 reads any array into the reference form.
func Unpack64(a *array.Array) Tensor64 {
	return Fill64(append([]int{}, a.Shape()...), func(ix []int) float64 {
		k := a.Offset()
		for i, v := range ix {
			k += v * a.Strides()[i]
		}
		return Get(a, k)
	})
}

// Pack64 makes a contiguous array of a reference tensor.
func Pack64(d array.DType, t Tensor64) *array.Array {
	a := array.New(d, t.Shape...)
	for i, v := range t.Data {
		put(a, i, v)
	}
	return a
}

// Layouts returns arrays equal to t in several layouts: contiguous, transposed
// storage with an offset, and reversed with gaps.
func Layouts(d array.DType, t Tensor64) []*array.Array {
	r := len(t.Shape)
	n := operand.Prod(t.Shape)
	strides := make([]int, r)
	scatter := func(off int) *array.Array {
		size := off + 1
		for i, s := range strides {
			size += max(s, -s) * t.Shape[i]
		}
		a := array.Make(d, t.Shape, strides, off, array.NewStorage(size*d.Size()))
		k := 0
		Each(t.Shape, func(ix []int) {
			at := off
			for i, v := range ix {
				at += v * strides[i]
			}
			put(a, at, t.Data[k])
			k++
		})
		return a
	}
	if n == 0 {
		return []*array.Array{Pack64(d, t)}
	}
	list := []*array.Array{Pack64(d, t)}
	step := 1
	for i := range strides {
		strides[i] = step
		step *= t.Shape[i]
	}
	list = append(list, scatter(3))
	strides = make([]int, r)
	step = 2
	off := 1
	for i := r - 1; i >= 0; i-- {
		strides[i] = -step
		off += (t.Shape[i] - 1) * step
		step *= t.Shape[i] + 1
	}
	return append(list, scatter(off))
}

// Iota64 holds 1, 2, 3, ... wrapped so that every type can hold the values.
func Iota64(shape ...int) Tensor64 {
	k := 0
	return Fill64(shape, func([]int) float64 { k++; return float64(k % 100) })
}

// Rand64 draws normal values.
func Rand64(r *rand.Rand, shape ...int) Tensor64 {
	return Fill64(shape, func([]int) float64 { return math.Round(r.NormFloat64()*64) / 16 })
}

// Same requires that got holds want exactly, NaN equal to NaN.
func Same(t *testing.T, want Tensor64, got *array.Array, msg ...any) {
	t.Helper()
	require.Equal(t, want.Shape, append([]int{}, got.Shape()...), msg...)
	Near(t, want, got, 0, msg...)
}

// Near is same with a tolerance relative to 1+|want|.
func Near(t *testing.T, want Tensor64, got *array.Array, tol float64, msg ...any) {
	t.Helper()
	g := Unpack64(got)
	require.Len(t, g.Data, len(want.Data), msg...)
	for i, v := range want.Data {
		x := g.Data[i]
		ok := x == v || math.IsNaN(x) && math.IsNaN(v) || math.Abs(x-v) <= tol*(1+math.Abs(v))
		if !ok {
			require.Failf(t, "elements differ", "element %d: got %v, want %v (%v)", i, x, v, msg)
		}
	}
}

// Code requires that f panics with a diagnostic of the given code and message.
func Code(t *testing.T, c diag.Code, msg string, f func()) {
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

// Run1 runs a one-output step, checks that it keeps to its scratch estimate and
// releases all scratch, and returns the output.
func Run1(t *testing.T, s par.Step, d array.DType, shape []int, in ...*array.Array) *array.Array {
	t.Helper()
	out := array.New(d, shape...)
	RunOut(t, s, []*array.Array{out}, in...)
	return out
}

// RunOut runs a step with soiled results and the scratch that it asked for.
func RunOut(t *testing.T, s par.Step, out []*array.Array, in ...*array.Array) {
	t.Helper()
	for _, o := range out {
		for k := range o.Len() {
			put(o, k, 77) // stale contents must not matter
		}
	}
	var w par.Workspace
	s.Run(&w, out, in)
	require.Zero(t, w.Mark(), "scratch was not released")
	need := 0
	if sc, ok := s.(par.Scratcher); ok {
		need = sc.ScratchBytes(out, in)
	}
	require.LessOrEqual(t, w.HighWater(), need, "scratch estimate")
}

// NoAllocs requires that a warm Run does not allocate.
func NoAllocs(t *testing.T, s par.Step, out []*array.Array, in ...*array.Array) {
	t.Helper()
	var w par.Workspace
	require.Zero(t, testing.AllocsPerRun(5, func() { s.Run(&w, out, in) }))
}

// ViewAndCopy checks a Viewer both ways against want.
func ViewAndCopy(t *testing.T, s par.Viewer, want Tensor64, in *array.Array, mustView bool) {
	t.Helper()
	Same(t, want, Run1(t, s, in.DType(), want.Shape, in))
	dst := array.New(array.Bool, want.Shape...)
	ok := s.View([]*array.Array{dst}, []*array.Array{in})
	require.True(t, ok || !mustView, "expected a view")
	if ok {
		require.Same(t, in.Storage(), dst.Storage())
		Same(t, want, dst)
		dsts, args := []*array.Array{dst}, []*array.Array{in}
		require.Zero(t, testing.AllocsPerRun(5, func() {
			dst.Reset(in.DType(), want.Shape)
			s.View(dsts, args)
		}))
	}
}

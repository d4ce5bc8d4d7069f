package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/stretchr/testify/require"
)

// absolute returns the magnitudes of x.
func (x refArray) absolute() refArray {
	y := newRef(x.shape...)
	for i, v := range x.v {
		y.v[i] = math.Abs(v)
	}
	return y
}

// refArray is an operand or result of a reference computation, in float64.
type refArray struct {
	shape []int
	v     []float64
}

func newRef(shape ...int) refArray {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return refArray{shape, make([]float64, n)}
}

// at reads an element; indices outside the shape read as ok=false.
func (d refArray) index(pos ...int) (int, bool) {
	i := 0
	for k, p := range pos {
		if p < 0 || p >= d.shape[k] {
			return 0, false
		}
		i = i*d.shape[k] + p
	}
	return i, true
}

func (d refArray) get(pos ...int) float64 {
	if i, ok := d.index(pos...); ok {
		return d.v[i]
	}
	return 0
}

func (d refArray) set(x float64, pos ...int) {
	i, ok := d.index(pos...)
	if !ok {
		panic("reference writes outside its result")
	}
	d.v[i] = x
}

// eachPos calls f with every position of a shape, in row-major order.
func eachPos(shape []int, f func(pos []int)) {
	pos := make([]int, len(shape))
	for _, d := range shape {
		if d == 0 {
			return
		}
	}
	for {
		f(pos)
		k := len(shape) - 1
		for ; k >= 0; k-- {
			if pos[k]++; pos[k] < shape[k] {
				break
			}
			pos[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// shapes of operands; nil is an absent one.
type shapes [][]int

// randomRef draws normal values.
func randomRef(r *rand.Rand, shape []int) refArray {
	d := newRef(shape...)
	for i := range d.v {
		d.v[i] = r.NormFloat64()
	}
	return d
}

// toArray rounds d to an element type, laid out with the last two dimensions
// swapped in memory and a gap when strided.
func toArray(d refArray, dt array.DType, strided bool) *array.Array {
	a := array.New(dt, d.shape...)
	if strided {
		n := len(d.shape)
		strides := make([]int, n)
		size := 1
		for i := range n {
			k := i
			if n > 1 && i < n-1 {
				k = n - 2 - i
			}
			strides[k] = size * 2
			size *= d.shape[k]
		}
		a = array.Make(dt, d.shape, strides, 3, array.NewStorage((size*2+3)*dt.Size()))
	}
	i := 0
	eachPos(d.shape, func(pos []int) {
		setElem(a, pos, d.v[i])
		i++
	})
	return a
}

func elemAt(a *array.Array, pos []int) int {
	at := a.Offset()
	for k, p := range pos {
		at += p * a.Strides()[k]
	}
	return at
}

func setElem(a *array.Array, pos []int, x float64) {
	at := elemAt(a, pos)
	switch a.DType() {
	case array.F32:
		array.Raw[float32](a)[at] = float32(x)
	case array.F64:
		array.Raw[float64](a)[at] = x
	case array.F16:
		array.Raw[array.Half](a)[at] = array.HalfFromFloat32(float32(x))
	case array.BF16:
		array.Raw[array.BFloat](a)[at] = array.BFloatFromFloat32(float32(x))
	case array.I8:
		array.Raw[int8](a)[at] = int8(int64(math.Round(x * 8)))
	case array.U8:
		array.Raw[uint8](a)[at] = uint8(int64(math.Round(math.Abs(x) * 8)))
	case array.I32:
		array.Raw[int32](a)[at] = int32(math.Round(x * 8))
	case array.I64:
		array.Raw[int64](a)[at] = int64(math.Round(x * 8))
	default:
		panic("setElem: " + a.DType().String())
	}
}

func toRef(a *array.Array) refArray {
	d := newRef(append([]int{}, a.Shape()...)...)
	i := 0
	eachPos(d.shape, func(pos []int) {
		at := elemAt(a, pos)
		switch a.DType() {
		case array.F32:
			d.v[i] = float64(array.Raw[float32](a)[at])
		case array.F64:
			d.v[i] = array.Raw[float64](a)[at]
		case array.F16:
			d.v[i] = float64(array.Raw[array.Half](a)[at].Float32())
		case array.BF16:
			d.v[i] = float64(array.Raw[array.BFloat](a)[at].Float32())
		case array.I8:
			d.v[i] = float64(array.Raw[int8](a)[at])
		case array.U8:
			d.v[i] = float64(array.Raw[uint8](a)[at])
		case array.I32:
			d.v[i] = float64(array.Raw[int32](a)[at])
		case array.I64:
			d.v[i] = float64(array.Raw[int64](a)[at])
		default:
			panic("toRef: " + a.DType().String())
		}
		i++
	})
	return d
}

// tolerance is relative to max(1, |want|): rounding of the stored type, and for
// float32 that of sums of a few hundred terms.
func tolerance(d array.DType) float64 {
	switch d {
	case array.F64:
		return 1e-12
	case array.F16:
		return 1.0 / 1024
	case array.BF16:
		return 1.0 / 128
	}
	return 2e-5
}

func requireClose(t *testing.T, want refArray, got *array.Array) {
	t.Helper()
	require.Equal(t, want.shape, append([]int{}, got.Shape()...))
	g := toRef(got)
	tol := tolerance(got.DType())
	for i, x := range want.v {
		if math.IsNaN(x) && math.IsNaN(g.v[i]) || x == g.v[i] {
			continue
		}
		if !(math.Abs(x-g.v[i]) <= tol*max(1, math.Abs(x))) {
			require.Failf(t, "values differ", "%v element %d of %v: got %v, want %v", got.DType(), i, want.shape, g.v[i], x)
		}
	}
}

// runStep runs a step with one and with four threads, asserts that the results
// are the same bits and that scratch stays within ScratchBytes.
func runStep(t *testing.T, s Step, out, in []*array.Array) {
	t.Helper()
	w := &Workspace{Threads: 1}
	s.Run(w, out, in)
	require.Zero(t, w.Mark(), "scratch was not released")
	bound := 0
	if sc, ok := s.(Scratcher); ok {
		bound = sc.ScratchBytes(out, in)
	}
	require.LessOrEqual(t, w.HighWater(), bound, "scratch exceeds ScratchBytes")
	again := make([]*array.Array, len(out))
	for i, a := range out {
		if a != nil {
			again[i] = array.New(a.DType(), a.Shape()...)
			soil(again[i].Storage().Bytes())
		}
	}
	// In memory that was used before, which must not show in the results.
	w = &Workspace{Threads: 4}
	w.Reserve(bound)
	soil(Scratch[uint8](w, w.Reserved()))
	w.Release(0)
	s.Run(w, again, in)
	for i, a := range out {
		if a != nil {
			require.Equal(t, a.Storage().Bytes(), again[i].Storage().Bytes(), "the result depends on the number of threads or on what the memory held")
		}
	}
}

// soil fills memory with what is NaN as a float.
func soil(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// stepCase is a step, the shapes of its results and operands, and what it means.
type stepCase struct {
	name string
	step Step
	out  shapes
	in   shapes
	// prepare may change operands before they are rounded.
	prepare func(in []refArray)
	// meaning computes the results; index results are compared exactly.
	meaning func(in, out []refArray)
	// index tells which result is i64; -1 or 0 for none (the first never is).
	index int
}

// check runs a case over float types and layouts against its meaning.
func (c stepCase) check(t *testing.T, types ...array.DType) {
	if len(types) == 0 {
		types = []array.DType{array.F32, array.F64, array.F16, array.BF16}
	}
	for _, dt := range types {
		for _, strided := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v/strided=%v", c.name, dt, strided), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				raw := make([]refArray, len(c.in))
				for i, sh := range c.in {
					if sh != nil {
						raw[i] = randomRef(r, sh)
					}
				}
				if c.prepare != nil {
					c.prepare(raw)
				}
				in, ref := make([]*array.Array, len(raw)), make([]refArray, len(raw))
				for i, d := range raw {
					if d.shape != nil {
						in[i] = toArray(d, dt, strided)
						ref[i] = toRef(in[i])
					}
				}
				out, want := make([]*array.Array, len(c.out)), make([]refArray, len(c.out))
				for i, sh := range c.out {
					od := dt
					if i > 0 && i == c.index {
						od = array.I64
					}
					out[i], want[i] = array.New(od, sh...), newRef(sh...)
				}
				c.meaning(ref, want)
				runStep(t, c.step, out, in)
				for i := range out {
					requireClose(t, want[i], out[i])
				}
			})
		}
	}
}

// requireNoAllocs asserts that a step allocates nothing once warm.
func requireNoAllocs(t *testing.T, s Step, out, in []*array.Array) {
	t.Helper()
	for _, threads := range []int{1, 3} {
		w := &Workspace{Threads: threads}
		for range 8 {
			s.Run(w, out, in)
		}
		require.Zero(t, testing.AllocsPerRun(20, func() { s.Run(w, out, in) }), "threads=%d", threads)
	}
}

func (d refArray) or(i int, absent float64) float64 {
	if d.v == nil {
		return absent
	}
	return d.v[i]
}

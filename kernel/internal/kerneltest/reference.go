package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/stretchr/testify/require"
)

// Absolute returns the magnitudes of x.
func (x RefArray) Absolute() RefArray {
	y := NewRef(x.Shape...)
	for i, v := range x.V {
		y.V[i] = math.Abs(v)
	}
	return y
}

// RefArray is an operand or result of a reference computation, in float64.
type RefArray struct {
	Shape []int
	V     []float64
}

// NewRef returns zeros.
func NewRef(shape ...int) RefArray {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return RefArray{shape, make([]float64, n)}
}

// at reads an element; indices outside the shape read as ok=false.
func (d RefArray) Index(pos ...int) (int, bool) {
	i := 0
	for k, p := range pos {
		if p < 0 || p >= d.Shape[k] {
			return 0, false
		}
		i = i*d.Shape[k] + p
	}
	return i, true
}

// Get returns an element, 0 outside the shape or the value of an array's element k.
func (d RefArray) Get(pos ...int) float64 {
	if i, ok := d.Index(pos...); ok {
		return d.V[i]
	}
	return 0
}

// Set sets an element, which must be there.
func (d RefArray) Set(x float64, pos ...int) {
	i, ok := d.Index(pos...)
	if !ok {
		panic("reference writes outside its result")
	}
	d.V[i] = x
}

// EachPos calls f with every position of a shape, in row-major order.
func EachPos(shape []int, f func(pos []int)) {
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

// Shapes of operands; nil is an absent one.
type Shapes [][]int

// RandomRef draws normal values.
func RandomRef(r *rand.Rand, shape []int) RefArray {
	d := NewRef(shape...)
	for i := range d.V {
		d.V[i] = r.NormFloat64()
	}
	return d
}

// ToArray rounds d to an element type, laid out with the last two dimensions
// swapped in memory and a gap when strided.
func ToArray(d RefArray, dt array.DType, strided bool) *array.Array {
	a := array.New(dt, d.Shape...)
	if strided {
		n := len(d.Shape)
		strides := make([]int, n)
		size := 1
		for i := range n {
			k := i
			if n > 1 && i < n-1 {
				k = n - 2 - i
			}
			strides[k] = size * 2
			size *= d.Shape[k]
		}
		a = array.Make(dt, d.Shape, strides, 3, array.NewStorage((size*2+3)*dt.Size()))
	}
	i := 0
	EachPos(d.Shape, func(pos []int) {
		SetElem(a, pos, d.V[i])
		i++
	})
	return a
}

// ElemAt returns where an element lies in memory.
func ElemAt(a *array.Array, pos []int) int {
	at := a.Offset()
	for k, p := range pos {
		at += p * a.Strides()[k]
	}
	return at
}

// SetElem rounds x to the type of an array's element.
func SetElem(a *array.Array, pos []int, x float64) {
	at := ElemAt(a, pos)
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

// ToRef widens an array.
func ToRef(a *array.Array) RefArray {
	d := NewRef(append([]int{}, a.Shape()...)...)
	i := 0
	EachPos(d.Shape, func(pos []int) {
		at := ElemAt(a, pos)
		switch a.DType() {
		case array.F32:
			d.V[i] = float64(array.Raw[float32](a)[at])
		case array.F64:
			d.V[i] = array.Raw[float64](a)[at]
		case array.F16:
			d.V[i] = float64(array.Raw[array.Half](a)[at].Float32())
		case array.BF16:
			d.V[i] = float64(array.Raw[array.BFloat](a)[at].Float32())
		case array.I8:
			d.V[i] = float64(array.Raw[int8](a)[at])
		case array.U8:
			d.V[i] = float64(array.Raw[uint8](a)[at])
		case array.I32:
			d.V[i] = float64(array.Raw[int32](a)[at])
		case array.I64:
			d.V[i] = float64(array.Raw[int64](a)[at])
		default:
			panic("toRef: " + a.DType().String())
		}
		i++
	})
	return d
}

// Tolerance is relative to max(1, |want|): rounding of the stored type, and for
// float32 that of sums of a few hundred terms.
func Tolerance(d array.DType) float64 {
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

// RequireClose compares within the tolerance of the element type.
func RequireClose(t *testing.T, want RefArray, got *array.Array) {
	t.Helper()
	require.Equal(t, want.Shape, append([]int{}, got.Shape()...))
	g := ToRef(got)
	tol := Tolerance(got.DType())
	for i, x := range want.V {
		if math.IsNaN(x) && math.IsNaN(g.V[i]) || x == g.V[i] {
			continue
		}
		if !(math.Abs(x-g.V[i]) <= tol*max(1, math.Abs(x))) {
			require.Failf(t, "values differ", "%v element %d of %v: got %v, want %v", got.DType(), i, want.Shape, g.V[i], x)
		}
	}
}

// RequireSumsClose compares sums of products of float32, in any order, with want. sizes are the
// sums of the products' absolute values: a sum is off by a few roundings of that size at the most,
// however many terms it has, and however little is left of them.
func RequireSumsClose(t *testing.T, want, sizes RefArray, got *array.Array) {
	t.Helper()
	require.Equal(t, want.Shape, append([]int{}, got.Shape()...))
	for i, g := range ToRef(got).V {
		if tol := 8 * 0x1p-24 * sizes.V[i]; !(math.Abs(want.V[i]-g) <= tol) {
			require.Failf(t, "sums differ", "element %d of %v: got %v, want %v within %v", i, want.Shape, g, want.V[i], tol)
		}
	}
}

// RunStep runs a step with one and with four threads, asserts that the results
// are the same bits and that scratch stays within ScratchBytes.
func RunStep(t *testing.T, s par.Step, out, in []*array.Array) {
	t.Helper()
	w := &par.Workspace{Threads: 1}
	s.Run(w, out, in)
	require.Zero(t, w.Mark(), "scratch was not released")
	bound := 0
	if sc, ok := s.(par.Scratcher); ok {
		bound = sc.ScratchBytes(out, in)
	}
	require.LessOrEqual(t, w.HighWater(), bound, "scratch exceeds ScratchBytes")
	again := make([]*array.Array, len(out))
	for i, a := range out {
		if a != nil {
			again[i] = array.New(a.DType(), a.Shape()...)
			Soil(again[i].Storage().Bytes())
		}
	}
	// In memory that was used before, which must not show in the results.
	w = &par.Workspace{Threads: 4}
	w.Reserve(bound)
	Soil(par.Scratch[uint8](w, w.Reserved()))
	w.Release(0)
	s.Run(w, again, in)
	for i, a := range out {
		if a != nil {
			require.Equal(t, a.Storage().Bytes(), again[i].Storage().Bytes(), "the result depends on the number of threads or on what the memory held")
		}
	}
}

// Soil fills memory with bytes that are NaN as a float.
func Soil(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// StepCase is a step, the shapes of its results and operands, and its definition.
type StepCase struct {
	Name string
	Step par.Step
	Out  Shapes
	In   Shapes
	// prepare may change operands before they are rounded.
	Prepare func(in []RefArray)
	// meaning computes the results; index results are compared exactly.
	Meaning func(in, out []RefArray)
	// index tells which result is i64; -1 or 0 for none (the first never is).
	Index int
}

// Check runs a case over float types and layouts against its meaning.
func (c StepCase) Check(t *testing.T, types ...array.DType) {
	if len(types) == 0 {
		types = []array.DType{array.F32, array.F64, array.F16, array.BF16}
	}
	for _, dt := range types {
		for _, strided := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v/strided=%v", c.Name, dt, strided), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				raw := make([]RefArray, len(c.In))
				for i, sh := range c.In {
					if sh != nil {
						raw[i] = RandomRef(r, sh)
					}
				}
				if c.Prepare != nil {
					c.Prepare(raw)
				}
				in, ref := make([]*array.Array, len(raw)), make([]RefArray, len(raw))
				for i, d := range raw {
					if d.Shape != nil {
						in[i] = ToArray(d, dt, strided)
						ref[i] = ToRef(in[i])
					}
				}
				out, want := make([]*array.Array, len(c.Out)), make([]RefArray, len(c.Out))
				for i, sh := range c.Out {
					od := dt
					if i > 0 && i == c.Index {
						od = array.I64
					}
					out[i], want[i] = array.New(od, sh...), NewRef(sh...)
				}
				c.Meaning(ref, want)
				RunStep(t, c.Step, out, in)
				for i := range out {
					RequireClose(t, want[i], out[i])
				}
			})
		}
	}
}

// RequireNoAllocs asserts that a step allocates nothing once warm.
func RequireNoAllocs(t *testing.T, s par.Step, out, in []*array.Array) {
	t.Helper()
	for _, threads := range []int{1, 3} {
		w := &par.Workspace{Threads: threads}
		for range 8 {
			s.Run(w, out, in)
		}
		require.Zero(t, testing.AllocsPerRun(20, func() { s.Run(w, out, in) }), "threads=%d", threads)
	}
}

// Or returns element i, or a value where the operand is absent.
func (d RefArray) Or(i int, absent float64) float64 {
	if d.V == nil {
		return absent
	}
	return d.V[i]
}

package move

import (
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// rawPart returns elements [lo, hi) of in, in row-major order: its own memory where
// they lie side by side, else scratch.
func rawPart[T array.Elem](w *par.Workspace, in *array.Array, lo, hi int) []T {
	if in.IsContiguous() || lo == 0 && hi == in.Len() {
		return RawDense[T](w, in)[lo:hi]
	}
	buf := par.Scratch[T](w, hi-lo)
	gatherPart(operand.AsBytes(buf), in, in.DType().Size(), lo)
	return buf
}

// gatherPart fills dst with the elements, of size bytes, of in from the lo-th on.
// A run of the innermost dimension at a time: the odometer turns once a run.
func gatherPart(dst []byte, in *array.Array, size, lo int) {
	src, shape, strides := in.Storage().Bytes(), in.Shape(), in.Strides()
	var at [operand.MaxRank]int
	o, last := in.Offset(), len(shape)-1
	for d, rest := last, lo; d >= 0; d-- {
		at[d], rest = rest%shape[d], rest/shape[d]
		o += at[d] * strides[d]
	}
	for len(dst) > 0 {
		n := min(shape[last]-at[last], len(dst)/size)
		switch size {
		case 1:
			gatherRun(dst[:n], src, o, strides[last])
		case 2:
			gatherRun(wordsOf[uint16](dst)[:n], wordsOf[uint16](src), o, strides[last])
		case 4:
			gatherRun(wordsOf[uint32](dst)[:n], wordsOf[uint32](src), o, strides[last])
		default:
			gatherRun(wordsOf[uint64](dst)[:n], wordsOf[uint64](src), o, strides[last])
		}
		dst = dst[n*size:]
		o -= at[last] * strides[last]
		at[last] = 0
		for d := last - 1; d >= 0; d-- {
			if at[d]++; at[d] < shape[d] {
				o += strides[d]
				break
			}
			o -= (at[d] - 1) * strides[d]
			at[d] = 0
		}
	}
}

// wordsOf returns memory as words of T.
func wordsOf[T uint16 | uint32 | uint64](b []byte) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

// gatherRun fills dst with elements step apart, from the o-th on.
func gatherRun[T uint8 | uint16 | uint32 | uint64](dst, src []T, o, step int) {
	for i := range dst {
		dst[i] = src[o+i*step]
	}
}

// Scalar is the set of types that reductions, scans and sorts compute in:
// float32 also for f16 and bf16, int64 for bool and all integers. u64 keeps its
// bits; where order matters, LoadOrdered shifts its range.
type Scalar interface {
	float32 | float64 | int64
}

// ScalarOf returns the type that elements of type d are computed in.
func ScalarOf(d array.DType) array.DType {
	switch d {
	case array.F64:
		return array.F64
	case array.F32, array.F16, array.BF16:
		return array.F32
	}
	return array.I64
}

// sameBits reports whether elements of type d are Go's T as they lie in memory.
func sameBits[T Scalar](d array.DType) bool {
	t := array.DTypeOf[T]()
	return d == t || d == array.U64 && t == array.I64
}

// LoadAs returns the elements of a in row-major order converted to T: a's own
// memory where no conversion or copy is needed, else scratch.
func LoadAs[T Scalar](w *par.Workspace, a *array.Array) []T { return LoadPart[T](w, a, 0, a.Len()) }

// LoadPart is LoadAs for the elements [lo, hi).
func LoadPart[T Scalar](w *par.Workspace, a *array.Array, lo, hi int) []T {
	if lo == hi {
		return nil
	}
	if sameBits[T](a.DType()) {
		return rawPart[T](w, a, lo, hi)
	}
	buf := par.Scratch[T](w, hi-lo)
	m := w.Mark()
	switch a.DType() {
	case array.F32:
		Convert(buf, rawPart[float32](w, a, lo, hi))
	case array.F64:
		Convert(buf, rawPart[float64](w, a, lo, hi))
	case array.F16:
		for i, v := range rawPart[array.Half](w, a, lo, hi) {
			buf[i] = T(v.Float32())
		}
	case array.BF16:
		for i, v := range rawPart[array.BFloat](w, a, lo, hi) {
			buf[i] = T(v.Float32())
		}
	case array.I8:
		Convert(buf, rawPart[int8](w, a, lo, hi))
	case array.U8, array.Bool:
		Convert(buf, rawPart[uint8](w, a, lo, hi))
	case array.I16:
		Convert(buf, rawPart[int16](w, a, lo, hi))
	case array.U16:
		Convert(buf, rawPart[uint16](w, a, lo, hi))
	case array.I32:
		Convert(buf, rawPart[int32](w, a, lo, hi))
	case array.U32:
		Convert(buf, rawPart[uint32](w, a, lo, hi))
	case array.I64:
		Convert(buf, rawPart[int64](w, a, lo, hi))
	default:
		Convert(buf, rawPart[uint64](w, a, lo, hi))
	}
	w.Release(m)
	return buf
}

// Number is the set of element types that Go converts between by itself.
type Number interface {
	float32 | float64 | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// Convert converts elements as Go does.
func Convert[T, S Number](dst []T, src []S) {
	for i, v := range src {
		dst[i] = T(v)
	}
}

// LoadOrdered is LoadAs with u64 values moved so that they compare as int64;
// unorder moves them back.
func LoadOrdered[T Scalar](w *par.Workspace, a *array.Array) []T {
	x := LoadAs[T](w, a)
	if a.DType() != array.U64 || a.Len() == 0 {
		return x
	}
	buf := par.Scratch[T](w, len(x))
	copy(buf, x)
	Unorder(a.DType(), buf)
	return buf
}

// Unorder flips the top bit of values of a u64 array.
func Unorder[T Scalar](d array.DType, x []T) {
	if d != array.U64 {
		return
	}
	if ints, ok := any(x).([]int64); ok {
		for i := range ints {
			ints[i] ^= math.MinInt64
		}
	}
}

// AsBytes returns the scratch bytes that LoadAs takes to load a as type d.
func AsBytes(a *array.Array, d array.DType) int {
	if a == nil {
		return 0
	}
	if a.DType() == d || a.DType() == array.U64 && d == array.I64 {
		return DenseBytes(a)
	}
	return DenseBytes(a) + par.ScratchSize(a.Len(), d.Size())
}

// OrderedBytes returns the scratch bytes that LoadOrdered takes to load a as d.
func OrderedBytes(a *array.Array, d array.DType) int {
	n := AsBytes(a, d)
	if a.DType() == array.U64 {
		n += par.ScratchSize(a.Len(), d.Size())
	}
	return n
}

// OutAs returns memory to compute out in: its own, or scratch where its type is
// not T. SaveAs brings the results to out.
func OutAs[T Scalar](w *par.Workspace, out *array.Array) []T {
	if sameBits[T](out.DType()) {
		return RawOut[T](out)
	}
	return par.Scratch[T](w, out.Len())
}

// outBytes returns the scratch bytes that OutAs takes.
func outBytes(out *array.Array) int {
	d := ScalarOf(out.DType())
	if d == out.DType() || out.DType() == array.U64 {
		return 0
	}
	return par.ScratchSize(out.Len(), d.Size())
}

// SaveAs converts x to the type of out: floats round to nearest even, integers
// wrap, bool is x != 0. It does nothing when x is out's own memory.
func SaveAs[T Scalar](out *array.Array, x []T) {
	if len(x) == 0 {
		return
	}
	if sameBits[T](out.DType()) {
		if o := RawOut[T](out); &o[0] != &x[0] {
			copy(o, x)
		}
		return
	}
	switch out.DType() {
	case array.F32:
		Convert(RawOut[float32](out), x)
	case array.F64:
		Convert(RawOut[float64](out), x)
	case array.F16:
		for i, o := 0, RawOut[array.Half](out); i < len(o); i++ {
			o[i] = array.HalfFromFloat64(float64(x[i]))
		}
	case array.BF16:
		for i, o := 0, RawOut[array.BFloat](out); i < len(o); i++ {
			o[i] = array.BFloatFromFloat64(float64(x[i]))
		}
	case array.Bool:
		for i, o := 0, RawOut[bool](out); i < len(o); i++ {
			o[i] = x[i] != 0
		}
	case array.I8, array.U8:
		saveInts(RawOut[uint8](out), x)
	case array.I16, array.U16:
		saveInts(RawOut[uint16](out), x)
	case array.I32, array.U32:
		saveInts(RawOut[uint32](out), x)
	default:
		saveInts(RawOut[uint64](out), x)
	}
}

func saveInts[D uint8 | uint16 | uint32 | uint64, T Scalar](dst []D, src []T) {
	for i, v := range src {
		dst[i] = D(int64(v))
	}
}

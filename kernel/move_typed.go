package kernel

import (
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

// rawPart returns elements [lo, hi) of in, in row-major order: its own memory where
// they lie side by side, else scratch.
func rawPart[T array.Elem](w *Workspace, in *array.Array, lo, hi int) []T {
	if in.IsContiguous() || lo == 0 && hi == in.Len() {
		return rawDense[T](w, in)[lo:hi]
	}
	buf := Scratch[T](w, hi-lo)
	size := in.DType().Size()
	gatherPart(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), size*len(buf)), in, size, lo)
	return buf
}

// gatherPart fills dst with the elements, of size bytes, of in from the lo-th on.
func gatherPart(dst []byte, in *array.Array, size, lo int) {
	src, shape, strides := in.Storage().Bytes(), in.Shape(), in.Strides()
	var at [maxRank]int
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

// scalar is the set of types that reductions, scans and sorts compute in:
// float32 also for f16 and bf16, int64 for bool and all integers. u64 keeps its
// bits; where order matters, loadOrdered shifts its range.
type scalar interface {
	float32 | float64 | int64
}

// scalarOf returns the type that elements of type d are computed in.
func scalarOf(d array.DType) array.DType {
	switch d {
	case array.F64:
		return array.F64
	case array.F32, array.F16, array.BF16:
		return array.F32
	}
	return array.I64
}

// sameBits reports whether elements of type d are Go's T as they lie in memory.
func sameBits[T scalar](d array.DType) bool {
	t := array.DTypeOf[T]()
	return d == t || d == array.U64 && t == array.I64
}

// loadAs returns the elements of a in row-major order converted to T: a's own
// memory where no conversion or copy is needed, else scratch.
func loadAs[T scalar](w *Workspace, a *array.Array) []T { return loadPart[T](w, a, 0, a.Len()) }

// loadPart is loadAs for the elements [lo, hi).
func loadPart[T scalar](w *Workspace, a *array.Array, lo, hi int) []T {
	if lo == hi {
		return nil
	}
	if sameBits[T](a.DType()) {
		return rawPart[T](w, a, lo, hi)
	}
	buf := Scratch[T](w, hi-lo)
	m := w.Mark()
	switch a.DType() {
	case array.F32:
		convert(buf, rawPart[float32](w, a, lo, hi))
	case array.F64:
		convert(buf, rawPart[float64](w, a, lo, hi))
	case array.F16:
		for i, v := range rawPart[array.Half](w, a, lo, hi) {
			buf[i] = T(v.Float32())
		}
	case array.BF16:
		for i, v := range rawPart[array.BFloat](w, a, lo, hi) {
			buf[i] = T(v.Float32())
		}
	case array.I8:
		convert(buf, rawPart[int8](w, a, lo, hi))
	case array.U8, array.Bool:
		convert(buf, rawPart[uint8](w, a, lo, hi))
	case array.I16:
		convert(buf, rawPart[int16](w, a, lo, hi))
	case array.U16:
		convert(buf, rawPart[uint16](w, a, lo, hi))
	case array.I32:
		convert(buf, rawPart[int32](w, a, lo, hi))
	case array.U32:
		convert(buf, rawPart[uint32](w, a, lo, hi))
	case array.I64:
		convert(buf, rawPart[int64](w, a, lo, hi))
	default:
		convert(buf, rawPart[uint64](w, a, lo, hi))
	}
	w.Release(m)
	return buf
}

// number is the set of element types that Go converts between by itself.
type number interface {
	float32 | float64 | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

func convert[T, S number](dst []T, src []S) {
	for i, v := range src {
		dst[i] = T(v)
	}
}

// loadOrdered is loadAs with u64 values moved so that they compare as int64;
// unorder moves them back.
func loadOrdered[T scalar](w *Workspace, a *array.Array) []T {
	x := loadAs[T](w, a)
	if a.DType() != array.U64 || a.Len() == 0 {
		return x
	}
	buf := Scratch[T](w, len(x))
	copy(buf, x)
	unorder(a.DType(), buf)
	return buf
}

// unorder flips the top bit of values of a u64 array.
func unorder[T scalar](d array.DType, x []T) {
	if d != array.U64 {
		return
	}
	if ints, ok := any(x).([]int64); ok {
		for i := range ints {
			ints[i] ^= math.MinInt64
		}
	}
}

// asBytes returns the scratch bytes that loadAs takes to load a as type d.
func asBytes(a *array.Array, d array.DType) int {
	if a == nil {
		return 0
	}
	if a.DType() == d || a.DType() == array.U64 && d == array.I64 {
		return denseBytes(a)
	}
	return denseBytes(a) + scratchSize(a.Len(), d.Size())
}

// orderedBytes returns the scratch bytes that loadOrdered takes to load a as d.
func orderedBytes(a *array.Array, d array.DType) int {
	n := asBytes(a, d)
	if a.DType() == array.U64 {
		n += scratchSize(a.Len(), d.Size())
	}
	return n
}

// outAs returns memory to compute out in: its own, or scratch where its type is
// not T. saveAs brings the results to out.
func outAs[T scalar](w *Workspace, out *array.Array) []T {
	if sameBits[T](out.DType()) {
		return rawOut[T](out)
	}
	return Scratch[T](w, out.Len())
}

// outBytes returns the scratch bytes that outAs takes.
func outBytes(out *array.Array) int {
	d := scalarOf(out.DType())
	if d == out.DType() || out.DType() == array.U64 {
		return 0
	}
	return scratchSize(out.Len(), d.Size())
}

// saveAs converts x to the type of out: floats round to nearest even, integers
// wrap, bool is x != 0. It does nothing when x is out's own memory.
func saveAs[T scalar](out *array.Array, x []T) {
	if len(x) == 0 {
		return
	}
	if sameBits[T](out.DType()) {
		if o := rawOut[T](out); &o[0] != &x[0] {
			copy(o, x)
		}
		return
	}
	switch out.DType() {
	case array.F32:
		convert(rawOut[float32](out), x)
	case array.F64:
		convert(rawOut[float64](out), x)
	case array.F16:
		for i, o := 0, rawOut[array.Half](out); i < len(o); i++ {
			o[i] = array.HalfFromFloat64(float64(x[i]))
		}
	case array.BF16:
		for i, o := 0, rawOut[array.BFloat](out); i < len(o); i++ {
			o[i] = array.BFloatFromFloat64(float64(x[i]))
		}
	case array.Bool:
		for i, o := 0, rawOut[bool](out); i < len(o); i++ {
			o[i] = x[i] != 0
		}
	case array.I8, array.U8:
		saveInts(rawOut[uint8](out), x)
	case array.I16, array.U16:
		saveInts(rawOut[uint16](out), x)
	case array.I32, array.U32:
		saveInts(rawOut[uint32](out), x)
	default:
		saveInts(rawOut[uint64](out), x)
	}
}

func saveInts[D uint8 | uint16 | uint32 | uint64, T scalar](dst []D, src []T) {
	for i, v := range src {
		dst[i] = D(int64(v))
	}
}

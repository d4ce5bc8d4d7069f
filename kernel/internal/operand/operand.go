package operand

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// At returns a at index i of an operand list, nil when absent.
func At(list []*array.Array, i int) *array.Array {
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// IsHalf reports whether d is computed in float32 and stored in 16 bits.
func IsHalf(d array.DType) bool { return d == array.F16 || d == array.BF16 }

// ComputeSize is the bytes of one element of the type that d is computed in.
func ComputeSize(d array.DType) int {
	if IsHalf(d) {
		return 4
	}
	return d.Size()
}

// LoadBytes is the scratch that load takes for a.
func LoadBytes(a *array.Array) int {
	if a == nil || (!IsHalf(a.DType()) && a.IsContiguous()) {
		return 0
	}
	return par.ScratchSize(a.Len(), ComputeSize(a.DType()))
}

// LoadAllBytes is the scratch that load takes for every operand of a list.
func LoadAllBytes(list []*array.Array) int {
	n := 0
	for _, a := range list {
		n += LoadBytes(a)
	}
	return n
}

// StoreBytes is the scratch that result takes for a.
func StoreBytes(a *array.Array) int {
	if a == nil || !IsHalf(a.DType()) {
		return 0
	}
	return par.ScratchSize(a.Len(), 4)
}

// Load returns the elements of a in row-major order: a's own memory where it is
// contiguous and of type T, else a scratch copy. A nil array gives nil.
func Load[T Real](w *par.Workspace, a *array.Array) []T {
	if a == nil || a.Len() == 0 {
		return nil
	}
	if d := a.DType(); IsHalf(d) {
		dst := par.Scratch[T](w, a.Len())
		GatherHalf(dst, array.Raw[uint16](a), d == array.BF16, a.Shape(), a.Strides(), a.Offset())
		return dst
	}
	return LoadSame[T](w, a)
}

// Indices are the elements of a dense operand of type i32 or i64.
type Indices struct {
	short []int32
	long  []int64
}

// LoadIndices is LoadSame for indices of rows; rows is the number of rows.
func LoadIndices(step string, w *par.Workspace, a *array.Array, rows int) (x Indices) {
	switch a.DType() {
	case array.I32:
		x.short = LoadSame[int32](w, a)
	case array.I64:
		x.long = LoadSame[int64](w, a)
	default:
		BadOperand(step, "an index is "+a.DType().String()+", expected i32 or i64")
	}
	for i := range a.Len() {
		if row := x.At(i); row < 0 || row >= rows {
			BadIndex(int64(row), 0, rows)
		}
	}
	return x
}

// At returns index i.
func (x *Indices) At(i int) int {
	if x.long != nil {
		return int(x.long[i])
	}
	return int(x.short[i])
}

// LoadSame is load for the element types that are computed in themselves.
func LoadSame[T array.Elem](w *par.Workspace, a *array.Array) []T {
	if a.Len() == 0 {
		return nil
	}
	if a.IsContiguous() {
		return array.Data[T](a)
	}
	if want := array.DTypeOf[T](); want != a.DType() {
		panic("kernel: operand is " + a.DType().String() + ", expected " + want.String())
	}
	dst := par.Scratch[T](w, a.Len())
	array.CopyTo(AsBytes(dst), a)
	return dst
}

// GatherHalf copies a strided view of a 16-bit type to dst in row-major order and
// returns the rest of dst.
func GatherHalf[T Real](dst []T, src []uint16, brain bool, shape, strides []int, at int) []T {
	n, step := 1, 1
	if len(shape) > 0 {
		n, step = shape[0], strides[0]
	}
	switch {
	case len(shape) > 1:
		for range n {
			dst = GatherHalf(dst, src, brain, shape[1:], strides[1:], at)
			at += step
		}
		return dst
	case step == 1 && n > 0 && IsFloat32[T]():
		half.Widen(AsFloat32(dst[:n]), src[at:at+n], brain)
	default:
		for i := range dst[:n] {
			dst[i] = T(half.WidenOne(src[at], brain))
			at += step
		}
	}
	return dst[n:]
}

// Result returns the memory to compute an output in: a's own, or float32
// scratch for a 16-bit a, which store rounds into a. A nil array gives nil.
func Result[T Real](w *par.Workspace, a *array.Array) []T {
	if a == nil || a.Len() == 0 {
		return nil
	}
	if IsHalf(a.DType()) {
		return par.Scratch[T](w, a.Len())
	}
	return array.Data[T](a)
}

// Store rounds the values in memory that result returned into a.
func Store[T Real](a *array.Array, from []T) {
	if a == nil || len(from) == 0 {
		return
	}
	if !IsHalf(a.DType()) {
		return
	}
	b, brain := array.Bytes(a), a.DType() == array.BF16
	dst := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
	if IsFloat32[T]() {
		half.Narrow(dst, AsFloat32(from)[:len(dst)], brain)
		return
	}
	for i := range dst {
		dst[i] = half.NarrowOne(float32(from[i]), brain)
	}
}

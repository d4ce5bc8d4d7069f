package operand

import (
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
	switch a.DType() {
	case array.F16:
		dst := par.Scratch[T](w, a.Len())
		GatherHalf(dst, array.Raw[array.Half](a), a.Shape(), a.Strides(), a.Offset())
		return dst
	case array.BF16:
		dst := par.Scratch[T](w, a.Len())
		GatherHalf(dst, array.Raw[array.BFloat](a), a.Shape(), a.Strides(), a.Offset())
		return dst
	}
	return LoadSame[T](w, a)
}

// LoadSame is load for the element types that are computed in themselves.
func LoadSame[T array.Elem](w *par.Workspace, a *array.Array) []T {
	if a.Len() == 0 {
		return nil
	}
	if a.IsContiguous() {
		return array.Data[T](a)
	}
	if array.DTypeOf[T]() != a.DType() {
		panic("kernel: operand is " + a.DType().String() + ", expected " + array.DTypeOf[T]().String())
	}
	dst := par.Scratch[T](w, a.Len())
	GatherSame(dst, array.Raw[T](a), a.Shape(), a.Strides(), a.Offset())
	return dst
}

// GatherSame copies a strided view to dst in row-major order and returns what
// is left of dst.
func GatherSame[T array.Elem](dst, src []T, shape, strides []int, at int) []T {
	switch len(shape) {
	case 0:
		dst[0] = src[at]
		return dst[1:]
	case 1:
		n, step := shape[0], strides[0]
		if step == 1 {
			copy(dst[:n], src[at:at+n])
			return dst[n:]
		}
		for i := range dst[:n] {
			dst[i] = src[at]
			at += step
		}
		return dst[n:]
	}
	for range shape[0] {
		dst = GatherSame(dst, src, shape[1:], strides[1:], at)
		at += strides[0]
	}
	return dst
}

// GatherHalf is GatherSame from a 16-bit type.
func GatherHalf[T Real, H half.Float](dst []T, src []H, shape, strides []int, at int) []T {
	if len(shape) == 0 {
		dst[0] = T(src[at].Float32())
		return dst[1:]
	}
	n, step := shape[0], strides[0]
	if len(shape) == 1 {
		if step == 1 && n > 0 && IsFloat32[T]() {
			half.Widen(AsFloat32(dst[:n]), half.Bits(src[at:at+n]), half.IsBrain[H]())
			return dst[n:]
		}
		for i := range dst[:n] {
			dst[i] = T(src[at].Float32())
			at += step
		}
		return dst[n:]
	}
	for range n {
		dst = GatherHalf(dst, src, shape[1:], strides[1:], at)
		at += step
	}
	return dst
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

// Store rounds what was computed in memory that result returned into a.
func Store[T Real](a *array.Array, from []T) {
	if a == nil || len(from) == 0 {
		return
	}
	switch d := a.DType(); {
	case !IsHalf(d):
	case d == array.F16 && IsFloat32[T]():
		dst := half.Bits(array.Data[array.Half](a))
		half.Narrow(dst, AsFloat32(from)[:len(dst)], false)
	case IsFloat32[T]():
		dst := half.Bits(array.Data[array.BFloat](a))
		half.Narrow(dst, AsFloat32(from)[:len(dst)], true)
	case d == array.F16:
		for i, raw := 0, array.Data[array.Half](a); i < len(raw); i++ {
			raw[i] = array.HalfFromFloat32(float32(from[i]))
		}
	default:
		for i, raw := 0, array.Data[array.BFloat](a); i < len(raw); i++ {
			raw[i] = array.BFloatFromFloat32(float32(from[i]))
		}
	}
}

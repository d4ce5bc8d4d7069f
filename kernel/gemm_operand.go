package kernel

import "github.com/gofx-dev/gofx/array"

// operand returns a at index i of an operand list, nil when absent.
func operand(list []*array.Array, i int) *array.Array {
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// isHalf reports whether d is computed in float32 and stored in 16 bits.
func isHalf(d array.DType) bool { return d == array.F16 || d == array.BF16 }

// computeSize is the bytes of one element of the type that d is computed in.
func computeSize(d array.DType) int {
	if isHalf(d) {
		return 4
	}
	return d.Size()
}

// loadBytes is the scratch that load takes for a.
func loadBytes(a *array.Array) int {
	if a == nil || (!isHalf(a.DType()) && a.IsContiguous()) {
		return 0
	}
	return scratchSize(a.Len(), computeSize(a.DType()))
}

// loadAllBytes is the scratch that load takes for every operand of a list.
func loadAllBytes(list []*array.Array) int {
	n := 0
	for _, a := range list {
		n += loadBytes(a)
	}
	return n
}

// storeBytes is the scratch that result takes for a.
func storeBytes(a *array.Array) int {
	if a == nil || !isHalf(a.DType()) {
		return 0
	}
	return scratchSize(a.Len(), 4)
}

// load returns the elements of a in row-major order: a's own memory where it is
// contiguous and of type T, else a scratch copy. A nil array gives nil.
func load[T real](w *Workspace, a *array.Array) []T {
	if a == nil || a.Len() == 0 {
		return nil
	}
	switch a.DType() {
	case array.F16:
		dst := Scratch[T](w, a.Len())
		gatherHalf(dst, array.Raw[array.Half](a), a.Shape(), a.Strides(), a.Offset())
		return dst
	case array.BF16:
		dst := Scratch[T](w, a.Len())
		gatherHalf(dst, array.Raw[array.BFloat](a), a.Shape(), a.Strides(), a.Offset())
		return dst
	}
	return loadSame[T](w, a)
}

// loadSame is load for the element types that are computed in themselves.
func loadSame[T array.Elem](w *Workspace, a *array.Array) []T {
	if a.Len() == 0 {
		return nil
	}
	if a.IsContiguous() {
		return array.Data[T](a)
	}
	if array.DTypeOf[T]() != a.DType() {
		panic("kernel: operand is " + a.DType().String() + ", expected " + array.DTypeOf[T]().String())
	}
	dst := Scratch[T](w, a.Len())
	gatherSame(dst, array.Raw[T](a), a.Shape(), a.Strides(), a.Offset())
	return dst
}

// gatherSame copies a strided view to dst in row-major order and returns what
// is left of dst.
func gatherSame[T array.Elem](dst, src []T, shape, strides []int, at int) []T {
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
		dst = gatherSame(dst, src, shape[1:], strides[1:], at)
		at += strides[0]
	}
	return dst
}

// gatherHalf is gatherSame from a 16-bit type.
func gatherHalf[T real, H halfFloat](dst []T, src []H, shape, strides []int, at int) []T {
	if len(shape) == 0 {
		dst[0] = T(src[at].Float32())
		return dst[1:]
	}
	n, step := shape[0], strides[0]
	if len(shape) == 1 {
		if step == 1 && n > 0 && isFloat32[T]() {
			widen(asFloat32(dst[:n]), halfBits(src[at:at+n]), isBrain[H]())
			return dst[n:]
		}
		for i := range dst[:n] {
			dst[i] = T(src[at].Float32())
			at += step
		}
		return dst[n:]
	}
	for range n {
		dst = gatherHalf(dst, src, shape[1:], strides[1:], at)
		at += step
	}
	return dst
}

// result returns the memory to compute an output in: a's own, or float32
// scratch for a 16-bit a, which store rounds into a. A nil array gives nil.
func result[T real](w *Workspace, a *array.Array) []T {
	if a == nil || a.Len() == 0 {
		return nil
	}
	if isHalf(a.DType()) {
		return Scratch[T](w, a.Len())
	}
	return array.Data[T](a)
}

// store rounds what was computed in memory that result returned into a.
func store[T real](a *array.Array, from []T) {
	if a == nil || len(from) == 0 {
		return
	}
	switch d := a.DType(); {
	case !isHalf(d):
	case d == array.F16 && isFloat32[T]():
		dst := halfBits(array.Data[array.Half](a))
		narrow(dst, asFloat32(from)[:len(dst)], false)
	case isFloat32[T]():
		dst := halfBits(array.Data[array.BFloat](a))
		narrow(dst, asFloat32(from)[:len(dst)], true)
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

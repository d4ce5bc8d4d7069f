package array

// Dense is an array whose element type the compiler knows. Generated code takes
// and returns it, so that a float32 model cannot be given int64 data by mistake.
// The zero value holds no array.
type Dense[T Elem] struct{ *Array }

// DenseOf returns a contiguous array over data, which it shares. No shape means
// one dimension. It panics when the shape does not hold len(data) elements.
func DenseOf[T Elem](data []T, shape ...int) Dense[T] {
	return Dense[T]{FromSlice(data, shape...)}
}

// NewDense returns a contiguous array of zeros.
func NewDense[T Elem](shape ...int) Dense[T] { return Dense[T]{New(DTypeOf[T](), shape...)} }

// AsDense gives a the element type that it has; ok is false when a is nil or has
// another one.
func AsDense[T Elem](a *Array) (d Dense[T], ok bool) {
	if a == nil || a.DType() != DTypeOf[T]() {
		return Dense[T]{}, false
	}
	return Dense[T]{a}, true
}

// Data returns the elements of a contiguous array, not a copy; see the function
// Data. It returns nil when d holds no array.
func (d Dense[T]) Data() []T {
	if d.Array == nil {
		return nil
	}
	return Data[T](d.Array)
}

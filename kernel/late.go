package kernel

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// This file serves generated packages whose results have sizes that follow from values: a
// step finds the sizes, and the computation with these results is a body that is laid out
// when it is entered.

// Late returns a result of so many dimensions whose sizes a call will find. It is empty.
func Late[T array.Elem](rank int) array.Dense[T] {
	return array.NewDense[T](make([]int, rank)...)
}

// Late checks the caller's array for a result whose sizes the call finds. It may have
// any sizes; its memory is used if it is large enough.
func (c *Checker) Late(name string, a *array.Array, d array.DType) {
	switch {
	case a == nil:
		c.bad("output", name, "nil", "an array of type "+d.String())
	case a.DType() != d:
		c.bad("output", name, array.Describe(a.DType(), a.Shape()), "an array of type "+d.String())
	}
}

// Sized computes the step of that name, which finds the sizes of its results: the
// headers out, whose memory the frame keeps.
func (f *Frame) Sized(step string, k Sizer, out, in []*array.Array) {
	work := f.At(step)
	f.shapes = f.shapes[:0]
	for _, a := range out {
		f.shapes = append(f.shapes, a.Shape())
	}
	k.Sizes(f.shapes, in)
	for _, a := range out {
		n := mustHold(a.DType(), a.Shape())
		a.Reset(a.DType(), a.Shape())
		if f.apart == nil {
			f.apart = map[*array.Array]*array.Storage{}
		}
		if s := f.apart[a]; s == nil || len(s.Bytes()) < n {
			f.apart[a] = array.NewStorage(n)
		}
		a.SetStorage(f.apart[a], 0)
	}
	if s, ok := k.(Scratcher); ok {
		work.Reserve(s.ScratchBytes(out, in))
	}
	k.Run(work, out, in)
}

// Fit gives a result the sizes that have been found: in the memory that it has, if that
// is large enough and in order, else in new memory.
func (f *Frame) Fit(a *array.Array, shape ...int) {
	bytes := mustHold(a.DType(), shape)
	had, at := a.Storage(), a.Offset()
	enough := had != nil && a.IsContiguous() && a.Len()*a.DType().Size() >= bytes
	a.Reset(a.DType(), shape)
	if enough {
		a.SetStorage(had, at)
	} else {
		a.SetStorage(array.NewStorage(bytes), 0)
	}
}

// mustHold returns the bytes of an array, and panics where it cannot be held.
func mustHold(d array.DType, shape []int) int {
	n, ok := array.NumElems(shape)
	if !ok || n > int(^uint(0)>>1)/d.Size() {
		panic(diag.New(CodeSizes, "a result "+array.Describe(d, shape)+" cannot be held, expected values that ask for less"))
	}
	return n * d.Size()
}

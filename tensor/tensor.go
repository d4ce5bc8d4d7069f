package tensor

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Tensor is a handle to a value. Handles are passed by pointer; a nil *Tensor is
// an absent optional operand. In-place methods change the value of a handle,
// which views of it see.
type Tensor struct {
	c *cell
}

// New returns a tensor over an array; the array is not copied. A trace captures
// the values that the array has when a traced call uses the tensor.
func New(a *array.Array) *Tensor {
	a.Storage().Expose()
	return of(a)
}

// of returns a tensor over an array that nobody else has.
func of(a *array.Array) *Tensor { return handle(nil, a) }

// handle makes a cell and the first handle of it in one piece.
func handle(e Engine, v any) *Tensor {
	p := &struct {
		Tensor
		cell
	}{}
	p.first.eng, p.first.val = e, v
	p.c = &p.cell
	return &p.Tensor
}

// FromSlice returns a tensor over data (no copy) with the given shape; without a
// shape it has one dimension. A trace captures the values that data has when a
// traced call uses the tensor. It panics when the shape does not hold len(data)
// elements.
func FromSlice[T array.Elem](data []T, shape ...int) *Tensor {
	return New(array.FromSlice(data, shape...))
}

// Scalar returns a 0-dimensional tensor.
func Scalar[T array.Elem](v T) *Tensor { return New(array.Scalar(v)) }

// Param returns a tensor that is part of a model's state: tracing reads it by
// path instead of baking its value.
func Param(a *array.Array) *Tensor {
	t := New(a)
	t.c.param.Store(true)
	return t
}

// StateParam is Param over an array that nobody else has: nobody writes to its memory
// without a call on the tensor, so that plans of sessions and compiled functions pack it.
func StateParam(a *array.Array) *Tensor {
	t := of(a)
	t.c.param.Store(true)
	return t
}

// Owned returns a tensor over an array that nobody else has. For engines only.
func Owned(a *array.Array) *Tensor { return of(a) }

// MarkParam makes an eager tensor count as part of a model's state.
func (x *Tensor) MarkParam() { x.c.param.Store(true) }

// IsParam reports whether an eager tensor counts as part of a model's state. For engines only.
//
//gofx:observes nothing
func (x *Tensor) IsParam() bool { return x.c.param.Load() }

// Freeze says whether the tensor, part of a model's state, is left out of training: a walk
// over the model then lists it as a buffer. nn.Freeze does it by names.
func (x *Tensor) Freeze(on bool) { x.c.fixed = on }

// IsFrozen reports whether Freeze has left the tensor out of training. For engines only.
//
//gofx:observes nothing
func (x *Tensor) IsFrozen() bool { return x.c.fixed }

// LastWrite returns where a parameter or buffer was last written by an eager
// in-place call. For tracing engines.
//
//gofx:observes nothing
func (x *Tensor) LastWrite() diag.Pos {
	if p := x.c.wrote.Load(); p != nil {
		return *p
	}
	return diag.Pos{}
}

// single makes a handle, and the list of it, in one piece.
func single(e Engine, v any) []*Tensor {
	p := &struct {
		Tensor
		cell
		list [1]*Tensor
	}{}
	p.first.eng, p.first.val = e, v
	p.c = &p.cell
	p.list[0] = &p.Tensor
	return p.list[:]
}

// NewProxy returns a tensor whose value belongs to an engine. For engines only.
func NewProxy(e Engine, value any) *Tensor { return handle(e, value) }

// NewProxies is NewProxy for the results of a call that has one. For engines only.
func NewProxies(e Engine, value any) []*Tensor { return single(e, value) }

// Engine returns the engine the tensor belongs to, nil for eager ones. An eager
// tensor belongs to an engine once that has recorded a write to its memory.
//
//gofx:observes nothing
func (x *Tensor) Engine() Engine {
	if e := x.c.engine(); e != nil {
		return e
	}
	e, _ := x.writer()
	return e
}

// Value returns the engine's value of a recorded tensor, or the *array.Array of one that
// was computed, also when a write to its memory was recorded since. For engines only.
//
//gofx:observes nothing
func (x *Tensor) Value() any { return x.c.value().val }

// SetValue replaces the engine's value of a recorded tensor, or the array of another
// one. It is for the goroutine that has the engine. For engines only.
func (x *Tensor) SetValue(v any) { x.c.value().val = v }

// ID identifies the tensor of the handle; it is comparable. Two handles of
// tied weights have the same ID.
//
//gofx:observes nothing
func (x *Tensor) ID() any { return x.c }

// Array returns the data of an eager tensor, not a copy; another engine is asked
// to compute it, which a tracing one reports as a mistake.
//
//gofx:observes FX1004
func (x *Tensor) Array() *array.Array { return x.handOut("Array") }

// observe returns the data for reading.
func (x *Tensor) observe(what string) *array.Array {
	x.check(what)
	if rehearsing() > 0 {
		needsValue(what)
	}
	now, in := x.c.state()
	if in == recorded {
		return now.eng.Observe(x, what)
	}
	if r := x.c.recipe(); r != nil && r.state && what != "String" {
		x.markRead()
	}
	a := now.val.(*array.Array)
	x.tellRead()
	if holders := holdersOf(a.Storage()); holders != nil {
		if e, _ := writerOf(holders); e != nil {
			return e.Observe(x, what)
		}
		for _, h := range holders {
			h.(Holder).Observed(x, what)
		}
	}
	return a
}

// handOut returns the data to somebody who may write to it.
func (x *Tensor) handOut(what string) *array.Array {
	a := x.observe(what)
	a.Storage().Expose()
	watchers.tell(a.Storage(), Taken)
	return a
}

func (x *Tensor) check(what string) {
	if x == nil {
		panic((&diag.Error{Code: NilTensor, Op: what, Msg: "the tensor is nil"}).At(diag.Here()))
	}
}

// Type returns what is known of element type and shape, without computing anything.
//
//gofx:observes nothing
func (x *Tensor) Type() shape.Type {
	x.check("Type")
	now, in := x.c.state()
	if in != recorded { // writes in place keep the type
		return shape.TypeOf(now.val.(*array.Array))
	}
	return now.eng.Type(x)
}

// DType returns the element type. When a trace does not know it, that is reported
// and some type returned; Type().DType() is array.Invalid then.
//
//gofx:observes FX1040
func (x *Tensor) DType() array.DType {
	if d := x.Type().DType(); d != array.Invalid {
		return d
	}
	return x.c.engine().Observe(x, "DType").DType()
}

// Rank returns the number of dimensions. When a trace does not know it, that is
// reported and 0 returned.
//
//gofx:observes FX1006
func (x *Tensor) Rank() int {
	t := x.Type()
	if t.Ranked() {
		return t.Rank()
	}
	return x.c.engine().Observe(x, "Rank").Rank()
}

// Item returns the value of a tensor with one element, converted to float64 (i64
// and u64 beyond 2^53 are rounded, a bool is 0 or 1). It panics with NotScalar for
// any other number of elements. Under a trace that is reported and 0 returned.
//
//gofx:observes FX1004
func (x *Tensor) Item() float64 {
	a := x.observe("Item")
	if a.Len() != 1 {
		panic((&diag.Error{Code: NotScalar, Op: "item", Msg: "the tensor is " + shape.TypeOf(a).String() + ", expected one element"}).At(diag.Here()))
	}
	return array.Float64At(a, 0)
}

// Bool reports whether the only element of the tensor is not zero.
//
//gofx:observes FX1004
func (x *Tensor) Bool() bool { return x.Item() != 0 }

// Data returns the elements in row-major order: the tensor's own memory when x is
// contiguous, else a copy. It panics with WrongElem when T is not the element
// type. Under a trace that is reported.
//
//gofx:observes FX1004
func Data[T array.Elem](x *Tensor) []T {
	own := x.handOut("Data")
	a := array.Contiguous(own)
	if a.Storage() == own.Storage() {
		own.Storage().Slice()
	}
	if a.DType() != array.DTypeOf[T]() {
		panic((&diag.Error{Code: WrongElem, Op: "Data", Msg: "the tensor has element type " + a.DType().String() +
			", asked for " + array.DTypeOf[T]().String()}).At(diag.Here()))
	}
	return array.Data[T](a)
}

// Equal reports whether both tensors have the same type and the same bits; see
// array.Equal. Under a trace that is reported.
//
//gofx:observes FX1004
func (x *Tensor) Equal(y *Tensor) bool {
	return array.Equal(x.observe("Equal"), y.observe("Equal"))
}

package lower

import (
	"iter"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// Operand is what the builder has of a tensor: a place in a buffer, or an expression that is
// computed where it is first needed as a whole.
type Operand struct {
	Header *array.Array // type, shape and layout; no elements
	Buf    int          // once it lies in a buffer
	todo   *pending     // else
}

// pending is an elementwise expression that has not been computed. Its inputs are values in
// buffers, except one, which may be the result of a contraction that is not stored yet.
type pending struct {
	g    expr.Graph
	in   []*Operand
	node *graph.Node
	from *contraction
	acc  int // the input that from computes, -1 for none
}

// contraction is a product or convolution that waits for what follows it.
type contraction struct {
	in   []*Operand
	node *graph.Node
	// library is what a library may compute of in's first two, nil where that is nothing.
	library Routine
	right   *Operand // what a library takes in the place of in's second, nil for that
	last    bool     // channels of the result lie side by side, unless who reads it first wants it in order
	// kernel prints it, with an epilogue.
	kernel func(out source.View, e source.Epilogue) *source.Kernel
}

// Buffer is memory that steps read and write.
type Buffer struct {
	Kind      Kind
	Bytes     int
	Array     *array.Array // of a weight
	Input     int          // of an input
	Path      string       // of a live weight
	Setup     bool         // is there before any run: a weight, or made of weights
	last      bool         // of an image with channels last, see tempOf
	rewritten bool         // written more than once, in parts or in rounds: each run does
	Off       int          // in the arena
}

// Kind says where the contents of a buffer come from.
type Kind uint8

const (
	temporary Kind = iota
	Input          // of the graph
	Weight         // that the host has when the program is made
	Live           // a weight that is read at each run
)

// Step is a launch of a kernel over buffers, or control flow, whose args are what it has between
// its bodies.
type Step struct {
	Kernel *source.Kernel
	Args   []int // results first
	Outs   int
	Node   *graph.Node
	Setup  bool
	Call   int    // the number by which the kernel refuses an operand
	Shift  *Shift // nil for a kernel that reads and writes the same places in each round
	Flow   *Flow  // instead of a kernel

	Other   *Other         // another way to do it, until one is chosen
	Routine device.Routine // instead of the kernel
	Library string         // that the routine is of
}

// Flow is control flow: the host reads a bool of the device, or counts, and launches the steps of
// bodies.
type Flow struct {
	Op     *op.Op
	Test   int // the buffer of the bool of a cond or while
	Rounds int // of a scan
	Most   int // rounds of a while, one more is a mistake; 0 does not bound them
	// A cond has what it does and what it does else, a while its test and what it repeats, a scan
	// what it repeats.
	Bodies [][]Step
	Wrong  []error // by body: what its sizes make of it, nil for one that can run
}

// Shift is where the part of a buffer begins that a step of a scan reads or writes: the first of
// its kernel's numbers.
type Shift struct{ start, stride int }

// At is where the part of a round begins.
func (m *Shift) At(round int) int { return m.start + round*m.stride }

// Each ranges over steps and, after one with bodies, those of its bodies, at any depth.
func Each(steps []Step) iter.Seq[*Step] {
	return func(yield func(*Step) bool) { every(steps, yield) }
}

func every(steps []Step, yield func(*Step) bool) bool {
	for i := range steps {
		s := &steps[i]
		if !yield(s) {
			return false
		}
		if s.Flow == nil {
			continue
		}
		for _, body := range s.Flow.Bodies {
			if !every(body, yield) {
				return false
			}
		}
	}
	return true
}

// view is where the elements of a value lie; it must be in a buffer.
func (v *Operand) view() source.View { return source.Of(v.Header) }

// Shape returns the sizes.
func (v *Operand) Shape() []int { return v.Header.Shape() }

// same reports whether two values are one, or are the same elements of a buffer, laid out alike.
func (v *Operand) same(x *Operand) bool {
	h, g := v.Header, x.Header
	return v == x || v.todo == nil && x.todo == nil && v.Buf == x.Buf && h.DType() == g.DType() && h.Offset() == g.Offset() &&
		slices.Equal(h.Shape(), g.Shape()) && slices.Equal(h.Strides(), g.Strides())
}

// DType returns the element type.
func (v *Operand) DType() array.DType { return v.Header.DType() }

// Header makes the header of a dense array without elements.
func Header(d array.DType, dims []int) *array.Array {
	a := &array.Array{}
	a.Reset(d, dims)
	return a
}

// over makes the header of another view of the same buffer.
func over(d array.DType, dims, strides []int, offset int) *array.Array {
	return array.Make(d, dims, strides, offset, nil)
}

func isHalf(d array.DType) bool { return d == array.F16 || d == array.BF16 }

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// vector gives a value without dimensions one.
func vector(v *Operand) *Operand {
	if len(v.Shape()) > 0 {
		return v
	}
	return &Operand{Header: over(v.DType(), []int{1}, []int{1}, v.Header.Offset()), Buf: v.Buf}
}

// axes returns axes counted from the front; none means all.
func axes(dims []int, rank int) []int {
	var out []int
	for _, d := range dims {
		if d < 0 {
			d += rank
		}
		out = append(out, d)
	}
	if len(dims) == 0 {
		for i := range rank {
			out = append(out, i)
		}
	}
	return out
}

// reshaped is a dense value with other sizes.
func reshaped(v *Operand, dims ...int) *Operand {
	return &Operand{Header: array.Reshape(v.Header, dims...), Buf: v.Buf}
}

// swapped is a matrix with its last dimensions exchanged.
func swapped(v *Operand) *Operand {
	order := axes(nil, len(v.Shape()))
	last := len(order) - 1
	order[last], order[last-1] = last-1, last
	return &Operand{Header: array.Permute(v.Header, order...), Buf: v.Buf}
}

func len2(v *Operand) int { return v.Shape()[len(v.Shape())-1] }

// flattened prints a product of all rows as one matrix, where the result and what is done with it
// lie so.
func flattened(flat, x *Operand, turned bool, kernel func(o, x source.View, e source.Epilogue) *source.Kernel) func(source.View, source.Epilogue) *source.Kernel {
	return func(out source.View, e source.Epilogue) *source.Kernel {
		if turned {
			if o, e, ok := e.Flatten(out); ok {
				return kernel(o, flat.view(), e)
			}
		}
		return kernel(out, x.view(), e)
	}
}

// turned is a matrix by columns.
func turned(v source.View) source.View {
	return source.View{DType: v.DType, Shape: []int{v.Shape[1], v.Shape[0]}, Strides: []int{v.Strides[1], v.Strides[0]}, Offset: v.Offset}
}

// Routine is what a library of the device's vendor may compute of two operands.
type Routine interface {
	// of asks a library for it.
	Of(l device.Library) (r device.Routine, name string, err error)
	// sums is the routine with sums in f32 as results, where the library can.
	sums() (Routine, array.DType)
}

// Other is another way to do a step: by a library, and a kernel for what follows where that is
// anything.
type Other struct {
	Routine Routine
	Out     int // buffers
	A, B    int
	Then    *Step
}

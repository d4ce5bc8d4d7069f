package gpu

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

// value is what the builder has of a tensor: a place in a buffer, or an expression that is
// computed where it is first needed as a whole.
type value struct {
	header *array.Array // type, shape and layout; no elements
	buf    int          // once it lies in a buffer
	todo   *pending     // else
}

// pending is an elementwise expression that has not been computed. Its inputs are values in
// buffers, except one, which may be the result of a contraction that is not stored yet.
type pending struct {
	g    expr.Graph
	in   []*value
	node *graph.Node
	from *contraction
	acc  int // the input that from computes, -1 for none
}

// contraction is a product or convolution that waits for what follows it.
type contraction struct {
	in   []*value
	node *graph.Node
	// library is what a library may compute of in's first two, nil where that is nothing.
	library routine
	right   *value // what a library takes in the place of in's second, nil for that
	// kernel prints it, with an epilogue.
	kernel func(out source.View, e source.Epilogue) *source.Kernel
}

// buffer is memory that steps read and write.
type buffer struct {
	kind  kind
	bytes int
	array *array.Array // of a weight
	input int          // of an input
	path  string       // of a live weight
	setup bool         // is there before any run: a weight, or made of weights
	anew  bool         // written more than once, in parts or in rounds: each run does
	off   int          // in the arena
}

type kind uint8

const (
	temporary kind = iota
	input
	weight
	live // a weight that is read at each run
)

// step is a launch of a kernel over buffers, or control flow, whose args are what it has between
// its bodies.
type step struct {
	kernel *source.Kernel
	args   []int // results first
	outs   int
	node   *graph.Node
	setup  bool
	call   int    // the number by which the kernel refuses an operand
	shift  *shift // nil for a kernel that reads and writes the same places in each round
	flow   *flow  // instead of a kernel

	other   *other         // another way to do it, until one is chosen
	routine device.Routine // instead of the kernel
	library string         // that the routine is of
}

// flow is control flow: the host reads a bool of the device, or counts, and launches the steps of
// bodies.
type flow struct {
	op     *op.Op
	test   int // the buffer of the bool of a cond or while
	rounds int // of a scan
	// A cond has what it does and what it does else, a while its test and what it repeats, a scan
	// what it repeats.
	bodies [][]step
	wrong  []error // by body: what its sizes make of it, nil for one that can run
}

// shift is where the part of a buffer begins that a step of a scan reads or writes: the first of
// its kernel's numbers.
type shift struct{ start, stride int }

func (m *shift) at(round int) int { return m.start + round*m.stride }

// each ranges over steps and, after one with bodies, those of its bodies, at any depth.
func each(steps []step) iter.Seq[*step] {
	return func(yield func(*step) bool) { every(steps, yield) }
}

func every(steps []step, yield func(*step) bool) bool {
	for i := range steps {
		s := &steps[i]
		if !yield(s) {
			return false
		}
		if s.flow == nil {
			continue
		}
		for _, body := range s.flow.bodies {
			if !every(body, yield) {
				return false
			}
		}
	}
	return true
}

// view is where the elements of a value lie; it must be in a buffer.
func (v *value) view() source.View { return source.Of(v.header) }

func (v *value) shape() []int { return v.header.Shape() }

// same reports whether two values are one, or are the same elements of a buffer, laid out alike.
func (v *value) same(x *value) bool {
	h, g := v.header, x.header
	return v == x || v.todo == nil && x.todo == nil && v.buf == x.buf && h.DType() == g.DType() && h.Offset() == g.Offset() &&
		slices.Equal(h.Shape(), g.Shape()) && slices.Equal(h.Strides(), g.Strides())
}

func (v *value) dtype() array.DType { return v.header.DType() }

// header makes the header of a dense array without elements.
func header(d array.DType, dims []int) *array.Array {
	a := &array.Array{}
	a.Reset(d, dims)
	return a
}

// over makes the header of another view of the same buffer.
func over(d array.DType, dims, strides []int, offset int) *array.Array {
	return array.Make(d, dims, strides, offset, nil)
}

package lazy

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// CapturedCall is a call that a run of code has made.
type CapturedCall struct {
	Op    *op.Op // nil for a member of the results that the operand is
	Index int    // of that member, from 1
	Attrs any
	Args  []int // numbers of calls, ^n for leaf n, Absent
	In    []shape.Type
	Type  shape.Type
}

// Absent stands for an operand that is left out.
const Absent = 1<<31 - 1

// CapturedLeaf is what calls read: a data tensor, or else an array.
type CapturedLeaf struct {
	Tensor int // of the data tensors, -1 for none
	Array  *array.Array
}

// Opening says which numbers of a graph are inputs, those of leaves among those that the graph reads, and those of calls
// after them.
type Opening struct {
	Leaves []int // numbers of leaves that are arrays
	Calls  []OpenCall
}

// OpenCall is a call whose numbers are inputs: the Values of its lifted form.
type OpenCall struct {
	Call int
	op.Lifted
}

// describe notes the calls and leaves of a cone.
func (e *ending) describe(k *cone) {
	for _, l := range k.leaves {
		if n, ok := e.k.number[l]; ok {
			e.c.Leaves = append(e.c.Leaves, CapturedLeaf{Tensor: n})
			continue
		}
		e.c.Leaves = append(e.c.Leaves, CapturedLeaf{-1, l.data})
	}
	for _, q := range k.calls {
		c := CapturedCall{Op: q.op, Index: q.index, Attrs: q.attrs, Type: q.typ, In: typesOf(nil, q.args())}
		for _, a := range q.args() {
			switch {
			case a == nil:
				c.Args = append(c.Args, Absent)
			case a.known():
				c.Args = append(c.Args, ^int(a.number))
			default:
				c.Args = append(c.Args, int(a.number))
			}
		}
		e.c.Calls = append(e.c.Calls, c)
	}
}

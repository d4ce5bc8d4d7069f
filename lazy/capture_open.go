package lazy

import (
	"cmp"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// CapturedCall is a call that a run of code has made.
type CapturedCall struct {
	Op    *op.Op // nil for a member of the results that the operand is
	Index int    // of that member, from 1
	Attrs any
	Args  []int // numbers of calls, ^n for leaf n, Absent
	In    []shape.Type
	Type  shape.Type
	Sizes []shape.Dim // in Attrs, where code gave symbols that were followed, nil for numbers alone
	Mark  uint64      // what Options.Mark has said, 0 for members
	Order int         // of all calls that were recorded, from 1; 0 where nobody asks for marks, and for members

	Bodies []CapturedBody // of the functions of Cond, While and Scan
}

// CapturedBody is what a function of Cond, While or Scan has recorded. ^n stands for its parameter n where it does for leaf n elsewhere.
type CapturedBody struct {
	Params  []shape.Type
	Calls   []CapturedCall
	Results []int
}

// mark is where and when a call was recorded.
type mark struct {
	where uint64
	order int
}

// marked is told of a call that is recorded.
func (k *capture) marked(p *place, where func() uint64) {
	if k != nil && k.marks != nil && !k.ending {
		k.marks[p] = mark{where(), len(k.marks) + 1}
	}
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
//
// Sizes has, by data tensor and axis, the number of a symbol from 1 that stands for the size, 0 for a size that is a
// number; nil where all are: all that were followed, or none. Symbols counts them.
type Opening struct {
	Leaves  []int // numbers of leaves that are arrays
	Calls   []OpenCall
	Sizes   [][]int
	Symbols int
}

// OpenCall is a call whose numbers are inputs: the Values of its lifted form.
type OpenCall struct {
	Call   int
	Within []int // numbers of a function of the call, and of a call of that, and so on; nil for the call itself
	op.Lifted
}

// inner is a call in functions of a call, nil for that itself.
func (p *place) inner(within []int) *place {
	if len(within) == 0 {
		return nil
	}
	for ; len(within) > 0; within = within[2:] {
		p = p.bodies()[within[0]].calls[within[1]]
	}
	return p
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
		e.c.Calls = append(e.c.Calls, e.call(q))
	}
}

// call describes a call, with its functions.
func (e *ending) call(q *place) CapturedCall {
	c := CapturedCall{Op: q.op, Index: q.index, Attrs: q.attrs, Type: q.typ, In: typesOf(nil, q.args()), Sizes: e.s.follow.of(q)}
	c.Mark, c.Order = e.k.marks[q].where, e.k.marks[q].order
	for _, a := range q.args() {
		c.Args = append(c.Args, numberOf(a))
	}
	for _, b := range q.bodies() {
		n := CapturedBody{Params: typesOf(nil, b.params)}
		for _, p := range b.calls {
			n.Calls = append(n.Calls, e.call(p))
		}
		for _, r := range b.results {
			n.Results = append(n.Results, numberOf(r))
		}
		c.Bodies = append(c.Bodies, n)
	}
	return c
}

// numberOf is an operand as CapturedCall has it.
func numberOf(a *place) int {
	switch {
	case a == nil:
		return Absent
	case a.known() || a.parameter():
		return ^int(a.number)
	}
	return int(a.number)
}

// Resized returns the attributes of a call where symbols have these sizes. ok is false where the function divides by 0 for them.
func (c *CapturedCall) Resized(sizes []int) (attrs any, ok bool) {
	if c.Sizes == nil {
		return c.Attrs, true
	}
	dims := make([]shape.Dim, len(c.Sizes))
	for i, d := range c.Sizes {
		n, err := d.Eval(func(symbol string) (int, bool) { return sizeOf(symbol, sizes) })
		if err != nil {
			return nil, false
		}
		dims[i] = shape.Const(n)
	}
	attrs, _ = c.Op.Codec().Resized(c.Attrs, dims)
	return attrs, true
}

// sizeOf is the size of a symbol, of which sizes are in their order.
func sizeOf(symbol string, sizes []int) (n int, ok bool) {
	for i, n := range sizes {
		if symbolName(i) == symbol {
			return n, true
		}
	}
	return 0, false
}

// TypeOf is the type of a call of Module where symbols have these sizes.
func (c *Captured) TypeOf(call int, sizes []int) shape.Type {
	return c.Types[call].Bind(func(name string) shape.Dim {
		if n, ok := sizeOf(name, sizes); ok {
			return shape.Const(n)
		}
		return shape.Unknown
	})
}

// sizes are those of the graph: of attributes as code gave them, and of the inputs with symbols.
func (o *Opening) sizes(k *cone, f *follow, number map[*place]int) *open {
	if o.Sizes == nil {
		return nil
	}
	out := &open{at: make([]int, o.Symbols)}
	for _, n := range k.sizes[:k.ofLeaves] {
		out.sizes = append(out.sizes, formula{plus: n})
	}
	next := 0
	enter := func(q *place) bool {
		for i, d := range f.of(q) {
			if _, known := d.Int(); !known {
				out.terms = append(out.terms, d)
				out.sizes[next+i] = formula{scale: 1, of: []int{o.Symbols + len(out.terms) - 1}}
			}
		}
		next += sizesIn(q)
		return true
	}
	for _, q := range k.calls {
		enter(q)
		q.within(enter)
	}
	for _, l := range k.leaves {
		n, data := number[l]
		if !data {
			continue
		}
		for axis, size := range l.data.Shape() {
			if y := o.Sizes[n][axis]; y > 0 {
				out.sizes = append(out.sizes, formula{scale: 1, of: []int{y - 1}})
			} else {
				out.sizes = append(out.sizes, formula{plus: size})
			}
		}
	}
	return out
}

// sizesIn counts the sizes in the attributes of a call of a cone.
func sizesIn(q *place) int {
	if q.index > 0 {
		return 0
	}
	_, sizes := q.op.Codec().AppendSkeleton(nil, q.attrs, nil)
	return len(sizes)
}

// Laid returns the elements of an array as graphs of captures read them: as they lie in memory where an order of the axes has
// them there one after the other, else copied. Products of few rows are added up in another order where an operand lies
// turned, so the graph turns it, too, and has the bits of eager code.
func Laid(a *array.Array) *array.Array {
	if o := orderOf(a); o != nil {
		return array.Permute(a, o...)
	}
	return array.Contiguous(a)
}

// orderOf is the order of axes in which an array fills its memory, nil where that is their own, or there is none.
func orderOf(a *array.Array) []int {
	if a.IsContiguous() {
		return nil
	}
	order := make([]int, a.Rank())
	for i := range order {
		order[i] = i
	}
	strides := a.Strides()
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(strides[j], strides[i]) })
	if !array.Permute(a, order...).IsContiguous() {
		return nil
	}
	return order
}

// turn gives what lies in an order of axes its own.
func turn(at *graph.Cursor, n *graph.Node, order []int) *graph.Node {
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	c := tensor.PermuteCall(back...)
	return at.Function(c.Op, c.Attrs, n)
}

package lower

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

func clone(c *call) ([]*Operand, error) {
	return []*Operand{c.b.copy(c.placed(0))}, nil
}

// part returns a part of a value in order, which a step of its own writes.
func (c *call) part(whole *Operand, h *array.Array) *Operand {
	c.b.Buffers[whole.Buf].rewritten = true
	return &Operand{Header: h, Buf: whole.Buf}
}

// copyTo adds the step that copies x over to.
func (c *call) copyTo(to, x *Operand) {
	c.emit(source.Copy(to.view(), x.view()), []*Operand{to}, []*Operand{x})
}

func cat(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Concat](c)
	if err != nil {
		return nil, err
	}
	out := c.result(0)
	dim, at := axes([]int{k.Dim}, len(out.Shape()))[0], 0
	for i := range c.in {
		x := c.placed(i)
		if len(x.Shape()) != len(out.Shape()) {
			continue // an empty vector
		}
		n := x.Shape()[dim]
		c.copyTo(c.part(out, array.Slice(out.Header, dim, at, at+n, 1)), x)
		at += n
	}
	return []*Operand{out}, nil
}

func pad(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Pad](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	if x.Header.Len() == 0 && c.result(0).Header.Len() > 0 && k.Mode == "constant" {
		out := c.result(0)
		out.Header.Reset(out.DType(), out.Shape())
		v := source.View{DType: out.DType(), Shape: []int{}, Strides: []int{}}
		fill := array.New(out.DType())
		array.SetFloat64At(fill, 0, k.Value)
		return c.one(source.Copy(out.view(), v.Expand(out.Shape())), c.b.constant(fill))
	}
	lo := k.Lo
	if lo == nil {
		lo = make([]int, len(x.Shape()))
	}
	return c.one(source.Pad(c.result(0).Shape(), x.view(), lo, k.Mode, source.Bits(x.DType(), k.Value)), x)
}

func flip(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Flip](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	v := x.view()
	for _, d := range k.Dims {
		if d < 0 {
			d += len(v.Shape)
		}
		v.Offset += (v.Shape[d] - 1) * v.Strides[d]
		v.Strides[d] = -v.Strides[d]
	}
	out := c.result(0)
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	return c.one(source.Copy(out.view(), v), x)
}

func roll(c *call) ([]*Operand, error) {
	if len(c.in[0].Shape()) == 0 {
		return clone(c)
	}
	k, err := stepOf[*kernel.Roll](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	dims, view, shifts := x.Shape(), x.view(), make([]int, len(x.Shape()))
	if len(k.Dims) == 0 {
		x = c.dense(0)
		dims, shifts = []int{x.Header.Len()}, []int{k.Shifts[0]}
		view = source.Dense(x.DType(), dims)
	}
	for i, d := range k.Dims {
		shifts[axes([]int{d}, len(dims))[0]] += k.Shifts[i]
	}
	if count(dims) == 0 {
		return []*Operand{c.result(0)}, nil
	}
	return c.one(source.Moved(dims, view, func(at []string) []string {
		from := slices.Clone(at)
		for i, s := range shifts {
			if back := ((-s)%dims[i] + dims[i]) % dims[i]; back != 0 {
				ahead := strconv.Itoa(dims[i] - back) // sums of two indices may be too large for one
				from[i] = "(" + at[i] + " < " + ahead + " ? " + at[i] + " + " + strconv.Itoa(back) + " : " + at[i] + " - " + ahead + ")"
			}
		}
		return from
	}), x)
}

// tile repeats the operand: result i shows the element at i modulo its size.
func tile(c *call) ([]*Operand, error) {
	x := c.placed(0)
	out := c.result(0)
	v := x.view().Expand(append(slices.Repeat([]int{1}, len(out.Shape())-len(x.Shape())), x.Shape()...))
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	return c.one(source.Moved(out.Shape(), v, func(at []string) []string {
		from := slices.Clone(at)
		for i, n := range v.Shape {
			switch {
			case n == 1:
				from[i] = "0"
			case n != out.Shape()[i]:
				from[i] = "(" + at[i] + " % " + strconv.Itoa(n) + ")"
			}
		}
		return from
	}), x)
}

func interleave(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.RepeatInterleave](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	out := c.result(0)
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	d := axes([]int{k.Dim}, len(x.Shape()))[0]
	return c.one(source.Moved(out.Shape(), x.view(), func(at []string) []string {
		from := slices.Clone(at)
		from[d] = "(" + at[d] + " / " + strconv.Itoa(k.Repeats) + ")"
		if x.Shape()[d] == 1 {
			from[d] = "0"
		}
		return from
	}), x)
}

func bitcast(c *call) ([]*Operand, error) {
	x := c.dense(0)
	t := c.result(0)
	if x.DType().Size() != t.DType().Size() {
		return nil, c.refuse("the types have other sizes")
	}
	return []*Operand{{Header: Header(t.DType(), t.Shape()), Buf: x.Buf}}, nil
}

// scatterView copies the operand and writes the other one over what a view shows of it.
func scatterView(c *call) ([]*Operand, error) {
	step, err := attrsStep(c.n)
	if err != nil {
		return nil, err
	}
	var view kernel.Viewer
	switch k := step.(type) {
	case *kernel.SelectScatter:
		view = &kernel.Select{Dim: k.Dim, Index: k.Index}
	case *kernel.SliceScatter:
		view = &kernel.Slice{Dim: k.Dim, Start: k.Start, Stop: k.Stop, Step: k.Step}
	case *kernel.DiagonalScatter:
		view = &kernel.Diagonal{Offset: k.Offset, Dim1: k.Dim1, Dim2: k.Dim2}
	default:
		return nil, c.refuse("its kernel is another one")
	}
	x, src := c.placed(0), c.placed(1)
	out := c.result(0)
	h := Header(src.DType(), src.Shape())
	if !view.View([]*array.Array{h}, []*array.Array{out.Header}) {
		return nil, c.refuse("its layout is not that of a view")
	}
	c.copyTo(c.part(out, out.Header), x)
	c.copyTo(c.part(out, h), src)
	return []*Operand{out}, nil
}

func embedding(c *call) ([]*Operand, error) {
	indices, table := c.placed(0), c.placed(1)
	rank := len(indices.Shape())
	return c.one(source.Taken(c.result(0).Shape(), table.view(), indices.view(), 0,
		func(at []string) []string { return at[:rank] },
		func(at []string) []string { return []string{"", at[rank]} }), table, indices)
}

func gather(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Gather](c)
	if err != nil {
		return nil, err
	}
	x, indices := vector(c.placed(0)), vector(c.placed(1))
	out := c.result(0).Shape()
	if len(out) == 0 {
		out = []int{1}
	}
	return c.one(source.Taken(out, x.view(), indices.view(), axes([]int{k.Dim}, len(x.Shape()))[0],
		func(at []string) []string { return at }, slices.Clone[[]string]), x, indices)
}

func indexSelect(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.IndexSelect](c)
	if err != nil {
		return nil, err
	}
	x, indices := vector(c.placed(0)), c.placed(1)
	dim := axes([]int{k.Dim}, len(x.Shape()))[0]
	out := c.result(0).Shape()
	if len(out) == 0 {
		out = []int{1}
	}
	return c.one(source.Taken(out, x.view(), indices.view(), dim,
		func(at []string) []string {
			if len(indices.Shape()) == 0 {
				return nil
			}
			return at[dim : dim+1]
		}, slices.Clone[[]string]), x, indices)
}

// bags takes bags that are rows of a matrix.
func bags(n *graph.Node, doubles bool) (bool, string) {
	if t := n.OperandTypes()[0]; t.Rank() != 2 {
		return false, "bags of many lengths have no kernel"
	}
	return computes(n, doubles)
}

func embeddingBag(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.EmbeddingBag](c)
	if err != nil {
		return nil, err
	}
	indices, table, scale := c.placed(0), c.placed(1), c.dense(3)
	in := []*Operand{table, indices}
	if scale != nil {
		in = append(in, scale)
	}
	out := c.result(0)
	return c.one(source.Bag(k.Mode, out.view(), table.view(), indices.view(), scale != nil), in...)
}

package gpu

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

func clone(c *call) ([]*value, error) {
	return []*value{c.b.copy(c.placed(0))}, nil
}

// part returns a part of a value in order, which a step of its own writes.
func (c *call) part(whole *value, h *array.Array) *value {
	c.b.buffers[whole.buf].anew = true
	return &value{header: h, buf: whole.buf}
}

// copyTo adds the step that copies x over to.
func (c *call) copyTo(to, x *value) {
	c.emit(source.Copy(to.view(), x.view()), []*value{to}, []*value{x})
}

func cat(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.Concat](c)
	if err != nil {
		return nil, err
	}
	out := c.result(0)
	dim, at := axes([]int{k.Dim}, len(out.shape()))[0], 0
	for i := range c.in {
		x := c.placed(i)
		if len(x.shape()) != len(out.shape()) {
			continue // an empty vector
		}
		n := x.shape()[dim]
		c.copyTo(c.part(out, array.Slice(out.header, dim, at, at+n, 1)), x)
		at += n
	}
	return []*value{out}, nil
}

func pad(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.Pad](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	if x.header.Len() == 0 && c.result(0).header.Len() > 0 && k.Mode == "constant" {
		out := c.result(0)
		out.header.Reset(out.dtype(), out.shape())
		v := source.View{DType: out.dtype(), Shape: []int{}, Strides: []int{}}
		fill := array.New(out.dtype())
		array.SetFloat64At(fill, 0, k.Value)
		return c.one(source.Copy(out.view(), v.Expand(out.shape())), c.b.constant(fill))
	}
	lo := k.Lo
	if lo == nil {
		lo = make([]int, len(x.shape()))
	}
	return c.one(source.Pad(c.result(0).shape(), x.view(), lo, k.Mode, source.Bits(x.dtype(), k.Value)), x)
}

func flip(c *call) ([]*value, error) {
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
	if out.header.Len() == 0 {
		return []*value{out}, nil
	}
	return c.one(source.Copy(out.view(), v), x)
}

func roll(c *call) ([]*value, error) {
	if len(c.in[0].shape()) == 0 {
		return clone(c)
	}
	k, err := stepOf[*kernel.Roll](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	dims, view, shifts := x.shape(), x.view(), make([]int, len(x.shape()))
	if len(k.Dims) == 0 {
		x = c.dense(0)
		dims, shifts = []int{x.header.Len()}, []int{k.Shifts[0]}
		view = source.Dense(x.dtype(), dims)
	}
	for i, d := range k.Dims {
		shifts[axes([]int{d}, len(dims))[0]] += k.Shifts[i]
	}
	if count(dims) == 0 {
		return []*value{c.result(0)}, nil
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
func tile(c *call) ([]*value, error) {
	x := c.placed(0)
	out := c.result(0)
	v := x.view().Expand(append(slices.Repeat([]int{1}, len(out.shape())-len(x.shape())), x.shape()...))
	if out.header.Len() == 0 {
		return []*value{out}, nil
	}
	return c.one(source.Moved(out.shape(), v, func(at []string) []string {
		from := slices.Clone(at)
		for i, n := range v.Shape {
			switch {
			case n == 1:
				from[i] = "0"
			case n != out.shape()[i]:
				from[i] = "(" + at[i] + " % " + strconv.Itoa(n) + ")"
			}
		}
		return from
	}), x)
}

func interleave(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.RepeatInterleave](c)
	if err != nil {
		return nil, err
	}
	x := c.placed(0)
	out := c.result(0)
	if out.header.Len() == 0 {
		return []*value{out}, nil
	}
	d := axes([]int{k.Dim}, len(x.shape()))[0]
	return c.one(source.Moved(out.shape(), x.view(), func(at []string) []string {
		from := slices.Clone(at)
		from[d] = "(" + at[d] + " / " + strconv.Itoa(k.Repeats) + ")"
		if x.shape()[d] == 1 {
			from[d] = "0"
		}
		return from
	}), x)
}

func bitcast(c *call) ([]*value, error) {
	x := c.dense(0)
	t := c.result(0)
	if x.dtype().Size() != t.dtype().Size() {
		return nil, c.refuse("the types have other sizes")
	}
	return []*value{{header: header(t.dtype(), t.shape()), buf: x.buf}}, nil
}

// scatterView copies the operand and writes the other one over what a view shows of it.
func scatterView(c *call) ([]*value, error) {
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
	h := header(src.dtype(), src.shape())
	if !view.View([]*array.Array{h}, []*array.Array{out.header}) {
		return nil, c.refuse("its layout is not that of a view")
	}
	c.copyTo(c.part(out, out.header), x)
	c.copyTo(c.part(out, h), src)
	return []*value{out}, nil
}

func embedding(c *call) ([]*value, error) {
	indices, table := c.placed(0), c.placed(1)
	rank := len(indices.shape())
	return c.one(source.Taken(c.result(0).shape(), table.view(), indices.view(), 0,
		func(at []string) []string { return at[:rank] },
		func(at []string) []string { return []string{"", at[rank]} }), table, indices)
}

// vector gives a value without dimensions one.
func vector(v *value) *value {
	if len(v.shape()) > 0 {
		return v
	}
	return &value{header: over(v.dtype(), []int{1}, []int{1}, v.header.Offset()), buf: v.buf}
}

func gather(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.Gather](c)
	if err != nil {
		return nil, err
	}
	x, indices := vector(c.placed(0)), vector(c.placed(1))
	out := c.result(0).shape()
	if len(out) == 0 {
		out = []int{1}
	}
	return c.one(source.Taken(out, x.view(), indices.view(), axes([]int{k.Dim}, len(x.shape()))[0],
		func(at []string) []string { return at }, slices.Clone[[]string]), x, indices)
}

func indexSelect(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.IndexSelect](c)
	if err != nil {
		return nil, err
	}
	x, indices := vector(c.placed(0)), c.placed(1)
	dim := axes([]int{k.Dim}, len(x.shape()))[0]
	out := c.result(0).shape()
	if len(out) == 0 {
		out = []int{1}
	}
	return c.one(source.Taken(out, x.view(), indices.view(), dim,
		func(at []string) []string {
			if len(indices.shape()) == 0 {
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

func embeddingBag(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.EmbeddingBag](c)
	if err != nil {
		return nil, err
	}
	indices, table, scale := c.placed(0), c.placed(1), c.dense(3)
	in := []*value{table, indices}
	if scale != nil {
		in = append(in, scale)
	}
	out := c.result(0)
	return c.one(source.Bag(k.Mode, out.view(), table.view(), indices.view(), scale != nil), in...)
}

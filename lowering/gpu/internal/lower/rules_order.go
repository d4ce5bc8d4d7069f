package lower

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

// sorted orders the numbers of the elements along a dimension, in runs that merges double, and
// takes the elements by them.
func sorted(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Sort](c)
	if err != nil {
		return nil, err
	}
	x := vector(c.placed(0))
	v := x.view()
	dim := axes([]int{k.Dim}, len(v.Shape))[0]
	const longest = 1 << 30 // twice that does not fit the int of a kernel
	if v.Shape[dim] > longest {
		return nil, c.refuse("more than " + strconv.Itoa(longest) + " elements are to be sorted")
	}
	out := []*Operand{c.result(0), c.result(1)}
	order := c.b.temp(array.I32, v.Shape)
	c.emit(source.Ranks(v, dim, k.Descending), []*Operand{order}, []*Operand{x})
	for width := source.Run; width < v.Shape[dim]; width *= 2 {
		next := c.b.temp(array.I32, v.Shape)
		c.emit(source.Merge(v, dim, k.Descending, width), []*Operand{next}, []*Operand{x, order})
		order = next
	}
	c.emit(source.Ordered(v, dim), out, []*Operand{x, order})
	return out, nil
}

// scatters takes every type where elements overwrite others, and what is computed with else.
func scatters(n *graph.Node, doubles bool) (bool, string) {
	if step, err := attrsStep(n); err == nil {
		if k, ok := step.(*kernel.Scatter); ok && k.Reduce == "" {
			return true, ""
		}
	}
	return computes(n, doubles)
}

// scatter combines a source into a copy of the first operand: of floats of 16 bits in f32, so
// that they are rounded once.
func scatter(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Scatter](c)
	if err != nil {
		return nil, err
	}
	x, index, src := vector(c.placed(0)), vector(c.placed(1)), vector(c.placed(2))
	out := c.result(0)
	dim := axes([]int{k.Dim}, len(x.Shape()))[0]
	halves := k.Reduce != "" && isHalf(x.DType())
	to, h := out, Header(x.DType(), x.Shape())
	if halves {
		h = Header(array.F32, x.Shape())
		to = c.b.temp(array.F32, x.Shape())
		c.castTo(c.part(to, h), x)
		wide := c.b.temp(array.F32, src.Shape())
		c.castTo(wide, src)
		src = wide
	} else {
		c.copyTo(c.part(to, h), x)
	}
	v := c.part(to, h)
	if !slices.Contains(index.Shape(), 0) {
		c.emit(source.Scatter(k.Reduce, v.view(), index.view(), src.view(), dim), []*Operand{v}, []*Operand{index, src})
	}
	if halves {
		c.castTo(out, v)
	}
	return []*Operand{out}, nil
}

// castTo adds the step that converts x to the type of to, which has its elements in order.
func (c *call) castTo(to, x *Operand) {
	b := expr.NewBuilder()
	p := &pending{node: c.n, acc: -1, in: []*Operand{x}, g: b.Graph(b.Cast(b.Input(0, x.DType()), to.DType()))}
	c.b.store(p, x.Shape(), []*Operand{{Header: Header(to.DType(), x.Shape()), Buf: to.Buf}})
}

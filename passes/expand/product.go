package expand

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// products are the operators that multiply matrices.
var products = merge(
	one(std.Matmul, func(c *maker, _ op.None, in []op.Value) op.Value {
		return c.reshape(product(c, in[0], in[1]), c.outDims(0)...)
	}),
	one(std.Linear, func(c *maker, _ op.None, in []op.Value) op.Value {
		x, w := in[0], in[1]
		if in[2] != nil { // one rounding, after the sum
			x, w = c.widened(x), c.widened(w)
		}
		y := c.reshape(product(c, x, c.swap(w, 0, 1)), c.outDims(0)...)
		return affine(c, y, nil, c.widened(in[2]))
	}),
)

// product multiplies as matmul does; the result has all dimensions, in any grouping.
func product(c *maker, x, y op.Value) op.Value {
	dx, dy := c.dims(x), c.dims(y)
	if len(dx) == 1 {
		dx = put(dx, 0, shape.Const(1))
	}
	if len(dy) == 1 {
		dy = put(dy, 1, shape.Const(1))
	}
	m, k, n := dx[len(dx)-2], dx[len(dx)-1], dy[len(dy)-1]
	one := shape.Const(1)
	if len(dy) == 2 { // all rows of x at once
		rows := prod(dx[:len(dx)-1]...)
		return c.call(std.Bmm, op.None{}, c.reshape(x, one, rows, k), c.reshape(y, one, k, n))
	}
	lead := leading(c, x, y)
	batch := prod(lead...)
	bx := c.reshape(c.expand(c.reshape(x, dx...), append(append([]shape.Dim{}, lead...), m, k)...), batch, m, k)
	by := c.reshape(c.expand(c.reshape(y, dy...), append(append([]shape.Dim{}, lead...), k, n)...), batch, k, n)
	return c.call(std.Bmm, op.None{}, bx, by)
}

// leading are the dimensions of the result of matmul before those of the matrices.
func leading(c *maker, x, y op.Value) []shape.Dim {
	d := c.outDims(0)
	drop := 0
	for _, v := range []op.Value{x, y} {
		if v.Type().Rank() > 1 {
			drop++
		}
	}
	return d[:len(d)-drop]
}

package expand

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// algebra are the operators on matrices as a whole.
var algebra = one(std.Inverse, inverse)

// mostColumns bounds the matrices whose elimination is written out, column by column.
const mostColumns = 64

// inverse reduces [x | identity] to [identity | inverse], with the greatest element that
// is left in a column as its pivot. One that is 0 makes the result NaN.
func inverse(c *maker, _ op.None, in []op.Value) op.Value {
	d := c.dims(in[0])
	n := c.int(d[len(d)-1], "the number of columns")
	if n > mostColumns {
		c.refuse("matrices of " + strconv.Itoa(n) + " rows, of more than " + strconv.Itoa(mostColumns) + ", would be unrolled")
	}
	if n == 0 {
		return c.call(std.Clone, op.None{}, in[0])
	}
	x := c.widened(in[0])
	t, batch := x.Type().DType(), prod(d[:len(d)-2]...)
	rows, width := shape.Const(n), shape.Const(2*n)
	one := c.call(std.Eye, std.EyeAttrs{N: rows, M: rows, DType: t})
	m := c.cat(2, c.reshape(x, batch, rows, rows), c.expand(c.reshape(one, shape.Const(1), rows, rows), batch, rows, rows))
	places, singular := c.iota(rows), c.zeros(array.Bool, batch, shape.Const(1), shape.Const(1))
	for k := range n {
		at, next := shape.Const(k), shape.Const(k+1)
		own := c.full(array.I64, op.Int(int64(k)))
		isOwn := c.compareN(std.Eq, places, k)
		left := c.apply(std.Abs, c.reshape(c.slice(c.slice(m, 2, at, next), 1, at, rows), batch, shape.Const(n-k)))
		pivot := c.addN(c.call(std.Argmax, std.ArgAttrs{Dim: op.IntList(1), KeepDim: true}, left), k) // [batch, 1]
		from := c.where(isOwn, pivot, c.where(c.compare(std.Eq, places, pivot), own, places))         // [batch, n]
		from = c.expand(c.reshape(from, batch, rows, shape.Const(1)), batch, rows, width)
		m = c.call(std.Gather, std.DimAttrs{Dim: 1}, m, from)
		row := c.slice(m, 1, at, next)
		d := c.slice(row, 2, at, next)
		singular = c.or(singular, c.compareN(std.Eq, d, 0))
		row = c.div(row, d)
		rest := c.sub(m, c.mul(c.slice(m, 2, at, next), row))
		m = c.where(c.reshape(isOwn, shape.Const(1), rows, shape.Const(1)), row, rest)
	}
	y := c.where(singular, c.full(t, op.Float(math.NaN())), c.slice(m, 2, rows, width))
	return c.back(c.reshape(y, d...), 0)
}

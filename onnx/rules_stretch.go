package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// stretch takes the elements of an axis from start to stop, by step, as ONNX counts: these
// are numbers, sizes or values, and the run looks where they lie.
func stretch(c *call, x op.Value, axis int, start, stop, step op.Value) op.Value {
	size := c.do(op.Dim, op.AxisAttrs{Axis: axis}, x)
	// Backwards, a start lies between 0 and size-1, a stop between -1 and that.
	back := c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, step))
	last := c.do(std.Sub, nil, size, back)
	from := c.do(std.Maximum, std.BinaryAttrs{Other: op.Int(0)}, fromEndOf(c, start, size))
	from = c.do(std.Minimum, nil, from, last)
	to := c.do(std.Maximum, nil, fromEndOf(c, stop, size), c.do(std.Neg, nil, back))
	to = c.do(std.Minimum, nil, to, last)
	return c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.do(std.Range, nil, from, to, step))
}

// number64 is a number without dimensions.
func number64(c *call, n int64) op.Value {
	return c.do(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64})
}

// fromEndOf adds a size to indices that count from the end.
func fromEndOf(c *call, v, size op.Value) op.Value {
	below := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, v)
	return c.do(std.Where, nil, below, c.do(std.Add, nil, v, size), v)
}

// first takes as many elements from the start of an axis as a value says.
func first(c *call, x op.Value, axis int, n op.Value) op.Value {
	return c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.do(std.Range, nil, number64(c, 0), n, number64(c, 1)))
}

// element returns element k of operand i, integers, as a value of rank 0 and of type i64.
func element(c *call, i, k int) op.Value {
	v := c.x(i)
	if t := v.Type(); t.Rank() > 0 {
		v = c.do(std.Select, std.SelectAttrs{Dim: 0, Index: k}, v)
	}
	if v.Type().DType() != array.I64 {
		v = c.do(std.Cast, std.CastAttrs{DType: array.I64}, v)
	}
	return v
}

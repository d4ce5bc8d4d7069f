package standard

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// stretch takes the elements of an axis from start to stop, by step, as ONNX counts: these
// are numbers, sizes or values, and the run looks where they lie.
func stretch(c *rule.Call, x op.Value, axis int, start, stop, step op.Value) op.Value {
	size := c.Do(op.Dim, op.AxisAttrs{Axis: axis}, x)
	// Backwards, a start lies between 0 and size-1, a stop between -1 and that.
	back := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, step))
	last := c.Do(std.Sub, nil, size, back)
	from := c.Do(std.Maximum, std.BinaryAttrs{Other: op.Int(0)}, fromEndOf(c, start, size))
	from = c.Do(std.Minimum, nil, from, last)
	to := c.Do(std.Maximum, nil, fromEndOf(c, stop, size), c.Do(std.Neg, nil, back))
	to = c.Do(std.Minimum, nil, to, last)
	return c.Do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.Do(std.Range, nil, from, to, step))
}

// number64 is a number without dimensions.
func number64(c *rule.Call, n int64) op.Value {
	return c.Do(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64})
}

// fromEndOf adds a size to indices that count from the end.
func fromEndOf(c *rule.Call, v, size op.Value) op.Value {
	below := c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, v)
	return c.Do(std.Where, nil, below, c.Do(std.Add, nil, v, size), v)
}

// first takes as many elements from the start of an axis as a value says.
func first(c *rule.Call, x op.Value, axis int, n op.Value) op.Value {
	return c.Do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.Do(std.Range, nil, number64(c, 0), n, number64(c, 1)))
}

// element returns element k of operand i, integers, as a value of rank 0 and of type i64.
func element(c *rule.Call, i, k int) op.Value {
	v := c.X(i)
	if t := v.Type(); t.Rank() > 0 {
		v = c.Do(std.Select, std.SelectAttrs{Dim: 0, Index: k}, v)
	}
	if v.Type().DType() != array.I64 {
		v = c.Do(std.Cast, std.CastAttrs{DType: array.I64}, v)
	}
	return v
}

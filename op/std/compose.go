package std

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// composer writes decompositions: a builder with short names for the calls
// that they are made of.
type composer struct{ op.Builder }

func (c composer) add(x, y op.Value) op.Value { return c.Call(Add, AddAttrs{}, x, y) }
func (c composer) sub(x, y op.Value) op.Value { return c.Call(Sub, SubAttrs{}, x, y) }
func (c composer) mul(x, y op.Value) op.Value { return c.Call(Mul, BinaryAttrs{}, x, y) }
func (c composer) div(x, y op.Value) op.Value { return c.Call(Div, DivAttrs{}, x, y) }

// scale returns x times a number.
func (c composer) scale(x op.Value, s op.Scalar) op.Value {
	return c.Call(Mul, BinaryAttrs{Other: s}, x)
}

// shift returns x plus a number.
func (c composer) shift(x op.Value, s op.Scalar) op.Value { return c.Call(Add, AddAttrs{Other: s}, x) }

func (c composer) reshape(x op.Value, dims shape.Dims) op.Value {
	return c.Call(Reshape, ReshapeAttrs{Shape: dims}, x)
}

func (c composer) permute(x op.Value, dims ...int) op.Value {
	return c.Call(Permute, PermuteAttrs{Dims: op.IntList(dims...)}, x)
}

func (c composer) transpose(x op.Value, i, j int) op.Value {
	return c.Call(Transpose, TransposeAttrs{Dim0: i, Dim1: j}, x)
}

// apply calls an operator that has no attributes on one operand.
func (c composer) apply(o *op.Op, x op.Value) op.Value { return c.Call(o, op.None{}, x) }

// power returns x to a power.
func (c composer) power(x op.Value, p float64) op.Value {
	switch p {
	case 1:
		return x
	case 2:
		return c.apply(Square, x)
	case 0.5:
		return c.apply(Sqrt, x)
	}
	return c.Call(Pow, ReversibleAttrs{Other: op.Float(p)}, x)
}

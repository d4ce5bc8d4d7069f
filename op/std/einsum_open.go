package std

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
)

// unsized reports whether the size of one of the labels is unknown, so that no
// attribute can name it.
func (e *einsumPlan) unsized(labels []label) bool {
	return slices.ContainsFunc(labels, func(l label) bool { return e.size[l].IsUnknown() })
}

// pairUnsized contracts two operands as pair does, by operators that name no size:
// what pair joins to the rows and columns of a matrix, except one label each, is
// a batch that broadcasts.
func pairUnsized(c composer, x, y tensor, batch, inner, left, right []label) tensor {
	lv := c.order(x, slices.Concat(batch, left, inner))
	rv := c.order(y, slices.Concat(batch, right, inner))
	if len(inner) == 0 {
		lv = c.insert(lv, len(batch)+len(left), len(right))
		rv = c.insert(rv, len(batch), len(left))
		return tensor{c.mul(lv, rv), slices.Concat(batch, left, right)}
	}
	lv, rv = c.join(lv, len(inner)), c.join(rv, len(inner))
	rows, cols := min(len(left), 1), min(len(right), 1)
	others := [2][]label{left[:len(left)-rows], right[:len(right)-cols]}
	lv = c.insert(lv, len(batch)+len(others[0]), len(others[1])+1-rows)
	rv = c.insert(rv, len(batch)+len(others[1]), 1-cols)
	rv = c.insert(rv, len(batch), len(others[0]))
	v := c.Call(Matmul, op.None{}, lv, c.transpose(rv, -2, -1))
	if cols == 0 {
		v = c.Call(Squeeze, SqueezeAttrs{Dim: op.IntList(-1)}, v)
	}
	if rows == 0 {
		v = c.Call(Squeeze, SqueezeAttrs{Dim: op.IntList(-1 - cols)}, v)
	}
	return tensor{v, slices.Concat(batch, others[0], others[1], left[len(left)-rows:], right[len(right)-cols:])}
}

// insert puts n dimensions of size 1 at a place.
func (c composer) insert(v op.Value, at, n int) op.Value {
	for range n {
		v = c.Call(Unsqueeze, DimAttrs{Dim: at}, v)
	}
	return v
}

// join makes one of the last n dimensions.
func (c composer) join(v op.Value, n int) op.Value {
	if n == 1 {
		return v
	}
	return c.Call(Flatten, FlattenAttrs{StartDim: -n, EndDim: -1}, v)
}

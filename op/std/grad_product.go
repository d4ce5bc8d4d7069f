package std

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func linearGrad(b op.Builder, _ op.None, c op.GradCall) []op.Value {
	g, seed, x, w := grads{b}, c.Seeds[0], c.In[0], c.In[1]
	out := []op.Value{nil, nil, seed} // whoever adds up adds over the leading axes
	if c.Need(0) {
		out[0] = g.call("matmul", op.None{}, seed, w)
	}
	if c.Need(1) {
		d, n := g.dims(x), g.dims(w)
		rows := shape.Of(d[:len(d)-1]...).Prod()
		out[1] = g.call("matmul", op.None{}, g.turn(g.reshape(seed, rows, n[0])), g.reshape(x, rows, n[1]))
	}
	return out
}

// productGrad is the rule of matmul and bmm. A vector is a matrix of one row, on the
// right of one column.
func productGrad(b op.Builder, _ op.None, c op.GradCall) []op.Value {
	g, seed, x, y := grads{b}, c.Seeds[0], c.In[0], c.In[1]
	left, right := x.Type().Rank() == 1, y.Type().Rank() == 1
	out := make([]op.Value, 2)
	if left && right {
		return []op.Value{g.mul(seed, y), g.mul(seed, x)}
	}
	wide := func(v op.Value, axis int) op.Value { return g.call("unsqueeze", DimAttrs{axis}, v) }
	flat := func(v op.Value, axis int) op.Value {
		return g.call("squeeze", SqueezeAttrs{op.IntList(axis)}, v)
	}
	if left {
		x, seed = wide(x, 0), wide(seed, -2)
	}
	if right {
		y, seed = wide(y, 1), wide(seed, -1)
	}
	if c.Need(0) {
		if out[0] = g.productLeft(seed, x, y); left {
			out[0] = flat(out[0], -2)
		}
	}
	if c.Need(1) {
		if out[1] = g.productRight(seed, x, y); right {
			out[1] = flat(out[1], -1)
		}
	}
	return out
}

// productRight is the gradient of the product of x and y by y. Where one y serves a batch of x, it is
// one product over all rows of the batch, not a product for each member and their sum.
func (g grads) productRight(seed, x, y op.Value) op.Value {
	if !g.serves(y, x) {
		return g.call("matmul", op.None{}, g.turn(x), seed)
	}
	rows := func(v op.Value) op.Value {
		d := g.dims(v)
		return g.reshape(v, shape.Of(d[:len(d)-1]...).Prod(), d[len(d)-1])
	}
	return g.reshape(g.call("matmul", op.None{}, g.turn(rows(x)), rows(seed)), g.dims(y)...)
}

// productLeft is the gradient of the product of x and y by x. One y that serves a batch of x is
// a matrix, by which the batch is multiplied as one. Where one x serves a batch of y, the
// columns of the batch are brought together for one product, if that moves less than
// a product for each member and their sum do.
func (g grads) productLeft(seed, x, y op.Value) op.Value {
	if g.serves(y, x) {
		d := g.dims(y)
		product := g.call("matmul", op.None{}, seed, g.turn(g.reshape(y, d[len(d)-2:]...)))
		if product.Type().Rank() > x.Type().Rank() { // by axes of size 1 that y has
			return g.reshape(product, g.dims(x)...)
		}
		return product
	}
	if !g.serves(x, y) || !g.narrow(x, y) {
		return g.call("matmul", op.None{}, seed, g.turn(y))
	}
	columns := func(v op.Value) op.Value {
		d := g.dims(v)
		n := len(d) - 2
		v = g.reshape(v, shape.Of(d[:n]...).Prod(), d[n], d[n+1])
		return g.reshape(g.permute(v, 1, 0, 2), d[n], shape.Of(d[:n]...).Prod().Mul(d[n+1]))
	}
	return g.reshape(g.call("matmul", op.None{}, columns(seed), g.turn(columns(y))), g.dims(x)...)
}

// serves reports whether one matrix m is multiplied with a batch of others, be it a batch of one
// that m has no axis for: its gradient would have that axis, too.
func (g grads) serves(m, others op.Value) bool {
	batch := func(v op.Value) bool {
		d := v.Type().Dims().Slice()
		return slices.ContainsFunc(d[:len(d)-2], func(d shape.Dim) bool { return !d.Is(1) })
	}
	known := func(v op.Value) bool {
		return !slices.ContainsFunc(v.Type().Dims().Slice(), func(d shape.Dim) bool { return d.IsUnknown() })
	}
	return !batch(m) && (batch(others) || others.Type().Rank() > m.Type().Rank()) && known(m) && known(others)
}

// narrow reports whether the matrices of a batch y, with those of the seed, are known to have
// fewer elements than a gradient of x for each of them, which is written and read.
func (g grads) narrow(x, y op.Value) bool {
	m, k := x.Type().Dim(-2), x.Type().Dim(-1)
	n := y.Type().Dim(-1)
	moved, ok := n.Mul(m.Add(k)).Int()
	made, known := m.Mul(k).MulInt(2).Int()
	return ok && known && moved < made
}

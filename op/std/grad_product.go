package std

import (
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
		if out[0] = g.call("matmul", op.None{}, seed, g.turn(y)); left {
			out[0] = flat(out[0], -2)
		}
	}
	if c.Need(1) {
		if out[1] = g.call("matmul", op.None{}, g.turn(x), seed); right {
			out[1] = flat(out[1], -1)
		}
	}
	return out
}

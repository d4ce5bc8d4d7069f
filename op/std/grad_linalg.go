package std

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// mostMinors is the number of rows up to which cofactors are determinants of minors, which
// singular matrices have, too.
const mostMinors = 8

// detGrad gives each element its cofactor. Those of large matrices are the determinant
// times the inverse, of which singular ones have none.
var detGrad = gradOf(func(g grads, _ op.None, c op.GradCall, seed op.Value) op.Value {
	x := c.In[0]
	rank := x.Type().Rank()
	d := g.dims(x)
	n, known := d[rank-1].Int()
	seed = g.call("unsqueeze", DimAttrs{-1}, g.call("unsqueeze", DimAttrs{-1}, seed))
	switch {
	case !known || n > mostMinors:
		det := g.reshape(c.Result(0), append(append([]shape.Dim{}, d[:rank-2]...), shape.Const(1), shape.Const(1))...)
		return g.mul(g.mul(seed, det), g.turn(g.call("inverse", op.None{}, x)))
	case n < 2:
		return g.mul(seed, g.ones(x))
	}
	return g.mul(seed, g.cofactors(x, n))
})

// cofactors are the determinants of what is left of n×n matrices without a row and a
// column, with their signs.
func (g grads) cofactors(x op.Value, n int) op.Value {
	rows := make([]op.Value, n)
	for i := range n {
		rows[i] = g.without(x, -2, i, n)
	}
	all := make([]op.Value, 0, n*n)
	for i := range n {
		for k := range n {
			minor := g.call("unsqueeze", DimAttrs{-3}, g.without(rows[i], -1, k, n))
			all = append(all, minor)
		}
	}
	dets := g.call("det", op.None{}, g.call("cat", DimAttrs{-3}, all...)) // [..., n·n]
	sign := g.call("arange", ArangeAttrs{End: shape.Const(n), DType: x.Type().DType()})
	sign = g.call("remainder", ReversibleAttrs{Other: op.Float(2)}, g.add(g.call("unsqueeze", DimAttrs{1}, sign), sign))
	d := append([]shape.Dim{}, g.dims(x)...)
	return g.mul(g.reshape(dets, d...), g.call("sub", SubAttrs{Other: op.Float(1), Reverse: true}, g.times(sign, 2)))
}

// without leaves one of n slices of an axis out.
func (g grads) without(x op.Value, axis, i, n int) op.Value {
	part := func(from, to int) op.Value {
		return g.call("slice", SliceAttrs{Dim: axis, Start: shape.Const(from), Stop: shape.Const(to)}, x)
	}
	switch i {
	case 0:
		return part(1, n)
	case n - 1:
		return part(0, n-1)
	}
	return g.call("cat", DimAttrs{axis}, part(0, i), part(i+1, n))
}

var inverseGrad = gradOf(func(g grads, _ op.None, c op.GradCall, seed op.Value) op.Value {
	y := g.turn(c.Result(0))
	product := func(x, y op.Value) op.Value { return g.call("matmul", op.None{}, x, y) }
	return g.neg(product(product(y, seed), y))
})

package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// maxPoolGrad adds the seed up where the maxima were found: finder is the operator that says
// where, "" for one that does so itself. beyond tells whether a window may lie in the padding
// alone, and its index outside.
func maxPoolGrad[A any](n int, finder string, beyond func(a A) bool) func(op.Builder, A, op.GradCall) []op.Value {
	return func(b op.Builder, a A, c op.GradCall) []op.Value {
		g, seed := grads{b}, c.Seeds[0]
		if seed == nil || !c.Need(0) {
			return nil
		}
		var index op.Value
		if finder == "" {
			index = c.Result(1)
		} else {
			index = b.Item(g.call(finder, a, c.In[0]), 1)
		}
		d, s := g.dims(c.In[0]), g.dims(seed)
		lead := len(d) - n
		flat := func(d []shape.Dim) []shape.Dim {
			return append(append([]shape.Dim{}, d[:lead]...), shape.Of(d[lead:]...).Prod())
		}
		if beyond(a) {
			plane := g.count(array.I64, d[lead:]...)
			outside := g.call("ge", BinaryAttrs{}, index, plane)
			seed, index = g.masked(seed, outside, 0), g.call("masked_fill", MaskedFillAttrs{Value: op.Int(0)}, index, outside)
		}
		zeros := g.reshape(g.zeros(c.In[0]), flat(d)...)
		sum := g.call("scatter_add", DimAttrs{lead}, zeros, g.reshape(index, flat(s)...), g.reshape(seed, flat(s)...))
		return []op.Value{g.reshape(sum, d...)}
	}
}

// dilated reports whether windows have gaps, and the operand padding that may lie in them.
func dilated(a MaxPoolAttrs, n int) bool {
	apart, padded := false, false
	for i, d := range mustList(a.Dilation, n, 1) {
		apart, padded = apart || d > 1, padded || mustList(a.Padding, n, 0)[i] > 0
	}
	return apart && padded
}

// avgPoolGrad gives each element its share of the windows that it lies in.
func avgPoolGrad(name string, n int) func(op.Builder, AvgPoolAttrs, op.GradCall) []op.Value {
	return gradOf(func(g grads, a AvgPoolAttrs, c op.GradCall, seed op.Value) op.Value {
		x, t := c.In[0], seed.Type().DType()
		if a.DivisorOverride > 0 {
			seed = g.call("div", DivAttrs{Other: op.Float(float64(a.DivisorOverride))}, seed)
		} else { // a window's share is its mean of ones by their sum
			ones, sums := g.ones(x), a
			sums.DivisorOverride = 1
			share := g.div(g.call(name, a, ones), g.call(name, sums, ones))
			seed = g.mul(seed, g.call("nan_to_num", NanToNumAttrs{}, share))
		}
		d, s := g.dims(x), g.dims(seed)
		lead := len(d) - n
		size, planes := mustList(a.KernelSize, n, 1), shape.Of(d[:lead]...).Prod()
		w := []shape.Dim{shape.Const(1), shape.Const(1)}
		for _, k := range size {
			w = append(w, shape.Const(k))
		}
		window := g.call("full", FullAttrs{Size: shape.Of(w...), Value: op.Float(1), DType: t})
		v := newConvolving(g.b, n, ConvAttrs{Stride: op.IntList(strideList(a.Stride, a.KernelSize, n)...), Padding: a.Padding})
		planar := func(d []shape.Dim) []shape.Dim { return append([]shape.Dim{planes, shape.Const(1)}, d[lead:]...) }
		return g.reshape(v.input(g.reshape(seed, planar(s)...), window, planar(d)), d...)
	})
}

package std

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
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

// serves reports whether one matrix m is multiplied with a batch of others.
func (g grads) serves(m, others op.Value) bool {
	batch := func(v op.Value) bool {
		d := v.Type().Dims().Slice()
		return slices.ContainsFunc(d[:len(d)-2], func(d shape.Dim) bool { return !d.Is(1) })
	}
	known := func(v op.Value) bool {
		return !slices.ContainsFunc(v.Type().Dims().Slice(), func(d shape.Dim) bool { return d.IsUnknown() })
	}
	return !batch(m) && batch(others) && known(m) && known(others)
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

// convGrad is the rule of convolutions over n spatial dimensions.
func convGrad(n int) func(op.Builder, ConvAttrs, op.GradCall) []op.Value {
	return func(b op.Builder, a ConvAttrs, c op.GradCall) []op.Value {
		g := convolving{grads: grads{b}, n: n, groups: max(a.Groups, 1), stride: mustList(a.Stride, n, 1), dilation: mustList(a.Dilation, n, 1)}
		w := g.dims(c.In[1])
		x, seed := g.batch(c.In[0]), g.batch(c.Seeds[0])
		for i, p := range mustList(a.Padding, n, 0) {
			lo := shape.Const(p)
			if a.PadMode == "same" {
				lo = extentOf(w[2+i], g.dilation[i]).AddInt(-1).FloorDivInt(2)
			}
			g.pad0 = append(g.pad0, lo)
		}
		out := []op.Value{nil, nil, nil}
		if c.Need(0) {
			t := ConvTransposeAttrs{Stride: op.IntList(g.stride...), Dilation: op.IntList(g.dilation...), Groups: a.Groups}
			full := g.call("conv_transpose"+digit(n), t, seed, c.In[1])
			out[0] = g.unbatch(g.cropped(full, g.dims(x)), c.In[0])
		}
		if c.Need(1) {
			out[1] = g.weight(x, seed, w[2:])
		}
		if c.Need(2) {
			out[2] = g.sum(seed, false, butChannel(n+2)...)
		}
		return out
	}
}

// convTransposeGrad is the rule of transposed convolutions: the same, with the operand and
// the result exchanged.
func convTransposeGrad(n int) func(op.Builder, ConvTransposeAttrs, op.GradCall) []op.Value {
	return func(b op.Builder, a ConvTransposeAttrs, c op.GradCall) []op.Value {
		g := convolving{grads: grads{b}, n: n, groups: max(a.Groups, 1), stride: mustList(a.Stride, n, 1), dilation: mustList(a.Dilation, n, 1)}
		for _, p := range mustList(a.Padding, n, 0) {
			g.pad0 = append(g.pad0, shape.Const(p))
		}
		x, seed := g.batch(c.In[0]), g.batch(c.Seeds[0])
		out := []op.Value{nil, nil, nil}
		if c.Need(0) {
			d := g.call("conv"+digit(n), ConvAttrs{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation, Groups: a.Groups}, seed, c.In[1])
			want := g.dims(x)
			for i := 2; i < n+2; i++ { // an output padding of a stride or more made room for windows
				if !d.Type().Dim(i).Equal(want[i]) {
					d = g.slice(d, i, shape.Const(0), want[i])
				}
			}
			out[0] = g.unbatch(d, c.In[0])
		}
		if c.Need(1) {
			out[1] = g.weight(seed, x, g.dims(c.In[1])[2:])
		}
		if c.Need(2) {
			out[2] = g.sum(seed, false, butChannel(n+2)...)
		}
		return out
	}
}

func digit(n int) string { return string(rune('0'+n)) + "d" }

// convolving is a convolution that is differentiated.
type convolving struct {
	grads
	n, groups        int
	stride, dilation []int
	pad0             []shape.Dim // before each spatial dimension
}

// batch gives a batch of one to what has none.
func (g convolving) batch(x op.Value) op.Value {
	if d := g.dims(x); len(d) == g.n+1 {
		return g.reshape(x, append([]shape.Dim{shape.Const(1)}, d...)...)
	}
	return x
}

func (g convolving) unbatch(x, like op.Value) op.Value { return g.reshape(x, g.dims(like)...) }

// cropped takes what is not padding out of what windows reach, and adds zeros where no
// window reaches: the sizes come from x, since dividing by the stride has lost them.
func (g convolving) cropped(v op.Value, x []shape.Dim) op.Value {
	have := g.dims(v)
	lo, hi := make([]shape.Dim, len(have)), make([]shape.Dim, len(have))
	for i := range have {
		lo[i], hi[i] = shape.Const(0), shape.Const(0)
		if i >= len(have)-g.n {
			p := g.pad0[i-len(have)+g.n]
			lo[i], hi[i] = shape.Const(0).Sub(p), p.Add(x[i]).Sub(have[i])
		}
	}
	return g.pad(v, lo, hi)
}

// weight is the gradient by the weight: a convolution of x by the seed, in which batch and
// channels change places. The groups stay groups.
func (g convolving) weight(x, seed op.Value, kernel []shape.Dim) op.Value {
	xd, sd := g.dims(x), g.dims(seed)
	lo, hi := make([]shape.Dim, len(xd)), make([]shape.Dim, len(xd))
	for i := range xd {
		lo[i], hi[i] = shape.Const(0), shape.Const(0)
		if i >= 2 { // so long that as many windows fit as the kernel has elements
			k := i - 2
			need := sd[i].AddInt(-1).MulInt(g.stride[k]).AddInt(1).Add(kernel[k].AddInt(-1).MulInt(g.dilation[k]))
			lo[i], hi[i] = g.pad0[k], need.Sub(xd[i]).Sub(g.pad0[k])
		}
	}
	x = g.pad(x, lo, hi)
	x = g.turned(x, false)
	seed = g.turned(seed, true)
	a := ConvAttrs{Stride: op.IntList(g.dilation...), Dilation: op.IntList(g.stride...), Groups: g.groups}
	return g.permute(g.call("conv"+digit(g.n), a, x, seed), g.axes(1, 0)...)
}

// turned exchanges batch and channels. With groups, [N, G·C] becomes [C, G·N], or, as
// filters, [G·C, N].
func (g convolving) turned(v op.Value, filters bool) op.Value {
	if g.groups == 1 {
		return g.permute(v, g.axes(1, 0)...)
	}
	d := g.dims(v)
	each := d[1].FloorDivInt(g.groups)
	split := append([]shape.Dim{d[0], shape.Const(g.groups), each}, d[2:]...)
	v = g.reshape(v, split...)
	if filters {
		return g.reshape(g.permute(v, g.axes(1, 2, 0)...), append([]shape.Dim{d[1], d[0]}, d[2:]...)...)
	}
	return g.reshape(g.permute(v, g.axes(2, 1, 0)...), append([]shape.Dim{each, d[0].MulInt(g.groups)}, d[2:]...)...)
}

// axes are the given ones, then the spatial ones.
func (g convolving) axes(first ...int) []int {
	for range g.n {
		first = append(first, len(first))
	}
	return first
}

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
		v := convolving{grads: g, n: n}
		for _, p := range mustList(a.Padding, n, 0) {
			v.pad0 = append(v.pad0, shape.Const(p))
		}
		planar := func(d []shape.Dim) []shape.Dim { return append([]shape.Dim{planes, shape.Const(1)}, d[lead:]...) }
		full := g.call("conv_transpose"+digit(n), ConvTransposeAttrs{Stride: op.IntList(strideList(a.Stride, a.KernelSize, n)...)}, g.reshape(seed, planar(s)...), window)
		return g.reshape(v.cropped(full, planar(d)), d...)
	})
}

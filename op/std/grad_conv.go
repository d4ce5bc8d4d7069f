package std

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// convGrad is the rule of convolutions over n spatial dimensions.
func convGrad(n int) func(op.Builder, ConvAttrs, op.GradCall) []op.Value {
	return func(b op.Builder, a ConvAttrs, c op.GradCall) []op.Value {
		g := newConvolving(b, n, a)
		x, seed := g.batch(c.In[0]), g.batch(c.Seeds[0])
		out := []op.Value{nil, nil, nil}
		if c.Need(0) {
			out[0] = g.unbatch(g.input(seed, c.In[1], g.dims(x)), c.In[0])
		}
		if c.Need(1) {
			out[1] = g.weight(x, seed, g.dims(c.In[1])[2:])
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
		g := newConvolving(b, n, ConvAttrs{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation, Groups: a.Groups})
		x, seed := g.batch(c.In[0]), g.batch(c.Seeds[0])
		out := []op.Value{nil, nil, nil}
		if c.Need(0) {
			out[0] = g.unbatch(g.result(seed, c.In[1], g.dims(x)), c.In[0])
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

// convWeightGradGrad is the rule of the gradients of convolutions by their weight, which are
// linear in both operands: the seed is a weight.
func convWeightGradGrad(n int) func(op.Builder, ConvWeightGradAttrs, op.GradCall) []op.Value {
	return func(b op.Builder, a ConvWeightGradAttrs, c op.GradCall) []op.Value {
		g, seed := newConvolving(b, n, a.conv()), c.Seeds[0]
		out := []op.Value{nil, nil}
		if c.Need(0) {
			out[0] = g.input(c.In[1], seed, g.dims(c.In[0]))
		}
		if c.Need(1) {
			out[1] = g.result(c.In[0], seed, g.dims(c.In[1]))
		}
		return out
	}
}

func digit(n int) string { return string(rune('0'+n)) + "d" }

// convolving is a convolution that is differentiated.
type convolving struct {
	grads
	n                      int
	attrs                  ConvAttrs
	stride, lead, dilation []int // lead is the padding, 0 where sizes stay
}

func newConvolving(b op.Builder, n int, a ConvAttrs) convolving {
	return convolving{grads{b}, n, a, mustList(a.Stride, n, 1), mustList(a.Padding, n, 0), mustList(a.Dilation, n, 1)}
}

// before is the padding before spatial dimension i, in which the kernel has k elements.
func (g convolving) before(i int, k shape.Dim) shape.Dim {
	if g.attrs.PadMode == "same" {
		return extentOf(k, g.dilation[i]).AddInt(-1).FloorDivInt(2)
	}
	return shape.Const(g.lead[i])
}

// batch gives a batch of one to what has none.
func (g convolving) batch(x op.Value) op.Value {
	if d := g.dims(x); len(d) == g.n+1 {
		return g.reshape(x, append([]shape.Dim{shape.Const(1)}, d...)...)
	}
	return x
}

func (g convolving) unbatch(x, like op.Value) op.Value { return g.reshape(x, g.dims(like)...) }

// weight is the gradient by the weight, of the given spatial sizes.
func (g convolving) weight(x, seed op.Value, kernel []shape.Dim) op.Value {
	a := g.attrs
	return g.call("conv"+digit(g.n)+"_weight_grad", ConvWeightGradAttrs{KernelSize: shape.Of(kernel...),
		Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation, Groups: a.Groups, PadMode: a.PadMode}, x, seed)
}

// input is the gradient by what was convolved, whose sizes are x: those that division by the
// stride has lost come from there. What windows reach beyond x is padding, and no window
// reaches what is added.
func (g convolving) input(seed, weight op.Value, x []shape.Dim) op.Value {
	a := ConvTransposeAttrs{Stride: g.attrs.Stride, Dilation: g.attrs.Dilation, Groups: g.attrs.Groups}
	have, w := g.dims(seed), g.dims(weight)
	lo, extra := make([]int, g.n), make([]int, g.n)
	left := make([]shape.Dim, g.n) // of the padding before
	for i := range g.n {
		left[i] = g.before(i, w[2+i])
		extent := extentOf(w[2+i], g.dilation[i])
		full := have[2+i].AddInt(-1).MulInt(g.stride[i]).Add(extent)
		p, known := left[i].Int()
		over, counted := x[2+i].Sub(full).AddInt(2 * p).Int() // of the sizes, with p on both sides
		if known && counted && over < max(g.stride[i], g.dilation[i]) && notNone(x[2+i], extent.AddInt(-2*p)) {
			lo[i], left[i] = p, shape.Const(0)
			extra[i] = max(over, 0)
		}
	}
	a.Padding, a.OutputPadding = shortest(lo), shortest(extra)
	return g.cropped(g.call("conv_transpose"+digit(g.n), a, seed, weight), left, x)
}

// notNone tells whether a size that is at least so much is certainly not 0.
func notNone(n, least shape.Dim) bool {
	if v, ok := n.Int(); ok {
		return v > 0
	}
	v, ok := least.Int()
	return ok && v > 0
}

// shortest is an attribute of one number where all are the same, and of none for 0.
func shortest(v []int) op.Ints {
	for _, x := range v {
		if x != v[0] {
			return op.IntList(v...)
		}
	}
	if v[0] == 0 {
		return op.Ints{}
	}
	return op.IntList(v[0])
}

// result is the convolution of x by a weight, as far as the given sizes reach.
func (g convolving) result(x, weight op.Value, want []shape.Dim) op.Value {
	have, w, a := g.dims(x), g.dims(weight), g.attrs
	lo, hi := make([]shape.Dim, len(have)), make([]shape.Dim, len(have))
	fits := true
	for i := range have {
		lo[i], hi[i] = shape.Const(0), shape.Const(0)
		if i < 2 {
			continue
		}
		k := i - 2
		p := g.before(k, w[i])
		reach := want[i].AddInt(-1).MulInt(g.stride[k]).Add(extentOf(w[i], g.dilation[k]))
		padded := have[i].Add(p).Add(p)
		if a.PadMode == "same" {
			fits = fits && have[i].Equal(want[i])
		} else {
			fits = fits && padded.Sub(extentOf(w[i], g.dilation[k])).FloorDivInt(g.stride[k]).AddInt(1).Equal(want[i])
		}
		lo[i], hi[i] = p, reach.Sub(have[i]).Sub(p)
	}
	if !fits {
		x, a.Padding, a.PadMode = g.pad(x, lo, hi), op.Ints{}, ""
	}
	return g.call("conv"+digit(g.n), a, x, weight)
}

// cropped takes what is not padding out of what windows reach, and adds zeros where no
// window reaches: lo is the padding before spatial dimensions, x are the sizes.
func (g grads) cropped(v op.Value, before, x []shape.Dim) op.Value {
	have := g.dims(v)
	lo, hi := make([]shape.Dim, len(have)), make([]shape.Dim, len(have))
	for i := range have {
		lo[i], hi[i] = shape.Const(0), shape.Const(0)
		if k := i - len(have) + len(before); k >= 0 {
			lo[i], hi[i] = shape.Const(0).Sub(before[k]), before[k].Add(x[i]).Sub(have[i])
		}
	}
	return g.pad(v, lo, hi)
}

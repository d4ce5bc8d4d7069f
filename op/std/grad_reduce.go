package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// reduceGrad returns the rule of a reduction by its name; nil for those whose results are
// no floats.
func reduceGrad(name string) func(op.Builder, ReduceAttrs, op.GradCall) []op.Value {
	rules := map[string]func(g grads, a ReduceAttrs, c op.GradCall, seed op.Value) op.Value{
		"sum": sumGrad, "mean": meanGrad, "prod": prodGrad, "amax": extremeGrad, "amin": extremeGrad,
	}
	if f := rules[name]; f != nil {
		return gradOf(f)
	}
	return nil
}

func sumGrad(g grads, a ReduceAttrs, c op.GradCall, seed op.Value) op.Value {
	d := g.dims(c.In[0])
	return g.spread(seed, d, allAxes(a.Dim, len(d)))
}

func meanGrad(g grads, a ReduceAttrs, c op.GradCall, seed op.Value) op.Value {
	d := g.dims(c.In[0])
	axes := allAxes(a.Dim, len(d))
	return g.spread(g.over(seed, pick(shape.Of(d...), axes), 0), d, axes)
}

// over is x divided by a number of elements less another number.
func (g grads) over(x op.Value, sizes shape.Dims, less float64) op.Value {
	if n, ok := sizes.Prod().Int(); ok {
		return g.call("div", DivAttrs{Other: op.Float(max(float64(n)-less, 0))}, x)
	}
	n := g.count(x.Type().DType(), sizes.Slice()...)
	if less != 0 {
		n = g.call("sub", SubAttrs{Other: op.Float(less)}, n)
	}
	return g.div(x, n)
}

// prodGrad is the product of all other elements, right where one of them is zero: an
// element has a derivative where no other is zero.
func prodGrad(g grads, a ReduceAttrs, c op.GradCall, seed op.Value) op.Value {
	t := seed.Type().DType()
	x := g.cast(c.In[0], t)
	d := g.dims(x)
	axes := allAxes(a.Dim, len(d))
	zero := g.is(x, 0)
	filled := g.masked(x, zero, 1)
	product := filled
	if len(axes) > 0 {
		product = g.call("prod", ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, filled)
	}
	zeros, none := g.cast(zero, t), g.onlyZeros(x)
	others := g.sub(g.sum(zeros, true, axes...), zeros)
	part := g.mul(g.spread(seed, d, axes), g.div(product, filled))
	return g.shareOf(part, others, g.sub(g.sum(none, true, axes...), none))
}

// onlyZeros is x where that is zero, for derivatives by these elements, and the constant zero elsewhere.
func (g grads) onlyZeros(x op.Value) op.Value {
	return g.masked(x, g.call("ne", BinaryAttrs{Other: op.Float(0)}, x), 0)
}

// shareOf is the derivative of a product by a factor: part, in which zeros count as 1, where none of
// so many others is zero. One other that is zero makes it that one times part: zero, but with a derivative. zero is the
// sum of the others that are. The product of the rest may be infinite.
func (g grads) shareOf(part, others, zero op.Value) op.Value {
	one := g.call("logical_and", op.None{}, g.is(others, 1), g.call("isfinite", op.None{}, part))
	whole := g.masked(part, g.call("ne", BinaryAttrs{Other: op.Float(0)}, others), 0)
	return g.call("where", WhereAttrs{}, one, g.mul(part, zero), whole)
}

// extremeGrad gives equal extreme elements equal shares.
func extremeGrad(g grads, a ReduceAttrs, c op.GradCall, seed op.Value) op.Value {
	d := g.dims(c.In[0])
	axes := allAxes(a.Dim, len(d))
	return g.shared(c.In[0], c.Result(0), seed, d, axes)
}

// shared gives the seed of a reduction to the elements of x that equal the result, in
// equal shares. NaN equals NaN here.
func (g grads) shared(x, out, seed op.Value, d []shape.Dim, axes []int) op.Value {
	out = g.spread(out, d, axes)
	both := g.call("logical_and", op.None{}, g.call("isnan", op.None{}, x), g.call("isnan", op.None{}, out))
	is := g.cast(g.call("logical_or", op.None{}, g.call("eq", BinaryAttrs{}, x, out), both), x.Type().DType())
	return g.div(g.mul(g.spread(seed, d, axes), is), g.sum(is, true, axes...))
}

// minMaxGrad is the rule of max_dim and min_dim: the seed goes to the element found.
func minMaxGrad(b op.Builder, a MinMaxAttrs, c op.GradCall) []op.Value {
	g, seed := grads{b}, c.Seeds[0]
	if seed == nil || !c.Need(0) {
		return nil
	}
	d := g.dims(c.In[0])
	axes := allAxes(op.IntList(a.Dim), len(d))
	return fromIndex(g, a.Dim, c, g.restored(seed, d, axes), func() op.Value { return g.restored(c.Result(1), d, axes) })
}

// varGrad is the rule of var and std. A deviation of zero has the derivative 0.
func varGrad(root bool) func(op.Builder, VarAttrs, op.GradCall) []op.Value {
	return gradOf(func(g grads, a VarAttrs, c op.GradCall, seed op.Value) op.Value {
		x := g.wide(c.In[0])
		d := g.dims(x)
		axes := allAxes(a.Dim, len(d))
		seed = g.cast(seed, x.Type().DType())
		if root {
			out := g.cast(c.Result(0), x.Type().DType())
			seed = g.masked(g.div(seed, out), g.is(out, 0), 0)
		} else {
			seed = g.times(seed, 2)
		}
		seed = g.over(seed, pick(shape.Of(d...), axes), a.correction())
		return g.mul(g.spread(seed, d, axes), g.sub(x, g.mean(x, axes...)))
	})
}

// wide is x in f32 where it is f16 or bf16.
func (g grads) wide(x op.Value) op.Value {
	if d := x.Type().DType(); d.IsFloat() && d.Size() == 2 {
		return g.cast(x, array.F32)
	}
	return x
}

// scanGrad is the rule of cumsum: sums from the other end. nil for others.
func scanGrad(name string) func(op.Builder, ScanAttrs, op.GradCall) []op.Value {
	if name != "cumsum" {
		return nil
	}
	return gradOf(func(g grads, a ScanAttrs, c op.GradCall, seed op.Value) op.Value {
		if c.In[0].Type().Rank() == 0 {
			return seed
		}
		turn := FlipAttrs{op.IntList(a.Dim)}
		return g.call("flip", turn, g.call("cumsum", ScanAttrs{Dim: a.Dim}, g.call("flip", turn, seed)))
	})
}

// logsumexpGrad is the share that each element has in the sum.
var logsumexpGrad = gradOf(func(g grads, a LogsumexpAttrs, c op.GradCall, seed op.Value) op.Value {
	x := g.wide(c.In[0])
	d := g.dims(x)
	axes := allAxes(a.Dim, len(d))
	out := g.spread(g.cast(c.Result(0), x.Type().DType()), d, axes)
	share := g.call("exp", op.None{}, g.sub(x, out))
	return g.mul(g.spread(g.cast(seed, x.Type().DType()), d, axes), share)
})

// normGrad is 0 where the norm is 0, as in PyTorch.
var normGrad = gradOf(func(g grads, a NormAttrs, c op.GradCall, seed op.Value) op.Value {
	x := g.wide(c.In[0])
	t := x.Type().DType()
	d := g.dims(x)
	axes := allAxes(a.Dim, len(d))
	out, s := g.cast(c.Result(0), t), g.cast(seed, t)
	size, sign := g.call("abs", op.None{}, x), g.call("sign", op.None{}, x)
	pow := func(v op.Value, p float64) op.Value { return g.call("pow", ReversibleAttrs{Other: op.Float(p)}, v) }
	switch p := a.order(); {
	case p == 0:
		return g.zeros(x)
	case p == 1:
		return g.mul(g.spread(s, d, axes), sign)
	case math.IsInf(p, 0):
		return g.mul(sign, g.shared(size, out, s, d, axes))
	case p == 2:
		s = g.masked(g.div(s, out), g.is(out, 0), 0)
		return g.mul(g.spread(s, d, axes), x)
	default:
		s = g.masked(g.div(s, pow(out, p-1)), g.is(out, 0), 0)
		return g.mul(g.spread(s, d, axes), g.masked(g.mul(sign, pow(size, p-1)), g.is(x, 0), 0))
	}
})

// preluGrad chooses where the other branch may be infinite: products with a zero of a seed
// would be NaN.
func preluGrad(b op.Builder, _ op.None, c op.GradCall) []op.Value {
	g, seed, x, w := grads{b}, c.Seeds[0], c.In[0], c.In[1]
	rank := x.Type().Rank()
	g.dims(x)
	wide := w
	switch d := g.dims(w); {
	case len(d) == 1 && rank == 0:
		wide = g.reshape(w)
	case len(d) == 1 && rank > 1 && !d[0].Is(1):
		wide = g.perChannel(w, rank)
	}
	positive := g.call("gt", BinaryAttrs{Other: op.Int(0)}, x)
	out := make([]op.Value, 2)
	if c.Need(0) {
		out[0] = g.call("where", WhereAttrs{}, positive, seed, g.mul(seed, wide))
	}
	if c.Need(1) {
		part := g.masked(g.mul(seed, x), positive, 0)
		switch d := g.dims(w); {
		case len(d) == 1 && rank > 1 && !d[0].Is(1):
			part = g.sum(part, false, butChannel(rank)...)
		case len(d) == 1 && rank == 0:
			part = g.reshape(part, shape.Const(1))
		case len(d) == 1 && d[0].Is(1) || len(d) == 0:
			axes := make([]int, rank)
			for i := range axes {
				axes[i] = i
			}
			part = g.reshape(g.sum(part, false, axes...), d...)
		}
		out[1] = part
	}
	return out
}

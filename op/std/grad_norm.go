package std

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

var softmaxGrad = gradOf(func(g grads, a DimAttrs, c op.GradCall, seed op.Value) op.Value {
	y := g.wide(c.Result(0))
	axes := allAxes(op.IntList(a.Dim), y.Type().Rank())
	part := g.mul(g.cast(seed, y.Type().DType()), y)
	return g.sub(part, g.mul(y, g.sum(part, true, axes...)))
})

var logSoftmaxGrad = gradOf(func(g grads, a DimAttrs, c op.GradCall, seed op.Value) op.Value {
	y := g.wide(c.Result(0))
	axes := allAxes(op.IntList(a.Dim), y.Type().Rank())
	seed = g.cast(seed, y.Type().DType())
	return g.sub(seed, g.mul(g.call("exp", op.None{}, y), g.sum(seed, true, axes...)))
})

// normalised is x without its mean (where centred is set) over axes, divided by the root
// of the mean square; and what it was multiplied by for that.
func (g grads) normalised(x op.Value, eps float64, centred bool, axes ...int) (unit, factor op.Value) {
	if centred {
		x = g.sub(x, g.mean(x, axes...))
	}
	square := g.mean(g.call("square", op.None{}, x), axes...)
	factor = g.call("rsqrt", op.None{}, g.call("add", AddAttrs{Other: op.Float(eps)}, square))
	return g.mul(x, factor), factor
}

// throughNorm is the derivative with respect to what normalised got, from the one with
// respect to unit.
func (g grads) throughNorm(seed, unit, factor op.Value, centred bool, axes ...int) op.Value {
	d := g.sub(seed, g.mul(unit, g.mean(g.mul(seed, unit), axes...)))
	if centred {
		d = g.sub(d, g.mean(seed, axes...))
	}
	return g.mul(factor, d)
}

// lastNormGrad is the rule of layer_norm and rms_norm: over the last axes, with factors
// of their shape.
func lastNormGrad(centred bool) func(op.Builder, LayerNormAttrs, op.GradCall) []op.Value {
	return func(b op.Builder, a LayerNormAttrs, c op.GradCall) []op.Value {
		g := grads{b}
		x := g.wide(c.In[0])
		var axes []int
		for i := range a.NormalizedShape.Len() {
			axes = append(axes, x.Type().Rank()-a.NormalizedShape.Len()+i)
		}
		seed, w := g.cast(c.Seeds[0], x.Type().DType()), at(c.In, 1)
		unit, factor := g.normalised(x, a.Eps, centred, axes...)
		out := []op.Value{nil, nil, c.Seeds[0]}
		if w != nil {
			out[1] = g.mul(seed, unit)
			seed = g.mul(seed, g.cast(w, x.Type().DType()))
		}
		if c.Need(0) {
			out[0] = g.throughNorm(seed, unit, factor, centred, axes...)
		}
		return out
	}
}

// perChannel gives a vector the rank of x, along axis 1.
func (g grads) perChannel(v op.Value, rank int) op.Value {
	d := make([]shape.Dim, rank)
	for i := range d {
		d[i] = shape.Const(1)
	}
	d[1] = g.dims(v)[0]
	return g.reshape(v, d...)
}

// butChannel are all axes but 1.
func butChannel(rank int) []int {
	axes := []int{0}
	for i := 2; i < rank; i++ {
		axes = append(axes, i)
	}
	return axes
}

func groupNormGrad(b op.Builder, a GroupNormAttrs, c op.GradCall) []op.Value {
	g := grads{b}
	x := g.wide(c.In[0])
	d := g.dims(x)
	t, rank := x.Type().DType(), len(d)
	groups := shape.Const(a.NumGroups)
	if a.NumGroups < 1 {
		groups = d[1]
	}
	each := shape.Of(d[1:]...).Prod().FloorDiv(groups)
	if a.NumGroups < 1 {
		each = shape.Of(d[2:]...).Prod()
	}
	unit, factor := g.normalised(g.reshape(x, d[0], groups, each), a.Eps, true, 2)
	seed, w := g.cast(c.Seeds[0], t), at(c.In, 1)
	out := []op.Value{nil, nil, nil}
	if c.Need(2) {
		out[2] = g.sum(seed, false, butChannel(rank)...)
	}
	if c.Need(1) {
		out[1] = g.sum(g.mul(seed, g.reshape(unit, d...)), false, butChannel(rank)...)
	}
	if w != nil {
		seed = g.mul(seed, g.perChannel(g.cast(w, t), rank))
	}
	if c.Need(0) {
		out[0] = g.reshape(g.throughNorm(g.reshape(seed, d[0], groups, each), unit, factor, true, 2), d...)
	}
	return out
}

// batchStatsGrad is the rule of batch_norm_stats: of the mean and the variance of each
// channel.
func batchStatsGrad(b op.Builder, _ op.None, c op.GradCall) []op.Value {
	g := grads{b}
	x := g.wide(c.In[0])
	d := g.dims(x)
	over := pick(shape.Of(d...), butChannel(len(d)))
	var out op.Value
	if s := c.Seeds[0]; s != nil {
		out = g.expand(g.perChannel(g.over(s, over, 0), len(d)), d...)
	}
	if s := c.Seeds[1]; s != nil {
		s = g.perChannel(g.times(g.over(s, over, 0), 2), len(d))
		part := g.mul(s, g.sub(x, g.perChannel(c.Result(0), len(d))))
		if out != nil {
			part = g.add(out, part)
		}
		out = part
	}
	return []op.Value{out}
}

// batchInferenceGrad is the rule of (x-mean)/sqrt(var+eps)·weight + bias.
func batchInferenceGrad(b op.Builder, a EpsAttrs, c op.GradCall) []op.Value {
	g := grads{b}
	x := g.wide(c.In[0])
	t, rank := x.Type().DType(), x.Type().Rank()
	axes := butChannel(rank)
	seed := g.cast(c.Seeds[0], t)
	factor := g.call("rsqrt", op.None{}, g.call("add", AddAttrs{Other: op.Float(a.Eps)}, g.cast(c.In[2], t)))
	scale := factor
	if w := at(c.In, 3); w != nil {
		scale = g.mul(factor, g.cast(w, t))
	}
	out := make([]op.Value, 5)
	if c.Need(0) {
		out[0] = g.mul(seed, g.perChannel(scale, rank))
	}
	if !c.Need(1) && !c.Need(2) && !c.Need(3) && !c.Need(4) {
		return out
	}
	total := g.sum(seed, false, axes...)
	if c.Need(1) {
		out[1] = g.neg(g.mul(total, scale))
	}
	if c.Need(2) || c.Need(3) {
		dot := g.sum(g.mul(seed, g.sub(x, g.perChannel(g.cast(c.In[1], t), rank))), false, axes...)
		out[2] = g.times(g.mul(dot, g.mul(scale, g.call("square", op.None{}, factor))), -0.5)
		out[3] = g.mul(dot, factor)
	}
	out[4] = total
	return out
}

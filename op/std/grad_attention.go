package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// attentionGrad computes the probabilities again, so that nothing of the size of the
// scores is kept. A row of which the mask leaves nothing has the gradient 0, as its result
// is 0.
func attentionGrad(b op.Builder, a AttentionAttrs, c op.GradCall) []op.Value {
	g := grads{b}
	q, k, v, mask, seed := g.wide(c.In[0]), g.wide(c.In[1]), g.wide(c.In[2]), at(c.In, 3), g.wide(c.Seeds[0])
	repeats := 1
	if a.EnableGqa {
		n, err := groupFactor(nil, "k", q.Type(), k.Type())
		if err != nil {
			panic(err)
		}
		if n == 0 {
			panic(op.NotDifferentiable("the numbers of heads are not known", "give the inputs' types"))
		}
		if repeats = n; n > 1 {
			repeat := RepeatInterleaveAttrs{Repeats: n, Dim: -3}
			k, v = g.call("repeat_interleave", repeat, k), g.call("repeat_interleave", repeat, v)
		}
	}
	product := func(x, y op.Value) op.Value { return g.call("matmul", op.None{}, x, y) }
	scaled := scaledQuery(composer{b}, a.Scale, q)
	p := g.probabilities(a, product(scaled, g.turn(k)), mask)
	part := g.mul(product(seed, g.turn(v)), p)
	last := part.Type().Rank() - 1
	scores := g.sub(part, g.mul(p, g.sum(part, true, last)))
	out := make([]op.Value, 4)
	if c.Need(0) {
		out[0] = scaledQuery(composer{b}, a.Scale, product(scores, k))
	}
	if c.Need(1) {
		out[1] = g.gathered(product(g.turn(scores), scaled), repeats)
	}
	if c.Need(2) {
		out[2] = g.gathered(product(g.turn(p), seed), repeats)
	}
	out[3] = scores
	return out
}

// probabilities are those of attention, 0 in rows of which a mask leaves nothing.
func (g grads) probabilities(a AttentionAttrs, scores, mask op.Value) op.Value {
	softmax := func(x op.Value) op.Value { return g.call("softmax", DimAttrs{-1}, x) }
	d := scores.Type().Dims()
	switch {
	case a.IsCausal:
		ones := g.call("ones", SizeAttrs{Size: shape.Of(d.At(-2), d.At(-1)), DType: array.Bool})
		return softmax(keepWhere(g.b, g.call("tril", TriAttrs{}, ones), scores))
	case mask == nil:
		return softmax(scores)
	case mask.Type().DType() != array.Bool:
		return softmax(g.add(scores, g.cast(mask, scores.Type().DType())))
	}
	some := mask
	if mask.Type().Rank() > 0 {
		some = g.call("any", ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, mask)
	}
	return g.call("where", WhereAttrs{Other: op.Int(0)}, some, softmax(keepWhere(g.b, mask, scores)))
}

// gathered adds up over the heads that repeated one.
func (g grads) gathered(x op.Value, repeats int) op.Value {
	if repeats == 1 {
		return x
	}
	d := g.dims(x)
	at := len(d) - 3
	split := append(append([]shape.Dim{}, d[:at]...), d[at].FloorDivInt(repeats), shape.Const(repeats))
	return g.sum(g.reshape(x, append(split, d[at+1:]...)...), false, at+1)
}

package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// grads writes rules for gradients: a builder with short names for the calls that they are
// made of. Operators are called by name, since rules are part of what variables are set to.
type grads struct{ b op.Builder }

func (g grads) call(name string, attrs any, in ...op.Value) op.Value {
	return later(g.b, name, attrs, in...)
}

func (g grads) add(x, y op.Value) op.Value { return g.call("add", AddAttrs{}, x, y) }
func (g grads) sub(x, y op.Value) op.Value { return g.call("sub", SubAttrs{}, x, y) }
func (g grads) mul(x, y op.Value) op.Value { return g.call("mul", BinaryAttrs{}, x, y) }
func (g grads) div(x, y op.Value) op.Value { return g.call("div", DivAttrs{}, x, y) }
func (g grads) neg(x op.Value) op.Value    { return g.call("neg", op.None{}, x) }

// times is x times a number.
func (g grads) times(x op.Value, f float64) op.Value {
	if f == 1 {
		return x
	}
	return g.call("mul", BinaryAttrs{Other: op.Float(f)}, x)
}

// is compares with a number, as bool.
func (g grads) is(x op.Value, n float64) op.Value {
	return g.call("eq", BinaryAttrs{Other: op.Float(n)}, x)
}

// masked is x with zeros where cond is true.
func (g grads) masked(x, cond op.Value, value float64) op.Value {
	return g.call("masked_fill", MaskedFillAttrs{Value: op.Float(value)}, x, cond)
}

func (g grads) cast(x op.Value, d array.DType) op.Value {
	if x.Type().DType() == d {
		return x
	}
	return g.call("cast", CastAttrs{DType: d}, x)
}

func (g grads) zeros(like op.Value) op.Value { return g.call("zeros_like", LikeAttrs{}, like) }
func (g grads) ones(like op.Value) op.Value  { return g.call("ones_like", LikeAttrs{}, like) }

// sum adds over axes, which stay with size 1 if keep is set; none means nothing to add.
func (g grads) sum(x op.Value, keep bool, axes ...int) op.Value {
	if len(axes) == 0 {
		return x
	}
	return g.call("sum", ReduceAttrs{Dim: op.IntList(axes...), KeepDim: keep}, x)
}

func (g grads) mean(x op.Value, axes ...int) op.Value {
	if len(axes) == 0 {
		return x
	}
	return g.call("mean", ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, x)
}

func (g grads) reshape(x op.Value, d ...shape.Dim) op.Value {
	if x.Type().Dims().Equal(shape.Of(d...)) {
		return x
	}
	return g.call("reshape", ReshapeAttrs{Shape: shape.Of(d...)}, x)
}

func (g grads) expand(x op.Value, d ...shape.Dim) op.Value {
	if x.Type().Dims().Equal(shape.Of(d...)) {
		return x
	}
	return g.call("expand", ExpandAttrs{Shape: shape.Of(d...)}, x)
}

func (g grads) permute(x op.Value, p ...int) op.Value {
	for i, q := range p {
		if i != q {
			return g.call("permute", PermuteAttrs{Dims: op.IntList(p...)}, x)
		}
	}
	return x
}

// turn exchanges the last two axes.
func (g grads) turn(x op.Value) op.Value {
	return g.call("transpose", TransposeAttrs{Dim0: -1, Dim1: -2}, x)
}

// slice takes the elements from start up to stop of an axis, which has them.
func (g grads) slice(x op.Value, axis int, start, stop shape.Dim) op.Value {
	if start.Is(0) && stop.Equal(x.Type().Dim(axis)) {
		return x
	}
	_, known := x.Type().Dim(axis).Int()
	return g.call("slice", SliceAttrs{Dim: axis, Start: start, Stop: stop, Inside: !known}, x)
}

// pad adds zeros before and after dimensions, and crops where counts are negative.
func (g grads) pad(x op.Value, lo, hi []shape.Dim) op.Value {
	counts, some := make([]shape.Dim, 2*len(lo)), false
	for i := range lo {
		at := 2 * (len(lo) - 1 - i)
		counts[at], counts[at+1] = lo[i], hi[i]
		some = some || !lo[i].Is(0) || !hi[i].Is(0)
	}
	if !some {
		return x
	}
	return g.call("pad", PadAttrs{Pad: shape.Of(counts...)}, x)
}

// dims are the sizes of a value, which rules need: at least as expressions.
func (g grads) dims(x op.Value) []shape.Dim {
	t := x.Type()
	if !t.Ranked() {
		panic(op.NotDifferentiable("the rank of an operand is not known", "give the inputs' types"))
	}
	for _, d := range t.Dims().Slice() {
		if d.IsUnknown() {
			panic(op.NotDifferentiable("a size of an operand, "+t.String()+", is not known", "give the inputs' types"))
		}
	}
	return append([]shape.Dim{}, t.Dims().Slice()...)
}

// count is a product of sizes as a 0-dimensional value of a type; known ones are numbers.
func (g grads) count(d array.DType, sizes ...shape.Dim) op.Value {
	n := shape.Of(sizes...).Prod()
	if k, ok := n.Int(); ok {
		return g.call("full", FullAttrs{Value: op.Float(float64(k)), DType: d})
	}
	probe := g.call("full", FullAttrs{Size: shape.Of(n), Value: op.BoolScalar(false), DType: array.Bool})
	return g.cast(g.b.Call(op.Dim, op.AxisAttrs{Axis: 0}, probe), d)
}

// at returns seed or operand i, nil where it is absent.
func at(list []op.Value, i int) op.Value {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// gradOf makes a Spec.Grad of a rule for one operand and one result: f gets the seed, and
// returns the derivative with respect to the first operand.
func gradOf[A any](f func(g grads, a A, c op.GradCall, seed op.Value) op.Value) func(op.Builder, A, op.GradCall) []op.Value {
	return func(b op.Builder, a A, c op.GradCall) []op.Value {
		if c.Seeds[0] == nil || !c.Need(0) {
			return nil
		}
		return []op.Value{f(grads{b}, a, c, c.Seeds[0])}
	}
}

// allAxes are the axes that a reduction reduces, all where none is named, each from 0.
func allAxes(dims op.Ints, rank int) []int {
	axes, err := axisList(dims, rank)
	if err != nil {
		panic(err)
	}
	if rank == 0 {
		return nil
	}
	return axes
}

// restored puts reduced axes back, with size 1.
func (g grads) restored(x op.Value, dims []shape.Dim, axes []int) op.Value {
	d := append([]shape.Dim{}, dims...)
	for _, i := range axes {
		d[i] = shape.Const(1)
	}
	return g.reshape(x, d...)
}

// spread puts reduced axes back, in their sizes.
func (g grads) spread(x op.Value, dims []shape.Dim, axes []int) op.Value {
	return g.expand(g.restored(x, dims, axes), dims...)
}

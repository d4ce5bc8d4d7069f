package expand

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// maker writes an expansion: a builder with short names for the calls that expansions
// are made of. It notes which values are views of the operands.
type maker struct {
	b     op.Builder
	o     *op.Op
	out   shape.Type // of the call
	views map[op.Value]bool
}

// refusal is what an expansion panics with that leaves the call as it is.
type refusal struct{ why string }

// refuse leaves the call as it is, with the reason.
func (c *maker) refuse(why string) { panic(refusal{why}) }

// entry makes a table's entry of a function that writes the results of a call with
// attributes of type A. nil results mean that the call is as simple as it gets.
func entry[A any](o *op.Op, f func(c *maker, a A, in []op.Value) []op.Value) simplify.Expansions {
	return simplify.Expansions{o: func(b op.Builder, attrs any, in []op.Value) (out []op.Value, why string) {
		c := &maker{b: b, o: o, views: map[op.Value]bool{}}
		defer func() {
			if r := recover(); r != nil {
				left, ok := r.(refusal)
				if !ok {
					panic(r)
				}
				out, why = nil, left.why
			}
		}()
		for len(in) < len(o.In) && !o.Variadic() {
			in = append(in, nil)
		}
		types := make([]shape.Type, len(in))
		for i, v := range in {
			if v != nil {
				types[i], c.views[v] = v.Type(), true
			}
		}
		t, err := o.Type(nil, attrs, types)
		if err != nil {
			panic(err)
		}
		c.out = t
		return c.copyShared(f(c, attrs.(A), in)), ""
	}}
}

// one is entry for one result.
func one[A any](o *op.Op, f func(c *maker, a A, in []op.Value) op.Value) simplify.Expansions {
	return entry(o, func(c *maker, a A, in []op.Value) []op.Value {
		if v := f(c, a, in); v != nil {
			return []op.Value{v}
		}
		return nil
	})
}

// each is one for several operators.
func each[A any](f func(c *maker, a A, in []op.Value) op.Value, ops ...*op.Op) simplify.Expansions {
	all := simplify.Expansions{}
	for _, o := range ops {
		all = merge(all, one(o, f))
	}
	return all
}

// copyShared gives results memory of their own where the operator promises it: who relies on
// that may write to them.
func (c *maker) copyShared(out []op.Value) []op.Value {
	if c.o.ViewOf > 0 {
		return out
	}
	for i, v := range out {
		if c.views[v] {
			out[i] = c.call(std.Clone, op.None{}, v)
		}
		c.views[v] = true // a second result that is the same one is copied
	}
	return out
}

func (c *maker) call(o *op.Op, attrs any, in ...op.Value) op.Value {
	v := c.b.Call(o, attrs, in...)
	if o.ViewOf > 0 && c.views[in[o.ViewOf-1]] {
		c.views[v] = true
	}
	return v
}

func (c *maker) item(tuple op.Value, i int) op.Value { return c.b.Item(tuple, i) }

// Arithmetic, with numbers as the second operand where a name ends in N.

func (c *maker) add(x, y op.Value) op.Value { return c.call(std.Add, std.AddAttrs{}, x, y) }
func (c *maker) sub(x, y op.Value) op.Value { return c.call(std.Sub, std.SubAttrs{}, x, y) }
func (c *maker) mul(x, y op.Value) op.Value { return c.call(std.Mul, std.BinaryAttrs{}, x, y) }
func (c *maker) div(x, y op.Value) op.Value { return c.call(std.Div, std.DivAttrs{}, x, y) }

// quotient is x / y of integers, rounded down.
func (c *maker) quotient(x, y op.Value) op.Value {
	return c.call(std.FloorDivide, std.ReversibleAttrs{}, x, y)
}

// modulo is what floored division leaves over.
func (c *maker) modulo(x, y op.Value) op.Value {
	return c.call(std.Remainder, std.ReversibleAttrs{}, x, y)
}

func (c *maker) addN(x op.Value, n int) op.Value {
	if n == 0 {
		return x
	}
	return c.call(std.Add, std.AddAttrs{Other: op.Int(int64(n))}, x)
}

func (c *maker) mulN(x op.Value, n int) op.Value {
	if n == 1 {
		return x
	}
	return c.call(std.Mul, std.BinaryAttrs{Other: op.Int(int64(n))}, x)
}

func (c *maker) addF(x op.Value, f float64) op.Value {
	return c.call(std.Add, std.AddAttrs{Other: op.Float(f)}, x)
}

func (c *maker) mulF(x op.Value, f float64) op.Value {
	return c.call(std.Mul, std.BinaryAttrs{Other: op.Float(f)}, x)
}

func (c *maker) apply(o *op.Op, x op.Value) op.Value { return c.call(o, op.None{}, x) }

// compare compares two values by eq, lt, le, ...
func (c *maker) compare(o *op.Op, x, y op.Value) op.Value {
	return c.call(o, std.BinaryAttrs{}, x, y)
}

// compareN compares with a number.
func (c *maker) compareN(o *op.Op, x op.Value, n int) op.Value {
	return c.call(o, std.BinaryAttrs{Other: op.Int(int64(n))}, x)
}

func (c *maker) and(x, y op.Value) op.Value { return c.call(std.LogicalAnd, op.None{}, x, y) }
func (c *maker) or(x, y op.Value) op.Value  { return c.call(std.LogicalOr, op.None{}, x, y) }

func (c *maker) where(cond, x, y op.Value) op.Value {
	return c.call(std.Where, std.WhereAttrs{}, cond, x, y)
}

func (c *maker) max(x, y op.Value) op.Value {
	return c.call(std.Maximum, std.BinaryAttrs{}, x, y)
}

func (c *maker) min(x, y op.Value) op.Value {
	return c.call(std.Minimum, std.BinaryAttrs{}, x, y)
}

func (c *maker) maxN(x op.Value, n int) op.Value {
	return c.call(std.Maximum, std.BinaryAttrs{Other: op.Int(int64(n))}, x)
}

func (c *maker) minN(x op.Value, n int) op.Value {
	return c.call(std.Minimum, std.BinaryAttrs{Other: op.Int(int64(n))}, x)
}

// cast converts to an element type.
func (c *maker) cast(x op.Value, d array.DType) op.Value {
	if x.Type().DType() == d {
		return x
	}
	return c.call(std.Cast, std.CastAttrs{DType: d}, x)
}

// wide is the type that floats are computed in: f32 for those of 16 bits.
func wide(d array.DType) array.DType {
	if d.IsFloat() && d.Size() == 2 {
		return array.F32
	}
	return d
}

// widened is x in the type that it is computed in; nil stays nil.
func (c *maker) widened(x op.Value) op.Value {
	if x == nil {
		return nil
	}
	return c.cast(x, wide(x.Type().DType()))
}

// back is x in the type of result i of the call.
func (c *maker) back(x op.Value, i int) op.Value { return c.cast(x, c.result(i).DType()) }

// result is the type of result i of the call.
func (c *maker) result(i int) shape.Type {
	if c.out.Kind() == shape.Tuple {
		return c.out.Member(i)
	}
	return c.out
}

// Movement.

// dims are the sizes of a value, all of them at least as expressions.
func (c *maker) dims(x op.Value) []shape.Dim { return c.known(x.Type().Dims()) }

// known is d, refused where a size is not even an expression.
func (c *maker) known(d shape.Dims) []shape.Dim {
	for _, n := range d.Slice() {
		if n.IsUnknown() {
			c.refuse("a size is not known")
		}
	}
	return d.Slice()
}

// outDims are the sizes of result i.
func (c *maker) outDims(i int) []shape.Dim {
	if !c.result(i).Ranked() {
		c.refuse("the rank of the result is not known")
	}
	return c.known(c.result(i).Dims())
}

func (c *maker) reshape(x op.Value, dims ...shape.Dim) op.Value {
	if x.Type().Dims().Equal(shape.Of(dims...)) {
		return x
	}
	return c.call(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims...)}, x)
}

func (c *maker) expand(x op.Value, dims ...shape.Dim) op.Value {
	if x.Type().Dims().Equal(shape.Of(dims...)) {
		return x
	}
	return c.call(std.Expand, std.ExpandAttrs{Shape: shape.Of(dims...)}, x)
}

func (c *maker) permute(x op.Value, perm ...int) op.Value {
	for i, p := range perm {
		if i != p {
			return c.call(std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)}, x)
		}
	}
	return x
}

// swap exchanges two axes.
func (c *maker) swap(x op.Value, i, j int) op.Value {
	perm := sequence(x.Type().Rank())
	perm[i], perm[j] = perm[j], perm[i]
	return c.permute(x, perm...)
}

// slice takes the elements from start up to stop of an axis, which has them.
func (c *maker) slice(x op.Value, axis int, start, stop shape.Dim) op.Value {
	if start.Is(0) && (stop.Equal(std.End) || stop.Equal(x.Type().Dim(axis))) {
		return x
	}
	_, known := x.Type().Dim(axis).Int()
	return c.call(std.Slice, std.SliceAttrs{Dim: axis, Start: start, Stop: stop, Inside: !known}, x)
}

// pick takes one index of an axis, which vanishes.
func (c *maker) pick(x op.Value, axis, index int) op.Value {
	stop := shape.Const(index + 1)
	if index == -1 {
		stop = std.End
	}
	d := c.dims(x)
	return c.reshape(c.slice(x, axis, shape.Const(index), stop), drop(d, axis)...)
}

// cat joins along an axis; what is nil is left out.
func (c *maker) cat(axis int, parts ...op.Value) op.Value {
	var list []op.Value
	for _, p := range parts {
		if p != nil {
			list = append(list, p)
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return c.call(std.Cat, std.DimAttrs{Dim: axis}, list...)
}

// stack joins along a new axis.
func (c *maker) stack(axis int, parts []op.Value) op.Value {
	list := make([]op.Value, len(parts))
	for i, p := range parts {
		list[i] = c.reshape(p, put(c.dims(p), axis, shape.Const(1))...)
	}
	return c.cat(axis, list...)
}

// padAxis adds elements of a value before and after an axis.
func (c *maker) padAxis(x op.Value, axis, lo, hi int, value float64) op.Value {
	if lo == 0 && hi == 0 {
		return x
	}
	pad := make([]int, 2*(x.Type().Rank()-axis))
	pad[len(pad)-2], pad[len(pad)-1] = lo, hi
	return c.call(std.Pad, std.PadAttrs{Pad: shape.ConstDims(pad...), Value: value}, x)
}

// take is index_select with a vector of any shape of indices: the axis is replaced by
// the axes of index.
func (c *maker) take(x op.Value, axis int, index op.Value) op.Value {
	d := c.dims(x)
	at := c.dims(index)
	flat := c.reshape(index, shape.Of(at...).Prod())
	out := append(append(append([]shape.Dim{}, d[:axis]...), at...), d[axis+1:]...)
	return c.reshape(c.call(std.IndexSelect, std.DimAttrs{Dim: axis}, x, flat), out...)
}

// Values from sizes.

// iota counts from 0, as i64.
func (c *maker) iota(n shape.Dim) op.Value {
	return c.call(std.Arange, std.ArangeAttrs{End: n})
}

// along is a vector laid along an axis of a tensor of the given rank.
func (c *maker) along(v op.Value, axis, rank int) op.Value {
	d := make([]shape.Dim, rank)
	for i := range d {
		d[i] = shape.Const(1)
	}
	d[axis] = v.Type().Dim(0)
	return c.reshape(v, d...)
}

// number is a size as a 0-dimensional i64.
func (c *maker) number(n shape.Dim) op.Value {
	if v, ok := n.Int(); ok {
		return c.full(array.I64, op.Int(int64(v)))
	}
	probe := c.call(std.Full, std.FullAttrs{Size: shape.Of(n), Value: op.BoolScalar(false), DType: array.Bool})
	return c.call(op.Dim, op.AxisAttrs{Axis: 0}, probe)
}

// integer is number for what may be negative.
func (c *maker) integer(n shape.Dim) op.Value {
	over := n.Max(shape.Const(0))
	if over.Equal(n) {
		return c.number(n)
	}
	return c.sub(c.number(over), c.number(over.Sub(n)))
}

func (c *maker) full(d array.DType, v op.Scalar, size ...shape.Dim) op.Value {
	return c.call(std.Full, std.FullAttrs{Size: shape.Of(size...), Value: v, DType: d})
}

// zeros is a tensor of zeros.
func (c *maker) zeros(d array.DType, size ...shape.Dim) op.Value {
	v := op.Int(0)
	if d == array.Bool {
		v = op.BoolScalar(false)
	}
	return c.full(d, v, size...)
}

// int returns a size that the number of nodes follows from.
func (c *maker) int(n shape.Dim, what string) int {
	v, ok := n.Int()
	if !ok {
		c.refuse(what + " is " + n.String() + ", expected a number: the calls that stand for it are counted when it is expanded")
	}
	return v
}

// Lists.

func sequence(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// drop is d without element i.
func drop(d []shape.Dim, i int) []shape.Dim {
	return append(append([]shape.Dim{}, d[:i]...), d[i+1:]...)
}

// put is d with n before element i.
func put(d []shape.Dim, i int, n shape.Dim) []shape.Dim {
	return append(append(append([]shape.Dim{}, d[:i]...), n), d[i:]...)
}

// set is d with element i replaced.
func set(d []shape.Dim, i int, n shape.Dim) []shape.Dim {
	d = append([]shape.Dim{}, d...)
	d[i] = n
	return d
}

// prod is the product of sizes.
func prod(d ...shape.Dim) shape.Dim { return shape.Of(d...).Prod() }

// axis counts a negative axis from the end; the type rule has checked it.
func axis(a, rank int) int {
	if a < 0 {
		a += max(rank, 1)
	}
	return a
}

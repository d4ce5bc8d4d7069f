package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// seedBack is the rule of operators that give x, or x stretched: whoever adds gradients up
// undoes the stretching.
func seedBack[A any](_ op.Builder, _ A, c op.GradCall) []op.Value { return c.Seeds[:1] }

// flipGrad turns the seed around.
var flipGrad = gradOf(func(g grads, a FlipAttrs, _ op.GradCall, seed op.Value) op.Value { return g.call("flip", a, seed) })

// catGrad takes each operand's part of the seed.
func catGrad(b op.Builder, a DimAttrs, c op.GradCall) []op.Value {
	g, seed := grads{b}, c.Seeds[0]
	axis, err := realAxis(a.Dim, seed.Type().Rank())
	if err != nil {
		panic(err)
	}
	from, out := shape.Const(0), make([]op.Value, len(c.In))
	for i, v := range c.In {
		d := g.dims(v)
		if len(d) != seed.Type().Rank() { // a vector without elements
			out[i] = g.zeros(v)
			continue
		}
		to := from.Add(d[axis])
		if c.Need(i) {
			out[i] = g.slice(seed, axis, from, to)
		}
		from = to
	}
	return out
}

// padGrad crops what was added, and adds zeros where something was cropped. In the other
// modes an element may be read several times: by the places that its number is padded to.
var padGrad = gradOf(func(g grads, a PadAttrs, c op.GradCall, seed op.Value) op.Value {
	x := g.dims(c.In[0])
	lo, hi := a.counts(len(x))
	if a.mode() == "constant" {
		for i := range lo {
			lo[i], hi[i] = shape.Const(0).Sub(lo[i]), shape.Const(0).Sub(hi[i])
		}
		return g.pad(seed, lo, hi)
	}
	for i, n := range x {
		if lo[i].Is(0) && hi[i].Is(0) {
			continue
		}
		number := g.call("arange", ArangeAttrs{End: n})
		number = g.call("pad", PadAttrs{Pad: shape.Of(lo[i], hi[i]), Mode: a.Mode}, number)
		seed = g.addAlong(seed, i, number, n)
	}
	return seed
})

// addAlong adds the slices of v along an axis up where the vector index says, of n places.
func (g grads) addAlong(v op.Value, axis int, index op.Value, n shape.Dim) op.Value {
	d := g.dims(v)
	ones := make([]shape.Dim, len(d))
	for i := range ones {
		ones[i] = shape.Const(1)
	}
	ones[axis] = d[axis]
	size := append([]shape.Dim{}, d...)
	size[axis] = n
	zeros := g.call("full", FullAttrs{Size: shape.Of(size...), Value: op.Float(0), DType: v.Type().DType()})
	return g.call("scatter_add", DimAttrs{axis}, zeros, g.expand(g.reshape(index, ones...), d...), v)
}

// gatherGrad adds the seed up at what was read.
var gatherGrad = gradOf(func(g grads, a DimAttrs, c op.GradCall, seed op.Value) op.Value {
	if c.In[0].Type().Rank() == 0 {
		return seed
	}
	return g.call("scatter_add", a, g.zeros(c.In[0]), c.In[1], seed)
})

var indexSelectGrad = gradOf(func(g grads, a DimAttrs, c op.GradCall, seed op.Value) op.Value {
	x := g.dims(c.In[0])
	axis, err := realAxis(a.Dim, len(x))
	if err != nil {
		panic(err)
	}
	return g.addAlong(seed, axis, c.In[1], x[axis])
})

// embeddingGrad adds the seed's rows up in the rows of the weight that they were read from.
func embeddingGrad(b op.Builder, _ op.None, c op.GradCall) []op.Value {
	g := grads{b}
	if c.Seeds[0] == nil || !c.Need(1) {
		return nil
	}
	at, w := g.dims(c.In[0]), g.dims(c.In[1])
	count := shape.Of(at...).Prod()
	rows := g.reshape(c.Seeds[0], count, w[1])
	return []op.Value{nil, g.addAlong(rows, 0, g.reshape(c.In[0], count), w[0])}
}

// scatterGrad is the rule of scatter, scatter_add and scatter_reduce.
func scatterGrad[A any](how func(A) (dim int, reduce string, err error)) func(op.Builder, A, op.GradCall) []op.Value {
	return func(b op.Builder, a A, c op.GradCall) []op.Value {
		dim, reduce, err := how(a)
		if err != nil {
			panic(err)
		}
		s := scattering{grads{b}, c, dim}
		x, src := op.Value(nil), op.Value(nil)
		switch seed := c.Seeds[0]; reduce {
		case "":
			x, src = s.overwritten(seed)
		case "add":
			x = seed
			if c.Need(2) {
				src = s.read(seed)
			}
		case "multiply":
			x, src = s.product(seed)
		default:
			x, src = s.extreme(seed)
		}
		if c.Need(2) && src != nil {
			src = s.widened(src)
		}
		return []op.Value{x, nil, src}
	}
}

// scattering is a call that writes src into x at index.
type scattering struct {
	grads
	c   op.GradCall
	dim int
}

func (s scattering) read(v op.Value) op.Value {
	return s.call("gather", DimAttrs{s.dim}, v, s.c.In[1])
}

// widened puts zeros where index is smaller than src.
func (s scattering) widened(v op.Value) op.Value {
	have, want := s.dims(v), s.dims(s.c.In[2])
	lo, hi := make([]shape.Dim, len(have)), make([]shape.Dim, len(have))
	for i := range have {
		lo[i], hi[i] = shape.Const(0), want[i].Sub(have[i])
	}
	return s.pad(v, lo, hi)
}

// overwritten: what is written over has no part in the result. src is read before x is made, which
// may then take the place of the seed.
func (s scattering) overwritten(seed op.Value) (x, src op.Value) {
	if s.c.Need(2) {
		src = s.survivors(seed)
	}
	if s.c.Need(0) {
		x = s.call("scatter", ScatterAttrs{Dim: s.dim}, seed, s.c.In[1], s.zeros(s.c.In[2]))
	}
	return x, src
}

// survivors reads what was written: of several writes to one place only the last one has a part. One row
// is written once.
func (s scattering) survivors(seed op.Value) op.Value {
	index := s.c.In[1]
	d := s.dims(index)
	if at := (s.dim + len(d)) % max(len(d), 1); len(d) > 0 && d[at].Is(1) {
		return s.read(seed)
	}
	order := s.reshape(s.call("arange", ArangeAttrs{End: shape.Of(d...).Prod()}), d...)
	nowhere := s.call("full_like", FullLikeAttrs{Value: op.Int(-1), DType: array.I64}, seed)
	last := s.read(s.call("scatter", ScatterAttrs{Dim: s.dim}, nowhere, index, order))
	return s.masked(s.read(seed), s.call("ne", BinaryAttrs{}, last, order), 0)
}

// written is the part of src that index names places for.
func (s scattering) written() op.Value {
	parts := s.c.In[2]
	have, want := s.dims(parts), s.dims(s.c.In[1])
	for i := range have {
		if !have[i].Equal(want[i]) {
			parts = s.slice(parts, i, shape.Const(0), want[i])
		}
	}
	return parts
}

// product: a factor has the product of the others, right where one of them is zero.
func (s scattering) product(seed op.Value) (x, src op.Value) {
	t := seed.Type().DType()
	parts := s.written()
	zeroX, zeroSrc := s.is(s.c.In[0], 0), s.is(parts, 0)
	filledX, filledSrc := s.masked(s.c.In[0], zeroX, 1), s.masked(parts, zeroSrc, 1)
	product := s.call("scatter", ScatterAttrs{Dim: s.dim, Reduce: "multiply"}, filledX, s.c.In[1], filledSrc)
	zerosX, zerosSrc := s.cast(zeroX, t), s.cast(zeroSrc, t)
	zeros := s.call("scatter_add", DimAttrs{s.dim}, zerosX, s.c.In[1], zerosSrc)
	noneX, noneSrc := s.onlyZeros(s.c.In[0]), s.onlyZeros(parts)
	none := s.call("scatter_add", DimAttrs{s.dim}, noneX, s.c.In[1], noneSrc)
	if s.c.Need(0) {
		x = s.shareOf(s.mul(seed, s.div(product, filledX)), s.sub(zeros, zerosX), s.sub(none, noneX))
	}
	if s.c.Need(2) {
		part := s.mul(s.read(seed), s.div(s.read(product), filledSrc))
		src = s.shareOf(part, s.sub(s.read(zeros), zerosSrc), s.sub(s.read(none), noneSrc))
	}
	return x, src
}

// extreme: of equal ones each has its share.
func (s scattering) extreme(seed op.Value) (x, src op.Value) {
	out, index, d := s.c.Result(0), s.c.In[1], seed.Type().DType()
	shareX := s.cast(s.call("eq", BinaryAttrs{}, s.c.In[0], out), d)
	shareSrc := s.cast(s.call("eq", BinaryAttrs{}, s.written(), s.read(out)), d)
	count := s.call("scatter_add", DimAttrs{s.dim}, shareX, index, shareSrc)
	each := s.div(seed, count)
	return s.mul(shareX, each), s.mul(shareSrc, s.read(each))
}

// sortGrad puts the seed back to where the elements came from.
func sortGrad(b op.Builder, a SortAttrs, c op.GradCall) []op.Value {
	return fromIndex(grads{b}, a.Dim, c, c.Seeds[0], func() op.Value { return c.Result(1) })
}

// fromIndex puts the seed of the first result where the second says that it was read.
func fromIndex(g grads, dim int, c op.GradCall, seed op.Value, index func() op.Value) []op.Value {
	switch {
	case seed == nil || !c.Need(0):
		return nil
	case c.In[0].Type().Rank() == 0:
		return []op.Value{seed}
	}
	return []op.Value{g.call("scatter_add", DimAttrs{dim}, g.zeros(c.In[0]), index(), seed)}
}

// indicesOnly is why operators that find places have no gradient.
const indicesOnly = "its results are indices, which change in steps only"

// rangeGrad: number i is start and i times delta. The limit only says how many there are.
func rangeGrad(b op.Builder, _ op.None, c op.GradCall) []op.Value {
	g, seed := grads{b}, c.Seeds[0]
	out := []op.Value{seed, nil, nil} // whoever adds up adds over the numbers
	if c.Need(2) {
		seed = g.wide(seed)
		count := g.call("cumsum", ScanAttrs{Dim: 0}, g.ones(seed))
		out[2] = g.mul(seed, g.call("sub", SubAttrs{Other: op.Float(1)}, count))
	}
	return out
}

package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// badKeys are the calls with a wrong key; in has nil where the key goes.
func badKeys(g *op.Gen, attrs any, in ...*array.Array) []op.BadSample {
	with := func(k *array.Array) []*array.Array { return append(append([]*array.Array{}, in...), k) }
	return []op.BadSample{
		{Name: "float key", Attrs: attrs, In: with(g.Normal()), Code: op.DTypeMismatch},
		{Name: "vector key", Attrs: attrs, In: with(g.Int(9, 2)), Code: op.RankMismatch},
	}
}

func distributionSamples(*op.Gen) []op.Sample {
	all := calls(sizeAttrs(array.F16, array.BF16, array.F32, array.F64)...)
	for i := range all {
		all[i].In = []*array.Array{key(int64(i) * 0x123456789)}
	}
	all[0].In[0] = array.Scalar(uint64(math.MaxUint64))
	return all
}

func distributionBad(g *op.Gen) []op.BadSample {
	return append(badKeys(g, SizeAttrs{Size: shape.ConstDims(2)}),
		op.BadSample{Name: "negative size", Attrs: SizeAttrs{Size: shape.ConstDims(-1)}, In: []*array.Array{key(1)}, Code: op.BadAttr},
		op.BadSample{Name: "i64", Attrs: SizeAttrs{shape.ConstDims(2), array.I64}, In: []*array.Array{key(1)}, Code: op.BadAttr})
}

func randintSamples(*op.Gen) []op.Sample {
	s := shape.ConstDims
	all := calls(RandintAttrs{0, 10, s(2, 3), 0}, RandintAttrs{-5, 5, s(20), 0}, RandintAttrs{0, 1, s(), 0}, RandintAttrs{0, 2, s(9), array.Bool},
		RandintAttrs{0, 256, s(40), array.U8}, RandintAttrs{3, 7, s(0, 2), 0}, RandintAttrs{-100, 100, s(5), array.F32},
		RandintAttrs{math.MinInt64, math.MaxInt64, s(600), 0}, RandintAttrs{0, 1 << 31, s(4), array.I32})
	for i := range all {
		all[i].In = []*array.Array{key(int64(i))}
	}
	return all
}

func randintBad(g *op.Gen) []op.BadSample {
	return append(badKeys(g, RandintAttrs{High: 2}),
		op.BadSample{Name: "beyond u8", Attrs: RandintAttrs{0, 300, shape.ConstDims(2), array.U8}, In: []*array.Array{key(1)}, Code: op.BadAttr},
		op.BadSample{Name: "negative u8", Attrs: RandintAttrs{-1, 3, shape.ConstDims(2), array.U8}, In: []*array.Array{key(1)}, Code: op.BadAttr},
		op.BadSample{Name: "beyond bool", Attrs: RandintAttrs{0, 3, shape.ConstDims(2), array.Bool}, In: []*array.Array{key(1)}, Code: op.BadAttr},
		op.BadSample{Name: "empty range", Attrs: RandintAttrs{Low: 3, High: 3}, In: []*array.Array{key(1)}, Code: op.BadAttr},
		op.BadSample{Name: "negative size", Attrs: RandintAttrs{High: 2, Size: shape.ConstDims(-1)}, In: []*array.Array{key(1)}, Code: op.BadAttr})
}

func bernoulliSamples(g *op.Gen) []op.Sample {
	var all []op.Sample
	for i, p := range []*array.Array{g.Uniform(0, 1, 4, 5), g.Uniform(0, 1), g.Uniform(0, 1, 0, 2), g.Strided(g.Uniform(0, 1, 3, 4)),
		array.Cast(g.Uniform(0, 1, 7), array.F64), array.Cast(g.Uniform(0, 1, 7), array.F16), array.Cast(g.Uniform(0, 1, 7), array.BF16),
		g.Uniform(0, 1, 600), g.Special()} {
		all = append(all, op.Sample{Name: "call " + strconv.Itoa(i), Attrs: op.None{}, In: []*array.Array{p, key(int64(i) << 40)}})
	}
	return all
}

func bernoulliBad(g *op.Gen) []op.BadSample {
	return append(badKeys(g, op.None{}, g.Uniform(0, 1, 3)),
		op.BadSample{Name: "i64", Attrs: op.None{}, In: []*array.Array{g.Int(2, 3), key(1)}, Code: op.DTypeMismatch})
}

func dropoutSamples(g *op.Gen) []op.Sample {
	train, half := DropoutAttrs{0.3, true}, array.Cast(g.Normal(9), array.F16)
	return []op.Sample{
		{Name: "inference", Attrs: DropoutAttrs{P: 0.5}, In: []*array.Array{g.Normal(2, 3)}},
		{Name: "inference of i64", Attrs: DropoutAttrs{P: 0.5}, In: []*array.Array{g.Int(9, 3), key(1)}},
		{Name: "inference of special", Attrs: DropoutAttrs{P: 0.5}, In: []*array.Array{g.Special(), nil}},
		{Name: "training", Attrs: train, In: []*array.Array{g.Normal(40, 20), key(1)}},
		{Name: "training strided", Attrs: train, In: []*array.Array{g.Strided(g.Normal(5, 6)), key(2)}},
		{Name: "training zero size", Attrs: train, In: []*array.Array{g.Normal(0, 6), key(2)}},
		{Name: "training f64", Attrs: train, In: []*array.Array{array.Cast(g.Normal(9), array.F64), key(3)}},
		{Name: "training f16", Attrs: train, In: []*array.Array{half, key(-4)}},
		{Name: "nothing dropped", Attrs: DropoutAttrs{0, true}, In: []*array.Array{g.Normal(9), key(5)}},
		{Name: "all dropped", Attrs: DropoutAttrs{1, true}, In: []*array.Array{g.Special(), key(5)}},
	}
}

func dropoutBad(g *op.Gen) []op.BadSample {
	return append(badKeys(g, DropoutAttrs{0.5, true}, g.Normal(3)),
		op.BadSample{Name: "no key", Attrs: DropoutAttrs{0.5, true}, In: []*array.Array{g.Normal(3)}, Code: op.OperandCount},
		op.BadSample{Name: "probability", Attrs: DropoutAttrs{P: 1.5}, In: []*array.Array{g.Normal(3)}, Code: op.BadAttr},
		op.BadSample{Name: "i64", Attrs: DropoutAttrs{0.5, true}, In: []*array.Array{g.Int(9, 3), key(1)}, Code: op.DTypeMismatch})
}

func foldInSamples(g *op.Gen) []op.Sample {
	var all []op.Sample
	for i, k := range []*array.Array{key(0), key(-1), array.Scalar(uint64(7)), g.Int(1000, 3, 2), g.Int(9, 0), g.Strided(g.Int(9, 2, 3)), key(1), key(1)} {
		all = append(all, op.Sample{Name: "call " + strconv.Itoa(i), Attrs: FoldInAttrs{i*i*i - 8}, In: []*array.Array{k}})
	}
	return all
}

func foldInBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{{Name: "float key", Attrs: FoldInAttrs{}, In: []*array.Array{g.Normal()}, Code: op.DTypeMismatch}}
}

func randomSplitSamples(*op.Gen) []op.Sample {
	var all []op.Sample
	for i, n := range []int{0, 1, 2, 3, 8, 33, 600, 5} {
		all = append(all, op.Sample{Name: strconv.Itoa(n), Attrs: RandomSplitAttrs{shape.Const(n)}, In: []*array.Array{key(int64(i) - 2)}})
	}
	all[7].In[0] = array.Scalar(uint64(9))
	return all
}

func randomSplitBad(g *op.Gen) []op.BadSample {
	return append(badKeys(g, RandomSplitAttrs{shape.Const(2)}),
		op.BadSample{Name: "negative", Attrs: RandomSplitAttrs{shape.Const(-1)}, In: []*array.Array{key(1)}, Code: op.BadAttr})
}

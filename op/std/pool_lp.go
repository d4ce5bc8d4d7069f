package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// The power-average pools are those of torch.nn.functional.
var (
	//gofx:torch F.lp_pool1d(x, norm_type, one(kernel_size), one(stride), ceil_mode)
	LpPool1d = lpPoolNd("lp_pool1d", 1)
	//gofx:torch F.lp_pool2d(x, norm_type, one(kernel_size), one(stride), ceil_mode)
	LpPool2d = lpPoolNd("lp_pool2d", 2)
	//gofx:torch lp_pool3d(x, norm_type, kernel_size, stride, ceil_mode)
	LpPool3d = lpPoolNd("lp_pool3d", 3)
)

// lpPoolGrad: a window of the norm 0 has the derivative 0, as in PyTorch.
func lpPoolGrad(through func(op.Builder, AvgPoolAttrs, op.GradCall) []op.Value, avg func(LpPoolAttrs) AvgPoolAttrs, n int) func(op.Builder, LpPoolAttrs, op.GradCall) []op.Value {
	return gradOf(func(g grads, a LpPoolAttrs, c op.GradCall, seed op.Value) op.Value {
		p, size := a.NormType, 1.0
		for _, k := range mustList(a.KernelSize, n, 1) {
			size *= float64(k)
		}
		power := composer{g.b}.power
		x, y := g.wide(c.In[0]), g.wide(c.Result(0))
		seed = g.mul(g.times(g.cast(seed, x.Type().DType()), size), g.call("pow", ReversibleAttrs{Other: op.Float(1 - p)}, y))
		seed = g.masked(seed, g.is(y, 0), 0)
		mean := through(g.b, avg(a), op.GradCall{In: []op.Value{x}, Seeds: []op.Value{seed}, Needed: []bool{true}})[0]
		if p == 1 {
			return mean
		}
		return g.mul(mean, power(x, p-1))
	})
}

func lpPoolNd(name string, n int) *op.Op {
	avg := func(a LpPoolAttrs) AvgPoolAttrs {
		return AvgPoolAttrs{KernelSize: a.KernelSize, Stride: a.Stride, CeilMode: a.CeilMode}
	}
	pool := []*op.Op{AvgPool1d, AvgPool2d, AvgPool3d}[n-1]
	return op.Define(name, op.Spec[LpPoolAttrs]{
		Differs: []op.Difference[LpPoolAttrs]{refusesIntegers[LpPoolAttrs](), extendsEmpty[LpPoolAttrs](),
			{Kind: op.GradAlters, Text: "windows whose sum is NaN have a derivative with a norm_type of 1; PyTorch's is 0", When: func(a LpPoolAttrs, in []*array.Array) bool { return a.NormType == 1 && huge(in[0]) }},
			altersPower(func(a LpPoolAttrs) float64 { return a.NormType }),
			{Kind: op.Refuses, Text: "a norm_type that is 0 or not finite, and one that the element type does not hold or the inverse of which it does not", When: func(a LpPoolAttrs, in []*array.Array) bool {
				return a.NormType == 0 || !fits(in[0].DType(), op.Float(a.NormType)) || !fits(in[0].DType(), op.Float(1/a.NormType)) || a.NormType-a.NormType != 0
			}},
			{Kind: op.Extends, Text: "an x smaller than the kernel in ceil_mode, in three dimensions", When: func(a LpPoolAttrs, _ []*array.Array) bool { return a.CeilMode && n == 3 }}},
		Doc: name + " takes the norm_type-th root of the sum of the norm_type-th powers of every window over " + spatialText(n) + ".",
		In:  op.Args("x"), Class: op.Reduction,
		Infer: func(c *op.Infer, a LpPoolAttrs, in []shape.Type) (shape.Type, error) {
			if a.NormType == 0 || math.IsNaN(a.NormType) || math.IsInf(a.NormType, 0) {
				return shape.Type{}, badAttr("norm_type", strconv.FormatFloat(a.NormType, 'g', -1, 64), "a finite number other than 0")
			}
			if _, err := sameFloat([]string{"x"}, in); err != nil {
				return shape.Type{}, err
			}
			return pool.Type(c, avg(a), in)
		},
		Decompose: func(b op.Builder, a LpPoolAttrs, in []op.Value) op.Value {
			c, size := composer{b}, 1
			for _, k := range mustList(a.KernelSize, n, 1) {
				size *= k
			}
			mean := b.Call(pool, avg(a), c.power(in[0], a.NormType))
			return c.power(c.scale(mean, op.Int(int64(size))), 1/a.NormType)
		},
		Grad: lpPoolGrad(avgPoolGrad(pool.Name, n), avg, n),
		Samples: func(g *op.Gen) []op.Sample {
			x := poolInputs(g, n)
			call := func(name string, x *array.Array, a LpPoolAttrs) op.Sample { return okCall(name, a, x) }
			two := LpPoolAttrs{NormType: 2, KernelSize: op.IntList(2)}
			return []op.Sample{
				call("norm 2", x["plain"], two),
				call("norm 3 of positive numbers", g.Uniform(0.5, 2, sized(n, []int{2, 3}, 8, 7, 5)...), LpPoolAttrs{NormType: 3, KernelSize: op.IntList(3)}),
				call("norm 1", g.Uniform(0, 2, sized(n, []int{1, 2}, 8, 7, 5)...), LpPoolAttrs{NormType: 1, KernelSize: op.IntList(2), Stride: op.IntList(1)}),
				call("stride", x["plain"], LpPoolAttrs{NormType: 2, KernelSize: op.IntList(3), Stride: op.IntList(2)}),
				call("ceil", x["plain"], LpPoolAttrs{NormType: 2, KernelSize: op.IntList(3), Stride: op.IntList(2), CeilMode: true}),
				call("unbatched", x["unbatched"], two),
				call("strided", x["strided"], two),
				call("empty batch", x["empty"], two),
				call("f64", x["f64"], two),
			}
		},
		Bad: func(g *op.Gen) []op.BadSample {
			x := poolInputs(g, n)
			return []op.BadSample{
				badCall(op.BadAttr, "norm 0", LpPoolAttrs{KernelSize: op.IntList(2)}, x["plain"]),
				badCall(op.BadAttr, "no kernel", LpPoolAttrs{NormType: 2}, x["plain"]),
				badCall(op.SizeMismatch, "kernel too large", LpPoolAttrs{NormType: 2, KernelSize: op.IntList(20)}, x["plain"]),
				badCall(op.RankMismatch, "rank", LpPoolAttrs{NormType: 2, KernelSize: op.IntList(2)}, g.Normal(4)),
				badCall(op.DTypeMismatch, "integers", LpPoolAttrs{NormType: 2, KernelSize: op.IntList(2)}, x["i64"]),
			}
		},
	})
}

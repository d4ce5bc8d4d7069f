package ml

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// PairwiseCouplingAttrs are the attributes of pairwise_coupling.
type PairwiseCouplingAttrs struct {
	Classes int `fx:",arg"`
}

// mostClasses bounds the square of their number, which a row needs memory for.
const mostClasses = 1 << 12

// PairwiseCoupling makes probabilities of classes of those of pairs of classes.
var PairwiseCoupling = op.Define("pairwise_coupling", op.Spec[PairwiseCouplingAttrs]{
	NoGrad: "its probabilities are found by iteration, and the machines that it belongs to are trained without them",
	Doc: "pairwise_coupling gives the probabilities of classes from those of pairs: the last dimension of pairs has the probability of the first class in each of the pairs 0 1, 0 2, ..., 1 2 and so on, " +
		"that of the result a probability for each class. Numbers are of 64 bits in between.",
	In: op.Args("pairs"), Class: op.Opaque,
	Ref: "Wu, Lin, Weng: Probability estimates for multi-class classification by pairwise coupling, JMLR 5, 2004",
	Infer: func(c *op.Infer, a PairwiseCouplingAttrs, in []shape.Type) (shape.Type, error) {
		x, k := in[0], a.Classes
		if k < 2 || k > mostClasses {
			return shape.Type{}, diag.New(op.BadAttr, "classes is "+strconv.Itoa(k)+", expected 2 to "+strconv.Itoa(mostClasses))
		}
		if d := x.DType(); d != array.Invalid && d != array.F32 && d != array.F64 {
			return shape.Type{}, diag.New(op.DTypeMismatch, "pairs is "+x.String()+", expected f32 or f64")
		}
		if !x.Ranked() {
			return x, nil
		}
		if x.Rank() == 0 {
			return shape.Type{}, diag.New(op.RankMismatch, "pairs is "+x.String()+", expected a dimension")
		}
		_, err := c.Equal(x.Dim(-1), shape.Const(k*(k-1)/2), op.ShapeMismatch, func() string {
			return "pairs is " + x.String() + ", expected " + strconv.Itoa(k*(k-1)/2) + " pairs of " + strconv.Itoa(k) + " classes"
		})
		return x.WithDims(x.Dims().Sub(0, x.Rank()-1).Concat(shape.Of(shape.Const(k)))), err
	},
	Kernel: func(PairwiseCouplingAttrs, []shape.Type) kernel.Step { return &kernel.Coupling{} },
	Samples: func(g *op.Gen) []op.Sample {
		call := func(name string, k int, x *array.Array) op.Sample {
			return op.Sample{Name: name, Attrs: PairwiseCouplingAttrs{k}, In: []*array.Array{x}}
		}
		return []op.Sample{
			call("two classes", 2, g.Uniform(0.1, 0.9, 5, 1)),
			call("three", 3, g.Uniform(0.1, 0.9, 4, 3)),
			call("five", 5, g.Uniform(0, 1, 3, 10)),
			call("f64", 4, array.Cast(g.Uniform(0, 1, 3, 6), array.F64)),
			call("one row", 3, g.Uniform(0, 1, 3)),
			call("more dimensions", 3, g.Uniform(0, 1, 2, 2, 3)),
			call("no rows", 3, g.Normal(0, 3)),
			call("certain", 3, array.FromSlice([]float32{1, 1, 1, 1e-7, 1 - 1e-7, 0.5}, 2, 3)),
			call("strided", 3, g.Strided(g.Uniform(0, 1, 4, 3))),
		}
	},
	Bad: func(g *op.Gen) []op.BadSample {
		call := func(code diag.Code, name string, k int, x *array.Array) op.BadSample {
			return op.BadSample{Name: name, Attrs: PairwiseCouplingAttrs{k}, In: []*array.Array{x}, Code: code}
		}
		return []op.BadSample{
			call(op.BadAttr, "one class", 1, g.Normal(2, 0)),
			call(op.BadAttr, "too many classes", mostClasses+1, g.Normal(2, 3)),
			call(op.DTypeMismatch, "integers", 3, g.Int(2, 2, 3)),
			call(op.RankMismatch, "no dimension", 2, g.Normal()),
			call(op.ShapeMismatch, "pairs", 4, g.Normal(2, 3)),
		}
	},
})

package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ScatterAttrs are the attributes of scatter. Reduce says what happens where
// something is written: "" overwrites.
type ScatterAttrs struct {
	Dim    int    `fx:",arg"`
	Reduce string `fx:",enum=add|multiply"`
}

// ScatterReduceAttrs are the attributes of scatter_reduce.
type ScatterReduceAttrs struct {
	Dim    int    `fx:",arg"`
	Reduce string `fx:",arg,enum=sum|prod|amax|amin"`
}

// Gather reads elements whose position in one dimension a tensor names.
//
//gofx:torch torch.gather(x, dim, int64(index))
var Gather = op.Define("gather", op.Spec[DimAttrs]{
	Differs: []op.Difference[DimAttrs]{
		extendsIndices[DimAttrs](1),
	},
	Doc: "gather reads, for every element of index, the element of x whose position in one dimension it names.", In: op.Args("x", "index"),
	Class: op.Movement, Quant: op.QuantShared, Narrow: true,
	Infer: func(c *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
		if err := checkIndex(c, a.Dim, in[0], in[1]); err != nil {
			return shape.Type{}, err
		}
		return typeOf(in[0].DType(), in[1].Ranked(), in[1].Dims().Slice()...), nil
	},
	Kernel: func(a DimAttrs, in []shape.Type) kernel.Step {
		axis, _ := op.Axis(a.Dim, in[0].Rank())
		return &kernel.Gather{Dim: axis}
	},
	Grad:    gatherGrad,
	Samples: gatherSamples,
	Bad:     gatherBad,
})

// Scatter writes elements to positions that a tensor names.
//
//gofx:torch x.scatter(dim, int64(index), src, reduce=reduce) if reduce else x.scatter(dim, int64(index), src)
var Scatter = scatterOp("scatter", unlikeWrites, "scatter writes the elements of src to positions of x that index names; of several the last in row-major order stays.",
	func(a ScatterAttrs) (int, string, error) {
		switch a.Reduce {
		case "", "add", "multiply":
			return a.Dim, a.Reduce, nil
		}
		return a.Dim, "", badAttr("reduce", strconv.Quote(a.Reduce), "add or multiply")
	},
	[]ScatterAttrs{{Dim: 1}, {Dim: -2}, {1, "add"}, {0, "multiply"}}, ScatterAttrs{Dim: 2}, ScatterAttrs{Dim: 1, Reduce: "max"})

// ScatterAdd adds elements at positions that a tensor names.
//
//gofx:torch x.scatter_add(dim, int64(index), src)
var ScatterAdd = scatterOp("scatter_add", nil, "scatter_add adds the elements of src at positions of x that index names.",
	func(a DimAttrs) (int, string, error) { return a.Dim, "add", nil },
	[]DimAttrs{{1}, {-2}}, DimAttrs{2})

// ScatterReduce combines elements at positions that a tensor names.
//
//gofx:torch x.scatter_reduce(dim, int64(index), src, reduce)
var ScatterReduce = scatterOp("scatter_reduce", []op.Difference[ScatterReduceAttrs]{unlikeFar[ScatterReduceAttrs](0, 2)}, "scatter_reduce combines the elements of src with those of x at positions that index names.",
	func(a ScatterReduceAttrs) (int, string, error) {
		switch a.Reduce {
		case "sum":
			return a.Dim, "add", nil
		case "prod":
			return a.Dim, "multiply", nil
		case "amax", "amin":
			return a.Dim, a.Reduce, nil
		}
		return a.Dim, "", badAttr("reduce", strconv.Quote(a.Reduce), "sum, prod, amax or amin")
	},
	[]ScatterReduceAttrs{{1, "sum"}, {-2, "prod"}, {1, "amax"}, {0, "amin"}}, ScatterReduceAttrs{2, "sum"}, ScatterReduceAttrs{1, "mean"})

// IndexSelect takes the slices of a dimension that a vector names.
//
//gofx:torch torch.index_select(x, dim, index)
var IndexSelect = op.Define("index_select", op.Spec[DimAttrs]{
	Differs: []op.Difference[DimAttrs]{
		departs[DimAttrs](op.Refuses, "an x or an index of no dimensions", func(in []*array.Array) bool { return in[0].Rank() == 0 || in[1].Rank() == 0 }),
	},
	Doc: "index_select takes the slices of one dimension that the vector index names.", In: op.Args("x", "index"),
	Class: op.Movement, Quant: op.QuantShared, Narrow: true,
	Infer: func(_ *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
		if err := wantIndex(in[1]); err != nil {
			return shape.Type{}, err
		}
		if err := wantRank("index", in[1], 1, 1); err != nil {
			return shape.Type{}, err
		}
		if !in[0].Ranked() {
			return shape.Unranked(in[0].DType()), nil
		}
		axis, err := realAxis(a.Dim, in[0].Rank())
		if err != nil {
			return shape.Type{}, err
		}
		return in[0].WithDims(in[0].Dims().With(axis, in[1].Dim(0))), nil
	},
	Kernel: func(a DimAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.IndexSelect{Dim: axis}
	},
	Grad:    indexSelectGrad,
	Samples: indexSelectSamples,
	Bad:     indexSelectBad,
})

// scatterOp defines an operator that writes src into x at what index names.
func scatterOp[A any](name string, unlike []op.Difference[A], doc string, how func(A) (dim int, reduce string, err error), good []A, noAxis A, bad ...A) *op.Op {
	return op.Define(name, op.Spec[A]{
		Doc: doc, In: op.Args("x", "index", "src"), Differs: append(unlike, extendsIndices[A](1)),
		Infer: func(c *op.Infer, a A, in []shape.Type) (shape.Type, error) {
			dim, reduce, err := how(a)
			if err != nil {
				return shape.Type{}, err
			}
			if reduce != "" && in[0].DType() == array.Bool {
				return shape.Type{}, diag.New(op.DTypeMismatch, "x has element type bool, expected numbers to combine").WithHint("cast x first")
			}
			return scatterType(c, dim, in[0], in[1], in[2])
		},
		Kernel: func(a A, in []shape.Type) kernel.Step {
			dim, reduce, _ := how(a)
			axis, _ := op.Axis(dim, in[0].Rank())
			return &kernel.Scatter{Dim: axis, Reduce: reduce}
		},
		Grad:    scatterGrad(how),
		Flops:   func(_ A, in []shape.Type, _ shape.Type) shape.Dim { return elementCount(in[1]) },
		Samples: func(g *op.Gen) []op.Sample { return scatterSamples(g, good) },
		Bad: func(g *op.Gen) []op.BadSample {
			x, ix := g.Normal(3, 4), g.Int(3, 2, 4)
			s := []op.BadSample{
				badCall(op.BadAxis, "axis", noAxis, x, ix, g.Normal(2, 4)),
				badCall(op.DTypeMismatch, "float index", good[0], x, x, x),
				badCall(op.DTypeMismatch, "types", good[0], x, ix, g.Int(3, 2, 4)),
				badCall(op.RankMismatch, "ranks", good[0], x, g.Int(3, 2), g.Normal(2)),
				badCall(op.SizeMismatch, "index beyond src", good[0], x, ix, g.Normal(1, 4)),
				badCall(op.SizeMismatch, "index beyond x", good[0], x, g.Int(3, 9, 9), g.Normal(9, 9)),
			}
			for _, a := range bad {
				s = append(s, badCall(op.BadAttr, "reduce", a, x, ix, g.Normal(2, 4)))
			}
			return s
		},
	})
}

// unlikeWrites is of scatter, whose results are those of the last writes.
var unlikeWrites = []op.Difference[ScatterAttrs]{
	{Kind: op.GradAlters, Text: "of several elements of src that are written to one place only the last one has a derivative; in PyTorch all have", When: func(a ScatterAttrs, _ []*array.Array) bool { return a.Reduce == "" }},
	{Kind: op.GradExtends, Text: "calls with reduce", When: func(a ScatterAttrs, _ []*array.Array) bool { return a.Reduce != "" }},
}

// wantIndex requires the element type of indices.
func wantIndex(t shape.Type) error {
	if !hasType(t, array.I32, array.I64) {
		return diag.New(op.DTypeMismatch, "index has element type "+t.DType().String()+", expected i64 or i32").WithHint("cast the index")
	}
	return nil
}

// checkIndex requires an index of x's rank that is not larger than x but in
// dimension dim.
func checkIndex(c *op.Infer, dim int, x, index shape.Type) error {
	if err := wantIndex(index); err != nil {
		return err
	}
	if !x.Ranked() {
		return nil
	}
	axis, err := op.Axis(dim, x.Rank())
	if err != nil {
		return err
	}
	if err := wantRank("index", index, x.Rank(), x.Rank()); err != nil || !index.Ranked() {
		return err
	}
	return within(c, "index", index, "x", x, axis)
}

// within requires every size of a but that of dimension skip to be at most that
// of b.
func within(c *op.Infer, aName string, a shape.Type, bName string, b shape.Type, skip int) error {
	for i := range a.Rank() {
		if i == skip {
			continue
		}
		if err := c.AtLeast(b.Dim(i), a.Dim(i), op.SizeMismatch, func() string {
			return "dimension " + strconv.Itoa(i) + " of " + aName + " has size " + a.Dim(i).String() +
				", expected at most " + b.Dim(i).String() + " as " + bName + " has"
		}); err != nil {
			return err
		}
	}
	return nil
}

func scatterType(c *op.Infer, dim int, x, index, src shape.Type) (shape.Type, error) {
	if err := checkIndex(c, dim, x, index); err != nil {
		return shape.Type{}, err
	}
	d, err := oneDType([]shape.Type{x, src})
	if err != nil {
		return shape.Type{}, err
	}
	if index.Ranked() {
		if err := wantRank("src", src, index.Rank(), index.Rank()); err != nil {
			return shape.Type{}, err
		}
		if src.Ranked() {
			if err := within(c, "index", index, "src", src, -1); err != nil {
				return shape.Type{}, err
			}
		}
	}
	return typeOf(d, x.Ranked(), x.Dims().Slice()...), nil
}

func scatterSamples[A any](g *op.Gen, attrs []A) []op.Sample {
	var s []op.Sample
	for i, a := range attrs {
		s = append(s, scatterCalls(g, strconv.Itoa(i), a)...)
	}
	return append(s, scatterEdges(g, attrs[0])...)
}

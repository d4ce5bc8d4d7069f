package ml

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TreeEnsembleAttrs are the attributes of tree_ensemble.
type TreeEnsembleAttrs struct {
	Targets   int    `fx:",arg"` // columns of the result
	Aggregate string `fx:",enum=average|min|max"`
}

// mostTargets bounds the columns of a result: references to them are of 32 bits.
const mostTargets = 1<<31 - 1

// TreeEnsemble evaluates decision trees. The tables are operands, so that they are
// parameters of a model like other weights; kernel.Trees says what is in them.
var TreeEnsemble = op.Define("tree_ensemble", op.Spec[TreeEnsembleAttrs]{
	NoGrad: "it changes in steps only, at the thresholds of its trees",
	Doc: "tree_ensemble evaluates decision trees on the rows of the matrix x, and gives for each row the sums (or averages over trees, least or greatest) of the numbers in the leaves that it reaches, " +
		"by their columns. nodes has four i32 for a node: the feature, the comparison (0 is at most, 1 less, 2 equal; 4 more sends NaN where the comparison holds), and the references to follow where it holds and " +
		"where not: the number of a node after this one, or -1-l for leaf l. thresholds are of the type of x; roots are the references that trees begin with. Leaf l has the entries starts[l] to starts[l+1] " +
		"of columns and weights, whose type the result has; sums are of 64 bits.",
	In:  op.Args("x", "nodes", "thresholds", "roots", "starts", "columns", "weights"),
	Ref: "ONNX, ai.onnx.ml.TreeEnsemble",
	Infer: func(c *op.Infer, a TreeEnsembleAttrs, in []shape.Type) (shape.Type, error) {
		if a.Targets < 1 || a.Targets > mostTargets {
			return shape.Type{}, diag.New(op.BadAttr, "targets is "+strconv.Itoa(a.Targets)+", expected 1 to "+strconv.Itoa(mostTargets))
		}
		if !slices.Contains([]string{"", "average", "min", "max"}, a.Aggregate) {
			return shape.Type{}, diag.New(op.BadAttr, "aggregate is "+diag.Quote(a.Aggregate)+", expected average, min, max or nothing for sums")
		}
		if err := treeTypes(c, in); err != nil {
			return shape.Type{}, err
		}
		rows := shape.Unknown
		if in[0].Ranked() {
			rows = in[0].Dim(0)
		}
		return shape.TensorType(in[6].DType(), shape.Of(rows, shape.Const(a.Targets))), nil
	},
	Kernel:  func(a TreeEnsembleAttrs, _ []shape.Type) kernel.Step { return &kernel.Trees{Aggregate: a.Aggregate} },
	Samples: treeSamples, Bad: badTrees,
})

// treeTypes checks the tables and what has to fit together.
func treeTypes(c *op.Infer, in []shape.Type) error {
	for i, want := range []struct {
		name   string
		rank   int
		floats bool
	}{{"x", 2, true}, {"nodes", 2, false}, {"thresholds", 1, true}, {"roots", 1, false}, {"starts", 1, false}, {"columns", 1, false}, {"weights", 1, true}} {
		t := in[i]
		if t.Ranked() && t.Rank() != want.rank {
			return diag.New(op.RankMismatch, want.name+" is "+t.String()+", expected "+strconv.Itoa(want.rank)+" dimensions")
		}
		d := t.DType()
		if d == array.Invalid {
			continue
		}
		if want.floats && d != array.F32 && d != array.F64 {
			return diag.New(op.DTypeMismatch, want.name+" is "+t.String()+", expected f32 or f64")
		}
		if !want.floats && d != array.I32 {
			return diag.New(op.DTypeMismatch, want.name+" is "+t.String()+", expected i32")
		}
	}
	if x, t := in[0].DType(), in[2].DType(); x != t && x != array.Invalid && t != array.Invalid {
		return diag.New(op.DTypeMismatch, "thresholds is "+in[2].String()+" and x "+in[0].String()+", expected one element type")
	}
	if nodes := in[1]; nodes.Ranked() {
		if _, err := c.Equal(nodes.Dim(1), shape.Const(4), op.ShapeMismatch, func() string {
			return "nodes is " + nodes.String() + ", expected 4 numbers for each"
		}); err != nil {
			return err
		}
		if err := sameLength(c, "thresholds", in[2], "nodes", nodes); err != nil {
			return err
		}
	}
	return sameLength(c, "columns", in[5], "weights", in[6])
}

func sameLength(c *op.Infer, a string, first shape.Type, b string, second shape.Type) error {
	if !first.Ranked() || !second.Ranked() {
		return nil
	}
	_, err := c.Equal(first.Dim(0), second.Dim(0), op.ShapeMismatch, func() string {
		return a + " is " + first.String() + " and " + b + " " + second.String() + ", expected as many"
	})
	return err
}

// Tables holds the tables of an ensemble as they are built: what the operands of
// tree_ensemble after x are.
type Tables struct {
	Nodes      []int32 // four for each
	Thresholds []float64
	Roots      []int32
	Starts     []int32 // one more than there are leaves; begins with 0
	Columns    []int32
	Weights    []float64
}

// Arrays returns the operands after x, for a matrix of type x (f32 or f64) and a result of
// type y.
func (t *Tables) Arrays(x, y array.DType) []*array.Array {
	floats := func(v []float64, d array.DType) *array.Array {
		a := array.New(d, len(v))
		for i, f := range v {
			array.SetFloat64At(a, i, f)
		}
		return a
	}
	ints := func(v []int32, dims ...int) *array.Array {
		a := array.New(array.I32, dims...)
		copy(array.Data[int32](a), v)
		return a
	}
	return []*array.Array{ints(t.Nodes, len(t.Thresholds), 4), floats(t.Thresholds, x), ints(t.Roots, len(t.Roots)),
		ints(t.Starts, len(t.Starts)), ints(t.Columns, len(t.Columns)), floats(t.Weights, y)}
}

package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ReduceAttrs are the attributes of reductions: the dimensions to reduce, all
// when empty; whether they stay with size 1; and, for sum, mean and prod, the
// element type in which to compute.
type ReduceAttrs struct {
	Dim     op.Ints `fx:",arg"`
	KeepDim bool
	DType   array.DType
}

// VarAttrs are the attributes of var and std. The sum of squared deviations is
// divided by the number of elements less Correction; absent means 1.
type VarAttrs struct {
	Dim        op.Ints `fx:",arg"`
	Correction op.Scalar
	KeepDim    bool
}

// ArgAttrs are the attributes of argmax and argmin: at most one dimension; none
// means the index into the elements in row-major order.
type ArgAttrs struct {
	Dim     op.Ints `fx:",arg"`
	KeepDim bool
}

// MinMaxAttrs are the attributes of max_dim and min_dim.
type MinMaxAttrs struct {
	Dim     int `fx:",arg"`
	KeepDim bool
}

// The reductions that arithmetic defines. Floats accumulate in float64.
var (
	// Sum adds elements; sums of integers and bools are i64.
	//
	//gofx:torch torch.sum(x, axes(dim, x), keep_dim, dtype=dtype)
	Sum = reduceOp("sum", "sum adds the elements of the dimensions dim, all if none is given; integers and bools give i64.", sumType, refusesDType)
	// Prod multiplies elements; products of integers and bools are i64.
	//
	//gofx:torch stepwise(torch.prod, x, dim, keep_dim, dtype, several=False)
	Prod = reduceOp("prod", "prod multiplies the elements of the dimensions dim, all if none is given; integers and bools give i64.", sumType, refusesDType, extendsDims, altersPartial[ReduceAttrs](), unlikeFar[ReduceAttrs](0))
	// Mean averages floats.
	//
	//gofx:torch torch.mean(x, axes(dim, x), keep_dim, dtype=dtype)
	Mean = reduceOp("mean", "mean averages the elements of the dimensions dim, all if none is given.", meanType)
	// Amax takes the greatest element; NaN wins.
	//
	//gofx:torch untyped(dtype) and torch.amax(x, axes(dim, x), keep_dim)
	Amax = reduceOp("amax", "amax takes the greatest element of the dimensions dim, all if none is given; NaN wins.", sameType, unlikeNaN)
	// Amin takes the least element; NaN wins.
	//
	//gofx:torch untyped(dtype) and torch.amin(x, axes(dim, x), keep_dim)
	Amin = reduceOp("amin", "amin takes the least element of the dimensions dim, all if none is given; NaN wins.", sameType, unlikeNaN)
	// All tells whether every element differs from zero.
	//
	//gofx:torch untyped(dtype) and stepwise(torch.all, x, dim, keep_dim)
	All = reduceOp("all", "all tells whether every element of the dimensions dim, all if none is given, differs from zero.", boolType, altersBytes)
	// Any tells whether some element differs from zero.
	//
	//gofx:torch untyped(dtype) and stepwise(torch.any, x, dim, keep_dim)
	Any = reduceOp("any", "any tells whether some element of the dimensions dim, all if none is given, differs from zero.", boolType, altersBytes)
)

var (
	refusesDType = refusesSums(func(a ReduceAttrs) array.DType { return a.DType })
	extendsDims  = op.Difference[ReduceAttrs]{Kind: op.Extends, Text: "several dimensions at once", When: func(a ReduceAttrs, _ []*array.Array) bool { return a.Dim.Len() > 1 }}
	altersBytes  = departs[ReduceAttrs](op.Alters, "the result is bool for u8, too, where PyTorch has u8", func(in []*array.Array) bool { return in[0].DType() == array.U8 })
)

// Max takes the greatest of all elements.
var Max = extremeOp("max", "max takes the greatest of all elements; NaN wins.")

// Min takes the least of all elements.
var Min = extremeOp("min", "min takes the least of all elements; NaN wins.")

// MaxDim takes the greatest elements along a dimension and their indices.
//
//gofx:torch torch.max(x, dim, keep_dim)
var MaxDim = minMaxOp("max", "max_dim takes the greatest elements along a dimension and the indices of the first ones; NaN wins.")

// MinDim takes the least elements along a dimension and their indices.
//
//gofx:torch torch.min(x, dim, keep_dim)
var MinDim = minMaxOp("min", "min_dim takes the least elements along a dimension and the indices of the first ones; NaN wins.")

// Argmax gives the index of the greatest element.
//
//gofx:torch arg(torch.argmax, x, dim, keep_dim)
var Argmax = argOp("argmax", "argmax gives the i64 index of the first greatest element; NaN wins.")

// Argmin gives the index of the least element.
//
//gofx:torch arg(torch.argmin, x, dim, keep_dim)
var Argmin = argOp("argmin", "argmin gives the i64 index of the first least element; NaN wins.")

// Var is the variance.
//
//gofx:torch spread(torch.var, x, dim, correction, keep_dim)
var Var = varianceOp("var", "var is the variance of the dimensions dim, all if none is given, with Bessel's correction unless said otherwise.", false)

// Std is the standard deviation, right also where the variance leaves the range of
// the element type: the root is taken in f64.
//
//gofx:torch spread(torch.std, x, dim, correction, keep_dim)
var Std = varianceOp("std", "std is the standard deviation of the dimensions dim, all if none is given, the square root of their variance.", true)

func varianceOp(name, doc string, root bool) *op.Op {
	return op.Define(name, op.Spec[VarAttrs]{
		Doc: doc, In: op.Args("x"), Class: op.Reduction, Infer: varRule,
		Kernel: func(a VarAttrs, in []shape.Type) kernel.Step {
			axes, _ := axisList(a.Dim, in[0].Rank())
			return &kernel.Var{Dims: axes, Correction: a.correction(), Root: root}
		},
		Grad: varGrad(root),
		Flops: func(_ VarAttrs, in []shape.Type, _ shape.Type) shape.Dim {
			if !in[0].Ranked() {
				return shape.Unknown
			}
			return in[0].Dims().Prod().MulInt(4)
		},
		Samples: varSamples, Bad: varBad,
	})
}

func (a VarAttrs) correction() float64 {
	if !a.Correction.Present() {
		return 1
	}
	return a.Correction.Float64()
}

// unlikeNaN is of amax and amin.
var unlikeNaN = departs[ReduceAttrs](op.GradAlters, "that of elements among which one is NaN goes to those that are; in PyTorch it is NaN for all", func(in []*array.Array) bool { return hasNaN(in[0]) })

// reduceOp defines a reduction over any set of dimensions.
func reduceOp(name, doc string, result func(a ReduceAttrs, d array.DType) (array.DType, error), differs ...op.Difference[ReduceAttrs]) *op.Op {
	kind := map[string]string{"amax": "max", "amin": "min"}[name]
	ordered := kind != ""
	if !ordered {
		kind = name
	}
	return op.Define(name, op.Spec[ReduceAttrs]{
		Doc: doc, In: op.Args("x"), Class: op.Reduction, Differs: differs,
		Infer: func(c *op.Infer, a ReduceAttrs, in []shape.Type) (shape.Type, error) {
			d, err := result(a, in[0].DType())
			if err != nil {
				return shape.Type{}, err
			}
			return reducedType(c, d, in[0], a.Dim, a.KeepDim, ordered)
		},
		Kernel: func(a ReduceAttrs, in []shape.Type) kernel.Step {
			axes, _ := axisList(a.Dim, in[0].Rank())
			return &kernel.Reduce{Kind: kind, Dims: axes}
		},
		Grad:    reduceGrad(name),
		Samples: func(g *op.Gen) []op.Sample { return reduceSamples(g, name) },
		Bad:     func(g *op.Gen) []op.BadSample { return reduceBad(g, name) },
	})
}

// extremeOp defines the reduction of all elements to a 0-dimensional result.
func extremeOp(name, doc string) *op.Op {
	return op.Define(name, op.Spec[op.None]{
		Doc: doc, In: op.Args("x"), Class: op.Reduction,
		Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
			if _, err := reducedType(c, in[0].DType(), in[0], op.Ints{}, false, true); err != nil {
				return shape.Type{}, err
			}
			return shape.TensorType(in[0].DType(), shape.Dims{}), nil
		},
		Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.Reduce{Kind: name} },
		Samples: extremeOpSamples,
		Bad:     extremeOpBad,
	})
}

// minMaxOp defines max_dim and min_dim.
func minMaxOp(kind, doc string) *op.Op {
	return op.Define(kind+"_dim", op.Spec[MinMaxAttrs]{
		Doc: doc, In: op.Args("x"), Class: op.Reduction, Results: []string{"values", "indices"},
		Infer: func(c *op.Infer, a MinMaxAttrs, in []shape.Type) (shape.Type, error) {
			values, err := reducedType(c, in[0].DType(), in[0], op.IntList(a.Dim), a.KeepDim, true)
			if err != nil {
				return shape.Type{}, err
			}
			return shape.TupleType(values, values.WithDType(array.I64)), nil
		},
		Kernel: func(a MinMaxAttrs, in []shape.Type) kernel.Step {
			axis, _ := op.Axis(a.Dim, in[0].Rank())
			return &kernel.MinMaxDim{Kind: kind, Dim: axis}
		},
		Grad:    minMaxGrad,
		Samples: minMaxOpSamples,
		Bad:     minMaxOpBad,
	})
}

// argOp defines argmax and argmin.
func argOp(name, doc string) *op.Op {
	return op.Define(name, op.Spec[ArgAttrs]{
		Differs: []op.Difference[ArgAttrs]{departs[ArgAttrs](op.Extends, "bool", func(in []*array.Array) bool { return in[0].DType() == array.Bool })},
		Doc:     doc, In: op.Args("x"), Class: op.Reduction,
		Infer: func(c *op.Infer, a ArgAttrs, in []shape.Type) (shape.Type, error) {
			if a.Dim.Len() > 1 {
				return shape.Type{}, diag.New(op.BadAttr, "dim "+a.Dim.String()+" names "+strconv.Itoa(a.Dim.Len())+" axes, expected at most one")
			}
			return reducedType(c, array.I64, in[0], a.Dim, a.KeepDim, true)
		},
		Kernel: func(a ArgAttrs, in []shape.Type) kernel.Step {
			if a.Dim.Len() == 0 {
				return &kernel.ArgReduce{Kind: name, Flat: true}
			}
			axis, _ := op.Axis(a.Dim.At(0), in[0].Rank())
			return &kernel.ArgReduce{Kind: name, Dim: axis}
		},
		Samples: argOpSamples,
		Bad:     argOpBad,
	})
}

// reducedType returns t with dims reduced (all when empty) and element type d.
// With nonEmpty, the reduced dimensions must have elements.
func reducedType(c *op.Infer, d array.DType, t shape.Type, dims op.Ints, keep, nonEmpty bool) (shape.Type, error) {
	if !t.Ranked() {
		if dims.Len() == 0 && !keep {
			return shape.TensorType(d, shape.Dims{}), nil
		}
		return shape.Unranked(d), nil
	}
	axes, err := axisList(dims, t.Rank())
	if err != nil {
		return shape.Type{}, err
	}
	out := t.Dims()
	for _, i := range axes {
		if nonEmpty {
			if err := notEmpty(c, out.At(i), "reduced dimension "+strconv.Itoa(i)); err != nil {
				return shape.Type{}, err
			}
		}
		out = out.With(i, shape.Const(1))
	}
	if keep {
		return shape.TensorType(d, out), nil
	}
	var left []shape.Dim
	for i := range t.Rank() {
		if !contains(axes, i) {
			left = append(left, out.At(i))
		}
	}
	return shape.TensorType(d, shape.Of(left...)), nil
}

func contains(list []int, n int) bool {
	for _, v := range list {
		if v == n {
			return true
		}
	}
	return false
}

// sumType is the element type of sums and products: integers and bools give i64.
func sumType(a ReduceAttrs, d array.DType) (array.DType, error) {
	switch {
	case a.DType == array.Bool || a.DType != array.Invalid && d.IsFloat() && !a.DType.IsFloat():
		return d, diag.New(op.DTypeMismatch, "dtype "+a.DType.String()+" for x of "+d.String()+", expected a type that holds its sums").
			WithHint("cast x first")
	case a.DType != array.Invalid:
		return a.DType, nil
	case d.IsInt() || d == array.Bool:
		return array.I64, nil
	}
	return d, nil
}

// meanType is the element type of means: a float type, of x or of the attributes.
func meanType(a ReduceAttrs, d array.DType) (array.DType, error) {
	if a.DType != array.Invalid {
		d = a.DType
	}
	return d, needFloat(d)
}

func sameType(a ReduceAttrs, d array.DType) (array.DType, error) {
	return d, noDType(a)
}

func boolType(a ReduceAttrs, _ array.DType) (array.DType, error) {
	return array.Bool, noDType(a)
}

func noDType(a ReduceAttrs) error {
	if a.DType != array.Invalid {
		return diag.New(op.BadAttr, "dtype "+a.DType.String()+", expected none: the operator computes in the type of x")
	}
	return nil
}

// needFloat refuses known element types that are not floats.
func needFloat(d array.DType) error {
	if d != array.Invalid && !d.IsFloat() {
		return diag.New(op.DTypeMismatch, "x has element type "+d.String()+", expected a float type").WithHint("cast x to a float type first")
	}
	return nil
}

func varRule(c *op.Infer, a VarAttrs, in []shape.Type) (shape.Type, error) {
	if err := needFloat(in[0].DType()); err != nil {
		return shape.Type{}, err
	}
	return reducedType(c, in[0].DType(), in[0], a.Dim, a.KeepDim, false)
}

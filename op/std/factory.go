package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// checkSize refuses negative sizes.
func checkSize(c *op.Infer, size shape.Dims) error {
	for i, d := range size.Slice() {
		if err := c.AtLeast(d, shape.Const(0), op.BadAttr, func() string {
			return "size " + size.String() + " has " + d.String() + " at position " + strconv.Itoa(i) + ", expected 0 or more"
		}); err != nil {
			return err
		}
	}
	return nil
}

// orElse returns d, or def when d is not given.
func orElse(d, def array.DType) array.DType {
	if d == array.Invalid {
		return def
	}
	return d
}

// scalarDType returns the element type of a tensor made from the number alone.
func scalarDType(s op.Scalar) array.DType {
	switch {
	case s.IsFloat():
		return array.F32
	case s.IsInt():
		return array.I64
	}
	return array.Bool
}

// FullAttrs are the attributes of full. DType not given follows from Value: f32,
// i64 or bool.
type FullAttrs struct {
	Size  shape.Dims  `fx:",arg"`
	Value op.Scalar   `fx:",arg,lift"`
	DType array.DType `fx:"dtype"`
}

// Full makes a tensor of one value, converted as Cast converts.
//
//gofx:torch torch.full(size, value, dtype=dtype)
var Full = op.Define("full", op.Spec[FullAttrs]{
	Doc: "full is a tensor of the given size filled with value.",
	Infer: func(c *op.Infer, a FullAttrs, _ []shape.Type) (shape.Type, error) {
		if !a.Value.Present() {
			return shape.Type{}, diag.New(op.BadAttr, "value is not given, expected a number")
		}
		d := orElse(a.DType, scalarDType(a.Value))
		if err := checkFits("value", d, a.Value); err != nil {
			return shape.Type{}, err
		}
		return shape.TensorType(d, a.Size), checkSize(c, a.Size)
	},
	Expr: func(b *expr.Builder, a FullAttrs, _ []expr.Value) []expr.Value {
		return []expr.Value{number(b, orElse(a.DType, scalarDType(a.Value)), "value", a.Value)}
	},
	Samples: fullSamples,
	Bad:     fullBad,
})

// calls makes a sample without operands of each attributes value.
func calls[A any](attrs ...A) []op.Sample {
	all := make([]op.Sample, len(attrs))
	for i, a := range attrs {
		all[i] = op.Sample{Name: "call " + strconv.Itoa(i), Attrs: a}
	}
	return all
}

// SizeAttrs are the attributes of factories; DType not given is f32.
type SizeAttrs struct {
	Size  shape.Dims  `fx:",arg"`
	DType array.DType `fx:"dtype"`
}

// filled defines a factory of one constant.
func filled(name, doc string, value int64) *op.Op {
	return op.Define(name, op.Spec[SizeAttrs]{
		Doc: doc, Class: op.Elementwise,
		Decompose: func(b op.Builder, a SizeAttrs, _ []op.Value) op.Value {
			return b.Call(Full, FullAttrs{Size: a.Size, Value: op.Int(value), DType: orElse(a.DType, array.F32)})
		},
		Samples: filledSamples,
		Bad:     filledBad,
	})
}

// sizeAttrs are sizes of several kinds and one of each element type.
func sizeAttrs(dtypes ...array.DType) []SizeAttrs {
	all := []SizeAttrs{{Size: shape.ConstDims(2, 3)}, {Size: shape.ConstDims()}, {Size: shape.ConstDims(0, 4)}, {Size: shape.ConstDims(1)}, {Size: shape.ConstDims(513)}}
	for _, d := range dtypes {
		all = append(all, SizeAttrs{shape.ConstDims(3, 5), d})
	}
	return all
}

// Tensors of one value.
var (
	//gofx:torch torch.zeros(size, dtype=dtype)
	Zeros = filled("zeros", "zeros is a tensor of the given size filled with 0.", 0)
	//gofx:torch torch.ones(size, dtype=dtype)
	Ones = filled("ones", "ones is a tensor of the given size filled with 1.", 1)
)

// LikeAttrs are the attributes of zeros_like and ones_like; DType not given is x's.
type LikeAttrs struct {
	DType array.DType `fx:"dtype"`
}

// FullLikeAttrs are the attributes of full_like; DType not given is x's.
type FullLikeAttrs struct {
	Value op.Scalar   `fx:",arg,lift"`
	DType array.DType `fx:"dtype"`
}

// likeSpec is the record of an operator that takes from x only its type; its
// expression does not read x, so that sizes need no attribute.
func likeSpec[A any](doc string, full func(a A) FullLikeAttrs, samples []A, differs ...op.Difference[A]) op.Spec[A] {
	return op.Spec[A]{
		Differs: differs,
		Doc:     doc, In: op.Args("x"), Promote: uncast[A],
		Expr: func(b *expr.Builder, a A, x []expr.Value) []expr.Value {
			f := full(a)
			if !f.Value.Present() {
				refuse(op.BadAttr, "value is not given, expected a number", "give one")
			}
			return []expr.Value{number(b, orElse(f.DType, x[0].DType()), "value", f.Value)}
		},
		Samples: func(g *op.Gen) []op.Sample { return unarySamples(g, onAny, samples) },
		Bad: func(g *op.Gen) []op.BadSample {
			return []op.BadSample{{Name: "no operand", Attrs: samples[0], Code: op.OperandCount}}
		},
	}
}

func likeSamples() []LikeAttrs { return []LikeAttrs{{}, {array.F64}, {array.Bool}} }

// Tensors of the size of another.
var (
	//gofx:torch torch.zeros_like(x, dtype=dtype)
	ZerosLike = op.Define("zeros_like", likeSpec("zeros_like is a tensor of x's size and element type filled with 0.",
		func(a LikeAttrs) FullLikeAttrs { return FullLikeAttrs{op.Int(0), a.DType} }, likeSamples()))
	//gofx:torch torch.ones_like(x, dtype=dtype)
	OnesLike = op.Define("ones_like", likeSpec("ones_like is a tensor of x's size and element type filled with 1.",
		func(a LikeAttrs) FullLikeAttrs { return FullLikeAttrs{op.Int(1), a.DType} }, likeSamples()))
	//gofx:torch torch.full_like(x, value, dtype=dtype)
	FullLike = op.Define("full_like", likeSpec("full_like is a tensor of x's size and element type filled with value.",
		func(a FullLikeAttrs) FullLikeAttrs { return a },
		[]FullLikeAttrs{{Value: op.Float(2.5)}, {op.Int(-1), array.I8}, {Value: op.BoolScalar(true)}},
		op.Difference[FullLikeAttrs]{Kind: op.Refuses, Text: "an integer that a float type cannot hold, which is infinity in PyTorch", When: func(a FullLikeAttrs, in []*array.Array) bool {
			return a.Value.IsInt() && orElse(a.DType, in[0].DType()).IsFloat()
		}}))
)

// ArangeAttrs are the attributes of arange: Start, Start+Step, ... before End. A
// Step of 0 stands for 1; DType not given is i64. End may be symbolic, then it
// must be past Start: that is guarded.
type ArangeAttrs struct {
	End   shape.Dim `fx:",arg"`
	Start int
	Step  int
	DType array.DType `fx:"dtype"`
}

func (a ArangeAttrs) step() int {
	if a.Step == 0 {
		return 1
	}
	return a.Step
}

// length returns the number of elements.
func (a ArangeAttrs) length(c *op.Infer) (shape.Dim, error) {
	span, step := a.End.AddInt(-a.Start), a.step()
	if step < 0 {
		span, step = span.MulInt(-1), -step
	}
	err := c.AtLeast(span, shape.Const(0), op.BadAttr, func() string {
		return "arange from " + strconv.Itoa(a.Start) + " to " + a.End.String() + " by " + strconv.Itoa(a.step()) + ", expected a step towards the end"
	})
	return span.AddInt(step - 1).FloorDivInt(step), err
}

// Arange counts in i64 and converts to the element type at the end.
//
//gofx:torch torch.arange(start, end, step or 1, dtype=dtype or torch.int64)
var Arange = op.Define("arange", op.Spec[ArangeAttrs]{
	Doc: "arange is the vector of the integers from start up to, not including, end, by step.",
	Infer: func(c *op.Infer, a ArangeAttrs, _ []shape.Type) (shape.Type, error) {
		if a.DType == array.Bool {
			return shape.Type{}, diag.New(op.BadAttr, "dtype is bool, expected a number type")
		}
		n, err := a.length(c)
		if err != nil {
			return shape.Type{}, err
		}
		return shape.TensorType(orElse(a.DType, array.I64), shape.Of(n)), nil
	},
	Expr: func(b *expr.Builder, a ArangeAttrs, _ []expr.Value) []expr.Value {
		v := b.Index()
		if s := a.step(); s != 1 {
			v = b.Mul(v, b.ConstInt(array.I64, int64(s)))
		}
		if a.Start != 0 {
			v = b.Add(v, b.ConstInt(array.I64, int64(a.Start)))
		}
		return []expr.Value{b.Cast(v, orElse(a.DType, array.I64))}
	},
	Lift:    arangePositions,
	Samples: arangeSamples,
	Bad:     arangeBad,
})

// LinspaceAttrs are the attributes of linspace; DType not given is f32.
type LinspaceAttrs struct {
	Start float64     `fx:",arg,lift"`
	End   float64     `fx:",arg,lift"`
	Steps int         `fx:",arg"`
	DType array.DType `fx:"dtype"`
}

// Linspace counts from the nearer end, so that both ends are exact; f16 and bf16
// are computed in f32, integers in f64.
//
//gofx:torch linspace(start, end, steps, dtype)
var Linspace = op.Define("linspace", op.Spec[LinspaceAttrs]{
	Differs: []op.Difference[LinspaceAttrs]{
		{Kind: op.Alters, Text: "integers are rounded down from where they lie and the last is end, where the steps of PyTorch's vectors drift", When: func(a LinspaceAttrs, _ []*array.Array) bool {
			return a.DType.IsInt() && a.Steps > 7
		}},
		{Kind: op.Refuses, Text: "bool as the dtype", When: func(a LinspaceAttrs, _ []*array.Array) bool { return a.DType == array.Bool }},
		{Kind: op.Alters, Text: "ends that are not finite stay as they are, and what lies between follows from the nearer one", When: func(a LinspaceAttrs, _ []*array.Array) bool {
			return (a.End-a.Start)-(a.End-a.Start) != 0
		}},
		{Kind: op.Refuses, Text: "negative ends for u8, which PyTorch takes modulo 256", When: func(a LinspaceAttrs, _ []*array.Array) bool {
			return a.DType == array.U8 && (a.Start < 0 || a.End < 0)
		}},
	},
	Doc: "linspace is a vector of steps evenly spaced numbers from start to end, both included.",
	Infer: func(_ *op.Infer, a LinspaceAttrs, _ []shape.Type) (shape.Type, error) {
		if a.Steps < 0 {
			return shape.Type{}, diag.New(op.BadAttr, "steps is "+strconv.Itoa(a.Steps)+", expected 0 or more")
		}
		if a.DType == array.Bool {
			return shape.Type{}, diag.New(op.BadAttr, "dtype is bool, expected a number type")
		}
		d := orElse(a.DType, array.F32)
		if a.Steps > 0 {
			if err := checkFits("start", d, op.Float(a.Start)); err != nil {
				return shape.Type{}, err
			}
		}
		if a.Steps > 1 {
			if err := checkFits("end", d, op.Float(a.End)); err != nil {
				return shape.Type{}, err
			}
		}
		return shape.TensorType(d, shape.ConstDims(a.Steps)), nil
	},
	Expr: func(b *expr.Builder, a LinspaceAttrs, _ []expr.Value) []expr.Value {
		d := orElse(a.DType, array.F32)
		w := d
		switch {
		case !d.IsFloat():
			w = array.F64
		case d != array.F64:
			w = array.F32
		}
		if a.Steps <= 1 {
			return []expr.Value{b.Const(d, a.Start)}
		}
		if !d.IsFloat() { // the ends are integers before anything is computed
			a.Start, a.End = math.Trunc(a.Start), math.Trunc(a.End)
		}
		step := b.Const(w, (a.End-a.Start)/float64(a.Steps-1))
		i, last := b.Index(), b.ConstInt(array.I64, int64(a.Steps-1))
		up := b.Add(b.Const(w, a.Start), b.Mul(b.Cast(i, w), step))
		down := b.Sub(b.Const(w, a.End), b.Mul(b.Cast(b.Sub(last, i), w), step))
		return []expr.Value{b.Cast(b.Select(b.Lt(i, b.ConstInt(array.I64, int64(a.Steps/2))), up, down), d)}
	},
	Samples: linspaceSamples,
	Bad:     linspaceBad,
})

// EyeAttrs are the attributes of eye. M of 0 stands for N; DType not given is f32.
type EyeAttrs struct {
	N     shape.Dim `fx:",arg"`
	M     shape.Dim
	DType array.DType `fx:"dtype"`
}

// Eye makes a matrix with ones on the diagonal.
//
//gofx:torch torch.eye(n, m or n, dtype=dtype)
var Eye = op.Define("eye", op.Spec[EyeAttrs]{
	Doc: "eye is the n by m matrix with 1 on the diagonal and 0 elsewhere.",
	Infer: func(c *op.Infer, a EyeAttrs, _ []shape.Type) (shape.Type, error) {
		if a.M.Is(0) {
			a.M = a.N
		}
		size := shape.Of(a.N, a.M)
		return shape.TensorType(orElse(a.DType, array.F32), size), checkSize(c, size)
	},
	Expr: func(b *expr.Builder, a EyeAttrs, _ []expr.Value) []expr.Value {
		return []expr.Value{b.Cast(b.Eq(b.Coord(-2), b.Coord(-1)), orElse(a.DType, array.F32))}
	},
	Samples: eyeSamples,
	Bad:     eyeBad,
})

// TriAttrs are the attributes of tril and triu: Diagonal 0 is the main one,
// positive ones are above it.
type TriAttrs struct {
	Diagonal int `fx:",arg,lift"`
}

// triangle defines an operator that keeps the elements whose column less row is,
// by compare, on the right side of the diagonal.
func triangle(name, doc string, compare func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return op.Define(name, op.Spec[TriAttrs]{
		Differs: []op.Difference[TriAttrs]{{Kind: op.Alters, Text: "a diagonal beyond 32 bits counts as it is, where PyTorch's indices overflow", When: func(a TriAttrs, _ []*array.Array) bool {
			return a.Diagonal > math.MaxInt32 || a.Diagonal < -math.MaxInt32
		}}},
		Doc: doc, In: op.Args("x"), Quant: op.QuantShared, InPlace: true,
		Infer: func(_ *op.Infer, _ TriAttrs, in []shape.Type) (shape.Type, error) {
			if in[0].Ranked() && in[0].Rank() < 2 {
				return shape.Type{}, diag.New(op.RankMismatch, "x is "+in[0].String()+", expected 2 or more dimensions")
			}
			return in[0], nil
		},
		Expr: func(b *expr.Builder, a TriAttrs, x []expr.Value) []expr.Value {
			keep := compare(b, b.Sub(b.Coord(-1), b.Coord(-2)), b.ConstInt(array.I64, int64(a.Diagonal)))
			return []expr.Value{b.Select(keep, x[0], b.Like(x[0], 0))}
		},
		Samples: triangleSamples,
		Bad:     triangleBad,
	})
}

// Triangles of matrices, also in batches; the other elements become 0, NaN too.
var (
	//gofx:torch torch.tril(x, diagonal)
	Tril = triangle("tril", "tril keeps the elements on and below a diagonal of the last two dimensions.", (*expr.Builder).Le)
	//gofx:torch torch.triu(x, diagonal)
	Triu = triangle("triu", "triu keeps the elements on and above a diagonal of the last two dimensions.", (*expr.Builder).Ge)
)

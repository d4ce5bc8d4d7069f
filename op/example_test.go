package op_test

import (
	"fmt"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// eval computes an operator on arrays and returns its first result.
func eval(o *op.Op, attrs any, in ...*array.Array) *array.Array {
	out, err := o.Eval(&kernel.Workspace{}, attrs, in)
	if err != nil {
		panic(err)
	}
	return out[0]
}

// An elementwise operator without attributes is one line.
var softsign = op.Unary("example_softsign", "example_softsign returns x/(1+|x|).", func(b *expr.Builder, x expr.Value) expr.Value {
	return b.Div(x, b.Add(b.Like(x, 1), b.Abs(x)))
})

func ExampleUnary() {
	y := eval(softsign, nil, array.FromSlice([]float32{-1, 0, 3}))
	fmt.Println(softsign.Class, array.Data[float32](y))
	// Output: elementwise [-0.5 0 0.75]
}

var difference = op.Binary("example_difference", "example_difference returns |x-other|.", func(b *expr.Builder, x, y expr.Value) expr.Value {
	return b.Abs(b.Sub(x, y))
})

// Operands broadcast and promote.
func ExampleBinary() {
	y := eval(difference, nil, array.FromSlice([]float32{1, 2, 3, 4}, 2, 2), array.FromSlice([]int32{2, 2}))
	fmt.Println(shape.TypeOf(y), array.Data[float32](y))
	// Output: f32[2,2] [1 0 1 2]
}

// ClipAttrs are attributes: a plain struct. The tag makes Max a parameter of the
// generated Go function.
type ClipAttrs struct {
	Max float64 `fx:",arg"`
}

// clip is elementwise with an attribute: its meaning is an expression.
var clip = op.Define("example_clip", op.Spec[ClipAttrs]{
	Doc: "example_clip returns the smaller of x and max.", In: op.Args("x"),
	Expr: func(b *expr.Builder, a ClipAttrs, x []expr.Value) []expr.Value {
		return []expr.Value{b.Min(x[0], b.Like(x[0], a.Max))}
	},
	Samples: func(g *op.Gen) []op.Sample {
		return []op.Sample{{Name: "matrix", Attrs: ClipAttrs{0.5}, In: []*array.Array{g.Normal(2, 3)}}}
	},
})

func ExampleDefine() {
	y := eval(clip, ClipAttrs{Max: 2}, array.FromSlice([]float32{1, 2, 3}))
	fmt.Println(array.Data[float32](y), len(clip.Samples()))
	// Output: [1 2 2] 1
}

// mlp is composite: other operators, called through a builder.
var mlp = op.Define("example_mlp", op.Spec[op.None]{
	Doc: "example_mlp is a linear layer and relu.", In: op.Args("x", "weight", "bias?"),
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		return std.Linear.Type(c, op.None{}, in)
	},
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		return b.Call(std.Relu, nil, b.Call(std.Linear, nil, in...))
	},
})

func ExampleDefine_decompose() {
	y := eval(mlp, nil, array.FromSlice([]float32{1, 2}, 1, 2), array.FromSlice([]float32{1, 1, -1, 0}, 2, 2), nil)
	fmt.Println(mlp.Composite(), array.Data[float32](y))
	// Output: true [3 0]
}

// evens is a kernel step: a plain struct whose literal generated code prints.
type evens struct{}

// Run takes every other element of the vector in[0].
func (evens) Run(_ *kernel.Workspace, out, in []*array.Array) {
	array.Copy(out[0], array.Slice(in[0], 0, 0, in[0].Dim(0), 2))
}

// half is primitive: a type rule and a kernel.
var half = op.Define("example_half", op.Spec[op.None]{
	Doc: "example_half takes every other element of a vector.", In: op.Args("x"), Class: op.Movement,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		n := in[0].Dim(0).AddInt(1).FloorDivInt(2) // unknown stays unknown
		return shape.TensorType(in[0].DType(), shape.Of(n)), nil
	},
	Kernel: func(op.None, []shape.Type) kernel.Step { return evens{} },
})

func ExampleDefine_kernel() {
	fmt.Println(array.Data[int64](eval(half, nil, array.FromSlice([]int64{1, 2, 3, 4, 5}))))

	in, _ := shape.ParseType("f32[N]")
	t, err := half.Type(&op.Infer{}, op.None{}, []shape.Type{in})
	fmt.Println(t, err)
	// Output:
	// [1 3 5]
	// f32[(N-1)//2+1] <nil>
}

// middle is a kernel step with a field that is a size.
type middle struct{ Start int }

// Run takes as many elements of the vector in[0] as out[0] has, from Start on.
func (m middle) Run(_ *kernel.Workspace, out, in []*array.Array) {
	array.Copy(out[0], array.Slice(in[0], 0, m.Start, m.Start+out[0].Dim(0), 1))
}

// middleHalf declares what is a size in its step, so that it runs for symbols too.
var middleHalf = op.Define("example_middle_half", op.Spec[op.None]{
	Doc: "example_middle_half takes the middle half of a vector.", In: op.Args("x"), Class: op.Movement,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		return shape.TensorType(in[0].DType(), shape.Of(in[0].Dim(0).FloorDivInt(2))), nil
	},
	Kernel: func(_ op.None, in []shape.Type) kernel.Step {
		m := &middle{}
		return op.WithSizes(m, op.Size(&m.Start, in[0].Dim(0).FloorDivInt(4)))
	},
})

// Known sizes are in the step, symbols next to it.
func ExampleWithSizes() {
	fmt.Println(array.Data[int64](eval(middleHalf, nil, array.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 8}))))

	for _, text := range []string{"f32[8]", "f32[N]"} {
		in, _ := shape.ParseType(text)
		step, _ := middleHalf.Step(op.None{}, []shape.Type{in})
		if u, ok := step.(*op.Unsized); ok {
			f := u.Sizes[0]
			fmt.Println(f.Path.Selector(u.Step), "=", f.Size)
			continue
		}
		fmt.Println(step.(*middle).Start)
	}
	// Output:
	// [3 4 5 6]
	// 2
	// Start = N//4
}

// A path is followed by reflection: by who sets the field, or prints it.
func ExamplePath_Walk() {
	s := &kernel.Fold{Output: make([]int, 2)}
	u := op.WithSizes(s, op.Size(&s.Output[1], shape.Sym("N"))).(*op.Unsized)
	field, ok := u.Sizes[0].Path.Walk(reflect.ValueOf(s).Elem(), func(part reflect.Value, next int) {
		fmt.Println(part.Kind(), next)
	})
	field.SetInt(7)
	fmt.Println(ok, u.Sizes[0].Path.Selector(s), s.Output)
	// Output:
	// struct 0
	// slice 1
	// true Output[1] [0 7]
}

// firstHalf states what it needs of a size.
var firstHalf = op.Define("example_first_half", op.Spec[op.None]{
	Doc: "example_first_half takes the first half of a vector of even length.", In: op.Args("x"),
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		n := in[0].Dim(0)
		err := c.Multiple(n, shape.Const(2), op.SizeMismatch, func() string {
			return "x has " + n.String() + " elements, expected an even number"
		})
		return shape.TensorType(in[0].DType(), shape.Of(n.FloorDivInt(2))), err
	},
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		return b.Call(std.Slice, std.SliceAttrs{Stop: in[0].Type().Dim(0).FloorDivInt(2)}, in[0])
	},
})

// A rule that needs something of sizes refuses known ones; for symbols the need
// is handed to whoever infers, a graph for instance, which makes it a guard.
func ExampleInfer_Multiple() {
	needs := &op.Infer{Assume: func(r shape.Relation) error {
		fmt.Println("needs", r)
		return nil
	}}
	for _, text := range []string{"f32[6]", "f32[7]", "f32[N]", "f32[2*N]"} {
		in, _ := shape.ParseType(text)
		fmt.Println(firstHalf.Type(needs, op.None{}, []shape.Type{in}))
	}
	// Output:
	// f32[3] <nil>
	// ? x has 7 elements, expected an even number [FX2003]
	// needs N % 2 == 0
	// f32[N//2] <nil>
	// f32[N] <nil>
}

// Lookup finds operators by the name that the text form uses.
func ExampleLookup() {
	conv := op.Lookup("conv2d")
	fmt.Println(conv == std.Conv2d, conv.Class, conv.In[2].Name, conv.In[2].Optional)
	fmt.Println(op.Lookup("conv9d"))
	// Output:
	// true contraction bias true
	// <nil>
}

func ExampleAll() {
	n := 0
	for _, o := range op.All() {
		if o.Structural() {
			n++
		}
	}
	fmt.Println(n, "structural operators")
	// Output: 7 structural operators
}

// Eval is the reference: it computes an operator on arrays.
func ExampleOp_Eval() {
	x := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	out, err := std.Sum.Eval(&kernel.Workspace{}, std.ReduceAttrs{Dim: op.IntList(0)}, []*array.Array{x})
	fmt.Println(array.Data[float32](out[0]), err)

	_, err = std.Matmul.Eval(&kernel.Workspace{}, op.None{}, []*array.Array{x, array.New(array.F32, 3, 2)})
	fmt.Println(err)

	_, err = std.Relu.Eval(&kernel.Workspace{}, std.ReduceAttrs{}, []*array.Array{x})
	fmt.Println(err)
	// Output:
	// [4 6] <nil>
	// x [2,2] has 2 columns, y [3,2] has 3 rows [FX2001]
	//     hint: transpose the last two dimensions of y
	// attributes are std.ReduceAttrs, expected op.None [FX2005]
}

// AppendEval has the results in a list of the caller's.
func ExampleAppendEval() {
	x := array.FromSlice([]float32{1, -2}, 2)
	var w kernel.Workspace
	list := make([]*array.Array, 0, 2)
	list, err := op.AppendEval(list, std.Relu, &w, nil, []*array.Array{x})
	fmt.Println(array.Data[float32](list[0]), err)
	list, err = op.AppendEval(list, std.Neg, &w, nil, list)
	fmt.Println(len(list), array.Data[float32](list[1]), err)
	// Output:
	// [1 0] <nil>
	// 2 [-1 -0] <nil>
}

// A codec prints, parses and compares attributes.
func ExampleCodec() {
	c := std.Conv2d.Codec()
	a, err := c.Parse([]string{"stride", "padding"}, []string{"[2,2]", "[1,1]"})
	fmt.Println(c.Print(a), err)
	fmt.Println(c.Equal(a, std.ConvAttrs{Stride: op.IntList(2, 2), Padding: op.IntList(1, 1)}))
	for _, f := range c.Fields(a) {
		if !f.Zero {
			fmt.Println(f.Name, f.GoName, f.Value)
		}
	}
	_, err = c.Parse([]string{"stride"}, []string{"two"})
	fmt.Println(err)
	// Output:
	// {stride=[2,2], padding=[1,1]} <nil>
	// true
	// stride Stride [2,2]
	// padding Padding [1,1]
	// attribute stride=two is not a list of ints [FX2005]
}

// An ad-hoc operator is an opaque Go function on arrays.
func ExampleNewAdHoc() {
	reverse := op.NewAdHoc("example.com/net", "reverse", op.Args("x"), true, false, func(in []*array.Array) ([]*array.Array, error) {
		return []*array.Array{array.Clone(array.Flip(in[0], 0))}, nil
	})
	fmt.Println(reverse, array.Data[int64](eval(reverse, nil, array.FromSlice([]int64{1, 2, 3}))))
	// Output: example.com/net.reverse [3 2 1]
}

func ExampleArgs() {
	for _, a := range op.Args("x", "bias?", "tensors...") {
		fmt.Println(a.Name, a.Optional, a.Variadic)
	}
	// Output:
	// x false false
	// bias true false
	// tensors false true
}

// Lists in attributes are immutable and comparable.
func ExampleIntList() {
	a := op.IntList(1, 2)
	pairs, err := op.IntList(3).Or(2, 1) // one number stands for every axis
	fmt.Println(a == op.IntList(1, 2), a, pairs, err)
	// Output: true [1,2] [3 3] <nil>
}

func ExampleFloatList() {
	l := op.FloatList(0.5, 2)
	fmt.Println(l.Len(), l.At(0), l.Slice(), l == op.FloatList(0.5, 2))
	// Output: 2 0.5 [0.5 2] true
}

// Scalars are numbers in attributes; combining one with a tensor promotes as in
// PyTorch.
func ExampleScalarOf() {
	s, err := op.ScalarOf(2)
	fmt.Println(s, s.IsInt(), err, op.Float(2), op.BoolScalar(true), op.Scalar{}.Present())
	fmt.Println(op.Int(2).Promote(array.F16), op.Float(2).Promote(array.I64))
	back, ok := op.ParseScalar("2.0")
	fmt.Println(back == op.Float(2), ok)
	// Output:
	// 2 true <nil> 2.0 true false
	// f16 f32
	// true true
}

// BoolScalar, Float and Int make scalars.
func ExampleBoolScalar() {
	fmt.Println(op.BoolScalar(false), op.Int(3).Int64(), op.Float(0.5).Float64())
	// Output: false 3 0.5
}

func ExampleFloat() {
	fmt.Println(op.Float(3), op.Float(3) == op.Int(3))
	// Output: 3.0 false
}

func ExampleInt() {
	fmt.Println(op.Int(3), op.Int(3).IsFloat())
	// Output: 3 false
}

func ExampleParseScalar() {
	s, ok := op.ParseScalar("1e-05")
	_, bad := op.ParseScalar("small")
	fmt.Println(s, ok, bad)
	// Output: 1e-05 true false
}

func ExamplePromote() {
	vector, number := shape.TensorType(array.I32, shape.ConstDims(4)), shape.TensorType(array.F64, shape.ConstDims())
	fmt.Println(op.Promote([]shape.Type{vector, number}), op.Promote([]shape.Type{vector, shape.TensorType(array.I64, shape.ConstDims())}))
	// Output: f64 i32
}

func ExampleAxis() {
	fmt.Println(op.Axis(-1, 3))
	_, err := op.Axis(3, 3)
	fmt.Println(err)
	// Output:
	// 2 <nil>
	// axis 3 is out of range for 3 dimensions [FX2008]
}

func ExampleItemType() {
	pair := shape.TupleType(shape.TensorType(array.F32, shape.ConstDims(2)), shape.TensorType(array.I64, shape.ConstDims(2)))
	fmt.Println(op.ItemType(pair, 1))
	_, err := op.ItemType(pair, 2)
	fmt.Println(err)
	// Output:
	// i64[2] <nil>
	// member 2 of a tuple of 2 [FX2005]
}

// Everywhere lists what all operators have in common where they depart from PyTorch.
func ExampleEverywhere() {
	fmt.Println(len(op.Everywhere()) > 0)
	// Output: true
}

// An operator whose sizes follow from values says the most that they can be, and what they
// are for operands that are there.
func ExampleOp_TypeFor() {
	x := array.FromSlice([]float32{0, 7, 0, 9})
	t, err := std.Nonzero.TypeFor(nil, []*array.Array{x})
	fmt.Println(t, err, std.Nonzero.AtMost(nil, []shape.Type{shape.TypeOf(x)})[0])
	// Output: i64[2,1] <nil> [4,1]
}

package tensor_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// CallOp calls any operator with one result, a user's own included.
func ExampleCallOp() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	y := tensor.CallOp(std.Sum, tensor.ReduceAttrs{Dim: tensor.Ints(0), KeepDim: true}, x)
	fmt.Println(y.Type(), tensor.Data[float32](y))
	// Output: f32[1,2] [4 6]
}

// ApplyMethod is recorded as a call of a method.
func ExampleApplyMethod() {
	model := func(x *tensor.Tensor) *tensor.Tensor { return tensor.ApplyMethod(std.Relu, nil, x)[0] }
	gm, err := fx.Trace(context.Background(), model)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gm.Graph.Output().Arg(0).Opcode())
	// Output: call_method
}

// Counting is a module with a buffer that its Forward updates.
type Counting struct {
	Calls *tensor.Tensor `fx:",buffer"`
}

// Forward counts its calls, also in a graph: On reads the buffer as x's engine does.
func (m *Counting) Forward(x *tensor.Tensor) *tensor.Tensor {
	tensor.On(x, m.Calls).AddScalarInPlace(1)
	return x.Neg()
}

func ExampleOn() {
	ctx := context.Background()
	gm, err := fx.Trace(ctx, &Counting{tensor.FromSlice([]int64{0})}, fx.Input("x", "f32[N]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if _, err := gm.Run(ctx, tensor.Ones(2)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(gm.State().Tensor("calls").Item())
	// Output: 3
}

// In makes a tensor where another one is: under a trace its making is recorded at its line.
func ExampleIn() {
	model := func(x *tensor.Tensor) *tensor.Tensor {
		return x.Add(tensor.In(x.Engine()).Linspace(0, 1, 3))
	}
	gm, err := fx.Trace(context.Background(), model, fx.Input("x", "f32[3]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(gm.Graph)
	fmt.Println(tensor.Data[float32](model(tensor.Ones(3))))
	// Output:
	// gofx 1
	//
	// graph ExampleIn.func1(%x: f32[3]) {
	//   %linspace = call_function[linspace]() {end=1.0, steps=3} : f32[3]
	//   %add = call_method[add](%x, %linspace) : f32[3]
	//   return %add
	// }
	// [1 1.5 2]
}

// Third is opaque and has no effects.
func Third(x *tensor.Tensor) *tensor.Tensor { return x.DivScalar(3) }

var third = tensor.WrapPure(Third)

// Calls of pure functions may be merged and removed.
func ExampleWrapPure() {
	// var third = tensor.WrapPure(Third)
	gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return third(x) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gm.Graph.Output().Arg(0).Op().Effect == std.Relu.Effect, third(tensor.Scalar(float32(6))).Item())
	// Output: true 2
}

// OnArrays runs tensor code on arrays; mistakes are returned.
func ExampleOnArrays() {
	square := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Matmul(in[0])} }
	out, err := tensor.OnArrays(square, []*array.Array{array.FromSlice([]float32{1, 1, 0, 1}, 2, 2)})
	fmt.Println(array.Data[float32](out[0]), err)
	_, err = tensor.OnArrays(square, []*array.Array{array.New(array.F32, 2, 3)})
	fmt.Println(err != nil)
	// Output:
	// [1 2 0 1] <nil>
	// true
}

// FieldName gives the names of PyTorch's state dicts.
func ExampleFieldName() {
	fmt.Println(tensor.FieldName("Conv1"), tensor.FieldName("RunningMean"), tensor.FieldName("InProj"))
	// Output: conv1 running_mean in_proj
}

func ExampleFuncName() {
	fmt.Println(tensor.FuncName(Third))
	// Output: github.com/gofx-dev/gofx/tensor_test Third
}

// Ints and Floats make the lists of attributes.
func ExampleInts() {
	x := tensor.Zeros(1, 1, 4, 4)
	y := x.Interpolate(tensor.InterpolateAttrs{ScaleFactor: tensor.Floats(2, 3), Mode: "nearest"})
	fmt.Println(y.Shape(), y.Sum(2, 3).Shape())
	// Output: [1 1 8 12] [1 1]
}

// Number and Sizes make other values of options.
func ExampleNumber() {
	x := tensor.Ones(1, 1, 2, 2)
	x = x.Add(x, tensor.AddAttrs{Alpha: tensor.Number(0.5)})
	fmt.Println(x.Interpolate(tensor.InterpolateAttrs{Size: tensor.Sizes(4, x.Size(3).Mul(3))}).Type(), x.At(0, 0, 1, 1).Item())
	// Output: f32[1,1,4,6] 1.5
}

// Lists are the tail of a call; options next to one go to the function with With.
func ExampleTensor_MeanWith() {
	x := tensor.Arange(6, tensor.ArangeAttrs{DType: array.F32}).Reshape(2, 3)
	fmt.Println(tensor.Data[float32](x.Mean(1)), x.Mean().Item(), x.MeanWith(1, tensor.ReduceAttrs{KeepDim: true}).Type())
	// Output: [1 4] 2.5 f32[2,1]
}

// A Size may stay an expression: End is the end of any dimension.
func ExampleSize() {
	x := tensor.Arange(6)
	fmt.Println(tensor.Data[int64](x.Slice(0, 4, tensor.End)), tensor.Data[int64](x.Slice(0, x.Size(0).Div(2), tensor.End)))
	// Output: [4 5] [3 4 5]
}

// Equal compares bits: an infinity equals itself, and not its negation.
func ExampleTensor_Equal() {
	x := tensor.FromSlice([]float32{0}).Log()
	fmt.Println(x.Item(), x.Equal(x.Clone()), x.Equal(x.Neg()))
	// Output: -Inf true false
}

func ExamplePermuteCall() {
	c := tensor.PermuteCall(1, 0)
	fmt.Println(c.Op, tensor.Apply(c.Op, c.Attrs, tensor.Zeros([]any{2, 3}))[0].Shape())
	// Output: permute [3 2]
}

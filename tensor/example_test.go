package tensor_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

func ExampleNew() {
	a := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	x := tensor.New(a)
	x.AddScalarInPlace(1) // a is not copied
	fmt.Println(x.Type(), array.Data[float32](a))
	// Output: f32[2,2] [2 3 4 5]
}

func ExampleFromSlice() {
	x := tensor.FromSlice([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Type(), x.Dim(-1), x.Sum().Item())
	// Output: i64[2,3] 3 21
}

func ExampleScalar() {
	fmt.Println(tensor.Scalar(1.5).Type(), tensor.Scalar[int32](2).Item())
	// Output: f64[] 2
}

func ExampleParam() {
	w := tensor.Param(array.FromSlice([]float32{1, 2}, 1, 2))
	_, _, _, made := w.T().Recipe() // tracing records w.T() instead of its value
	fmt.Println(made)
	// Output: true
}

func ExampleStateParam() {
	w := tensor.StateParam(array.New(array.F32, 2))
	w.AddScalarInPlace(3) // written by a call: nobody has the array
	fmt.Println(w)
	// Output: tensor([3., 3.])
}

func ExampleData() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(tensor.Data[float32](x.T()))
	// Output: [1 3 2 4]
}

func ExampleTensor_Reshape() {
	x := tensor.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	fmt.Println(x.Reshape(3, -1).Type())
	fmt.Println(x.Reshape(x.Size(1), x.Size(0)).Type()) // works in a trace of any size, too
	// Output:
	// f32[3,2]
	// f32[3,2]
}

func ExampleTensor_Size() {
	x := tensor.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	fmt.Println(x.Size(0).Mul(x.Size(1)).Add(1), x.Size(-1).Div(2).Int())
	// Output: 7 1
}

func ExampleTensor_At() {
	x := tensor.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	fmt.Println(tensor.Data[float32](x.At(1)), x.At(0, -1).Item())
	// Output: [3 4 5] 2
}

func ExampleTensor_Conv2d() {
	image := tensor.Ones(1, 1, 4, 4)
	kernel := tensor.Ones(1, 1, 2, 2)
	y := image.Conv2d(kernel, nil, tensor.ConvAttrs{Stride: tensor.Ints(2)})
	fmt.Println(y.Type(), tensor.Data[float32](y))
	// Output: f32[1,1,2,2] [4 4 4 4]
}

func ExampleTensor_AddInPlace() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	y := x.T()
	x.AddInPlace(tensor.Ones(2, 2))
	fmt.Println(tensor.Data[float32](y))
	// Output: [2 4 3 5]
}

func ExampleTensor_RSubScalar() {
	x := tensor.FromSlice([]float32{0.25, 0.5})
	fmt.Println(tensor.Data[float32](x.RSubScalar(1)))
	// Output: [0.75 0.5]
}

func ExampleSplitSize() {
	for _, part := range tensor.SplitSize(tensor.Arange(5), 2, 0) {
		fmt.Println(tensor.Data[int64](part))
	}
	// Output:
	// [0 1]
	// [2 3]
	// [4]
}

func ExampleTensor_UnbindDim() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	for _, column := range x.UnbindDim(1) {
		fmt.Println(tensor.Data[float32](column))
	}
	// Output:
	// [1 3]
	// [2 4]
}

func ExampleApply() {
	x := tensor.FromSlice([]float32{3, 1, 2})
	out := tensor.Apply(std.Sort, tensor.SortAttrs{}, x)
	fmt.Println(tensor.Data[float32](out[0]), tensor.Data[int64](out[1]))
	// Output: [1 2 3] [1 2 0]
}

// Mistakes panic with a *diag.Error, which names the line of the call.
func ExampleTensor_Matmul_mistake() {
	defer func() {
		e := recover().(*diag.Error)
		fmt.Println(e.Op, e.Code, e.Pos.Line > 0)
	}()
	tensor.Ones(2, 3).Matmul(tensor.Ones(2, 3))
	// Output: matmul FX2001 true
}

// Halve is opaque: a trace records the call and does not look inside.
func Halve(x *tensor.Tensor) *tensor.Tensor { return x.DivScalar(2) }

var halve = tensor.Wrap(Halve)

func ExampleWrap() {
	// var halve = tensor.Wrap(Halve)
	fmt.Println(tensor.Data[float32](halve(tensor.FromSlice([]float32{2, 3}))))
	// Output: [1 1.5]
}

func ExampleCond() {
	x := tensor.FromSlice([]float32{-3, 1})
	out := tensor.Cond(x.Sum().LtScalar(0),
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Neg()} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in },
		x)
	fmt.Println(tensor.Data[float32](out[0]))
	// Output: [3 -1]
}

func ExampleWhile() {
	out := tensor.While(
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(50) },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].MulScalar(3)} },
		tensor.Scalar[float32](1))
	fmt.Println(out[0].Item())
	// Output: 81
}

func ExampleWhileAtMost() {
	out := tensor.WhileAtMost(4, // gradients need the bound
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(50) },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].MulScalar(3)} },
		tensor.Scalar[float32](1))
	fmt.Println(out[0].Item())
	// Output: 81
}

func ExampleScan() {
	add := func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		sum := carry[0].Add(slices[0])
		return []*tensor.Tensor{sum}, []*tensor.Tensor{sum}
	}
	last, sums := tensor.Scan(add, []*tensor.Tensor{tensor.Scalar[int64](0)}, []*tensor.Tensor{tensor.Arange(5)})
	fmt.Println(last[0].Item(), tensor.Data[int64](sums[0]))
	// Output: 10 [0 1 3 6 10]
}

type Block struct {
	Weight *tensor.Tensor
	Scale  *tensor.Tensor `fx:",buffer"`
}

func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Linear(b.Weight, nil).Mul(b.Scale) }

func ExampleWalk() {
	model := &struct{ Layers []*Block }{[]*Block{{tensor.Ones(2, 2), tensor.Ones(1)}}}
	tensor.Walk(model, func(i tensor.Item) bool {
		if i.Tensor != nil {
			fmt.Println(i.Path, "m"+i.Selector, i.Tensor.Type(), i.Buffer)
		}
		return true
	})
	// Output:
	// layers.0.weight m.Layers[0].Weight f32[2,2] false
	// layers.0.scale m.Layers[0].Scale f32[1] true
}

package stablehlo_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// sum is the program of a sum over rows.
func sum() *stablehlo.Module {
	b := stablehlo.NewBuilder(stablehlo.Of(array.F32, 2, 3))
	total := b.Reduce("add", b.Arg(0), b.Const(stablehlo.Of(array.F32), 0), 1)
	return &stablehlo.Module{Name: "rows", Main: b.Return(total)}
}

func ExampleNewBuilder() {
	fmt.Print(sum())
	// Output:
	// module @rows {
	//   func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2xf32>) {
	//     %0 = "stablehlo.constant"() {value = dense<0.0e+00> : tensor<f32>} : () -> tensor<f32>
	//     %1 = "stablehlo.reduce"(%arg0, %0) ({
	//     ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
	//       %2 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
	//       "stablehlo.return"(%2) : (tensor<f32>) -> ()
	//     }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
	//     "func.return"(%1) : (tensor<2xf32>) -> ()
	//   }
	// }
}

func ExampleParse() {
	p, err := stablehlo.Parse(sum().String())
	fmt.Println(p.Results(), err)
	// Output: [tensor<2xf32>] <nil>
}

func ExampleVerify() {
	p := sum()
	p.Main.Ops[1].Attrs[0].Value = stablehlo.Ints{5}
	fmt.Println(stablehlo.Verify(p))
	// Output: operation 2: stablehlo.reduce: dimensions has 5, there are 2 dimensions
}

func ExampleOf() {
	fmt.Println(stablehlo.Of(array.U8, 2, 3), stablehlo.ElemName(array.Bool))
	// Output: tensor<2x3xui8> i1
}

func ExampleElemName() {
	fmt.Println(stablehlo.ElemName(array.BF16), stablehlo.ElemName(array.I4) == "")
	// Output: bf16 true
}

func ExampleSplat() {
	d := stablehlo.Splat(stablehlo.Of(array.I32, 4), 7)
	fmt.Println(d.At(3))
	// Output: 7
}

func ExamplePairs() {
	lo, hi := stablehlo.Pairs([]int{0, 1}, []int{2, 3}).Pair(1)
	fmt.Println(lo, hi)
	// Output: 1 3
}

func ExampleBinary() {
	r := stablehlo.Binary("maximum", array.F32)
	fmt.Println(r.Ops[0].Name, r.Returned()[0].Type)
	// Output: maximum tensor<f32>
}

func ExampleExtend() {
	fmt.Println(int64(stablehlo.Extend(array.I8, 0xff)), stablehlo.Extend(array.U8, 0x1ff))
	// Output: -1 255
}

func ExampleNames() {
	fmt.Println(stablehlo.Names()[:3])
	// Output: [abs add and]
}

func ExampleReduceWindows() {
	o := &stablehlo.Op{Name: "reduce_window", Attrs: []stablehlo.Attr{{Name: "window_dimensions", Value: stablehlo.Ints{3}}}}
	w, err := stablehlo.ReduceWindows(o)
	fmt.Println(w[0].Out(10), err)
	// Output: 8 <nil>
}

func ExampleConvWindows() {
	x, w := &stablehlo.Value{Type: stablehlo.Of(array.F32, 1, 1, 10)}, &stablehlo.Value{Type: stablehlo.Of(array.F32, 1, 1, 3)}
	order := []int{0, 1, 2}
	o := &stablehlo.Op{Name: "convolution", Operands: []*stablehlo.Value{x, w}, Attrs: []stablehlo.Attr{
		{Name: "dimension_numbers", Value: stablehlo.Conv{Input: order, Kernel: order, Output: order}},
		{Name: "window_strides", Value: stablehlo.Ints{2}}}}
	ws, err := stablehlo.ConvWindows(o)
	fmt.Println(ws[0].Out(10), err)
	// Output: 4 <nil>
}

// Four partitions: two parts of the rows, of each of which two partitions have a copy.
func ExampleParseSharding() {
	t, err := stablehlo.ParseSharding("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}")
	fmt.Println(t.Grid, t.Devices, err)
	// Output: [2 1] [0 2 1 3] <nil>
}

// Two programs that differ in a size alone are one, for all sizes up to the first one's.
func ExampleBounded() {
	program := func(n int) *stablehlo.Module {
		b := stablehlo.NewBuilder(stablehlo.Of(array.F32, n, 2))
		b.Return(b.Op("add", b.Arg(0), b.Const(stablehlo.Of(array.F32, n, 2), 0)))
		return &stablehlo.Module{Name: "plus", Main: b.Region}
	}
	p, err := stablehlo.Bounded(program(8), []stablehlo.Symbol{{Bound: 8, Sizes: []int{7}, Others: []*stablehlo.Module{program(7)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ops := p.Main.Ops[:len(p.Main.Ops)-1]
	for _, o := range ops {
		fmt.Println(o.Name, o.Results[0].Type)
	}
	q, err := p.Bind(map[int]int{1: 3})
	fmt.Println(q.Main.Ops[3].Name, q.Main.Ops[3].Results[0].Type, err)
	// Output:
	// set_dimension_size tensor<?x2xf32, #stablehlo.bounds<8, ?>>
	// constant tensor<8x2xf32>
	// set_dimension_size tensor<?x2xf32, #stablehlo.bounds<8, ?>>
	// add tensor<?x2xf32, #stablehlo.bounds<8, ?>>
	// constant tensor<i32>
	// set_dimension_size tensor<8x2xf32>
	// add tensor<3x2xf32> <nil>
}

func ExampleFloatBits() {
	fmt.Printf("%#x\n", stablehlo.FloatBits(array.F16, 1.5))
	// Output: 0x3e00
}

package std_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// A record says what an operator takes, which types its results have, and what it computes.
// Graphs, eager tensors and engines all ask it.
func Example() {
	for _, in := range std.Linear.In {
		fmt.Println(in.Name, in.Optional)
	}

	n := shape.Sym("N")
	types := []shape.Type{
		shape.TensorType(array.F32, shape.Of(n, shape.Const(3))),
		shape.TensorType(array.F32, shape.ConstDims(2, 3)),
	}
	fmt.Println(std.Linear.Type(nil, op.None{}, types))
	types[0] = types[0].WithDims(shape.Of(n, shape.Const(4)))
	_, err := std.Linear.Type(nil, op.None{}, types)
	fmt.Println(err)

	x := array.FromSlice([]float32{1, 2, 3}, 1, 3)
	w := array.FromSlice([]float32{1, 0, 0, 0, 1, 1}, 2, 3)
	out, err := std.Linear.Eval(&kernel.Workspace{}, nil, []*array.Array{x, w})
	fmt.Println(array.Data[float32](out[0]), err)
	// Output:
	// x false
	// weight false
	// bias true
	// f32[N,2] <nil>
	// x has 4 features, weight expects 3 [FX2003]
	// [1 5] <nil>
}

// Attributes are a struct of the operator; the zero one is what calls without attributes have.
func Example_attributes() {
	x := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	for _, attrs := range []std.ReduceAttrs{{}, {Dim: op.IntList(0)}, {Dim: op.IntList(0), KeepDim: true}} {
		out, err := std.Sum.Eval(&kernel.Workspace{}, attrs, []*array.Array{x})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(shape.TypeOf(out[0]), array.Data[float32](out[0]))
	}
	fmt.Println(op.Lookup("sum") == std.Sum, std.Sum.Effect == op.Pure)
	// Output:
	// f32[] [10]
	// f32[2] [4 6]
	// f32[1,2] [4 6]
	// true true
}

package tensor_test

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Nearest tells which of the centres is the nearest to each point of a line.
func Nearest(x, centres *tensor.Tensor) *tensor.Tensor {
	c := tensor.Data[float32](centres)
	index := make([]int64, x.Dim(0))
	for i, v := range tensor.Data[float32](x) {
		for k := range c {
			if math.Abs(float64(v-c[k])) < math.Abs(float64(v-c[index[i]])) {
				index[i] = int64(k)
			}
		}
	}
	return tensor.FromSlice(index, len(index))
}

var nearest = tensor.Wrap(Nearest, tensor.Signature("f32[N], f32[K] -> i64[N]"))

// A function whose types are declared runs in every engine, in plans too.
func ExampleSignature() {
	// var nearest = tensor.Wrap(Nearest, tensor.Signature("f32[N], f32[K] -> i64[N]"))
	model := func(x *tensor.Tensor) *tensor.Tensor {
		return nearest(x, tensor.FromSlice([]float32{0, 10, 20}))
	}
	gm, err := fx.Trace(context.Background(), model, fx.Input("x", "f32[B]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gm.Graph.Output().Arg(0).Type())
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	out, err := e.Run(context.Background(), []*array.Array{array.FromSlice([]float32{18, 1})})
	fmt.Println(array.Data[int64](out[0]), err)
	// Output:
	// i64[B]
	// [2 0] <nil>
}

// A TypeRule of one's own serves what no signature says: here all types and ranks.
func ExampleTypeRule() {
	same := tensor.TypeRule(func(_ *op.Infer, in []shape.Type) ([]shape.Type, error) { return in[:1], nil })
	x, _ := shape.ParseType("bf16[N,4,4]")
	out, err := same(&op.Infer{}, []shape.Type{x})
	fmt.Println(out, err)
	// Output: [bf16[N,4,4]] <nil>
}

// Rounder is kept as one call, whose type it tells.
type Rounder struct{}

// TypeRule makes Rounder a tensor.Typed.
func (Rounder) TypeRule() tensor.TypeRule { return tensor.Signature("f32[N] -> i64[N]") }

// Forward rounds.
func (Rounder) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Round().Cast(array.I64) }

func ExampleTyped() {
	type net struct{ Round *Rounder }
	m := &net{&Rounder{}}
	forward := func(x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.Round, x) }
	gm, err := fx.Trace(context.Background(), forward, fx.Root(m), fx.Input("x", "f32[B]"),
		fx.Leaf(func(_ any, path string, library bool) bool { return library || path == "round" }))
	if err != nil {
		fmt.Println(err)
		return
	}
	n := gm.Graph.Output().Arg(0)
	fmt.Println(n.Opcode(), n.Target(), n.Type())
	// Output: call_module round i64[B]
}

// DeclareResults is for engines that record functions of tensors.
func ExampleDeclareResults() {
	divide := func(x, y *tensor.Tensor) (quotient, rest *tensor.Tensor) { return x.Div(y), x.Remainder(y) }
	d := tensor.DeclareResults(reflect.TypeOf(divide), tensor.Signature("f32[N], f32[N] -> f32[N], f32[N]"))
	fmt.Println(d.Results, d.Infer != nil)
	// Output: [r0 r1] true
}

package api_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/op/std"
)

// The functions of an operator: with a tensor, with a number, with a number first.
func ExampleOf() {
	for _, f := range api.Of(std.Pow) {
		fmt.Println(f.Signature(), f.InPlace)
	}
	// Output:
	// Pow(x, other *Tensor) *Tensor PowInPlace
	// PowScalar(x *Tensor, v any) *Tensor PowScalarInPlace
	// RPowScalar(x *Tensor, v any) *Tensor
}

// A list is the tail of a call; with options next to it the call has another name.
func ExampleFunc_Fits() {
	for _, f := range api.Of(std.Mean) {
		fmt.Println(f.Signature(), f.Fits(std.ReduceAttrs{Dim: op.IntList(-1)}), f.Fits(std.ReduceAttrs{KeepDim: true}))
	}
	// Output:
	// Mean(x *Tensor, dim ...int) *Tensor true false
	// MeanWith(x *Tensor, dim any, attrs ReduceAttrs) *Tensor true true
}

// What a call with these attributes has to say besides its arguments.
func ExampleFunc_Given() {
	for _, a := range api.Of(std.Sub)[0].Given(std.SubAttrs{Alpha: op.Int(2)}) {
		fmt.Println(a.GoName, a.Value)
	}
	// Output: Alpha 2
}

func ExampleOps() {
	for _, o := range api.Ops()[:2] {
		fmt.Println(goname.Upper(o.Name), "takes", len(api.Of(o)[0].Params))
	}
	// Output:
	// Abs takes 1
	// Acos takes 1
}

// An attribute's Go name, its parameter's and what it takes.
func ExampleKindOf() {
	for _, a := range std.Gelu.Codec().Fields(std.GeluAttrs{}) {
		fmt.Println(goname.Lower(a.GoName), api.KindOf(a.Value) == api.String, api.OneOf(a.Enum))
	}
	// Output: approximate true "tanh"
}

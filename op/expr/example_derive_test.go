package expr_test

import (
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/expr"
)

// The derivative of x² is 2x.
func ExamplePartials() {
	b := expr.NewBuilder()
	x := b.Input(0, array.F64)
	d := expr.Partials(b, b.Graph(b.Mul(x, x)), 0, []expr.Value{x}, nil)
	fmt.Println(math.Float64frombits(b.Eval(d, []uint64{math.Float64bits(3)})[0]))
	// Output: 6
}

// A seed times a derivative.
func ExampleChain() {
	b := expr.NewBuilder()
	x, seed := b.Input(0, array.F64), b.Input(1, array.F64)
	d := expr.Partials(b, b.Graph(b.Mul(x, x)), 0, []expr.Value{x}, nil)
	g, _ := expr.Chain(b, array.F64, d, []expr.Value{seed})
	fmt.Println(math.Float64frombits(b.Eval([]expr.Value{g}, []uint64{math.Float64bits(3), math.Float64bits(10)})[0]))
	// Output: 60
}

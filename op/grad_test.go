package op_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

func TestDerivative_isFoundByName(t *testing.T) {
	d := std.Gelu.Derivative(0)
	require.Equal(t, "gelu_grad", d.Key())
	require.Same(t, d, op.Lookup("gelu_grad"))
	require.Same(t, std.Pow.Derivative(1), op.Lookup("pow_grad_other"))
	twice := d.Derivative(0)
	require.Equal(t, "gelu_grad_grad_x", twice.Key())
	require.Same(t, twice, op.Lookup(twice.Key()))
	require.NotContains(t, op.All(), d)
	of, operand := twice.DerivedFrom()
	require.Same(t, d, of)
	require.Zero(t, operand)
}

func TestDerivative_namesThatAreNone(t *testing.T) {
	for _, name := range []string{"_grad", "gelu_grad_x", "pow_grad", "pow_grad_y", "matmul_grad_x", "sum_grad", "no_such_grad", "gelu_grad_grad",
		"exp" + strings.Repeat("_grad_grad_x", 400), "gelu_grad" + strings.Repeat("_grad_grad", 400)} {
		require.Nil(t, op.Lookup(name), name)
	}
	d := std.Exp
	for range 4 {
		d = d.Derivative(0)
		require.NotNil(t, d)
	}
	require.Nil(t, d.Derivative(0), "the fifth order")
}

// A call lacks an operand that the derivative reads, or has no seed.
func TestDerivative_missingOperands(t *testing.T) {
	one := array.FromSlice([]float64{1}, 1)
	eval := func(o *op.Op, in ...*array.Array) error {
		_, err := o.Eval(&kernel.Workspace{}, o.Codec().Zero(), in)
		return err
	}
	d := std.Exp.Derivative(0) // x, result, grad
	require.NoError(t, eval(d, nil, one, one))
	require.NoError(t, eval(d, one, nil, one), "the result is computed again")
	require.ErrorContains(t, eval(d, nil, nil, one), "operand x is missing")
	require.ErrorContains(t, eval(d, one, one), "operand grad is missing")
	require.ErrorContains(t, eval(std.Sin.Derivative(0), nil, nil, one), "operand x is missing")
}

// A rule says which calls it cannot differentiate.
func ExampleNotDifferentiable() {
	err := op.NotDifferentiable("the mode is circular", "use another one")
	fmt.Println(err)
	// Output:
	// the mode is circular [FX3094]
	//     hint: use another one
}

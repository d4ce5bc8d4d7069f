package fxwrite

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"

	"fxvet.test/lib"
)

type net struct {
	Calls *tensor.Tensor
	Id    *nn.Identity
}

func (m *net) Forward(x, y *tensor.Tensor) *tensor.Tensor {
	x.AddScalarInPlace(1)                        // want `FX1011: an in-place call writes to an input: AddScalarInPlace`
	x.T().ReluInPlace()                          // want `FX1011`
	y.Select(0, 1).AssignInPlace(x.Select(0, 1)) // want `FX1011`
	bump(x)
	bump(x.Neg())
	lib.Bump(x) // want `FX1011: .*: AddScalarInPlace in fxvet.test/lib.Bump:15`
	lib.Bump(x.Neg())
	m.Id.Forward(y).ReluInPlace() // want `FX1011`

	x = x.Clone()
	x.AddScalarInPlace(1)
	z := y.MulScalar(2)
	z.AddScalarInPlace(1)
	m.Calls.AddScalarInPlace(1)
	tensor.On(x, m.Calls).AddScalarInPlace(1)

	either := y
	if m.Calls != nil {
		either = y.Neg()
	}
	either.AddScalarInPlace(1) // an input in some calls only

	z.Unsqueeze(0).Expand(3, -1).AddScalarInPlace(1) // want `FX1017: a write through a view that cannot be traced back: AddScalarInPlace`
	z.Expand(3, -1).Clone().AddScalarInPlace(1)
	return x
}

func bump(x *tensor.Tensor) { x.AddScalarInPlace(1) } // want `FX1011`

// eager is called by nobody that is captured.
func eager(x *tensor.Tensor) { x.AddScalarInPlace(1) }

type loops struct{}

func (loops) Forward(x *tensor.Tensor) *tensor.Tensor {
	small := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(3) }
	y := tensor.While(small, func(in []*tensor.Tensor) []*tensor.Tensor {
		in[0].AddScalarInPlace(1) // want `FX1014: regions that do not fit: AddScalarInPlace writes to a carried tensor`
		return []*tensor.Tensor{in[0].Neg()}
	}, x)[0]
	y = tensor.While(small, func(in []*tensor.Tensor) []*tensor.Tensor {
		in[0].AddScalarInPlace(1)
		return []*tensor.Tensor{in[0]}
	}, y)[0]
	y = tensor.While(small, func(in []*tensor.Tensor) []*tensor.Tensor {
		in[0].AddScalarInPlace(1)
		return in
	}, y)[0]
	y = tensor.While(small, func(in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{in[0].AddScalarInPlace(1)}
	}, y)[0]
	y = tensor.While(small, func(in []*tensor.Tensor) []*tensor.Tensor { // want `FX1014: .* the loop carries 1 tensor, and its body returns 2 tensors`
		return []*tensor.Tensor{in[0], in[0]}
	}, y)[0]
	y = tensor.Cond(y.Sum().GtScalar(0), // want `FX1014: .* the functions return 2 tensors and 1 tensor`
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0], in[0]} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in }, y)[0]
	y = tensor.Cond(y.Sum().GtScalar(0),
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Neg()} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in }, y)[0]
	last, _ := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) { // want `FX1014: .* the loop carries 1 tensor, and its body returns 0 tensors for them`
		return nil, rows
	}, []*tensor.Tensor{y}, []*tensor.Tensor{x})
	last, _ = tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) {
		return carry, nil
	}, last, []*tensor.Tensor{x})
	return last[0]
}

type lists struct{}

func (lists) Forward(xs []*tensor.Tensor, named map[string]*tensor.Tensor) *tensor.Tensor {
	xs[0] = xs[0].Neg()
	xs[0].AddScalarInPlace(1)
	xs[1].AddScalarInPlace(1) // want `FX1011`
	named["a"] = named["a"].Clone()
	named["a"].AddScalarInPlace(1)
	named["b"].AddScalarInPlace(1) // the key is not told apart
	return xs[0]
}

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

type holders struct{ W *tensor.Tensor }

type two struct{ a, b *tensor.Tensor }

func (h *holders) Forward(xs []*tensor.Tensor, c bool) *tensor.Tensor {
	xs[0] = xs[0].Clone()
	p := two{xs[1], xs[0]}
	p.a.AddScalarInPlace(1) // want `FX1011`
	p.b.AddScalarInPlace(1)
	q := p
	q.b.AddScalarInPlace(1)
	q.a.AddScalarInPlace(1) // want `FX1011`
	r := &two{b: p.b}
	*r = p
	r.b.AddScalarInPlace(1)
	r.a.AddScalarInPlace(1) // want `FX1011`
	list := []two{p, {p.b, xs[2]}}
	list[0].b.AddScalarInPlace(1)
	list[1].b.AddScalarInPlace(1) // want `FX1011`
	many := append([]*tensor.Tensor{}, xs[0], xs[1])
	many[0].AddScalarInPlace(1)
	var same []*tensor.Tensor
	for _, x := range xs[1:] {
		same = append(same, x)
	}
	same[0].AddScalarInPlace(1) // a replaced element may be among them
	return h.helped(xs, c)
}

func (h *holders) helped(xs []*tensor.Tensor, c bool) *tensor.Tensor {
	y := xs[1]
	if c {
		y = y.Clone()
	}
	add(y)
	z := xs[2]
	z = z.Clone()
	func() { z.AddScalarInPlace(1) }()
	u := xs[3]
	func() { u.AddScalarInPlace(1) }() // want `FX1011`
	surely(xs[2])
	pairs := map[string]two{"a": {xs[1], h.W}}
	pairs["a"].b.AddScalarInPlace(1)
	f := two{h.W, xs[1]}
	if c {
		f = two{h.W, h.W}
	}
	f.b.AddScalarInPlace(1)
	return y
}

type cloned struct{}

func (cloned) Forward(xs []*tensor.Tensor) *tensor.Tensor {
	clone(xs)
	xs[1].AddScalarInPlace(1)
	return xs[1]
}

func add(y *tensor.Tensor) { y.AddScalarInPlace(1) }

func surely(y *tensor.Tensor) { y.AddScalarInPlace(1) } // want `FX1011`

func clone(xs []*tensor.Tensor) {
	for i := range xs {
		xs[i] = xs[i].Clone()
	}
}

package fxwrap

import "github.com/gofx-dev/gofx/tensor"

type net struct{}

func (net) method(x *tensor.Tensor) *tensor.Tensor { return x }

func good(x *tensor.Tensor, more ...*tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) { return x, x }

func number(x *tensor.Tensor, n int) *tensor.Tensor { return x }

func float(x *tensor.Tensor) float64 { return 0 }

var (
	a = tensor.Wrap(good)
	b = tensor.Wrap(func(x *tensor.Tensor) *tensor.Tensor { return x }) // want `FX1002: a wrapped function takes or returns other values than tensors: the function is a literal`
	c = tensor.Wrap(net{}.method)                                       // want `FX1002: .* the function is a method`
	d = tensor.WrapPure(number)                                         // want `FX1002: .* parameter 1 is a int`
	e = tensor.Wrap(float)                                              // want `FX1002: .* result 0 is a float64`
)

package fxdata

import "github.com/gofx-dev/gofx/tensor"

type fixes struct{ W *tensor.Tensor }

func (m *fixes) Forward(x, y *tensor.Tensor) *tensor.Tensor {
	x = x.Reshape(x.Dim(0), -1) // want `FX1005`
	n, k := x.Dim(0), 3         // want `FX1005`
	x = x.Reshape(n, k)
	x = x.MulScalar(y.Sum().Item())               // want `FX1004`
	x = tensor.SubScalar(x, tensor.Max(y).Item()) // want `FX1004`
	x = x.MulScalar(y.Item())                     // want `FX1004`
	if y.Sum().Item() > 0 {                       // want `FX1004`
		x = x.Neg()
	}
	if y.Any().Bool() { // want `FX1004`
		x = x.Neg()
	} else {
		x = x.Relu()
	}
	if y.Sum().Item() > 0.1 { // want `FX1004`
		x = x.Exp()
	}
	if y.Max().Item() <= 3 { // want `FX1004`
		return x.Neg()
	}
	return x
}

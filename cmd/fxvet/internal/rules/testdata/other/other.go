// Package other has a tensor of its own: the names of another package mean nothing.
package other

import (
	tensors "github.com/gofx-dev/gofx/tensor"
)

type own struct{ v float64 }

func (t own) Item() float64      { return t.v }
func (t own) AddInPlace(own) own { return t }

type tensorPackage struct{}

func (tensorPackage) Data(x *tensors.Tensor) []float32 { return nil }
func (tensorPackage) Wrap(f func(int) int) int         { return f(1) }

type net struct{ last own }

func (m *net) Forward(x own, y *tensors.Tensor) *tensors.Tensor {
	var tensor tensorPackage
	_ = x.Item()
	x.AddInPlace(x)
	m.last = x
	_ = tensor.Data(y)
	_ = tensor.Wrap(func(i int) int { return i })
	_ = y.Item() // want `FX1004`
	return y
}

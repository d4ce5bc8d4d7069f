package fxstate

import "github.com/gofx-dev/gofx/tensor"

type point struct{ X, Y int }

type name string

type net struct {
	Tiles  map[point]*tensor.Tensor // want `FX1041: state without a name: the keys of the map are of type point`
	Named  map[name]*tensor.Tensor
	Left   map[point]*tensor.Tensor `fx:"-"`
	Counts map[point]int
	Deep   []map[float64]*layer // want `FX1041: .* float64`
	W      *tensor.Tensor
	w      *tensor.Tensor // want `FX1042: two tensors with one name: the fields W and w are both named w`
	Bias   *tensor.Tensor
	bias   *tensor.Tensor // computed
	Size   *tensor.Tensor
	size   int
	B      *tensor.Tensor `json:"b"`
	C      *tensor.Tensor `fx:"b"` // want `FX1042`
}

type layer struct{ W *tensor.Tensor }

func (m *net) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.bias = m.Bias.Neg()
	return x.Mul(m.Tiles[point{}]).Add(m.w).Add(m.bias).AddScalar(m.size)
}

// options is no module.
type options struct {
	Tiles map[point]*tensor.Tensor
	W, w  *tensor.Tensor
}

package fxscope

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type value struct{ W *tensor.Tensor }

func (m value) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.W).Relu() }

type generic[T any] struct{ W *tensor.Tensor }

func (m *generic[T]) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.W).Relu() }

type scaled struct{ W *tensor.Tensor }

// Forward uses its own weight in each call, which tells the scope.
func (m scaled) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.W) }

type pointer struct{ W *tensor.Tensor }

func (m *pointer) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.W) }

type net struct {
	A  value
	B  []*generic[int]
	C  *pointer
	S  scaled
	D  nn.Module
	Fc *nn.Linear
}

func (m *net) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.A.Forward(x)    // want `the graph loses the scope of m.A: its Forward is a method on a value; nn.Run\(m.A, ...\) says it`
	x = m.B[0].Forward(x) // want `the graph loses the scope of m.B\[0\]: its Forward is one of a generic type`
	x = m.C.Forward(x)
	x = m.S.Forward(x)
	x = m.D.Forward(x)
	local := value{m.A.W}
	x = local.Forward(x)
	return m.Fc.Forward(x)
}

func eager(m *net, x *tensor.Tensor) { m.A.Forward(x) }

package nn

import (
	"strconv"

	"github.com/gofx-dev/gofx/tensor"
)

// Softshrink is torch.nn.Softshrink: it moves x towards 0 by Lambda, and what is nearer to 0.
type Softshrink struct{ Lambda float64 }

// Hardshrink is torch.nn.Hardshrink: it sets elements from -Lambda to Lambda to 0.
type Hardshrink struct{ Lambda float64 }

// Tanhshrink is x - tanh(x).
type Tanhshrink struct{ _ byte } // its address tells modules apart

// NewSoftshrink returns a Softshrink; PyTorch's default is 0.5.
func NewSoftshrink(lambda float64) *Softshrink { return &Softshrink{positive("softshrink", lambda)} }

// NewHardshrink returns a Hardshrink; PyTorch's default is 0.5.
func NewHardshrink(lambda float64) *Hardshrink { return &Hardshrink{positive("hardshrink", lambda)} }

// NewTanhshrink returns a Tanhshrink.
func NewTanhshrink() *Tanhshrink { return &Tanhshrink{} }

func positive(name string, lambda float64) float64 {
	if !(lambda >= 0) {
		refuse(name, "lambda is "+strconv.FormatFloat(lambda, 'g', -1, 64)+", expected 0 or more", "")
	}
	return lambda
}

// Forward moves x towards 0.
func (m *Softshrink) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Sub(x.Clamp(-m.Lambda, m.Lambda))
}

// Forward sets small elements to 0.
func (m *Hardshrink) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.MaskedFill(x.Abs().LeScalar(m.Lambda), 0)
}

// Forward returns x - tanh(x).
func (m *Tanhshrink) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Sub(x.Tanh()) }

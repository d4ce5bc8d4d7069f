package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

type padded struct {
	W *tensor.Tensor
	F func(w *tensor.Tensor) *tensor.Tensor `fx:"-"`
}

func (m *padded) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Add(m.F(m.W)) }

// A tensor that holds values of a parameter in a part of its memory is no constant: it would keep
// them when the parameter changes.
func TestPartsOfStateAreNoConstants(t *testing.T) {
	for name, f := range map[string]func(w *tensor.Tensor) *tensor.Tensor{
		"a part of a tensor": func(w *tensor.Tensor) *tensor.Tensor {
			b := tensor.Zeros(4)
			b.Slice(0, 0, 2).AssignInPlace(w)
			return b
		},
		"a view from before the write": func(w *tensor.Tensor) *tensor.Tensor {
			b := tensor.Zeros(2, 4)
			v := b.Select(0, 1)
			b.Select(0, 1).Slice(0, 0, 2).AssignInPlace(w)
			return v
		},
		"a part of a part": func(w *tensor.Tensor) *tensor.Tensor {
			a, b := tensor.Zeros(2, 2), tensor.Zeros(4)
			a.Select(0, 0).AssignInPlace(w)
			b.Slice(0, 0, 2).AddInPlace(a.Select(0, 1))
			return b
		},
	} {
		m := &padded{W: tensor.Param(tensor.FromSlice([]float32{1, 2}, 2).Array()), F: f}
		_, err := fx.Trace(ctx, m, fx.Input("x", "f32[4]"))
		require.ErrorIs(t, err, tracer.UnseenWrite, name)
	}
}

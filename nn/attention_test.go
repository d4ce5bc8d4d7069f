package nn_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// A query whose keys are all ignored gets the same answer from Forward, from Attend and in training.
func TestMultiheadAttention_queryWithoutKeys(t *testing.T) {
	const n, l, e = 2, 3, 4
	values := make([]float32, n*l*e)
	for i := range values {
		values[i] = float32(math.Sin(float64(i)))
	}
	x := tensor.FromSlice(values, n, l, e)
	padding := tensor.FromSlice([]bool{false, false, true, true, true, true}, n, l)                    // all of the second
	pairs := tensor.FromSlice([]bool{false, false, false, true, true, true, false, true, false}, l, l) // all of the second query
	for name, masks := range map[string][2]*tensor.Tensor{"padding": {padding, nil}, "pairs": {nil, pairs}, "both": {padding, pairs}} {
		t.Run(name, func(t *testing.T) {
			m := nn.NewMultiheadAttention(e, 2, nn.BatchFirst())
			want := m.Forward(x, x, x, masks[0], masks[1])
			got, weights := m.Attend(x, x, x, masks[0], masks[1])
			require.InDeltaSlice(t, array.Data[float32](want.Array()), array.Data[float32](got.Array()), 1e-6)
			for _, w := range array.Data[float32](weights.Array()) {
				require.False(t, math.IsNaN(float64(w)))
			}

			drops := nn.NewMultiheadAttention(e, 2, nn.BatchFirst(), nn.DropoutBetween(0.5, 1))
			nn.Train(drops)
			for _, y := range array.Data[float32](drops.Forward(x, x, x, masks[0], masks[1]).Array()) {
				require.False(t, math.IsNaN(float64(y)))
			}
		})
	}
}

// Floats that leave no key give NaN from Forward and from Attend, as softmax of them is.
func TestMultiheadAttention_floatsWithoutKeys(t *testing.T) {
	x := tensor.Ones(1, 2, 4)
	inf := float32(math.Inf(-1))
	pairs := tensor.FromSlice([]float32{0, inf, inf, inf}, 2, 2)
	m := nn.NewMultiheadAttention(4, 2, nn.BatchFirst())
	out, _ := m.Attend(x, x, x, nil, pairs)
	for _, y := range []*tensor.Tensor{m.Forward(x, x, x, nil, pairs), out} {
		for i, v := range array.Data[float32](y.Array()) {
			require.Equal(t, i >= 4, math.IsNaN(float64(v)), i)
		}
	}
}

package rnn

import (
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Nothing is computed for an empty batch, whichever dimension it is.
func TestRecurrentEmptyBatch(t *testing.T) {
	f := func(dims ...int) *array.Array { return array.New(array.F32, dims...) }
	for _, first := range []bool{false, true} {
		x, y := f(3, 0, 2), f(3, 0, 8)
		if first {
			x, y = f(0, 3, 2), f(0, 3, 8)
		}
		weights := func(gates int) (out []*array.Array) {
			for range 2 {
				out = append(out, f(gates*4, 2), f(gates*4, 4), f(gates*4), f(gates*4))
			}
			return out
		}
		w, h := &par.Workspace{}, f(2, 0, 4)
		LSTM{1, true, first, true}.Run(w, []*array.Array{y, h, h}, append([]*array.Array{x, nil, nil}, weights(4)...))
		GRU{1, true, first, true}.Run(w, []*array.Array{y, h}, append([]*array.Array{x, nil}, weights(3)...))
		RNN{1, true, first, true, "tanh"}.Run(w, []*array.Array{y, h}, append([]*array.Array{x, nil}, weights(1)...))
	}
}

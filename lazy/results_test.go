package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// The results of a call with several that are read one after the other are computed together, once the session
// has seen it, by plans of one size and of all.
func TestResults_oneAfterTheOther(t *testing.T) {
	m := nn.NewLSTM(3, 4)
	for i, p := range nn.Parameters(m) {
		p.AssignInPlace(ramp(p.Shape()...).MulScalar(float64(i) - 1.5))
	}
	read := func(x *tensor.Tensor) (out []*array.Array) {
		y, h, c := m.Forward(x.MulScalar(2), nil, nil)
		for _, v := range []*tensor.Tensor{y, h, c} {
			out = append(out, v.Array())
		}
		return out
	}
	for name, steps := range map[string][]int{"one size": {5, 5, 5, 5, 5, 5, 5, 5}, "sizes": {5, 6, 7, 8, 9, 10, 11, 12}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, lazy.Options{Synchronous: true})
			for i, n := range steps {
				x := ramp(n, 2, 3)
				before := s.Stats()
				got := read(s.In(x))
				require.NoError(t, s.Barrier())
				for k, want := range read(x) {
					require.True(t, array.Equal(want, got[k]), "call %d, result %d", i, k)
				}
				if after := s.Stats(); i > 5 {
					require.Equal(t, before.Compiles, after.Compiles)
					require.Equal(t, 1, after.Hits+after.Interpreted-before.Hits-before.Interpreted, "call %d", i)
				}
			}
		})
	}
}

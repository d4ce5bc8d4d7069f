package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/shape"
)

// Sizes by a factor are those of PyTorch's product in float64, wherever an expression has them.
func TestScaledSize_everySizeIsTheProducts(t *testing.T) {
	open := 0
	for den := 1; den <= 40; den++ {
		for num := 1; num <= 80; num++ {
			factor := float64(num) / float64(den)
			got := scaledSize(shape.Sym("N"), factor)
			if got.IsUnknown() {
				continue
			}
			open++
			for n := range 3000 {
				size, err := got.Eval(func(string) (int, bool) { return n, true })
				require.NoError(t, err)
				require.EqualValues(t, math.Floor(float64(n)*factor), size, "%d by %v", n, factor)
			}
		}
	}
	require.Greater(t, open, 2000)
	for _, factor := range []float64{1.7, 0.3, 1.0 / 3, 2.5, 3} {
		require.False(t, scaledSize(shape.Sym("N"), factor).IsUnknown(), "%v", factor)
	}
	// 0.29 times 100 is 28.999999999999996.
	for _, factor := range []float64{0.29, math.Pi, math.Nextafter(1.7, 0), 1e-9} {
		require.True(t, scaledSize(shape.Sym("N"), factor).IsUnknown(), "%v", factor)
	}
}

package conv

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// winogradBound is the error that ConvPacked states for F(exe,3x3) and numbers of
// like sizes, winogradWorst that for any numbers.
func winogradBound(e, perGroup int) float64 {
	if e == 2 {
		return math.Ldexp(4+float64(perGroup)/4, -23)
	}
	return math.Ldexp(10+float64(perGroup)/4, -23)
}

func winogradWorst(e, perGroup int) float64 {
	if e == 2 {
		return math.Ldexp(8*(7+float64(perGroup)), -23)
	}
	return math.Ldexp(88*(17+float64(perGroup)), -23)
}

// patchSizes returns, for each output, the sum over channels of the patch's
// largest magnitude times the sum of the filter's.
func (c winogradCase) patchSizes(e int, src, weight []float32) []float64 {
	v := c.form()
	g := &v.g
	_, _, n := c.sizes()
	size := make([]float64, n)
	for i := range size {
		m, pos := i/g.OutPlane, i%g.OutPlane
		y0, x0 := pos/g.Out[2]/e*e-c.padLo[0], pos%g.Out[2]/e*e-c.padLo[1]
		for ch := range c.perGroup {
			most, sum := 0.0, 0.0
			for y := max(0, y0); y < min(c.in[0], y0+e+2); y++ {
				for x := max(0, x0); x < min(c.in[1], x0+e+2); x++ {
					most = max(most, math.Abs(float64(src[(ch*c.in[0]+y)*c.in[1]+x])))
				}
			}
			for _, f := range weight[(m*c.perGroup+ch)*9:][:9] {
				sum += math.Abs(float64(f))
			}
			size[i] += most * sum
		}
	}
	return size
}

// The error is within the bound that ConvPacked documents, for numbers of all
// signs and sizes and for those that transforms amplify most.
func TestWinogradError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alternate := func() func() float64 {
		sign := -1.0
		return func() float64 {
			sign = -sign
			return sign * (1 + r.Float64()/64)
		}
	}
	numbers := map[string][2]func() float64{
		"normal":      {r.NormFloat64, r.NormFloat64},
		"positive":    {r.Float64, r.Float64},
		"rectified":   {func() float64 { return max(0, r.NormFloat64()) }, r.NormFloat64},
		"spikes":      {func() float64 { return r.NormFloat64() * math.Pow(10, float64(2*r.IntN(3)-2)) }, r.NormFloat64},
		"wide":        {func() float64 { return math.Exp(8 * r.NormFloat64()) }, func() float64 { return math.Exp(8*r.NormFloat64()) * (r.Float64() - 0.5) }},
		"alternating": {alternate(), alternate()},
		"constant":    {func() float64 { return 1.0 / 3 }, func() float64 { return 0.7 }},
	}
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		for _, e := range []int{2, 4} {
			worst := map[int]float64{}
			for _, name := range slices.Sorted(maps.Keys(numbers)) {
				f, bound := numbers[name], winogradBound
				if name == "wide" || name == "spikes" {
					bound = winogradWorst
				}
				for _, chans := range []int{1, 16, 128, 512} {
					c := winogradCase{1, 1, chans, 3, [2]int{9, 9}, [2]int{1, 1}, [2]int{1, 1}}
					ns, nw, nd := c.sizes()
					src, weight, dst := kerneltest.Floats(r, ns, f[0]), kerneltest.Floats(r, nw, f[1]), make([]float32, nd)
					c.run(&par.Workspace{}, e, src, weight, dst, gemm.Finish{}.With(operand.Epilogue{}))
					sum, _ := c.exact(src, weight)
					for i, size := range c.patchSizes(e, src, weight) {
						d := math.Abs(float64(dst[i]) - sum[i])
						if size > 0 {
							worst[chans] = max(worst[chans], d/size/bound(e, chans))
						}
						require.LessOrEqual(t, d, bound(e, chans)*size, "%s: F(%d), %d channels, output %d", name, e, chans, i)
					}
				}
			}
			for _, chans := range []int{1, 16, 128, 512} {
				t.Logf("F(%d), %d channels: %.2f of the bound", e, chans, worst[chans])
			}
		}
	})
}

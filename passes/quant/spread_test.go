package quant

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func TestParameters(t *testing.T) {
	one := func(lo, hi float64, d array.DType, s Symmetry, scale float64, zero int) {
		t.Helper()
		gotScale, gotZero := parameters(lo, hi, d, s)
		require.Equal(t, float32(scale), gotScale)
		require.Equal(t, zero, gotZero)
	}
	one(0, 8, array.U8, Affine, 8./255, 0)
	one(0, 8, array.I8, Affine, 8./255, -128)
	one(-8, 0, array.U8, Affine, 8./255, 255)
	one(-1, 3, array.U8, Affine, 4./255, 64)
	one(-8, 2, array.I8, Symmetric, 8./127, 0)
	one(-8, 2, array.U8, Symmetric, 8./127, 128)
	one(0, 0, array.U8, Affine, 1, 0)
	one(0, 0, array.I8, Symmetric, 1, 0)
	one(0, 1e-45, array.U8, Affine, 0x1p-126, 0)
	one(-math.MaxFloat32, math.MaxFloat32, array.U8, Affine, 2*math.MaxFloat32/255, 128)

	fixed := func(r op.Range, d array.DType, scale float32, zero int) {
		t.Helper()
		gotScale, gotZero := fixedParameters(r, d, Affine)
		require.Equal(t, scale, gotScale)
		require.Equal(t, zero, gotZero)
	}
	fixed(op.Range{Lo: 0, Hi: 1}, array.U8, 1./256, 0)
	fixed(op.Range{Lo: 0, Hi: 1}, array.I8, 1./256, -128)
	fixed(op.Range{Lo: -1, Hi: 1}, array.U8, 1./128, 128)
	fixed(op.Range{Lo: -1, Hi: 1}, array.I8, 1./128, 0)
}

// draw returns pseudo-random numbers that are about normal.
func draw(n int, spread float64) []float32 {
	var gen op.Gen
	a := array.Data[float32](gen.Normal(n))
	for i := range a {
		a[i] *= float32(spread)
	}
	return a
}

// shapes of data: each with what makes it hard.
var shapesOfData = map[string][]float32{
	"normal": draw(5000, 1),
	"positive": func() []float32 {
		x := draw(5000, 3)
		for i := range x {
			x[i] = max(x[i], 0)
		}
		return x
	}(),
	"outlier":  append(draw(5000, 0.01), 40, -3),
	"negative": {-1, -2, -2.5, -7},
	"constant": {3, 3, 3},
	"zeros":    {0, 0},
	"one":      {1e-12},
	"large":    {1e30, -1e29, 3},
}

// TestLeastError_isTheLeast compares the search with all pairs of ends.
func TestLeastError_isTheLeast(t *testing.T) {
	for name, data := range shapesOfData {
		s := spreadOf(data, Histogram)
		lo, hi := s.interval(Observer{Kind: Histogram}, Affine)
		cost := func(lo, hi float64) float64 {
			step, sum := (hi-lo)/255, 0.0
			for i, c := range s.counts {
				switch x := (s.edge(i) + s.edge(i+1)) / 2; {
				case x < lo:
					sum += c * (x - lo) * (x - lo)
				case x > hi:
					sum += c * (x - hi) * (x - hi)
				default:
					sum += c * step * step / 12
				}
			}
			return sum
		}
		best := math.Inf(1)
		for a := 0; a <= bins/2; a += 16 {
			for b := bins / 2; b <= bins; b += 16 {
				if l, h := max(s.edge(a), min(s.lo, 0)), min(s.edge(b), max(s.hi, 0)); l < h {
					best = min(best, cost(l, h))
				}
			}
		}
		require.LessOrEqual(t, cost(lo, hi), best*1.02+1e-30, name)
		require.LessOrEqual(t, lo, 0., name)
		require.GreaterOrEqual(t, hi, 0., name)
	}
}

func TestIntervals_holdZeroAndStayWithinTheData(t *testing.T) {
	for name, data := range shapesOfData {
		s := spreadOf(data, Histogram)
		for kind := MinMax; kind <= Entropy; kind++ {
			for _, sym := range []Symmetry{Symmetric, Affine} {
				lo, hi := s.interval(Observer{Kind: kind}.or(kind), sym)
				require.True(t, min(s.lo, 0) <= lo && lo <= 0 && 0 <= hi && hi <= max(s.hi, 0), "%s %s: %g %g", name, kind, lo, hi)
				scale, _ := parameters(lo, hi, array.U8, sym)
				require.True(t, scale > 0 && !math.IsInf(float64(scale), 0), "%s %s", name, kind)
			}
		}
	}
}

func TestIntervals_cutOffOutliers(t *testing.T) {
	s := spreadOf(append(draw(100000, 1), 40), Histogram)
	_, hi := s.interval(Observer{Kind: MinMax}, Affine)
	require.Equal(t, 40., hi)
	_, hi = s.interval(Observer{Kind: Percentile, Percentile: 99.9}, Affine)
	require.Less(t, hi, 5.)
	_, hi = s.interval(Observer{Kind: Entropy}, Symmetric)
	require.Less(t, hi, 20.)

	uniform := make([]float32, 1000)
	for i := range uniform {
		uniform[i] = float32(i) / 1000
	}
	lo, hi := spreadOf(uniform, Histogram).interval(Observer{Kind: Percentile, Percentile: 90}, Affine)
	require.Zero(t, lo)
	require.InDelta(t, 0.95, hi, 0.01)
	_, hi = spreadOf(uniform, Histogram).interval(Observer{Kind: Histogram}, Affine)
	require.InDelta(t, 1, hi, 0.01, "what is evenly spread is not cut off")
}

// TestMergedSpreads takes data in parts, of which each grows the range of the others.
func TestMergedSpreads(t *testing.T) {
	parts := [][]float32{draw(100, 1e-3), draw(100, 70), draw(100, 1), draw(3, 1e6)}
	var all []float32
	for _, p := range parts {
		all = append(all, p...)
	}
	want := spreadOf(all, Histogram)
	s := nothing()
	for _, p := range parts {
		q := spreadOf(p, Histogram)
		s.merge(q.counts, q.limit)
	}
	require.Equal(t, want.limit, s.limit)
	require.Equal(t, want.counts, s.counts)
}

func TestFourBit(t *testing.T) {
	data := draw(3*64, 1)
	clear(data[32:64]) // a group of nothing
	w := &weight{origin: origin{value: array.FromSlice(data, 3, 64)}, bits: 4, kind: PerGroup, group: 32, sym: Affine}
	for _, w.sym = range []Symmetry{Affine, Symmetric} {
		q, scale, zero := w.fourBit(w.groupSteps())
		require.Equal(t, []int{3, 32}, q.Shape())
		require.Equal(t, []int{3, 2}, scale.Shape())
		b, s, z := array.Data[uint8](q), array.Data[float32](scale), array.Data[uint8](zero)
		for i, v := range data {
			g := i / 32
			got := float32(int(b[i/2]>>(4*(i%2))&15)-int(z[g])) * s[g]
			require.InDelta(t, v, got, float64(s[g])*0.51, "element %d", i)
		}
	}
}

// TestEntropy_isTheLeastDivergence compares the threshold with that of the definition,
// bin by bin.
func TestEntropy_isTheLeastDivergence(t *testing.T) {
	for name, data := range map[string][]float32{
		"normal":    draw(100000, 1),
		"outlier":   append(draw(100000, 1), 40),
		"few":       draw(50, 1),
		"rectified": rectified(append(draw(30000, 1), 7)),
		"two":       {0.25, -3},
	} {
		s := spreadOf(data, Entropy)
		levels := 128
		if s.lo >= 0 {
			levels = 256
		}
		best := math.Inf(1)
		for n := max(entropyLeast, levels); n <= bins/2; n += entropyStep {
			best = min(best, divergenceByBins(s.counts, n, levels))
		}
		got := int(s.entropy() / s.limit * (bins / 2))
		require.InDelta(t, best, divergenceByBins(s.counts, got, levels), 1e-9, name)
	}
}

func rectified(data []float32) []float32 {
	for i, v := range data {
		data[i] = max(v, 0)
	}
	return data
}

// divergenceByBins is the divergence of the first n magnitudes, the last of which takes
// what is beyond, from their form in levels.
func divergenceByBins(counts []float64, n, levels int) float64 {
	size := make([]float64, bins/2)
	for i := range size {
		size[i] = counts[bins/2+i] + counts[bins/2-1-i]
	}
	size[0] = size[1]
	all, inside, d := 0.0, 0.0, 0.0
	for i, c := range size {
		if all += c; i < n {
			inside += c
		}
	}
	for l := range levels {
		from, to := l*n/levels, (l+1)*n/levels
		sum, used := 0.0, 0.0
		for _, c := range size[from:to] {
			if sum += c; c > 0 {
				used++
			}
		}
		for i, c := range size[from:to] {
			p, q := c/all, 0.0
			if c > 0 {
				q = sum / used / inside
			}
			if from+i == n-1 {
				p += (all - inside) / all
			}
			if p > 0 {
				d += p * math.Log(p/max(q, leastProbability))
			}
		}
	}
	if inside == 0 {
		return math.Inf(1)
	}
	return d
}

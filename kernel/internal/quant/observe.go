package quant

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Observe adds the elements of in[0] f32 to the previous observation, in[1] f64, as out[0] of its
// length: the least and the greatest element, NaN if there was one, and, where it is longer, a
// limit and the counts of a histogram over [-limit, limit), whose first and last bin also take the
// elements beyond it, and no bin takes NaN. The limit doubles until it is no less than any finite
// element, and the earlier counts move. So a limit that is a power of two stays one, and counts do
// not depend on the order of the elements. With Averaging the ends move towards those of in[0] by
// that part of the way, and stay where one is infinite. Ends of +Inf and -Inf have seen nothing; an
// operand without elements changes nothing.
//
//gofx:kernel
type Observe struct{ Averaging float64 }

// observedBins is the index of the first count, after the extremes and the limit.
const observedBins = 3

// leastLimit is where the limit of a histogram begins.
const leastLimit = 0x1p-30

// ScratchBytes implements Scratcher.
func (Observe) ScratchBytes(_, in []*array.Array) int { return operand.LoadAllBytes(in) }

// Run implements Step.
func (s Observe) Run(w *par.Workspace, out, in []*array.Array) {
	n := in[1].Len()
	if in[0].DType() != array.F32 || in[1].DType() != array.F64 || out[0].DType() != array.F64 || out[0].Len() != n || n < 2 || n == observedBins {
		operand.BadOperand("observe", "expected f32 elements, and an f64 vector of two elements, or of more than three, with a result of its size")
	}
	mark := w.Mark()
	x, next := operand.Load[float32](w, in[0]), array.Data[float64](out[0])
	copy(next, operand.Load[float64](w, in[1]))
	if len(x) > 0 {
		lo, hi := extremesOf(x)
		s.ends(next, float64(lo), float64(hi))
		if n > observedBins {
			counts, limit := next[observedBins:], validLimit(next[2])
			next[2] = widest(limit, x, lo, hi)
			mergeBins(counts, limit/next[2])
			countInBins(counts, x, next[2])
		}
	}
	w.Release(mark)
}

// ends takes in the extremes of one operand.
func (s Observe) ends(seen []float64, lo, hi float64) {
	if s.Averaging == 0 {
		seen[0], seen[1] = min(seen[0], lo), max(seen[1], hi)
		return
	}
	for i, v := range [2]float64{lo, hi} {
		switch {
		case seen[i] == math.Inf(1-2*i) || math.IsInf(v, 0):
			seen[i] = v
			continue
		case math.IsInf(seen[i], 0) && v == v: // an infinity stays, as there is no way from it
			continue
		}
		seen[i] += float64(s.Averaging * float64(v-seen[i]))
	}
}

// extremesOf returns the least and the greatest element, NaN if there is one.
func extremesOf(x []float32) (lo, hi float32) {
	lo, hi = float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
		if v != v {
			return v, v
		}
	}
	return lo, hi
}

// validLimit returns the limit of a histogram, or the least one if it is invalid.
func validLimit(limit float64) float64 {
	if limit >= leastLimit && limit <= math.MaxFloat64 {
		return limit
	}
	return leastLimit
}

// widest doubles a limit until no finite element is beyond it.
func widest(limit float64, x []float32, lo, hi float32) float64 {
	most := float64(max(-lo, hi))
	if !(most <= math.MaxFloat32) { // NaN or infinite: of the others
		most = 0
		for _, v := range x {
			if m := math.Abs(float64(v)); m <= math.MaxFloat32 {
				most = max(most, m)
			}
		}
	}
	for limit < most {
		limit *= 2
	}
	return limit
}

// mergeBins moves counts to where their bins lie when the limit has grown; shrink is the old
// limit over the new one.
func mergeBins(counts []float64, shrink float64) {
	if shrink == 1 {
		return
	}
	half := len(counts) / 2
	// Bins move towards the middle, those next to it first, so that none moves twice.
	for i := half; i < len(counts); i++ {
		moveBin(counts, i, half+int(float64(i-half)*shrink))
	}
	for i := half - 1; i >= 0; i-- {
		moveBin(counts, i, half+int(math.Floor(float64(i-half)*shrink)))
	}
}

func moveBin(counts []float64, from, to int) {
	if from != to {
		counts[to] += counts[from]
		counts[from] = 0
	}
}

// countInBins adds elements to the bins that they lie in.
func countInBins(counts []float64, x []float32, limit float64) {
	half := len(counts) / 2
	least, most, perUnit := float64(-half), float64(len(counts)-half-1), float64(half)/limit
	for _, v := range x {
		place := math.Floor(float64(v) * perUnit)
		if place != place {
			continue
		}
		counts[int(min(max(place, least), most))+half]++
	}
}

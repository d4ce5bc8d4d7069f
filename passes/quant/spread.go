package quant

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// spread is what is known of the elements of values: extremes and, where a
// histogram was taken, counts in bins of [-limit, limit).
type spread struct {
	lo, hi float64
	limit  float64
	counts []float64

	// Scratch.
	prefix    sums
	magnitude *magnitudes
}

// nothing is the spread of no elements.
func nothing() *spread { return &spread{lo: math.Inf(1), hi: math.Inf(-1)} }

// forget makes s the spread of no elements, and keeps its memory.
func (s *spread) forget() {
	*s = spread{lo: math.Inf(1), hi: math.Inf(-1), prefix: s.prefix, magnitude: s.magnitude}
}

// add takes in what an observer has seen.
func (s *spread) add(o *observation) {
	s.lo, s.hi = min(s.lo, o.lo), max(s.hi, o.hi)
	if len(o.counts) > 0 {
		s.merge(o.counts, o.limit)
	}
}

// merge adds counts of another limit, both powers of two. Counts that are alone are
// shared, not copied.
func (s *spread) merge(counts []float64, limit float64) {
	if len(s.counts) == 0 {
		s.counts, s.limit = counts, limit
		return
	}
	all := make([]float64, bins)
	most := max(limit, s.limit)
	for i := range all {
		place := float64(i - bins/2)
		all[binOf(place*s.limit/most)] += s.counts[i]
		all[binOf(place*limit/most)] += counts[i]
	}
	s.counts, s.limit = all, most
}

func binOf(place float64) int { return min(max(int(math.Floor(place))+bins/2, 0), bins-1) }

// spreadOf returns the spread of a weight for an observer of some kind.
func spreadOf(data []float32, k ObserverKind) *spread {
	s := nothing()
	for _, v := range data {
		s.lo, s.hi = min(s.lo, float64(v)), max(s.hi, float64(v))
	}
	if !k.histograms() {
		return s
	}
	s.limit = math.Ldexp(1, leastLimit)
	for s.limit < max(-s.lo, s.hi) {
		s.limit *= 2
	}
	s.counts = make([]float64, bins)
	for _, v := range data {
		s.counts[binOf(float64(v)/s.limit*(bins/2))]++
	}
	return s
}

// edge returns where a bin begins.
func (s *spread) edge(bin int) float64 { return float64(bin-bins/2) * s.limit / (bins / 2) }

// interval returns the range to quantise, which holds 0, as an observer chooses it.
func (s *spread) interval(o Observer, sym Symmetry) (lo, hi float64) {
	lo, hi = min(s.lo, 0), max(s.hi, 0)
	if len(s.counts) == 0 || lo == hi {
		return lo, hi
	}
	var l, h float64
	switch o.Kind {
	case Histogram:
		l, h = s.leastError(sym == Symmetric)
	case Percentile:
		l, h = s.percentile(o.Percentile)
	case Entropy:
		t := s.entropy()
		l, h = -t, t
	default:
		return lo, hi
	}
	return max(lo, min(l, 0)), min(hi, max(h, 0))
}

// sums are prefix sums of the bins: how many elements, their sum and their squares,
// each element standing in the middle of its bin.
type sums struct{ count, sum, square []float64 }

func (s *spread) sums() sums {
	p := &s.prefix
	if p.count == nil {
		p.count, p.sum, p.square = make([]float64, bins+1), make([]float64, bins+1), make([]float64, bins+1)
	}
	width := s.limit / (bins / 2) // a power of two: places are exact
	var count, sum, square float64
	for i, c := range s.counts {
		if c != 0 {
			x := (float64(i-bins/2) + 0.5) * width
			count, sum, square = count+c, sum+c*x, square+c*x*x
		}
		p.count[i+1], p.sum[i+1], p.square[i+1] = count, sum, square
	}
	return *p
}

// beyond returns the sum of (x-t)² over the bins [from, to).
func (p sums) beyond(from, to int, t float64) float64 {
	n, s, q := p.count[to]-p.count[from], p.sum[to]-p.sum[from], p.square[to]-p.square[from]
	return max(q-2*t*s+t*t*n, 0)
}

// rounds is how often the ends of a range are improved in turn at most.
const rounds = 3

// leastError returns the range of the least squared error: rounding within it, a
// twelfth of the squared step for each element, and cutting off beyond. Both ends
// are tried bin by bin, from the widest range on, one after the other, until what is
// cut off alone costs more than the best: the more is cut off, the more it costs.
func (s *spread) leastError(symmetric bool) (lo, hi float64) {
	p := s.sums()
	first, last := binOf(s.lo/s.limit*(bins/2)), binOf(s.hi/s.limit*(bins/2))+1
	first, last = min(first, bins/2), max(last, bins/2)
	below := func(a int) float64 { return p.beyond(0, a, s.edge(a)) }
	above := func(b int) float64 { return p.beyond(b, bins, s.edge(b)) }
	cost := func(a, b int, off float64) (all, cut float64) {
		step := (s.edge(b) - s.edge(a)) / 255
		return (p.count[b]-p.count[a])*step*step/12 + off, off
	}
	a, b := first, last
	if symmetric {
		width := max(bins/2-first, last-bins/2)
		cut := least(0, width-1, func(i int) (float64, float64) {
			l, h := bins/2-width+i, bins/2+width-i
			return cost(l, h, below(l)+above(h))
		})
		return s.edge(bins/2 - width + cut), s.edge(bins/2 + width - cut)
	}
	for range rounds {
		oldA, oldB, off := a, b, above(b)
		a = least(first, bins/2, func(i int) (float64, float64) { return cost(i, b, below(i)+off) })
		off = below(a)
		b = last - least(0, last-bins/2, func(i int) (float64, float64) { return cost(a, last-i, off+above(last-i)) })
		if a == oldA && b == oldB {
			break
		}
	}
	return s.edge(a), s.edge(b)
}

// least returns the first i from lo to hi of the least cost; an empty range costs
// all there is. The second result of cost is a part of it that does not fall.
func least(lo, hi int, cost func(int) (all, off float64)) int {
	at, best := lo, math.Inf(1)
	for i := lo; i <= hi; i++ {
		c, off := cost(i)
		if off >= best {
			break
		}
		if c < best {
			at, best = i, c
		}
	}
	return at
}

// percentile returns the range of a percentage of the elements, the rest being
// halved between the sides.
func (s *spread) percentile(p float64) (lo, hi float64) {
	all := 0.0
	for _, c := range s.counts {
		all += c
	}
	out := all * (100 - p) / 200
	a, b := 0, bins
	for n := s.counts[a]; n <= out && a < bins/2; n += s.counts[a] {
		a++
	}
	for n := s.counts[b-1]; n <= out && b > bins/2; n += s.counts[b-1] {
		b--
	}
	return s.edge(a), s.edge(b)
}

// Candidates of entropy: the least number of bins that are kept, and their step.
const (
	entropyLeast = 128
	entropyStep  = 16
)

// entropy returns the threshold t for which the magnitudes, cut off at t, differ the
// least from their quantised form, by the divergence of Kullback and Leibler. Ref:
// Migacz, 8-bit inference with TensorRT, GTC 2017.
func (s *spread) entropy() float64 {
	const half = bins / 2
	if s.magnitude == nil {
		s.magnitude = new(magnitudes)
	}
	m := s.magnitude
	m.of(s.counts)
	levels := 128
	if s.lo >= 0 || s.hi <= 0 {
		levels = 256
	}
	at, best := half, math.Inf(1)
	for n := half; n >= max(entropyLeast, levels); n -= entropyStep {
		if m.bound(n, levels) > best {
			continue
		}
		if d := m.divergence(n, levels); d <= best {
			at, best = n, d
		}
	}
	return float64(at) * s.limit / half
}

// magnitudes is a histogram of magnitudes c with prefix sums of c, of the bins that are
// not empty, and of c·log c.
type magnitudes struct {
	size              [bins / 2]float64
	sum, used, energy [bins/2 + 1]float64
}

// of takes in the counts of both signs. Zeros, of which rectified values have many, are
// exact whatever the range is.
func (m *magnitudes) of(counts []float64) {
	const half = bins / 2
	for i := range m.size {
		m.size[i] = counts[half+i] + counts[half-1-i]
	}
	m.size[0] = m.size[1]
	for i, c := range m.size {
		m.sum[i+1], m.used[i+1], m.energy[i+1] = m.sum[i]+c, m.used[i], m.energy[i]
		if c > 0 {
			m.used[i+1]++
			m.energy[i+1] += c * math.Log(c)
		}
	}
}

// least probability of a bin that the quantised form leaves empty.
const leastProbability = 1e-9

// divergence compares the first n bins, whose last one takes what is cut off, with
// themselves in as many levels, each spread over those of its bins that are not empty.
func (m *magnitudes) divergence(n, levels int) float64 {
	inside, all := m.sum[n], m.sum[len(m.size)]
	if inside == 0 {
		return math.Inf(1)
	}
	// What is cut off lies in the last bin of the original alone.
	cut, q := all-inside, 0.0
	last := m.size[n-1] + cut
	d := m.energy[n-1]
	if last > 0 {
		d += last * math.Log(last)
	}
	for l := range levels {
		from, to := l*n/levels, (l+1)*n/levels
		sum := m.sum[to] - m.sum[from]
		if sum == 0 {
			continue
		}
		q = math.Log(max(sum/(m.used[to]-m.used[from])/inside, leastProbability))
		d -= sum * q
	}
	if m.size[n-1] == 0 {
		q = math.Log(leastProbability)
	}
	return (d-cut*q)/all - math.Log(all)
}

// bound is what the divergence is at least: that of the last level from all others.
func (m *magnitudes) bound(n, levels int) float64 {
	inside, all := m.sum[n], m.sum[len(m.size)]
	kept := m.sum[(levels-1)*n/levels] // of the levels before it
	if inside == kept || all == kept || kept == 0 {
		return 0
	}
	p, q := (all-kept)/all, (inside-kept)/inside
	return p*math.Log(p/q) + (1-p)*math.Log((1-p)/(1-q))
}

// byteRange returns the least and the greatest value of u8 and i8.
func byteRange(d array.DType) (lo, hi float64) {
	if d == array.I8 {
		return -128, 127
	}
	return 0, 255
}

// parameters returns scale and zero point for a range that holds 0. Affine: the
// range is all that the element type has. Symmetric: the zero point is 0 of i8 and
// 128 of u8, and the larger end is 127 steps from it.
func parameters(lo, hi float64, d array.DType, sym Symmetry) (scale float32, zero int) {
	least, most := byteRange(d)
	if sym == Symmetric {
		return step(max(-lo, hi) / 127), int(math.Ceil((least + most) / 2))
	}
	return affine(lo, hi, least, most)
}

func affine(lo, hi, least, most float64) (scale float32, zero int) {
	scale = step((hi - lo) / (most - least))
	return scale, int(min(max(math.RoundToEven(least-lo/float64(scale)), least), most))
}

// step returns a scale that is none of 0, infinity and what is too small to divide by.
func step(s float64) float32 {
	const smallest = 0x1p-126
	if s == 0 {
		return 1
	}
	return float32(min(max(s, smallest), math.MaxFloat32))
}

// fixedParameters returns scale and zero point for a range that an operator fixes:
// 256 steps from its lower end on, so that both are exact. 1/256 and 0 for what lies
// from 0 to 1, 1/128 and 128 for what lies from -1 to 1.
func fixedParameters(r op.Range, d array.DType, sym Symmetry) (scale float32, zero int) {
	if sym == Symmetric {
		return parameters(min(r.Lo, 0), max(r.Hi, 0), d, sym)
	}
	least, _ := byteRange(d)
	s := (r.Hi - r.Lo) / 256
	return float32(s), int(least - r.Lo/s)
}

// zeroArray returns a zero point as an array of its type.
func zeroArray(zero int, d array.DType) *array.Array {
	if d == array.I8 {
		return array.Scalar(int8(zero))
	}
	return array.Scalar(uint8(zero))
}

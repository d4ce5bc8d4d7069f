package cost

import (
	"math"
	"slices"
	"time"
)

// Law is what steps of a kind take: seconds for each, and besides so many times what
// arithmetic takes at best, or memory, whichever is more.
type Law struct {
	Fixed   float64 `json:"fixed"`
	Compute float64 `json:"compute"`
	Memory  float64 `json:"memory"`
	Steps   int     `json:"steps"` // that it was fitted to
}

func (l Law) terms() []float64 { return []float64{l.Fixed, l.Compute, l.Memory} }

// Run is one measured run: what its steps took, and the seconds that they would take at
// best on the device as it was described then.
type Run struct {
	Model   string   `json:"model"`
	Samples []Sample `json:"samples"`
	Seconds float64  `json:"seconds"` // of the whole run; 0: of all samples
	// Bytes of the process at the peak, and those that the model accounts for; 0 where
	// nobody measured.
	PeakBytes  int64 `json:"peak_bytes,omitempty"`
	ModelBytes int64 `json:"model_bytes,omitempty"`
}

// Sample is one step of a measured run.
type Sample struct {
	Kind    string  `json:"kind"`
	Times   int64   `json:"times"`
	Compute float64 `json:"compute"`
	Memory  float64 `json:"memory"`
	Seconds float64 `json:"seconds"` // measured
}

// terms are what the terms of a law are multiplied by.
func (s Sample) terms() []float64 {
	return []float64{float64(s.Times), s.Compute, s.Memory}
}

// Measured makes a run of what the steps of a plan took, by their index in it (see
// Step.At). Steps of which only all together were measured, in the bodies of loops, are no samples.
func (d *Device) Measured(w *Work, steps map[int]time.Duration, whole time.Duration) Run {
	r := Run{Model: w.Name, Seconds: whole.Seconds(), ModelBytes: w.Memory.Total()}
	for i := range w.Steps {
		s := &w.Steps[i]
		shared := i > 0 && w.Steps[i-1].At == s.At || i+1 < len(w.Steps) && w.Steps[i+1].At == s.At
		if took, ok := steps[s.At]; ok && !shared && s.Times == 1 {
			l := d.least(s, w, s.Laid)
			l.Seconds = took.Seconds()
			r.Samples = append(r.Samples, l)
		}
	}
	return r
}

// Calibrate fits the laws, and Base where peaks were measured, to Runs and more, which
// replace those of the same models, by least squares: of the errors relative to the
// square root of the time, so that neither long steps nor short ones are all that counts.
// No term is negative.
func (d *Device) Calibrate(more ...Run) {
	for _, r := range more {
		d.Runs = slices.DeleteFunc(d.Runs, func(old Run) bool { return old.Model == r.Model })
		d.Runs = append(d.Runs, r)
	}
	groups := map[string][]Sample{}
	var bases []int64
	for _, r := range d.Runs {
		for _, s := range r.Samples {
			if s.Seconds <= 0 {
				continue
			}
			for _, name := range slices.Compact([]string{s.Kind, family(s.Kind), ""}) {
				groups[name] = append(groups[name], s)
			}
		}
		if r.PeakBytes > 0 {
			bases = append(bases, max(r.PeakBytes-r.ModelBytes, 0))
		}
	}
	d.Laws = map[string]Law{}
	if len(groups[""]) > 0 {
		d.Laws[""] = fit(groups[""], Law{Compute: 1, Memory: 1})
	}
	for name, list := range groups {
		if name != "" && different(list) >= leastSteps {
			d.Laws[name] = fit(list, d.Laws[""])
		}
	}
	if len(bases) > 0 {
		slices.Sort(bases)
		d.Base = bases[len(bases)/2]
	}
}

// leastSteps is how many steps that differ make a law of their own.
const leastSteps = 4

func different(list []Sample) int {
	seen := map[Sample]bool{}
	for _, s := range list {
		s.Seconds = 0
		seen[s] = true
	}
	return len(seen)
}

// law is that of a kind, or of what is known best.
func (d *Device) law(kind string) (Law, bool) {
	for _, name := range []string{kind, family(kind), ""} {
		if l, ok := d.Laws[name]; ok {
			return l, true
		}
	}
	return Law{}, false
}

// seconds is what the law makes of a step's parts.
func (l Law) seconds(s Sample) float64 {
	return l.Fixed*float64(s.Times) + max(l.Compute*s.Compute, l.Memory*s.Memory)
}

const terms = 3

// fit finds the law by least squares whose weights are one over the time that the law
// gives, so that no weight depends on how well a step was measured and the sum of all
// times is met; a few rounds settle them, and which of the steps memory bounds. Where
// no step tells one of the terms, that of the other law counts.
func fit(list []Sample, other Law) Law {
	l := Law{Compute: 1, Memory: 1}
	for range rounds {
		rows := make([]row, len(list))
		told := [2]bool{}
		for i, s := range list {
			rows[i] = row{x: [terms]float64{float64(s.Times), s.Compute, 0}, y: s.Seconds, weight: 1 / max(l.seconds(s), s.Seconds/16)}
			if l.Memory*s.Memory > l.Compute*s.Compute {
				rows[i].x[1], rows[i].x[2] = 0, s.Memory
			}
			told[0], told[1] = told[0] || rows[i].x[1] > 0, told[1] || rows[i].x[2] > 0
		}
		l = squares(rows)
		if !told[0] {
			l.Compute = other.Compute
		}
		if !told[1] {
			l.Memory = other.Memory
		}
	}
	return l
}

// rounds are those of fit.
const rounds = 12

// row is an equation of the least squares.
type row struct {
	x         [terms]float64
	y, weight float64
}

// squares solves the least squares for terms that are not negative, of which the fixed
// one is no more than the shortest step took: of every choice of terms that are at a
// bound, the solution for the others, and of those that are admissible the best.
func squares(list []row) Law {
	var a [terms][terms]float64
	var b [terms]float64
	shortest := math.Inf(1)
	for _, r := range list {
		for i := range terms {
			for k := range terms {
				a[i][k] += r.x[i] * r.x[k] * r.weight
			}
			b[i] += r.x[i] * r.y * r.weight
		}
		shortest = min(shortest, r.y/max(r.x[0], 1))
	}
	var best [terms]float64
	least := math.Inf(1)
	try := func(set int, fixed float64) {
		rest := b
		for i := range terms {
			rest[i] -= a[i][0] * fixed
		}
		x, ok := solve(&a, &rest, set)
		x[0] += fixed
		if !ok || x[0] > shortest || slices.ContainsFunc(x[:], func(v float64) bool { return v < 0 }) {
			return
		}
		// The sum of squares without its constant: xᵀAx − 2bᵀx.
		sum := 0.0
		for i := range terms {
			sum -= 2 * b[i] * x[i]
			for k := range terms {
				sum += x[i] * a[i][k] * x[k]
			}
		}
		if sum < least {
			least, best = sum, x
		}
	}
	for set := range 1 << terms {
		if try(set, 0); set&1 == 0 {
			try(set, shortest)
		}
	}
	return Law{best[0], best[1], best[2], len(list)}
}

// solve solves the normal equations of the terms in a set by elimination with pivots on
// the diagonal, which a positive definite matrix allows; not ok where it is none.
func solve(a *[terms][terms]float64, b *[terms]float64, set int) (x [terms]float64, ok bool) {
	var index []int
	for i := range terms {
		if set&(1<<i) != 0 {
			index = append(index, i)
		}
	}
	n := len(index)
	m := make([][]float64, n)
	for r, i := range index {
		m[r] = make([]float64, n+1)
		for c, k := range index {
			m[r][c] = a[i][k] / math.Sqrt(a[i][i]*a[k][k]) // of terms in one unit
		}
		m[r][n] = b[i] / math.Sqrt(a[i][i])
	}
	for p := range n {
		if !(m[p][p] > 1e-9) {
			return x, false
		}
		for r := p + 1; r < n; r++ {
			f := m[r][p] / m[p][p]
			for c := p; c <= n; c++ {
				m[r][c] -= f * m[p][c]
			}
		}
	}
	for p := n - 1; p >= 0; p-- {
		v := m[p][n]
		for c := p + 1; c < n; c++ {
			v -= m[p][c] * m[c][n]
		}
		m[p][n] = v / m[p][p]
		x[index[p]] = m[p][n] / math.Sqrt(a[index[p]][index[p]])
	}
	return x, true
}

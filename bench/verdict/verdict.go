// Package verdict judges what was measured of the workloads of papers by what the papers say.
//
// A workload has claims. Each is a figure that is computed from rows, the paper's own, and two ranges: in the first the paper's
// figure is reached, in the second its direction holds. The verdict of a workload is the worst of its claims, so a page of
// verdicts has nothing that somebody typed in except the ranges.
package verdict

import (
	"fmt"
	"math"
	"strings"
)

// Verdict says how a figure stands to the paper's.
type Verdict int

// The verdicts, the best first. Holds is that of a claim for which the paper has no figure: it cannot be reproduced.
const (
	Reproduced Verdict = iota
	Holds
	Shape
	Differs
	NotRun
)

func (v Verdict) String() string {
	return [...]string{"reproduced", "holds", "shape", "not reproduced", "not run"}[v]
}

// Row is what was measured: least times by the way of computing, or counts.
type Row struct {
	Times  map[string]float64
	Counts []Count
}

// Count is a number that a row tells besides times.
type Count struct {
	Name   string
	Number float64
}

// Rows are rows by GROUP/SHAPE, with a space and the number of threads where they are more than one.
type Rows map[string]Row

// Range is from its first number to its second.
type Range [2]float64

// AtLeast is the range from a number on, AtMost the one up to it, Exactly the one that has nothing else.
func AtLeast(v float64) *Range { return &Range{v, math.Inf(1)} }

// AtMost is the range of all numbers up to v.
func AtMost(v float64) *Range { return &Range{math.Inf(-1), v} }

// Exactly is the range of one number.
func Exactly(v float64) *Range { return &Range{v, v} }

// Within is the range of the numbers that differ from v by at most d.
func Within(v, d float64) *Range { return &Range{v - d, v + d} }

func (r *Range) has(v float64) bool { return r != nil && v >= r[0] && v <= r[1] }

// String is "≥ 2", "≤ 2", "2" or "1 to 2", and "-" for no range.
func (r *Range) String() string {
	switch {
	case r == nil:
		return "-"
	case r[0] == r[1]:
		return number(r[0])
	case math.IsInf(r[1], 1):
		return "≥ " + number(r[0])
	case math.IsInf(r[0], -1):
		return "≤ " + number(r[1])
	}
	return number(r[0]) + " to " + number(r[1])
}

// number prints whole numbers as such, and others with three digits.
func number(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	if math.Abs(v) >= 1 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Claim is one figure of a workload.
type Claim struct {
	What  string
	Of    Figure
	Paper string // its figure; "" where it has none
	// Reached is where the paper's figure is reached, or where the claim holds if it has none. Shape is where its direction holds.
	Reached, Shape *Range
}

// Finding is a claim with what was measured.
type Finding struct {
	Claim
	Value   float64
	Verdict Verdict
}

// Here prints the value.
func (f Finding) Here() string {
	if f.Verdict == NotRun {
		return "-"
	}
	return number(f.Value)
}

// Own prints the paper's figure.
func (c Claim) Own() string {
	if c.Paper == "" {
		return "-"
	}
	return c.Paper
}

func (c Claim) judge(rows Rows) Finding {
	v, ok := c.Of(rows)
	f := Finding{Claim: c, Value: v, Verdict: Differs}
	switch {
	case !ok || math.IsNaN(v) || math.IsInf(v, 0):
		f.Value, f.Verdict = 0, NotRun
	case c.Paper == "" && c.Reached.has(v):
		f.Verdict = Holds
	case c.Reached.has(v):
		f.Verdict = Reproduced
	case c.Shape.has(v):
		f.Verdict = Shape
	}
	return f
}

// Judge judges the claims of a workload. Where the paper has no figure for any claim, the best verdict is Shape.
func Judge(id string, rows Rows) (Verdict, []Finding) {
	var list []Finding
	worst, figures := Reproduced, false
	for _, c := range Claims[id] {
		f := c.judge(rows)
		list = append(list, f)
		figures = figures || c.Paper != ""
		if f.Verdict != Holds {
			worst = max(worst, f.Verdict)
		}
	}
	if !figures {
		worst = max(worst, Shape)
	}
	if len(list) == 0 {
		worst = NotRun
	}
	return worst, list
}

// Figure computes a number from rows. It reports false where a row is missing that it needs.
type Figure func(Rows) (float64, bool)

// Ratio divides the least times of two ways of a row.
func Ratio(row, way, by string) Figure { return Times(row, way, row, by) }

// Times divides the least time of a way of a row by that of a way of another.
func Times(row, way, other, by string) Figure {
	return func(rows Rows) (float64, bool) {
		a, b := rows[row].Times[way], rows[other].Times[by]
		return a / b, a > 0 && b > 0
	}
}

// Per divides a figure by a number.
func Per(f Figure, n float64) Figure {
	return func(rows Rows) (float64, bool) {
		v, ok := f(rows)
		return v / n, ok
	}
}

// Largest is the largest of several figures, all of which are there.
func Largest(list ...Figure) Figure {
	return over(list, math.Inf(-1), math.Max, func(v float64, _ int) float64 { return v })
}

// Mean is the geometric mean of several figures.
func Mean(list ...Figure) Figure {
	return over(list, 0, func(sum, v float64) float64 { return sum + math.Log(v) }, func(v float64, n int) float64 { return math.Exp(v / float64(n)) })
}

// over combines several figures, all of which are there.
func over(list []Figure, start float64, add func(a, v float64) float64, end func(v float64, n int) float64) Figure {
	return func(rows Rows) (float64, bool) {
		sum := start
		for _, f := range list {
			v, ok := f(rows)
			if !ok {
				return 0, false
			}
			sum = add(sum, v)
		}
		return end(sum, len(list)), len(list) > 0
	}
}

// Each is a list of one figure for each row.
func Each(f func(row string) Figure, rows ...string) (list []Figure) {
	for _, r := range rows {
		list = append(list, f(r))
	}
	return list
}

// Counted is the first count of a row with that name.
func Counted(row, name string) Figure {
	return func(rows Rows) (float64, bool) {
		for _, c := range rows[row].Counts {
			if c.Name == name {
				return c.Number, true
			}
		}
		return 0, false
	}
}

// Less subtracts a figure from another.
func Less(a, b Figure) Figure {
	return func(rows Rows) (float64, bool) {
		x, ok := a(rows)
		y, too := b(rows)
		return x - y, ok && too
	}
}

// LargestNamed is the largest count of a row whose name ends so.
func LargestNamed(row, suffix string) Figure {
	return func(rows Rows) (float64, bool) {
		v, found := math.Inf(-1), false
		for _, c := range rows[row].Counts {
			if strings.HasSuffix(c.Name, suffix) {
				v, found = max(v, c.Number), true
			}
		}
		return v, found
	}
}

// SumOf adds the counts of a row whose names begin so, except one.
func SumOf(row, prefix, except string) Figure {
	return func(rows Rows) (float64, bool) {
		sum, found := 0.0, false
		for _, c := range rows[row].Counts {
			if !strings.HasPrefix(c.Name, prefix) {
				continue
			}
			found = true
			if c.Name != except {
				sum += c.Number
			}
		}
		return sum, found
	}
}

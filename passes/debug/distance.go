package debug

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// Decibels is a ratio of powers, ten times its logarithm to base ten.
type Decibels float64

// String returns "34.1 dB", or "exact" where nothing differs.
func (d Decibels) String() string {
	if math.IsInf(float64(d), 1) {
		return "exact"
	}
	return strconv.FormatFloat(float64(d), 'f', 1, 64) + " dB"
}

// MarshalJSON writes a number, or null where nothing differs: JSON has no infinity.
func (d Decibels) MarshalJSON() ([]byte, error) {
	if v := float64(d); !math.IsInf(v, 0) && !math.IsNaN(v) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// Distance is how far arrays are apart, element by element.
type Distance struct {
	Largest float64 // the largest difference, in magnitude; infinite where NaN or infinity stands against another value
	At      int     // the first element, in row-major order, that has it
	// ULPs is the largest number of steps from one float to the next between two
	// elements; for integers the largest difference.
	ULPs   float64
	Signal float64 // the sum of squares of what is expected
	Noise  float64 // the sum of squares of the differences
}

// SQNR returns the signal over the noise; it is infinite where nothing differs, whatever
// the signal.
func (d *Distance) SQNR() Decibels {
	if d.Noise == 0 {
		return Decibels(math.Inf(1))
	}
	return Decibels(10 * math.Log10(d.Signal/d.Noise))
}

// Add takes two arrays of equal element type and number of elements into account. Equal
// infinities, and NaN and NaN, do not differ.
func (d *Distance) Add(want, got *array.Array) {
	a, b := doubles(want), doubles(got)
	step := stepper(want.DType())
	for i, v := range a {
		w := b[i]
		finite := !math.IsInf(v, 0) && !math.IsNaN(v)
		if finite {
			d.Signal += v * v
		}
		if v == w || math.IsNaN(v) && math.IsNaN(w) {
			continue
		}
		e := math.Abs(v - w)
		if !finite || math.IsNaN(e) {
			e = math.Inf(1)
		}
		d.Noise += e * e
		if e > d.Largest {
			d.Largest, d.At = e, i
		}
		d.ULPs = max(d.ULPs, math.Abs(step(v)-step(w)))
	}
}

func doubles(a *array.Array) []float64 {
	return array.Data[float64](array.Contiguous(array.Cast(a, array.F64)))
}

// stepper numbers the values of an element type in their order; the numbers of f64 are
// rounded.
func stepper(d array.DType) func(v float64) float64 {
	signed := func(bits, sign uint64) float64 { // sign and magnitude
		if bits&sign != 0 {
			return -float64(bits &^ sign)
		}
		return float64(bits)
	}
	switch d {
	case array.F64:
		return func(v float64) float64 { return signed(math.Float64bits(v), 1<<63) }
	case array.F32:
		return func(v float64) float64 { return signed(uint64(math.Float32bits(float32(v))), 1<<31) }
	case array.F16:
		return func(v float64) float64 { return signed(uint64(array.HalfFromFloat64(v)), 1<<15) }
	case array.BF16:
		return func(v float64) float64 { return signed(uint64(array.BFloatFromFloat64(v)), 1<<15) }
	}
	return func(v float64) float64 { return v }
}

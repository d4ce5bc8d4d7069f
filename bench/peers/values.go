package peers

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// unit returns the 24 random bits of element i of the tensor, as a fraction.
// The scripts have the same lines.
func (t Tensor) unit(i int) float64 {
	h := uint32(i+1)*0x9E3779B1 + uint32(t.Seed+1)*0x85EBCA77
	h ^= h >> 15
	h *= 0x2C1B3C6D
	h ^= h >> 12
	return float64(h>>8) / (1 << 24)
}

// At returns element i.
func (t Tensor) At(i int) float64 {
	if t.DType == "f32" {
		return t.Shift + t.Scale*(2*t.unit(i)-1)
	}
	return t.Shift + math.Floor(t.unit(i)*t.Scale)
}

// Len returns the number of elements.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Width returns the bytes of an element.
func (t Tensor) Width() int {
	switch t.DType {
	case "u8", "s8":
		return 1
	case "f32", "i32":
		return 4
	}
	return 8
}

// Bytes returns the bytes of the whole tensor.
func (t Tensor) Bytes() int { return t.Len() * t.Width() }

// Places is the number of values that Probe returns.
const Places = 9

// Probe returns the same as the scripts for a result: the values at eight places
// and the mean magnitude of about 4096.
func Probe(n int, at func(i int) float64) []float64 {
	p := make([]float64, 0, Places)
	for i := range Places - 1 {
		p = append(p, at((n-1)*i/7))
	}
	sum, count := 0.0, 0
	for i := 0; i < n; i += max(1, n/4096) {
		sum += math.Abs(at(i))
		count++
	}
	return append(p, sum/float64(count))
}

// ProbeAll returns Probe of each result.
func ProbeAll(out []*array.Array) (all []float64) {
	for _, a := range out {
		if !a.IsContiguous() {
			a = array.Contiguous(a)
		}
		all = append(all, Probe(a.Len(), func(i int) float64 {
			if a.DType().IsFloat() {
				return array.Float64At(a, i)
			}
			return float64(array.Int64At(a, i))
		})...)
	}
	return all
}

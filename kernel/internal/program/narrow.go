package program

import "github.com/gofx-dev/gofx/array"

// Registers hold narrow floats by their values in f32, where all of them are exact, and
// narrow integers as the other ones.

// roundNarrowBlock rounds f32 values in place to values of a narrow float.
func roundNarrowBlock(t array.DType, r array.Rounding, d []float32) {
	values := array.NarrowFloats(t)
	for k, x := range d {
		d[k] = values[array.NarrowFromFloat64(t, float64(x), r)]
	}
}

func loadNarrowFloats(t array.DType, d []float32, src []uint8) {
	values := array.NarrowFloats(t)
	src = src[:len(d)]
	for k := range d {
		d[k] = values[src[k]]
	}
}

// storeNarrowFloats stores values that the type has, infinities among them.
func storeNarrowFloats(t array.DType, d []uint8, src []float32) {
	src = src[:len(d)]
	for k := range d {
		d[k] = array.NarrowFromFloat64(t, float64(src[k]), array.Unsaturated)
	}
}

// narrowInts reduces bytes to the values of a narrow integer type: those from a file may
// have more bits.
func narrowInts(t array.DType, d []int64, src []uint8) {
	src = src[:len(d)]
	for k := range d {
		d[k] = array.NarrowInt(t, src[k])
	}
}

// smallOf rounds once to a float of 16 bits or fewer.
func smallOf(t array.DType, x float64, r array.Rounding) float32 {
	switch {
	case t == array.BF16:
		return array.BFloatFromFloat64(x).Float32()
	case t.IsNarrowFloat():
		return array.NarrowFloats(t)[array.NarrowFromFloat64(t, x, r)]
	}
	return array.HalfFromFloat64(x).Float32()
}

package certificate

import "github.com/gofx-dev/gofx/array"

// MaxMade is the most elements of an input that is made of a seed.
const MaxMade = 1 << 26

// Made returns an input by its formula: floats uniform in [-1, 1), integers and booleans
// 0 and 1, which are indices of every table. Element i depends on i and the seed alone.
// The seed is not 0.
func Made(d array.DType, dims []int, seed uint64) Input {
	a := array.New(d, dims...)
	for i := range a.Len() {
		bits := mix(seed + uint64(i)*0x9e3779b97f4a7c15)
		v := float64(bits >> 63)
		if d.IsFloat() {
			v = float64(int64(bits>>40)-1<<23) / (1 << 23)
		}
		array.SetFloat64At(a, i, v)
	}
	return Input{Value: a, Seed: seed}
}

// mix is the finaliser of SplitMix64, Steele, Lea and Flood, OOPSLA 2014.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

package winograd

// The numbers of winogradFilter(4) that the way back multiplies with.
const (
	winogradNA = 2 * winogradA2 * (winogradA2 - winogradB2)
	winogradNB = 2 * winogradB2 * (winogradB2 - winogradA2)
)

// winogradSeed transforms four elements of a gradient, step apart, to six positions, in the
// place of y.
func winogradSeed(x [4]float32, y []float32, step int) {
	ea, oa := x[0]+float32(winogradA2*x[2]), float32(winogradA*x[1])+float32(winogradA3*x[3])
	eb, ob := x[0]+float32(winogradB2*x[2]), float32(winogradB*x[1])+float32(winogradB3*x[3])
	y[0], y[step], y[2*step], y[3*step], y[4*step], y[5*step] = x[0], ea+oa, ea-oa, eb+ob, eb-ob, x[3]
}

// winogradSeedGo is the twin of the assembly.
func winogradSeedGo(lanes, tiles int, dst []float32, ps int, src []float32, col, row int) {
	var sums [36]float32
	for i := range tiles * lanes {
		tile := src[i/lanes*4*col+i%lanes:]
		for x := range 4 {
			winogradSeed([4]float32{tile[x*col], tile[row+x*col], tile[2*row+x*col], tile[3*row+x*col]}, sums[x:], 6)
		}
		for y := range 6 {
			s := sums[6*y:]
			winogradSeed([4]float32(s), s, 1)
		}
		for p, v := range sums {
			dst[p*ps+i] = v
		}
	}
}

// winogradTaps turns six sums, step apart, to three taps, in the first places.
func winogradTaps(m []float32, step int) {
	at := func(i int) float32 { return m[i*step] }
	sa, da, sb, db := at(1)+at(2), at(1)-at(2), at(3)+at(4), at(3)-at(4)
	first := (float32(1/winogradAll*at(0)) + float32(1/winogradNA*sa)) + float32(1/winogradNB*sb)
	last := (float32(winogradA2/winogradNA*sa) + float32(winogradB2/winogradNB*sb)) + at(5)
	m[0], m[step], m[2*step] = first, float32(winogradA/winogradNA*da)+float32(winogradB/winogradNB*db), last
}

// winogradTapsGo is the twin of the assembly; n is the floats of whole vectors.
func winogradTapsGo(n int, dst []float32, ldd int, src []float32, ps int) {
	var sums [36]float32
	for i := range n {
		for p := range sums {
			sums[p] = src[p*ps+i]
		}
		for x := range 6 {
			winogradTaps(sums[x:], 6)
		}
		for y := range 3 {
			winogradTaps(sums[6*y:], 1)
			for x := range 3 {
				dst[(3*y+x)*ldd+i] = sums[6*y+x]
			}
		}
	}
}

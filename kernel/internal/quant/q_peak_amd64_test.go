package quant

// qPeak measures the rate of VPDPBUSD in operations a nanosecond, 0 without it.
func qPeak() float64 {
	if !qVNNI() {
		return 0
	}
	const turns = 200000
	return turns * 24 * 128 / float64(shortest(func() { qPeakVNNI(turns) }).Nanoseconds())
}

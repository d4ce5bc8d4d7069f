//go:build !amd64

package kernel

// hasGemv reports whether the level has assembly for panels times a vector.
func hasGemv(cpuLevel) bool { return false }

// gemv stores the product of n panels with x in sums, or adds it. No level here
// has assembly for it.
func gemv(_ cpuLevel, n, k int, a, x []float32, ldx int, sums *[gemvPanels * 16]float32, acc bool) {}

// gemvDense stores the product of a dense panel of vecs vectors with x in sums.
func gemvDense(_ cpuLevel, vecs, k int, a, x []float32, ldx int, sums *[gemvPanels * 16]float32) {}

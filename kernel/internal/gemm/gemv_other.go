//go:build !amd64

package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// hasGemv reports whether the level has assembly for panels times a vector.
func hasGemv(cpu.Level) bool { return false }

// gemv stores the product of n panels with x in sums, or adds it. No level here
// has assembly for it.
func gemv(_ cpu.Level, n, k int, a, x []float32, ldx int, sums *[GemvPanels * 16]float32, acc bool) {}

// GemvDense stores the product of a dense panel of vecs vectors with x in sums.
func GemvDense(_ cpu.Level, vecs, k int, a, x []float32, ldx int, sums *[GemvPanels * 16]float32) {}

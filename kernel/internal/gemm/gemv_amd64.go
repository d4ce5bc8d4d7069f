package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// hasGemv reports whether the level has assembly for panels times a vector.
func hasGemv(l cpu.Level) bool { return l >= cpu.AVX2 }

// gemv stores the product of n panels, 1, 2 or 4, with x in sums, or adds it.
func gemv(l cpu.Level, n, k int, a, x []float32, ldx int, sums *[GemvPanels * 16]float32, acc bool) {
	if l == cpu.AVX512 {
		gemvPanelsAVX512(n, k, &a[0], 16*k, &x[0], ldx, &sums[0], acc)
	} else {
		gemvPanelsAVX2(n, k, &a[0], 8*k, &x[0], ldx, &sums[0], acc)
	}
}

// GemvDense stores the product of a dense panel of vecs vectors with x in sums.
func GemvDense(l cpu.Level, vecs, k int, a, x []float32, ldx int, sums *[GemvPanels * 16]float32) {
	_, _ = a[vecs*PanelLanes(l)*k-1], x[(k-1)*ldx]
	if l == cpu.AVX512 {
		gemvDenseAVX512(vecs, k, &a[0], &x[0], ldx, &sums[0])
	} else {
		gemvDenseAVX2(vecs, k, &a[0], &x[0], ldx, &sums[0])
	}
}

//go:build !amd64

package rowcol

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// There is no assembly for the functions of affine.go.

func affineEachFast(cpu.Level, []float32, []float32, float32, float32, float32, bool) bool {
	return false
}

func affineRowFast(cpu.Level, []float32, []float32, []float32, []float32, float32, float32, float32, bool) bool {
	return false
}

func affineColumnsFast(cpu.Level, []float32, []float32, []float32, []float32, []float32) bool {
	return false
}

func expShiftedFast(cpu.Level, []float32, []float32, float32) bool { return false }

func rowsSoftmaxFast(cpu.Level, []float32, []float32, int, bool) bool { return false }

func scalesAhead(cpu.Level, []float32, int, bool) bool { return false }

func normRow(_, _, _, _ []float32, _, _, _ float32, _ []float32, _ int, _ bool) float64 { return 0 }

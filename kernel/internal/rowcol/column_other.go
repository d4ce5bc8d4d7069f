//go:build !amd64

package rowcol

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// There is no assembly for columns and rows; see column.go.

func foldColumns(cpu.Level, int, []float64, []float64, []float32, int, int, int) bool {
	return false
}

func extremeColumns(cpu.Level, bool, []float32, []float32, int, int, int) bool { return false }

// BestFast reports false: there is no assembly.
func BestFast(cpu.Level, bool, []int64, []float32, int, int) bool { return false }

func rowsSumFast(cpu.Level, []float64, []float32, int, int) bool { return false }

func rowsSquaresFast(cpu.Level, []float64, []float64, []float32, int, int) bool {
	return false
}

func rowsExtremeFast(cpu.Level, bool, []float32, []float32, int) bool { return false }

//go:build !amd64 && !arm64

package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Without assembly the level is always generic, and none of this is called.

// Tile32 computes a tile of a packed product, and prefetches the next operands.
func Tile32(cpu.Level, int, int, *float32, *float32, int, *float32, int, int, bool, Fetch) {
	panic("kernel: no assembly for this processor")
}

func epilogueTile32(_ cpu.Level, rows, cols int, c []float32, ldc int, e *TileEpilogue) {
	EpilogueTileGo(rows, cols, c, ldc, e)
}

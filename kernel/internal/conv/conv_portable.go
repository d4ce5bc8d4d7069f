//go:build !amd64

package conv

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// Only amd64 has code for tiles of positions and channels.
func hasConvTile(cpu.Level) bool { return false }

func convTile32(_ cpu.Level, rows, vecs int, src []float32, offsets []int64, jump int, b, _, tile []float32, acc bool) {
	convTileGo(gemm.PanelLanes(cpu.Generic), rows, vecs, src, offsets, jump, b, tile, acc)
}

func convStore32(_ cpu.Level, rows, cols int, tile, dst []float32, ldc int, e *gemm.TileEpilogue) {
	convStoreGo(gemm.PanelLanes(cpu.Generic), rows, cols, tile, dst, ldc, e)
}

func convSpan32(l cpu.Level, rows, cols int, a, b []float32, offsets []int64, c []float32, ldc int, e *spanEpilogue) {
	var residual []float32
	if e.residual != nil {
		residual = unsafe.Slice(e.residual, (rows-1)*e.ldr/4+cols)
	}
	convSpanGo(rows, cols, gemm.BlockingOf(l).Stride, a, b, offsets, c, ldc, e, residual)
}

// fast prepares nothing: there is no assembly.
func (j *prepareJob) fast(lo, hi int) bool { return false }

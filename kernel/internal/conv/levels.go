package conv

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

//go:generate go run -C ../../../internal/generators/asmgen ./conv

// hasConvTile reports whether the level has code for tiles of positions and channels.
func hasConvTile(l cpu.Level) bool { return l.HasAVX2() }

// convTile32 computes one tile of positions and channels as convTileGo does,
// and fetches a line a step from next.
func convTile32(l cpu.Level, rows, vecs int, src []float32, offsets []int64, jump int, b, next, tile []float32, acc bool) {
	lanes := gemm.PanelLanes(l)
	if !cpu.X86 {
		convTileGo(lanes, rows, vecs, src, offsets, jump, b, tile, acc)
		return
	}
	_, _ = b[len(offsets)*vecs*lanes-1], tile[2*rows*lanes-1]
	switch l {
	case cpu.Pairs:
		convTilePairs(rows, vecs, len(offsets), &src[0], &offsets[0], jump, &b[0], &next[0], &tile[0], acc)
	case cpu.AVX512:
		convTileAVX512(rows, vecs, len(offsets), &src[0], &offsets[0], jump, &b[0], &next[0], &tile[0], acc)
	default:
		convTileAVX2(rows, vecs, len(offsets), &src[0], &offsets[0], jump, &b[0], &next[0], &tile[0], acc)
	}
}

// convStore32 stores a tile as convStoreGo does.
func convStore32(l cpu.Level, rows, cols int, tile, dst []float32, ldc int, e *gemm.TileEpilogue) {
	if !cpu.X86 {
		convStoreGo(gemm.PanelLanes(l), rows, cols, tile, dst, ldc, e)
		return
	}
	_, _ = tile[2*rows*gemm.PanelLanes(l)-1], dst[(cols-1)*ldc+rows-1]
	if l >= cpu.AVX512 {
		convStoreAVX512(rows, cols, &tile[0], &dst[0], ldc, (*byte)(unsafe.Pointer(e)))
	} else {
		convStoreAVX2(rows, cols, &tile[0], &dst[0], ldc, (*byte)(unsafe.Pointer(e)))
	}
}

// convSpan32 computes a span as convSpanGo does.
func convSpan32(l cpu.Level, rows, cols int, a, b []float32, offsets []int64, c []float32, ldc int, e *spanEpilogue) {
	switch {
	case !cpu.X86:
		var residual []float32
		if e.residual != nil {
			residual = unsafe.Slice(e.residual, (rows-1)*e.ldr/4+cols)
		}
		convSpanGo(rows, cols, gemm.BlockingOf(l).Stride, a, b, offsets, c, ldc, e, residual)
	case l == cpu.Pairs:
		convSpanPairs(rows, len(offsets), cols, &a[0], &b[0], &offsets[0], &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	case l == cpu.AVX512:
		convSpanAVX512(rows, len(offsets), cols, &a[0], &b[0], &offsets[0], &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	default:
		convSpanAVX2(rows, len(offsets), cols, &a[0], &b[0], &offsets[0], &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	}
}

// fast prepares channels [lo, hi) by assembly, and reports false where there is none.
func (j *prepareJob) fast(lo, hi int) bool {
	e := preparation{factor: &j.factor[lo:hi][0], term: &j.term[lo:hi][0], lo: j.lo, hi: j.hi}
	dst, src := &j.dst[lo*j.plane : hi*j.plane][0], &j.src[lo*j.plane : hi*j.plane][0]
	switch {
	case j.level == cpu.AVX512:
		convPrepareAVX512(dst, src, j.plane, hi-lo, (*byte)(unsafe.Pointer(&e)))
	case j.level >= cpu.AVX2:
		convPrepareAVX2(dst, src, j.plane, hi-lo, (*byte)(unsafe.Pointer(&e)))
	default:
		return false
	}
	return true
}

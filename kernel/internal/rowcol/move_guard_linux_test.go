package rowcol

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/move"
)

// No copy touches memory outside of its operands: that would fault.
func TestMovesStayInside(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(15, 16))
	bytes := func(n int, before bool) []byte {
		f := kerneltest.GuardedFloats(t, r, (n+3)/4, before)
		b := unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), 4*len(f))
		if before {
			return b[:n]
		}
		return b[len(b)-n:]
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			for _, s := range [][2]int{{1, 1}, {3, 7}, {8, 8}, {9, 23}, {16, 16}, {17, 33}, {40, 5}, {5, 260}, {600, 9}} {
				for _, size := range []int{1, 2, 4, 8} {
					rows, n := s[0], s[1]
					total := rows * n * size
					dst, src := bytes(total, before), bytes(total, before)
					at := func(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
					for _, stream := range []bool{false, true} {
						turned := move.Nest{N: 2, Stream: stream}
						turned.Size, turned.D, turned.S = [move.NestDepth]int{rows, n}, [move.NestDepth]int{n, 1}, [move.NestDepth]int{1, rows}
						move.Fast(at(dst), at(src), size, &turned)
						straight := move.Nest{N: 2, Stream: stream}
						straight.Size, straight.D, straight.S = turned.Size, turned.D, turned.D
						move.Fast(at(dst), at(src), size, &straight)
						same := move.Nest{N: 1, Stream: stream}
						same.Size, same.D = [move.NestDepth]int{rows * n}, [move.NestDepth]int{1}
						move.Fast(at(dst), at(src[:size]), size, &same)
					}
				}
			}
		}
	})
}

// No reduction of columns and no scaling touches memory outside of its operands.
func TestColumnsStayInside(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(17, 18))
	for _, level := range kerneltest.VecLevels() {
		for _, before := range []bool{false, true} {
			for _, n := range []int{1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 257, 300, 512} {
				x := kerneltest.GuardedFloats(t, r, 3*n, before)
				for kind := range 3 {
					ColumnFold(level, kind, make([]float64, n), make([]float64, n), x, n, 3, blockAhead)
				}
				RowTotal(level, x)
				RowSquares(level, x, 1)
				for _, least := range []bool{false, true} {
					RowExtreme(level, least, x)
					ColumnExtreme(level, least, kerneltest.GuardedFloats(t, r, n, before), x, n, 3, blockAhead)
					BestFast(level, least, make([]int64, 1), x, 3*n, 1)
					BestFast(level, least, make([]int64, n), x, 3, n)
				}
				a, b, c, d := x[:n], x[n:2*n], x[2*n:], kerneltest.GuardedFloats(t, r, n, before)
				for _, stream := range []bool{false, true} {
					AffineEach(level, d, c, 1, 2, 3, stream)
					AffineRow(level, d, c, a, b, 1, 2, 3, stream)
					AffineRow(level, d, a, b, c, 1, 2, 3, stream)
				}
				for _, logs := range []bool{false, true} {
					RowsSoftmax(level, d, a, n, logs, true)
					RowsSoftmax(level, d, c, n, logs, false)
					RowsSoftmax(level, kerneltest.GuardedFloats(t, r, 3*n, before), x, n, logs, true)
				}
				RowsNormed(level, kerneltest.GuardedFloats(t, r, 2*n, before), x[:2*n], c, d, 1e-5, false)
				RowsNormed(level, kerneltest.GuardedFloats(t, r, 2*n, before), x[n:], d, c, 1e-5, true)
				ExpShifted(level, d, a, 9)
				ExpShifted(level, d, c, 9)
				AffineColumns(level, d, a, b, c, c)
				AffineColumns(level, d, c, c, b, a)
			}
		}
	}
}

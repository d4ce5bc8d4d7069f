package kernel

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"
)

// No copy touches memory outside of its operands: that would fault.
func TestMovesStayInside(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(15, 16))
	bytes := func(n int, before bool) []byte {
		f := guardedFloats(t, r, (n+3)/4, before)
		b := unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), 4*len(f))
		if before {
			return b[:n]
		}
		return b[len(b)-n:]
	}
	eachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			for _, s := range [][2]int{{1, 1}, {3, 7}, {8, 8}, {9, 23}, {16, 16}, {17, 33}, {40, 5}, {5, 260}, {600, 9}} {
				for _, size := range []int{1, 2, 4, 8} {
					rows, n := s[0], s[1]
					total := rows * n * size
					dst, src := bytes(total, before), bytes(total, before)
					at := func(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
					for _, stream := range []bool{false, true} {
						turned := moveNest{n: 2, stream: stream}
						turned.size, turned.d, turned.s = [nestDepth]int{rows, n}, [nestDepth]int{n, 1}, [nestDepth]int{1, rows}
						moveFast(at(dst), at(src), size, &turned)
						straight := moveNest{n: 2, stream: stream}
						straight.size, straight.d, straight.s = turned.size, turned.d, turned.d
						moveFast(at(dst), at(src), size, &straight)
						same := moveNest{n: 1, stream: stream}
						same.size, same.d = [nestDepth]int{rows * n}, [nestDepth]int{1}
						moveFast(at(dst), at(src[:size]), size, &same)
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
	for _, level := range vecLevels() {
		for _, before := range []bool{false, true} {
			for _, n := range []int{1, 3, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 257, 300, 512} {
				x := guardedFloats(t, r, 3*n, before)
				for kind := range 3 {
					columnFold(level, kind, make([]float64, n), make([]float64, n), x, n, 3, blockAhead)
				}
				rowTotal(level, x)
				rowSquares(level, x, 1)
				for _, least := range []bool{false, true} {
					rowExtreme(level, least, x)
					columnExtreme(level, least, guardedFloats(t, r, n, before), x, n, 3, blockAhead)
					bestFast(level, least, make([]int64, 1), x, 3*n, 1)
					bestFast(level, least, make([]int64, n), x, 3, n)
				}
				a, b, c, d := x[:n], x[n:2*n], x[2*n:], guardedFloats(t, r, n, before)
				for _, stream := range []bool{false, true} {
					affineEach(level, d, c, 1, 2, 3, stream)
					affineRow(level, d, c, a, b, 1, 2, 3, stream)
					affineRow(level, d, a, b, c, 1, 2, 3, stream)
				}
				for _, logs := range []bool{false, true} {
					rowsSoftmax(level, d, a, n, logs, true)
					rowsSoftmax(level, d, c, n, logs, false)
					rowsSoftmax(level, guardedFloats(t, r, 3*n, before), x, n, logs, true)
				}
				rowsNormed(level, guardedFloats(t, r, 2*n, before), x[:2*n], c, d, 1e-5, false)
				rowsNormed(level, guardedFloats(t, r, 2*n, before), x[n:], d, c, 1e-5, true)
				expShifted(level, d, a, 9)
				expShifted(level, d, c, 9)
				affineColumns(level, d, a, b, c, c)
				affineColumns(level, d, c, c, b, a)
			}
		}
	}
}

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

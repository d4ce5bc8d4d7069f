package move

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// words is the memory of floats.
func words(f []float32) []uint32 { return unsafe.Slice((*uint32)(unsafe.Pointer(&f[0])), len(f)) }

// Rows are written whole, and nothing outside them is touched.
func TestRowsGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 1))
		for _, before := range []bool{false, true} {
			for _, n := range []int{1, 7, 8, 15, 16, 17, 31, 49, 64, 100, 600} {
				for _, step := range []int{0, 1, 3} {
					src, dst := kerneltest.GuardedFloats(t, r, 4*step+1, before), kerneltest.GuardedFloats(t, r, 5*n, before)
					Repeat(cpu.Host.Level, words(dst), words(src), step, n)
					for i, v := range dst {
						require.Equal(t, math.Float32bits(src[i/n*step]), math.Float32bits(v), "%d of %d, step %d", i, n, step)
					}
				}
				src, dst := kerneltest.GuardedFloats(t, r, 2*(n+2)+n, before), kerneltest.GuardedFloats(t, r, 2*(n+1)+n, before)
				dst[n] = 7
				CopyRows(dst, n+1, src, n+2, n, 3)
				for y := range 3 {
					require.Equal(t, src[y*(n+2):y*(n+2)+n], dst[y*(n+1):y*(n+1)+n], "row %d of %d", y, n)
				}
				require.EqualValues(t, 7, dst[n])
				src, dst = kerneltest.GuardedFloats(t, r, 6*n, before), kerneltest.GuardedFloats(t, r, 6*n, before)
				pairs := Nest{N: 3}
				copy(pairs.Size[:], []int{3, n, 2})
				copy(pairs.D[:], []int{2 * n, 2, 1})
				copy(pairs.S[:], []int{2 * n, 1, n})
				moveElems(dst, 0, src, 0, &pairs)
				for i, v := range dst {
					require.Equal(t, src[i/(2*n)*2*n+i%2*n+i%(2*n)/2], v, "%d of %d", i, n)
				}
			}
		}
	})
}

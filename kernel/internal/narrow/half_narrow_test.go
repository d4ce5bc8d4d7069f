package narrow

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Every sign, exponent and upper half of a significand, with lower halves about
// those where rounding turns, is rounded to the same bits at every level.
func TestNarrow(t *testing.T) {
	lows := []uint32{0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff}
	src := make([]float32, 0, len(lows)<<16)
	for high := range uint32(1 << 16) {
		for _, low := range lows {
			src = append(src, math.Float32frombits(high<<16|low))
		}
	}
	dst := make([]uint16, len(src))
	for _, brain := range []bool{false, true} {
		want := make([]uint16, len(src))
		half.NarrowGo(want, src, brain)
		kerneltest.EachLevel(t, func(t *testing.T) {
			half.Narrow(dst, src, brain)
			require.True(t, string(bytesOf(want)) == string(bytesOf(dst)), "bits differ, brain=%v", brain)
		})
	}
}

func bytesOf(s []uint16) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s))
}

func TestNarrowGuard(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			for _, n := range []int{2, 6, 8, 14, 16, 18, 30, 64, 102} {
				src := kerneltest.GuardedFloats(t, r, n, before)
				dst := unsafe.Slice((*uint16)(unsafe.Pointer(&kerneltest.GuardedFloats(t, r, n/2, before)[0])), n)
				want := make([]uint16, n)
				for _, brain := range []bool{false, true} {
					half.NarrowGo(want, src, brain)
					half.Narrow(dst, src, brain)
					require.Equal(t, want, dst)
				}
			}
		}
	})
}

// A product of 16-bit matrices loads and stores them as their conversions say.
func TestHalfOperands(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, dt := range []array.DType{array.F16, array.BF16} {
			for _, strided := range []bool{false, true} {
				x := kerneltest.ToArray(kerneltest.RandomRef(rand.New(rand.NewPCG(1, 2)), []int{3, 37}), dt, strided)
				w := &par.Workspace{}
				v := operand.Load[float32](w, x)
				for i, want := range kerneltest.ToRef(x).V {
					require.Equal(t, float32(want), v[i])
					v[i] *= 1 + 1.0/1024/3
				}
				y := array.New(dt, 3, 37)
				operand.Store(y, v)
				for i, got := range kerneltest.ToRef(y).V {
					want := float64(array.HalfFromFloat32(v[i]).Float32())
					if dt == array.BF16 {
						want = float64(array.BFloatFromFloat32(v[i]).Float32())
					}
					require.Equal(t, want, got)
				}
			}
		}
	})
}

func BenchmarkNarrow(b *testing.B) {
	src, dst := make([]float32, 4096), make([]uint16, 4096)
	for _, brain := range []bool{false, true} {
		b.Run(map[bool]string{false: "f16", true: "bf16"}[brain], func(b *testing.B) {
			for b.Loop() {
				half.Narrow(dst, src, brain)
			}
			kerneltest.PerElement(b, len(src))
		})
	}
}

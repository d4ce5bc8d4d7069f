package quant

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Rescaling has the bits of its twin in Go at every level, and writes its columns alone.
func TestRescale(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{0, 8, 16, 32, 40, 96, 1024} {
			for _, before := range []bool{false, true} {
				ints := func() []int32 {
					f := kerneltest.GuardedFloats(t, r, n, before)
					return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(f))), n)
				}
				sums, units, bias, by := ints(), kerneltest.GuardedFloats(t, r, n, before), ints(), kerneltest.GuardedFloats(t, r, n, before)
				for i := range sums {
					sums[i] = int32(r.Uint32()) >> 8
				}
				for _, zero := range []int32{0, 1, 128, 255} {
					wantBias, wantBy := make([]int32, n), make([]float32, n)
					rescaleGo(sums, units, zero, 0.37, wantBias, wantBy)
					rescale(sums, units, zero, 0.37, bias, by)
					require.Equal(t, wantBias, append([]int32{}, bias...))
					require.Equal(t, wantBy, append([]float32{}, by...))
				}
			}
		}
	})
}

// Parts of the columns have the bits of the whole product, and write nothing else.
func TestDynamicParts(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		const n = 3*DynamicColumns + 8
		for _, m := range []int{1, 3, 8, 15, 40} {
			for _, k := range []int{1, 30, 256} {
				for _, of := range []float32{1, 0, -1} { // ranges on both sides of 0, of 0 alone, below 0
					weight, scale := array.New(array.I8, n, k), array.New(array.F32, n)
					for i, d := 0, array.Raw[int8](weight); i < len(d); i++ {
						d[i] = int8(r.IntN(256) - 128)
					}
					for i, d := 0, array.Raw[float32](scale); i < len(d); i++ {
						d[i] = r.Float32()
					}
					x := make([]float32, m*k)
					for i := range x {
						x[i] = (r.Float32() - max(0, of)/2) * of
					}
					const ld = n + 5
					want, got := make([]float32, m*ld), make([]float32, m*ld)
					for i := range want {
						want[i] = r.Float32()
					}
					copy(got, want)
					before := slices.Clone(want)
					w := &par.Workspace{}
					d := NewDynamic(w, "q_lstm", m, n, k, weight, scale, false)
					d.Add(w, m, x, want, ld)
					for part, cut := range [][2]int{{0, DynamicColumns}, {DynamicColumns, 3 * DynamicColumns}} {
						p := d.Part(make([]uint8, m*k))
						p.Quantise(m, x)
						p.Add(got, ld, cut[0], cut[1])
						for i := range m {
							lo := cut[0]
							if part > 0 {
								lo = 0
							}
							require.Equal(t, want[i*ld+lo:i*ld+cut[1]], got[i*ld+lo:i*ld+cut[1]], fmt.Sprint(m, k, of))
						}
					}
					for i := range m {
						lo, hi := i*ld+3*DynamicColumns, (i+1)*ld
						require.Equal(t, before[lo:hi], got[lo:hi], "columns that no part has")
					}
				}
			}
		}
	})
}

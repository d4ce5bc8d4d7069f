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
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// TestInt8LinearThreads: a column has the same bits wherever the columns are cut, in a pair or alone.
func TestInt8LinearThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const n = 67
	for _, m := range []int{1, 2, 3, 4, 5, 7, 8, 13, 64, 65} {
		for _, k := range []int{64, 831, 1024} {
			x, weight := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.FromSlice(kerneltest.QBytes(r, n*k), n, k)
			in := []*array.Array{x, weight, array.FromSlice([]float32{0.25}, 1), array.FromSlice([]uint8{128}, 1)}
			kerneltest.EachLevel(t, func(t *testing.T) {
				one, several := array.New(array.F32, m, n), array.New(array.F32, m, n)
				Int8Linear{}.Run(&par.Workspace{Threads: 1}, []*array.Array{one}, in)
				requireExactDots(t, in, one)
				for _, threads := range []int{2, 3, 5} {
					Int8Linear{}.Run(&par.Workspace{Threads: threads}, []*array.Array{several}, in)
					require.Equal(t, array.Bytes(one), array.Bytes(several), "%dx%dx%d, threads: %d", m, n, k, threads)
				}
			})
		}
	}
}

// requireExactDots holds products with weights (q-128)/4 to their sums in f64.
func requireExactDots(t *testing.T, in []*array.Array, out *array.Array) {
	m, n, k := out.Dim(0), out.Dim(1), in[0].Dim(1)
	x, weight, got := array.Data[float32](in[0]), array.Data[uint8](in[1]), array.Data[float32](out)
	for i := range m {
		for c := 0; c < n; c += 1 + i%7 {
			want, size := 0.0, 0.0
			for p, q := range weight[c*k : (c+1)*k] {
				v := float64(x[i*k+p]) / 4
				want, size = want+v*(float64(q)-128), size+math.Abs(v)*(float64(q)+128)
			}
			require.InDelta(t, want, float64(got[i*n+c]), float64(k+8)*size/(1<<23), "row %d column %d of %dx%dx%d", i, c, m, n, k)
		}
	}
}

// TestDotBytesGuard: the kernels of bytes read and write nothing but their operands, for each number of rows and columns.
func TestDotBytesGuard(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		for _, before := range []bool{false, true} {
			for _, k := range []int{4, 32, 64, 68, 128, 196} {
				x := kerneltest.GuardedFloats(t, r, half.ByteDotRows()*k, before)
				for _, n := range []int{1, 2, 3, 5} {
					w := unsafe.Slice((*uint8)(unsafe.Pointer(&kerneltest.GuardedFloats(t, r, n*k/4, before)[0])), n*k)
					dst := kerneltest.GuardedFloats(t, r, half.ByteDotRows()*n, before)
					for rows := 1; rows <= half.ByteDotRows(); rows++ {
						for _, signed := range []bool{false, true} {
							half.DotBytes(n, rows, k, x, k, w, k, signed, dst, n)
							requireRows(t, &half.Dots{N: n, Rows: rows, K: k, X: x, W: w, Dst: dst}, signed)
						}
					}
				}
			}
		}
	})
}

// requireRows compares sums of bytes times x with those in f64.
func requireRows(t *testing.T, d *half.Dots, signed bool) {
	for i := range d.Rows * d.N {
		want, size := 0.0, 0.0
		for p, q := range d.W[i%d.N*d.K:][:d.K] {
			v := float64(q)
			if signed {
				v = float64(int8(q))
			}
			v *= float64(d.X[i/d.N*d.K+p])
			want, size = want+v, size+math.Abs(v)
		}
		require.InDelta(t, want, float64(d.Dst[i]), float64(d.K+8)*size/(1<<23), "row %d of %d, column %d of %d, k %d, signed=%v", i/d.N, d.Rows, i%d.N, d.N, d.K, signed)
	}
}

// TestInt8LinearAllocates: nothing, and it stays within the scratch that it states.
func TestInt8LinearAllocates(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, m := range []int{1, 3, 8, 20, 64, 70} {
			const n, k = 33, 1024
			in := []*array.Array{array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.FromSlice(kerneltest.QBytes(r, n*k), n, k),
				array.FromSlice(kerneltest.RandomFloats(r, n), n), array.FromSlice(kerneltest.QBytes(r, n), n)}
			w, out := &par.Workspace{Threads: 1}, []*array.Array{array.New(array.F32, m, n)}
			kerneltest.RequireNoAllocs(t, Int8Linear{}, out, in)
			Int8Linear{}.Run(w, out, in)
			require.LessOrEqual(t, w.HighWater(), Int8Linear{}.ScratchBytes(out, in))
		}
	})
}

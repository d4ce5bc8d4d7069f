package narrow

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// TestInt4Guard: the kernels of 4 bits read and write nothing but their operands, for each number of rows and
// columns, and sizes of groups that share lines or have several; groups of columns may be left out.
func TestInt4Guard(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(29, 30))
		for _, size := range []int{32, 64, 128, 384} {
			for i := range 12 {
				n, before := 1+i%5, r.IntN(2) == 0
				groups, skip := max(1, half.Int4Line/size)*(1+r.IntN(3)), []int{0, 1, 4}[r.IntN(3)]
				k, all := groups*size, n*(groups+skip)-skip
				w, zero := guardedBytes(t, r, all*size/2, before), guardedBytes(t, r, all, before)
				copy(w, kerneltest.QBytes(r, len(w)))
				for i := range zero {
					zero[i] = uint8(r.IntN(16))
				}
				p := half.Int4Product{N: n, Groups: groups, Size: size, Skip: skip, Ldx: k, W: w, Scale: kerneltest.GuardedFloats(t, r, all, before), Lds: groups, Ldd: n}
				if r.IntN(2) == 0 {
					p.Zero = zero
				}
				for p.Rows = 1; p.Rows <= unpackRows; p.Rows++ {
					p.X, p.Dst = kerneltest.GuardedFloats(t, r, p.Rows*k, before), kerneltest.GuardedFloats(t, r, p.Rows*n, before)
					requireTile(t, r, p, before)
				}
				dst := kerneltest.GuardedFloats(t, r, k, before)
				half.Int4Unpack(dst, w[:k/2], p.Scale[:groups], p.Zero, size)
				for i, v := range dst {
					want, _ := weightOf(&p, 0, i)
					require.Equal(t, float32(want), v, "size %d", size)
				}
			}
		}
	})
}

// weightOf returns a weight of a product of 4 bits, and the size of its terms.
func weightOf(p *half.Int4Product, c, k int) (w, size float64) {
	g, zero := c*(p.Groups+p.Skip)+k/p.Size, int32(8)
	if p.Zero != nil {
		zero = int32(p.Zero[g])
	}
	q := p.W[(c*(p.Groups+p.Skip)*p.Size+k)/2] >> (4 * (k % 2)) & 15
	return nibble(q, float64(zero), p.Scale[g])
}

// requireTile computes a product where there is a kernel for it, and compares it with sums in f64.
func requireTile(t *testing.T, r *rand.Rand, p half.Int4Product, before bool) {
	k := p.Groups * p.Size
	p.Sums = kerneltest.GuardedFloats(t, r, p.Rows*p.Groups, before)
	groupSums(p.Sums, p.X)
	x := append([]float32{}, p.X...)
	if !half.HasInt4Tile(k, p.Size) {
		return
	}
	half.LineOrder(p.X)
	half.Int4Tile(&p)
	requireDots(t, x, func(c, i int) (w, size float64) { return weightOf(&p, c, i) }, nil, p.Rows, p.N, k, p.Dst, fmt.Sprintf("groups of %d, %d left out", p.Size, p.Skip))
}

// TestInt4LinearAllocates: nothing, for few rows, several and many.
func TestInt4LinearAllocates(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, m := range []int{1, 3, 8, 16, 20, 50} {
			const n, k = 33, 1024
			in := []*array.Array{array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.FromSlice(kerneltest.QBytes(r, n*k/2), n, k/2),
				array.FromSlice(kerneltest.RandomFloats(r, n*k/32), n, k/32), array.New(array.U8, n, k/32)}
			out := []*array.Array{array.New(array.F32, m, n)}
			kerneltest.RequireNoAllocs(t, Int4Linear{Group: 32}, out, in)
		}
	})
}

// BenchmarkInt4Rows multiplies rows by weights of 4 bits, more than a second cache holds, and by the same
// ones in floats.
func BenchmarkInt4Rows(b *testing.B) {
	const n, k = 4096, 1024
	floats := make([]float32, n*k)
	for _, m := range []int{1, 2, 4, 8, 12, 16, 32, 64, 128} {
		x, out := array.New(array.F32, m, k), array.New(array.F32, m, n)
		run := func(name string, f func(w *par.Workspace)) {
			b.Run(name+"/"+strconv.Itoa(m), func(b *testing.B) {
				w := &par.Workspace{Threads: 1}
				for b.Loop() {
					f(w)
				}
				b.ReportMetric(float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gmac/s")
			})
		}
		for _, group := range []int{32, 128} {
			in := []*array.Array{x, array.New(array.U8, n, k/2), array.New(array.F32, n, k/group)}
			run("group"+strconv.Itoa(group), func(w *par.Workspace) { Int4Linear{Group: group}.Run(w, []*array.Array{out}, in) })
		}
		run("f32", func(w *par.Workspace) {
			gemm.Gemm(w, false, true, m, n, k, array.Data[float32](x), k, floats, k, array.Data[float32](out), n, false)
		})
	}
}

package move

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Rows that are every other element of the result are brought together, as those of planes
// that alternate along lines and columns are.
func TestInterleaves(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, d := range []array.DType{array.U8, array.I16, array.F32, array.F64} {
			for _, n := range []int{1, 2, 3, 8, 16, 17, 31, 33, 48, 64, 130} {
				for _, lines := range []int{1, 2, 5, 40} {
					src := array.New(d, 3, 2, 2, lines, n)
					for i := range src.Len() {
						array.SetInt64At(src, i, int64(i%127))
					}
					dst := array.New(d, 3, lines, 2, n, 2)
					Copy{}.Run(&par.Workspace{Threads: 1 + n%2}, []*array.Array{dst}, []*array.Array{array.Permute(src, 0, 3, 1, 4, 2)})
					for i := range dst.Len() {
						kx, x := i%2, i/2%n
						ky, y, c := i/2/n%2, i/4/n%lines, i/4/n/lines
						require.Equal(t, array.Float64At(src, ((c*4+ky*2+kx)*lines+y)*n+x), array.Float64At(dst, i), "%s, %d by %d: element %d", d, lines, n, i)
					}
					// The other row first.
					back := array.New(d, 6, lines, n, 2)
					rows := array.Reshape(src, 6, 2, lines, n)
					Copy{}.Run(&par.Workspace{}, []*array.Array{back}, []*array.Array{array.Permute(array.Flip(rows, 1), 0, 2, 3, 1)})
					for i := range back.Len() {
						half, x, y, c := 1-i%2, i/2%n, i/2/n%lines, i/2/n/lines
						require.Equal(t, array.Float64At(src, ((c*2+half)*lines+y)*n+x), array.Float64At(back, i), "%s, %d by %d: element %d, turned", d, lines, n, i)
					}
				}
			}
		}
	})
}

// BenchmarkInterleave brings the four planes of a transposed convolution together.
func BenchmarkInterleave(b *testing.B) {
	for _, d := range []array.DType{array.U8, array.F32} {
		for _, n := range []int{24, 48, 96} {
			b.Run(fmt.Sprintf("%s/%d", d, n), func(b *testing.B) {
				src, w := array.New(d, 1536/n, 2, 2, n, n), &par.Workspace{}
				in, out := []*array.Array{array.Permute(src, 0, 3, 1, 4, 2)}, []*array.Array{array.New(d, 1536/n, n, 2, n, 2)}
				b.SetBytes(2 * int64(src.Len()*d.Size()))
				for b.Loop() {
					Copy{}.Run(w, out, in)
				}
			})
		}
	}
}

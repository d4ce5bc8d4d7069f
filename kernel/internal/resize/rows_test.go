package resize

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Rows that repeat, rows of elements taken twice and others: nearest picks by
// the definition for exact factors, and no mode depends on threads or takes more
// scratch than it says.
func TestResizeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, in := range [][2]int{{1, 1}, {3, 5}, {8, 40}} {
		for _, factor := range [][2]int{{1, 1}, {2, 2}, {1, 2}, {2, 1}, {3, 4}} {
			h, w := in[0]*factor[0], in[1]*factor[1]
			x := array.New(array.F32, 2, 3, in[0], in[1])
			src := array.Data[float32](x)
			for i := range src {
				src[i] = float32(r.NormFloat64())
			}
			for _, mode := range []string{"nearest", "nearest-exact", "bilinear", "bicubic"} {
				s := Resize{Mode: mode, Spatial: 2}
				y, again := array.New(array.F32, 2, 3, h, w), array.New(array.F32, 2, 3, h, w)
				ws := &par.Workspace{}
				s.Run(ws, []*array.Array{y}, []*array.Array{x})
				require.LessOrEqual(t, ws.HighWater(), s.ScratchBytes([]*array.Array{y}, []*array.Array{x}))
				s.Run(&par.Workspace{Threads: 3}, []*array.Array{again}, []*array.Array{x})
				require.Equal(t, array.Data[float32](y), array.Data[float32](again))
				if mode != "nearest" && mode != "nearest-exact" {
					continue
				}
				for i, got := range array.Data[float32](y) {
					plane, row, col := i/(h*w), i/w%h, i%w
					want := src[(plane*in[0]+row/factor[0])*in[1]+col/factor[1]]
					require.Equal(t, want, got, fmt.Sprint(mode, in, factor, i))
				}
			}
		}
	}
}

func BenchmarkResize(b *testing.B) {
	x, y := array.New(array.F32, 1, 64, 56, 56), array.New(array.F32, 1, 64, 112, 112)
	for _, mode := range []string{"nearest", "bilinear"} {
		b.Run(mode, func(b *testing.B) {
			w := &par.Workspace{}
			b.SetBytes(int64(4 * (x.Len() + y.Len())))
			for b.Loop() {
				Resize{Mode: mode, Spatial: 2}.Run(w, []*array.Array{y}, []*array.Array{x})
			}
		})
	}
}

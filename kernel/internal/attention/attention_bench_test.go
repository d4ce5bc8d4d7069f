package attention

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BenchmarkAttentionFew is a token or some of them that meet 1000 before.
func BenchmarkAttentionFew(b *testing.B) {
	for _, queries := range []int{1, 2, 4, 5, 8, 16} {
		b.Run(fmt.Sprint(queries), func(b *testing.B) {
			k := array.New(array.F32, 12, 1000, 64)
			q, out := array.New(array.F32, 12, queries, 64), []*array.Array{array.New(array.F32, 12, queries, 64)}
			in, w := []*array.Array{q, k, k}, &par.Workspace{}
			for b.Loop() {
				Attention{}.Run(w, out, in)
			}
			b.ReportMetric(float64(2*k.Len()*4)/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GB/s")
		})
	}
}

// BenchmarkAttention is that of BERT base and of GPT-2 small.
func BenchmarkAttention(b *testing.B) {
	for _, causal := range []bool{false, true} {
		for _, tokens := range []int{128, 512, 1024} {
			b.Run(fmt.Sprintf("causal=%v/%d", causal, tokens), func(b *testing.B) {
				const heads, size = 12, 64
				draw := func() *array.Array {
					a := array.New(array.F32, 1, tokens, heads, size)
					for i, d := 0, array.Raw[float32](a); i < len(d); i++ {
						d[i] = float32(i*7919%2001-1000) / 600
					}
					return array.Permute(a, 0, 2, 1, 3)
				}
				out, in := []*array.Array{draw()}, []*array.Array{draw(), draw(), draw()}
				s, w := Attention{IsCausal: causal}, &par.Workspace{}
				for b.Loop() {
					s.Run(w, out, in)
				}
				n := 4 * float64(tokens) * float64(tokens) * heads * size
				if causal {
					n /= 2
				}
				b.ReportMetric(n/float64(b.Elapsed().Nanoseconds())*float64(b.N), "GFLOP/s")
			})
		}
	}
}

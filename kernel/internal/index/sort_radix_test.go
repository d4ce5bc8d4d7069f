package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// Both ways to sort give the one stable order.
func TestRadixSort(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{1, 2, 300, 512, 2000} {
		for kind := range 4 {
			keys := make([]int64, n)
			for i := range keys {
				switch kind {
				case 0:
					keys[i] = int64(r.Uint64())
				case 1:
					keys[i] = orderKey(float32(r.NormFloat64()))
				case 2:
					keys[i] = int64(r.IntN(5)) - 2
				default:
					keys[i] = 7
				}
			}
			want := make([]int64, n)
			for i := range want {
				want[i] = int64(i)
			}
			slices.SortStableFunc(want, func(a, b int64) int {
				if keys[a] < keys[b] {
					return -1
				}
				if keys[a] > keys[b] {
					return 1
				}
				return 0
			})
			work := func() []int64 { return make([]int64, n) }
			require.Equal(t, want, radixSort(slices.Clone(keys), work(), work(), work()))
			require.Equal(t, want, mergeSort(slices.Clone(keys), work(), work(), work()))
		}
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 50257
	x, y := make([]int64, n), make([]int64, n)
	p, q, keys := make([]int64, n), make([]int64, n), make([]int64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		keys[i] = orderKey(float32(r.NormFloat64()))
	}
	for name, f := range map[string]func(k, p, k2, p2 []int64) []int64{"merge": mergeSort, "radix": radixSort} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(x, keys)
				f(x, p, y, q)
			}
			kerneltest.PerElement(b, n)
		})
	}
}

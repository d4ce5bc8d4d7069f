package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// Any number of rows is interleaved, and nothing is written past them.
func TestInterleave(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for range 2000 {
			rows, k := 1+r.IntN(40), 1+r.IntN(40)
			stride, ld := rows+r.IntN(2)*r.IntN(5), k+r.IntN(5)
			src := kerneltest.RandomFloats(r, (rows-1)*ld+k)
			got := kerneltest.RandomFloats(r, k*stride)
			was := append([]float32{}, got...)
			Interleave(cpu.Host.Level, got, stride, src, ld, rows, k)
			for i, v := range got {
				want := was[i]
				if r := i % stride; r < rows {
					want = src[r*ld+i/stride]
				}
				require.Equal(t, want, v, "%d rows %d apart, %d of each: %d", rows, stride, k, i)
			}
		}
	})
}

package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Blocking is how a level cuts the float32 product: tiles of mr×nr, panels of a
// with stride floats a step of k, sums of at most kc terms at a time, blocks of
// at most area floats of packed a, which stay in the second-level cache beside
// two panels of b, and of nc columns of b.
type Blocking struct {
	Mr, Nr, Stride, kc, area, Nc int
	even                         bool // there is code for every number of rows
}

// BlockingOf returns the blocking of a level.
func BlockingOf(l cpu.Level) Blocking {
	switch l {
	case cpu.AVX512:
		return Blocking{Mr: 14, Nr: 32, Stride: 16, kc: 768, area: 120 << 10, Nc: 2048, even: true}
	case cpu.AVX2:
		return Blocking{Mr: 6, Nr: 16, Stride: 8, kc: 384, area: 64 << 10, Nc: 2048, even: true}
	case cpu.NEON:
		return Blocking{Mr: 8, Nr: 8, Stride: 8, kc: 256, area: 64 << 10, Nc: 1024}
	}
	return Blocking{Mr: gemmMR, Nr: NR, Stride: gemmMR, kc: gemmKC, area: gemmMC * gemmKC, Nc: gemmNC}
}

// Depth returns the terms of one block of k: about equal shares, not a short
// last one.
func (b *Blocking) Depth(k int) int {
	blocks := (k + b.kc - 1) / b.kc
	return min(k, operand.RoundUp((k+blocks-1)/blocks, depthUnit))
}

// most returns how many panels of a, k terms deep, make a block.
func (b *Blocking) most(k int) int { return max(1, b.area/(b.Stride*b.Depth(k))) }

// Panels returns how many panels m rows are cut into.
func (b *Blocking) Panels(m int) int { return (m + b.Mr - 1) / b.Mr }

// Rows returns where panel i of m rows begins and ends. Shares are equal where
// the level has code for them, so that no tile is much shorter than another.
func (b *Blocking) Rows(m, i int) (lo, hi int) {
	if !b.even {
		return i * b.Mr, min(m, (i+1)*b.Mr)
	}
	n := b.Panels(m)
	base, extra := m/n, m%n
	lo = i*base + min(i, extra)
	hi = lo + base
	if i < extra {
		hi++
	}
	return lo, hi
}

// sizes returns the elements of a block of each operand when packed.
func (b *Blocking) sizes(m, n, k int) (sizeA, sizeB int) {
	kc := b.Depth(k)
	return min(b.Panels(m), b.most(k)) * b.Stride * kc, operand.RoundUp(min(n, b.Nc), b.Nr) * kc
}

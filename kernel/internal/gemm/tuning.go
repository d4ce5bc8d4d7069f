package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Sizes of blocks. Sizes that cut a sum (kc, DotDepth) or choose among ways that round
// differently (dotCols, streamRows, GemvCols) are fixed for a level, so that results
// are the same with any caches. Sizes that only order the same sums follow from the
// caches, up to those that paid where caches are large (48 KiB, 1 MiB and 32 MiB);
// scratch is stated for those, too, and so is the same everywhere.

// Blocking is how a level cuts the float32 product: tiles of mr×nr, panels of a
// with stride floats a step of k, sums of at most kc terms at a time, blocks of
// at most area floats of packed a, and of nc columns of b.
type Blocking struct {
	Mr, Nr, Stride, kc, area, Nc int
	even                         bool // there is code for every number of rows
}

// BlockingOf returns the blocking of a level, with the largest area.
func BlockingOf(l cpu.Level) Blocking {
	switch l {
	case cpu.AVX512, cpu.Pairs:
		return Blocking{Mr: 14, Nr: 32, Stride: 16, kc: 768, area: 120 << 10, Nc: 2048, even: true}
	case cpu.AVX2:
		return Blocking{Mr: 6, Nr: 16, Stride: 8, kc: 384, area: 64 << 10, Nc: 2048, even: true}
	case cpu.NEON:
		return Blocking{Mr: 8, Nr: 8, Stride: 8, kc: 256, area: 64 << 10, Nc: 1024}
	}
	return Blocking{Mr: gemmMR, Nr: NR, Stride: gemmMR, kc: gemmKC, area: gemmMC * gemmKC, Nc: gemmNC}
}

// tuned is BlockingOf for this processor's caches: a block of a takes a little less
// than half of the second cache, which also holds two panels of b and the results
// being written.
func tuned(l cpu.Level) Blocking {
	b := BlockingOf(l)
	b.area = min(b.area, cpu.Cache().L2/32*15/4)
	return b
}

// The blocking of the packed product in Go (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008). Sums over k are cut every
// gemmKC terms, which also keeps rounding errors of long sums small.
const (
	gemmMR = 2
	NR     = 4
	gemmMC = 256 // a block of a, of 256 KiB in f32, stays in a second cache
	gemmNC = 512
	gemmKC = 256 // a panel of a and one of b, of 6 KiB, stay in any first one
)

const (
	// DirectPanels is the number of panels of a up to which the rows of b are read
	// where they lie: packing pays only when they are used more often.
	DirectPanels = 6
	// crowdedPanels is that where rows of b are a multiple of pageFloats apart: all of a
	// panel's columns then fall on the same few sets of a cache, which lets go of them
	// before the next panel of a comes.
	crowdedPanels, pageFloats = 2, 1024
	// fewColumns is the number of panels of b up to which panels of a are packed
	// where they are used, since that is soon over; twice as many where b is not packed.
	fewColumns = 2
	// directAhead is how many rows of b, read where they lie, are asked for early:
	// no hardware looks that far.
	directAhead = 16
	// depthUnit divides the terms of all blocks of k but the last: whole vectors are
	// packed faster.
	depthUnit = 16
	// GemvCols is the number of columns of a product up to which its packed left
	// operand is multiplied with them one by one: it is read from memory far more
	// slowly than the sums are computed.
	GemvCols = 4
	// GemvPanels is the number of panels that are taken together: enough sums in
	// flight to hide how long each takes.
	GemvPanels = 4
	// finishCols is the columns of a unit of an epilogue that runs by itself.
	finishCols = 512
	// batchLanes is the number of products of a batch in progress at once. It is
	// fixed, so that scratch does not depend on the number of threads.
	batchLanes = 4
)

// Products with few rows or columns.
const (
	DotDepth   = 1024 // terms that DotTile sums at once: few rows of so many stay in the first cache
	dotCols    = 12   // rows of a transposed b up to which they are multiplied with the rows of a
	mostThin   = 12   // rows or columns up to which some machine sums in another order
	streamRows = 4    // rows of c up to which the rows of b are streamed
	streamUnit = 64   // columns in one unit of that work
	streamStep = 8    // rows of b taken together, which is how many streams hardware follows
)

// dotRow is the elements of the large operand that are taken together: a third to a
// half of the first cache.
func dotRow() int { return min(4096, cpu.Cache().L1/8) }

// streamCols is the elements of c that stay in the first cache while rows of b pass:
// a sixth to a quarter of it.
func streamCols() int { return max(streamUnit*streamRows, min(2048, cpu.Cache().L1/16)) }

// directSize is the number of elements up to which a whole b is read in place by
// any number of panels: a sixteenth of the second cache, which reads it at once.
func directSize() int { return min(16<<10, cpu.Cache().L2/64) }

// stripSize is the most elements of a block of b that is read once for each panel of
// a. Where it is read often, it has to stay in the second cache together with a panel
// of a and the rows that are written. Half as much more may come from a last cache:
// where panels are few, or where blocks would save only the packing of b.
func stripSize(panels int, packed bool) int {
	c := cpu.Cache()
	if panels <= DirectPanels || packed && c.L3 >= 4*c.L2 {
		return min(384<<10, c.L2/8*3)
	}
	return min(192<<10, c.L2/16*3)
}

// crowded reports whether so many rows, ld elements apart, cannot be read where they lie, a
// few elements of each in turn: a page apart, a first cache holds one line for each
// 4 KiB of its size. A third more than that the second one hides (14 lines where 12 fit).
func crowded(rows, ld int) bool {
	return ld%pageFloats == 0 && 3*rows > 4*(cpu.Cache().L1/(4*pageFloats))
}

// stripTotal is the most elements of all of b: from memory, it should come once
// and a panel at a time, which rows of several panels then share. Half of the last cache.
func stripTotal() int { return min(4<<20, max(cpu.Cache().L3/8, cpu.Cache().L2/8*3)) }

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

// Cut returns into how many panels of how many rows m rows are cut: Rows has at most two
// different lengths. It takes no longer for more rows.
func (b *Blocking) Cut(m int) [2]PanelsOf {
	n := b.Panels(m)
	switch {
	case n == 0:
		return [2]PanelsOf{}
	case !b.even:
		return [2]PanelsOf{{n - 1, b.Mr}, {1, m - (n-1)*b.Mr}}
	}
	return [2]PanelsOf{{m % n, m/n + 1}, {n - m%n, m / n}}
}

// PanelsOf is a number of panels with the same number of rows.
type PanelsOf struct{ Panels, Rows int }

// sizes returns the elements of a block of each operand when packed.
func (b *Blocking) sizes(m, n, k int) (sizeA, sizeB int) {
	kc := b.Depth(k)
	return min(b.Panels(m), b.most(k)) * b.Stride * kc, operand.RoundUp(min(n, b.Nc), b.Nr) * kc
}

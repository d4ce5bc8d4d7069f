package rowcol

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Lanes are part of a result's definition and the same everywhere. Columns are
// combined row by row however they are cut into strips, which follow from caches.

const (
	// RowWidth is the number of lanes of a product or an extreme of a row.
	RowWidth = 64
	// sumLanes is that of a sum of a row.
	sumLanes = 32
	// argLanes is that of the position of an extreme, argStrip the columns whose positions
	// are found together: they and their extremes, 2 KiB, on the stack.
	argLanes, argStrip = 32, 256
	// columnRows is the rows for which accumulators are loaded once, farRows that of
	// matrices beyond the second cache: memory serves a few rows that are read far
	// better than many.
	columnRows, farRows = 16, 8
	// Elements of 64 bits fill the window of the processor before memory is busy, so
	// that it asks for those of such matrices ahead by these distances in bytes: along
	// rows that follow each other, and along several at once.
	RowAhead, blockAhead = 8 << 10, 1 << 10
)

// columnStrip is the number of columns whose accumulators, of 64 bits, take a third to a half of
// the first cache, which also holds the rows.
func columnStrip() int { return max(RowWidth, min(2048, cpu.Cache().L1/16)) &^ (RowWidth - 1) }

// farStrip is that of matrices beyond the second cache, whose rows do not stay:
// accumulators take two thirds.
func farStrip() int { return max(RowWidth, min(4096, cpu.Cache().L1/12)) &^ (RowWidth - 1) }

// FarLen is the number of elements of such matrices.
func FarLen() int { return min(1<<18, cpu.Cache().L2/4) }

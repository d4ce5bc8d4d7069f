package reduce

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// The place where a sum is cut is part of its definition: RowSpan and sumBlock are the
// same everywhere.

const (
	// RowSpan is the elements of a row that are reduced at a time: of a longer one,
	// several goroutines reduce spans, or one as it computes them. In f32 they stay in
	// any second cache.
	RowSpan = 1 << 15
	// sumBlock is the length of runs that sumRun adds in four lanes.
	sumBlock = 256
	// normRowsMost is the most rows that are measured together.
	normRowsMost = 16
	// softmaxStrip is the most columns that softmax along another dimension than the
	// last does together: their extremes and sums are on the stack.
	softmaxStrip = 256
)

// normStrip is the number of elements from which on rows are not measured together: they
// take a third to a half of the first cache until they are scaled.
func normStrip() int { return min(4096, cpu.Cache().L1/8) }

// softmaxElems is the elements of a strip of columns that stay in the second cache, a
// quarter of it, from the strip's first pass to its last.
func softmaxElems() int { return min(1<<16, cpu.Cache().L2/16) }

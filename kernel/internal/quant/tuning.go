package quant

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Sums of integers are exact in any order: nothing here changes a result. Layouts
// (qCols, qBlock) stand where they are described.

// blockBytes is how much of packed weights is kept in the cache while tiles pass: half
// of the second one, which also holds the rows that pass.
func blockBytes() int { return min(1<<19, cpu.Cache().L2/2) }

// Rows a multiple of page bytes apart share the sets of the first cache; pageOff
// bytes, a line, part them.
const page, pageOff = 4096, 64

// The size of one chunk of parallel work, such that handing it over is a small part of
// its time: multiplications of 8 bits, and elements.
const (
	qWork           = 1 << 19
	elementwiseWork = 1 << 15
)

// rangeParts is how many parts of a large tensor are searched on their own: enough for the
// threads that share a memory.
const rangeParts = 16

// Channels that are pooled together when the maximum is taken, lines of taps, and positions
// of a line: 4 KiB, on the stack and in any first cache.
const (
	qPoolBlock = 256
	qPoolRows  = 16
	qPoolLine  = 1024
)

const (
	qPlaneLanes   = 64 // positions of a panel: four vectors of sums
	qPlaneThreads = 16 // most goroutines, each with room for a panel
	qPlaneRest    = 4  // positions that are not worth a vector
)

// The number of frames of a depthwise convolution in memory at once, and their
// bytes: on the stack, in half of any first cache.
const (
	qDepthBatch = 32
	qDepthFrame = 1 << 14
	qDepthCols  = 9 // least results of a line, unless two are in a vector: shorter ones leave most of it empty
)

// Convolutions in groups that are computed from frames: the bytes of a frame, a half of any
// first cache, unless a line needs more; the least groups, and the most channels of
// results of each.
const (
	qGroupFrame = 1 << 14
	qGroupLeast = 4
	qGroupMost  = 64
)

package conv

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Sizes of blocks, and constants of the cost estimates for the ways to convolve. The
// way, and the places where sums are cut, decide how results are rounded: they follow
// from sizes and the level alone. The caches decide only the order of the same sums.

const (
	rowsRun   = 7       // positions of a tile before its second run begins: two make 14, the most rows of a tile
	rowsGroup = 8       // tiles of positions that share a block of weights: their sums, 14 KiB, stay in the first cache
	rowsTile  = 14 * 32 // sums of a tile
)

// frameWork is the elements of a frame that are a chunk: other threads have just written what lies
// in it, and hand it over line by line.
const frameWork = 1 << 12

// scatterWork is the products, of a transposed convolution, that are a chunk where they are added: some
// microseconds.
const scatterWork = 1 << 12

// rowsNear is the bytes of an image, or of all weights, that stay in the second cache
// while the other passes: three quarters of it.
func rowsNear() int { return cpu.Cache().L2 / 4 * 3 }

// Half the cycles spent outside the steps: of a tile as it is stored, and per
// step and panel of positions that is packed.
const (
	rowsStoring  = 300
	spanStoring  = 60
	lanesStoring = 150
	lanesPacking = 8
)

// spanDepth is the most steps of k of a span: the lines that they read, two each, fit into
// a first cache of 32 KiB.
const spanDepth = 256

// spanFew is the channels of a group up to which spans may be short: their patches are
// met by a panel or two, which is not worth packing them.
const spanFew = 14

// spanBlock is the most elements of the input that panels of channels share: an eighth of
// the second cache, up to 128 KiB, of which the first panel leaves most in reach.
func spanBlock() int { return min(1<<15, cpu.Cache().L2/32) }

// mapLen is the elements of results from which on a program runs over channels that are
// filtered one by one: a quarter of the second cache, up to 256 KiB. Fewer at a time take
// longer, a first cache's a fifth.
func mapLen() int { return min(1<<16, cpu.Cache().L2/16) }

// mapStrip is the elements that a program takes at once.
const mapStrip = 128

// columnElems bounds the product of weight and input that is held before it is
// added to the output, in elements; one column always fits. It is fixed: columns are
// added in the order in which blocks come.
const columnElems = 1 << 18

// weightDepth is the positions, as whole images, that a product over positions sums at
// least, where there are so many: some blocks of k, so that the sums, which are as many as
// the weight, are seldom read and written. It is fixed: it cuts sums.
const weightDepth = 1536

// transposedColumns is the positions, as whole images, that a product of a transposed
// convolution has at least, where there are so many: its last columns are a small part of
// them. transposedChannels is the channels of a result from which on there are such products.
const (
	transposedColumns  = 512
	transposedChannels = 6
)

package winograd

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Whether a convolution goes by transforms, and by which, follows from its sizes and
// the level alone: it decides how results are rounded. Caches decide the blocks, which
// change the order of the work, not the results.

const (
	// winogradLeast is the fewest channels of either kind for which the transforms
	// are worth their while.
	winogradLeast = 16
	// winogradGroup is the channels whose outputs are laid out before they are stored:
	// they and their operands stay in the first cache.
	winogradGroup = 4
	// fewColumns is the columns past whole vectors that are multiplied by themselves, in another order
	// of sums.
	fewColumns = 4
	// inputWork and outputWork are the tiles of a chunk of inputs and of outputs, a channel's and a group
	// of channels' each: some microseconds.
	inputWork  = 1 << 10
	outputWork = 1 << 8
	// perProduct is the cycles, sums excluded, of a product of a panel of filters and one of
	// tiles, of which groups of few channels have many. With vectors half as wide it saves
	// twice as much: groups of 16 channels take 0.67 of the time there.
	perProduct = 65
	// weightsCached is the bytes of weights that the estimate takes to come from a
	// cache: about a core's share of a last one.
	weightsCached = 4 << 20
)

// blockNear is the bytes of transformed inputs and sums of a block that stay in the second
// cache: five eighths, which leaves room for the panels of weights that pass.
func blockNear() int { return min(640<<10, cpu.Cache().L2/8*5) }

// blockFar is that of blocks for weights so many that reading them again costs more than
// bringing inputs and sums from the last cache, three eighths of which they take. Without
// one they come from memory once, as weights would for each block.
func blockFar() int { return min(12<<20, max(cpu.Cache().L3/8*3, 4*cpu.Cache().L2)) }

// The gradient of a weight sums over tiles; what cuts its sums follows from sizes alone.
const (
	// gradChunk is the floats of a panel of channels that are laid out at a time.
	gradChunk = 32 << 10
	// gradBlock is the tiles of a block, times the channels of both sides, at least: their
	// transforms stay in a last cache. Where there are more sums than that, which each block
	// reads and writes, it is those.
	gradBlock = 20 << 10
	// gradDepth is the tiles of a product: a panel of patches of so many stays in the first cache.
	gradDepth = 192
	// gradHeight is the panels of filters whose sums stay in the second cache until they are
	// turned back.
	gradHeight = 8
	// gradFilters is the filters that are turned back at a time.
	gradFilters = 4
	// perTile, perTaps and perWeight are cycles: of a vector of channels that is laid out and
	// transformed, of one of filters that is turned back and stored, and of an element of direct
	// sums that is stored.
	perTile, perTaps, perWeight = 320, 200, 5
)

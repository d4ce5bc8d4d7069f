package move

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Copies give the same in any order, and past the caches or not.

// Grain is the number of elements below which what reads each of them once stays on one thread.
const Grain = 1 << 15

// copied is that of a copy, whose operands other threads have just written: they come at the rate
// at which processors hand lines over, some microseconds for so many.
const copied = 1 << 13

// StreamBytes is the size from which results are written past the caches: a quarter of the
// last one, which also holds their operands and the next step's operands. A step that
// reads more does not find it there anyway. It is all of the second cache if that is the
// last.
func StreamBytes() int { return min(8<<20, max(cpu.Cache().L3/4, cpu.Cache().L2)) }

// The loops of assembly.
const (
	moveLine   = 64   // bytes of a line of the cache
	Turn       = 256  // bytes of a turn of the loops that stream
	longRow    = 2048 // bytes from which a row is copied by itself: a call is a small part of it
	leastPairs = 16   // bytes of a row of which pairs are made: half a register
	page       = 4096 // bytes apart, rows share the sets of a cache
)

// Transposition.
const (
	// tileBlocks is the number of blocks, down and across, of a tile: its rows lie on
	// few enough pages for their translations to be at hand.
	tileBlocks = 16
	// tileRows is the number of blocks of rows that are done across a whole tile.
	tileRows = 4
	// tilePast is the number of rows of a tile that goes past the caches, and of its
	// blocks: memory takes pieces of a page from 256 bytes on as well as any.
	tilePast = 64
)

// streamTile is the size in bytes from which matrices go past the caches whose rows all
// compete for the same places there: that of the second one.
func streamTile() int { return min(1<<20, cpu.Cache().L2) }

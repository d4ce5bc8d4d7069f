package par

import (
	"math/bits"
	"sync/atomic"
)

// MostSlots is how many slots there are at most.
const MostSlots = 64

// Slots are numbers of pieces of memory that goroutines take while they work on a chunk.
type Slots struct{ taken atomic.Uint64 }

// Take returns a free slot: the one that is wanted if it is free, so that a goroutine that
// comes back finds what it left there, else the first one. No more than MostSlots goroutines
// may have slots at a time.
func (s *Slots) Take(want int) int {
	for {
		m := s.taken.Load()
		slot := want
		if m>>want&1 != 0 {
			slot = bits.TrailingZeros64(^m)
		}
		if slot < MostSlots && s.taken.CompareAndSwap(m, m|1<<slot) {
			return slot
		}
	}
}

// Give gives a slot back.
func (s *Slots) Give(slot int) { s.taken.And(^(uint64(1) << slot)) }

// Within is Parallel on at most so many goroutines.
func (w *Workspace) Within(most, n, grain int, j Job) {
	threads := w.Threads
	defer func() { w.Threads = threads }()
	w.Threads = min(threads, most)
	w.Parallel(n, grain, j)
}

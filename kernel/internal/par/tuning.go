package par

import "time"

// Nothing of this family follows from caches: handing work over takes the same time
// on machines of all sizes.

// The size of one chunk of parallel work, such that handing it over, half a
// microsecond to two, is a small part of its time: multiplications, and
// elements that are packed or moved, in Go and where assembly does them.
const (
	GemmWork = 1 << 17
	PackWork = 1 << 13
	SimdWork = 1 << 18
	SimdPack = 1 << 14
)

const (
	// line is the size of a cache line, or of two that are fetched together. The
	// results of different processors lie on different ones: handing one over takes
	// some tenths of a microsecond.
	line = 128
	// fewChunks for each goroutine are made a multiple of the goroutines: one more or
	// less then matters.
	fewChunks = 8
	// longChunk is the length from which on chunks begin at multiples of 64, so that
	// vectors stay aligned.
	longChunk = 4096
	// lookEvery is the number of calls after which a caller looks where it runs and
	// with how many others, which takes as long as handing over a cache line.
	lookEvery = 32
	// awaitRounds is how long await looks: rounds of a pause of about a tenth of a
	// microsecond to one, longer than the pause between the steps of a network.
	awaitRounds = 600
	// quickLooks is how often a goroutine looks for the end of a round before it pauses: goroutines
	// with parts of equal size end some tenths of a microsecond apart.
	quickLooks = 256
)

// restTime is how long a goroutine rests that has waited for a part for the time of awaitRounds:
// other programs have the processor of who does it.
const restTime = 20 * time.Microsecond

package attention

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Where keys are cut decides when a softmax is corrected, and so how it is rounded: all
// sizes are fixed for a level, small enough for the caches of any processor.

const (
	// attentionKeys is the keys of a block. With 64 elements each, a block of keys and
	// the scores of 32 queries, 24 KiB, stay in a first cache of 32 KiB.
	attentionKeys = 64
	// attentionPad is the elements that rows of results are padded to.
	attentionPad = 16
	// attentionFew is the number of queries up to which lanes would be wasted: the
	// rows of keys are multiplied with rows of queries instead, and memory sets the
	// pace, as where one token at a time meets the keys of those before.
	attentionFew = 4
)

// attentionLanes is the number of queries of a block: two vectors, so that a tile has
// sums enough to hide how long each takes.
func attentionLanes(l cpu.Level) int {
	switch l {
	case cpu.AVX512:
		return 32
	case cpu.AVX2:
		return 16
	}
	return 8
}

package rnn

// The products of a step have the sizes of package gemm; nothing else follows from caches.
const (
	// DotsGroup is the rows of the weight that belong together: as many sums as hide how
	// long each takes.
	DotsGroup = 8
	// cellWork is the states of one chunk of parallel work: some microseconds of exponentials.
	cellWork = 2048
)

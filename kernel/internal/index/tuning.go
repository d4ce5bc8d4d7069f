package index

// Sorting gives the same by either way; both read keys in order, which caches of any
// size serve.
const (
	// radixLen is the length from which keys are sorted by their digits: counting 256
	// values of each takes less than comparing.
	radixLen = 512
	// mergeRun is the length of runs that are sorted by insertion.
	mergeRun = 12
)

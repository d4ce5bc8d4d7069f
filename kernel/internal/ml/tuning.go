package ml

const (
	// sums is how many sums of leaves are held at once, 8 KiB of stack: a quarter of a
	// first cache, which the nodes of a tree share with them.
	sums = 1024
	// blockRows is the most rows that pass through a tree together, so that they share
	// the time that the tree takes to come from memory; their features stay in the second
	// cache.
	blockRows = 256
	// parts is how many chunks each goroutine gets: a few, since each reads all trees.
	parts = 2
	// visits is the number of visited leaves from which on another goroutine is worth
	// waking: each takes several nodes, of about ten nanoseconds.
	visits = 512
)

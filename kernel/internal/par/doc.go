// Package par holds what all steps share: the interfaces of steps, scratch memory
// (Workspace), and the goroutines that a call borrows (Parallel).
//
// Work is cut into chunks whose sizes follow from what they compute (tuning.go), so
// that handing one over, half a microsecond to two, is a small part of its time.
// Each goroutine has its own part of the chunks and then takes from those of others;
// the results of different processors lie on different pairs of cache lines. Results
// do not depend on where a range is cut. Read parallel.go first.
package par

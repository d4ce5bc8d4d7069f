// Package simplify holds the passes that every graph profits from, whatever its
// operators: removing what is unused, merging what is computed twice, folding
// constants, bringing calls into one spelling, and expanding composite operators.
//
// They come between capture and everything that matches or lowers; lowering runs
// functionalize, decompose and dead code from here as well, so that there is one
// meaning of each. They treat operators by their records and name none, and know
// nothing of targets but what a caller wants kept. Read dce.go first, the shortest,
// then functionalize.go.
package simplify

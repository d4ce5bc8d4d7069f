// Package simplify holds the passes that help every graph:
// they remove unused nodes, merge repeated calls, fold constants,
// bring calls into one spelling, and expand composite operators.
//
// They run between capture and the passes and targets that match or lower; lowering runs
// functionalize, decompose and dead code from here as well, so that there is one
// meaning of each. They treat operators by their records and name none, and know
// nothing of targets, except which calls a caller wants to keep. Read dce.go first, the shortest,
// then functionalize.go.
package simplify

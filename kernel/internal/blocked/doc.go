// Package blocked convolves and pools images whose channels lie in blocks of sixteen, a
// layout
// like oneDNN's nChw16c: no patches, no tails, no transposition. A tile of positions by
// blocks of output channels is accumulated in registers while the taps of a block of
// input channels are read where they lie. Multiply-adds bound it. Read blocked.go first.
package blocked

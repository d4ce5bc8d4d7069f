// Package blocked convolves and pools images whose channels lie in blocks of sixteen,
// a layout like oneDNN's nChw16c (Georganas et al., "Anatomy of High-Performance Deep
// Learning Convolutions on SIMD Architectures", 2018): no patches, no tails of
// channels, no transposition.
//
// A tile of positions by one to three blocks of output channels is accumulated in
// registers while the taps of a block of input channels are read where they lie, from
// the first cache; weights are read again for every tile from the second, or the order
// of the loops is turned round where it would not hold them. Multiply-adds bound
// convolutions, memory bounds pools and depthwise filters. Read blocked.go first.
package blocked

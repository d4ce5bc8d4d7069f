// Package conv computes convolutions and transposed ones over images [N, C, spatial...].
//
// A packed weight chooses its way by the sizes of the image: Winograd's tiles, tiles of
// positions by channels that read the input where it lies (rows.go), spans for short
// sums (span.go), else the implicit product: patches are packed panel by panel by
// package gemm and never laid out in full. Depthwise filters of 3x3 and 5x5 keep seven
// output rows in registers and read each input row once. Most are bound by
// multiply-adds, depthwise ones and 1x1 maps by memory. Read conv.go first.
package conv

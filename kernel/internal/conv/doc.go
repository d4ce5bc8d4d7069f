// Package conv computes convolutions and transposed ones over images [N, C,
// spatial...].
//
// A packed weight chooses its way by the sizes of the image: Winograd's tiles, tiles
// of positions by channels that read the input where it lies (rows.go), spans for
// short sums (span.go), matrix-vector products for the smallest maps, else the
// implicit product: patches are packed panel by panel by package gemm and never laid
// out in full. A tile of a depthwise filter of 3x3 or 5x5 keeps up to seven output
// rows in registers and reads each of its input rows once. Most are bound by
// multiply-adds, depthwise ones and the smallest maps by memory. Read conv.go first.
package conv

// Package resize computes images of other sizes, by neighbours, linearly or cubically
// (Keys, "Cubic convolution interpolation for digital image processing", 1981), axis
// by axis, and samples images on a grid. Positions and weights of an axis are computed
// once and serve every row. Memory bounds it, or the latency of scattered reads. Read
// resize.go first.
package resize

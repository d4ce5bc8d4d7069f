// Package winograd convolves 3x3 filters of stride 1 by F(2x2,3x3) and F(4x4,3x3)
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015), the
// latter at the points 0, ±0.625, ±1.5 and infinity.
//
// Filters are transformed when weights are packed. A block of tiles is transformed,
// multiplied position by position and transformed back while it is in a core's cache
// (blockNear), or in a larger block where weights are many (blockFar). Lanes are
// tiles. The products bound it where channels are many, the transforms where they are
// few. Read winograd.go first.
//
// The gradient of a convolution by its weight has the transforms of F(4x4,3x3) turned
// round (grad.go). Lanes are channels there, and products sum over tiles.
package winograd

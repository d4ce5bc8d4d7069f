// Package pool computes the greatest and the mean of windows. Square windows of 2 and
// 3 that move by one or two slide as package geom plans, a tile of output rows in
// registers; means of whole planes are summed four planes at a time. Memory bounds it.
// Read pool.go first.
package pool

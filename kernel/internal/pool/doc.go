// Package pool computes the greatest and the mean of windows. Windows of 2x2 and 3x3 slide
// as
// package geom plans; means of whole planes are summed four planes at a time. Memory
// bounds it. Read pool.go first.
package pool

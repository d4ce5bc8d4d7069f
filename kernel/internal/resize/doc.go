// Package resize computes images of other sizes, by neighbours, linearly or cubically,
// axis by
// axis, and samples images on a grid. Read resize.go first.
package resize

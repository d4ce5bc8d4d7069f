// Package geom describes windows that slide over up to three spatial dimensions, for
// convolutions and pools alike, and the plans by which assembly slides small ones:
// which rows and columns a tile of at most seven output rows reads, and masks for its
// ends. It computes sizes alone; other packages do the sliding. Read geom.go first.
package geom

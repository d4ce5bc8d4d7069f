// Package geom describes windows that slide over up to three spatial dimensions, for
// convolutions and pools alike, and the plans by which assembly slides small ones:
// which rows and columns a tile of seven output rows reads, and masks for its ends. Read
// geom.go first.
package geom

// Package move copies elements from one layout to another: views, copies, transposes,
// joins, splits, pads and fills, and brings operands into order and type for others.
//
// A copy is a nest of loops over the dimensions of both layouts, merged and sorted so
// that the innermost is the longest run. Transposes go by tiles that registers hold,
// in blocks of rows. Copies that no cache holds are written past the caches. Memory
// bounds them. Read core.go first.
package move

// Package index reads and writes elements by indices (gather, scatter, embedding), sorts
// and
// takes the greatest k. Memory bounds the first; sorting is by radix where rows are long.
// Read index.go first.
package index

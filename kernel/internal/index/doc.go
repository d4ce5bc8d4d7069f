// Package index reads and writes elements by indices (gather, scatter, embedding),
// sorts and takes the greatest k. Rows of 512 keys and more are sorted by radix, a
// byte at a time from the lowest, shorter ones by merging. Memory bounds all of it:
// the latency of scattered reads, the passes over long rows. Read index.go first.
package index

// Package program runs scalar programs over arrays (Elementwise, ElementwiseReduce): block
// by
// block in Go, or strip by strip by the machine of package vmath, which keeps values in
// registers across operations. What a program gives is reduced while a cache holds it.
// Short programs are bound by memory. Read program.go first.
package program

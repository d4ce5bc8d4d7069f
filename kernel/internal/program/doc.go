// Package program runs scalar programs over arrays (Elementwise, ElementwiseReduce):
// block by block in Go, or strip by strip (64 or 128 elements) by the machine of
// package vmath. The value computed last stays in registers, others that are still
// wanted in strips that the first cache holds; operands and results pass through
// memory once. Results of a program are reduced while a cache holds them. Short
// programs are bound by memory, long ones by arithmetic. Read program.go first.
package program

// Package form has the pieces of a quantised graph that passes/quant writes and
// passes/quant/integer reads: weights of 4 bits as floats, weights with their axes
// exchanged, and the recurrent operators that quantise their states.
//
// Each piece has its writer and its reader next to each other. What is written where
// is the plan's affair, in passes/quant.
//
// Read fourbits.go first, which has the largest of them.
package form

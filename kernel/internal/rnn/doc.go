// Package rnn computes recurrent layers: LSTM, GRU and plain ones, in one direction or
// both.
// The inputs of all steps are multiplied at once; each step then multiplies the state
// and computes the cell while its gates are in registers or in the first cache. Small
// batches are bound by reading the recurrent weights at each step. Read rnn.go first.
package rnn

// Package rnn computes recurrent layers: LSTM, GRU and plain ones, in one direction or
// both (papers stand at each step).
//
// The inputs of all steps are multiplied at once; each step then adds the products of
// the state to its gates and computes the cell in one pass over them, while a near
// cache holds the product's results. The recurrent weight is read where it lies for
// one row, on one thread every other step from its end, which is still in a cache;
// several rows multiply it packed. Small batches are bound by reading it at each step,
// large ones by multiply-adds.
//
// Several goroutines stay together for all steps of a layer (together.go): each has units of
// the state, with their sums and cells, and a step ends once. Where units cannot be shared so,
// a step shares its products and then the entries of its batch.
//
// For training an LSTM's layer keeps gates and cells (layer.go), and its gradient goes back
// through the steps (back.go). Read rnn.go first.
package rnn

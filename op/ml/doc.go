// Package ml has the operators of classical machine learning that op/std cannot say:
// ensembles of decision trees, and the coupling of pairwise probabilities. What else
// models of that kind compute, scalings, linear models, support vectors, is written with
// op/std where such models are read (package onnx, docs/onnx.md).
//
// It stands beside op/std, above op, and is a catalogue like it: an operator is one entry
// in one file. No engine imports it; package onnx does, so that whatever reads models has
// the operators. Go code calls them with tensor.CallOp. Read trees.go first.
package ml

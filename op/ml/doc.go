// Package ml has the operators of classical machine learning that op/std
// cannot express: ensembles of decision trees, and the coupling of pairwise
// probabilities. The importer of such models (package onnx, docs/onnx.md) writes the
// rest with op/std: scalings, linear models, support vectors.
//
// It stands next to op/std, above op, and is a catalogue like it: an operator is one entry
// in one file. No engine imports it. Package onnx does, so that every reader of models
// has the operators. Go code calls them with tensor.CallOp. Read trees.go first.
package ml

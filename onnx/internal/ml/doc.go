// Package ml holds the rules of operators of the domain ai.onnx.ml: trees, support vector
// machines, linear models and what prepares their inputs. They write op/ml's operators and
// those of op/std.
//
// Read ml.go first (Rules).
package ml

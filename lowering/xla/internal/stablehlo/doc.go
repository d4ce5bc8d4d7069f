// Package stablehlo holds programs of the StableHLO dialect as data: operations,
// types, attributes, regions. It prints and parses MLIR's generic form of them, and
// verifies the constraints that the specification puts on shapes and attributes.
//
// It stands below package xla, whose emitter builds programs with a Builder, and
// next to internal/eval, which runs them. It knows the operations that the emitter
// uses, which the table of specs.go lists, of static shapes; it knows nothing of
// graphs and optimises nothing. Read program.go first, then specs.go.
//
// Ref: OpenXLA, StableHLO Specification (v1); MLIR Language Reference.
package stablehlo

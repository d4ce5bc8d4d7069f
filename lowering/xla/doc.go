// Package xla turns graphs into StableHLO programs, which XLA and its relatives compile
// for CPUs, GPUs and TPUs: Emit gives the text of a module, Supports says whether a
// call can be part of one.
//
// It stands next to lowering/cpu and begins in the same way, with lowering.Prepare
// and Legalize, to which it gives the table of package expand. rules.go has a rule for
// each operator that the dialect has itself; elementwise ones follow from their scalar
// expressions, cond, while and scan become the dialect's own, and all others are expanded.
// Sizes are numbers: symbols are pinned by Options.Shapes first, or have a bound
// (bounded.go). A graph may be laid out over many partitions (shard.go).
// internal/stablehlo holds programs as data and verifies them, internal/eval is the
// reference that tests run them with.
//
// Target compiles and runs programs through a PJRT plugin (package pjrt below this one),
// where one is installed; this repository contains no compiler.
// Read emit.go first, then rules.go; target.go, variant.go and place.go for running.
//
// Ref: OpenXLA, StableHLO Specification (v1).
package xla

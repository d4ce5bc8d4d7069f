// Package measure chooses between implementations of a plan's steps by running them, where their estimates
// are close and lowering.Options.Measure grants it. A choice is made once in a process, and kept for later ones.
//
// It stands above lowering and lowering/plan, below lowering/cpu. It names no operator: a kernel tells what ways it has
// (kernel.Chooser). It changes plans, never arrays of a model: ways run on memory of its own. Read choose.go first, then trial.go, which
// measures, and entry.go, which has what is kept.
package measure

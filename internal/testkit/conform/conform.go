package conform

import (
	"cmp"
	"slices"

	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/ml" // the operators
	_ "github.com/gofx-dev/gofx/op/std"
)

//go:generate go test . -run ^TestDocIsWhatTheEnginesDo$ -count=1 -timeout 30m -update

// The engines, in the order of the table.
const (
	Eager  = "eager"  // calls on tensors that run at once
	Interp = "interp" // a traced graph, interpreted node by node
	Text   = "text"   // the graph printed, parsed and interpreted
	Plan   = "plan"   // lowered to the cpu target and executed
	Module = "module" // printed as Go over tensors, compiled and run
	Gen    = "gen"    // printed as Go over kernels, compiled and run
)

// Engines are all of them.
var Engines = []string{Eager, Interp, Text, Plan, Module, Gen}

// The targets, whose results for the operators that they take are compared after those
// of the engines.
const (
	GPU       = "gpu"
	StableHLO = "stablehlo"
)

// Targets are all of them.
var Targets = []string{GPU, StableHLO}

// machineLearning is the import path of the catalogue in op/ml.
const machineLearning = "github.com/gofx-dev/gofx/op/ml"

// Ops returns the operators of op, op/std and op/ml, sorted by name.
func Ops() []*op.Op {
	all := slices.DeleteFunc(op.All(), func(o *op.Op) bool { return o.Path != "" && o.Path != machineLearning || o.AdHoc })
	slices.SortFunc(all, func(a, b *op.Op) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Count returns how many samples of an operator every engine runs: its own, or
// the runs of its graph when it is structural.
func Count(o *op.Op) int {
	if g := StructuralGraph(o); g != nil {
		return len(g.Inputs())
	}
	return len(o.Samples())
}

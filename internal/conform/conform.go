// Package conform holds every operator to one meaning: each sample of each
// operator is run in every engine and compared with the operator's own
// evaluation on arrays, to the last bit. What an engine does not run is listed
// here with the code of its refusal and the cause; nothing is left out silently.
// The table is printed into docs/ops.md.
package conform

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std" // the operators
)

//go:generate go run ./gen

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

// Exclusion is an operator that an engine refuses.
type Exclusion struct {
	Op, Engine string
	Code       diag.Code // of the refusal
	Cause      string
}

// Exclusions lists all refusals.
var Exclusions = []Exclusion{
	{"assign", Gen, "FX4021", "kernel-style code has no state that changes"},
	{"cond", Gen, "FX4022", "kernel-style code is a straight line of steps"},
	{"while", Gen, "FX4022", "kernel-style code is a straight line of steps"},
	{"scan", Gen, "FX4022", "kernel-style code is a straight line of steps"},
}

// Excluded returns why an engine does not run an operator, nil when it does.
func Excluded(o *op.Op, engine string) *Exclusion {
	for i := range Exclusions {
		if e := &Exclusions[i]; e.Op == o.Name && e.Engine == engine && o.Path == "" {
			return e
		}
	}
	return nil
}

// Ops returns the operators of op and op/std, sorted by name.
func Ops() []*op.Op {
	all := slices.DeleteFunc(op.All(), func(o *op.Op) bool { return o.Path != "" || o.AdHoc })
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

// Doc returns docs/ops.md: in each cell the number of samples that the engine
// runs, or the code of its refusal.
func Doc() string {
	doc := opsDoc(Engines, func(o *op.Op, engine string) string {
		if e := Excluded(o, engine); e != nil {
			return string(e.Code)
		}
		return strconv.Itoa(Count(o))
	})
	doc += "\n## Engines\n\nThe tables tell how many sample calls each engine runs with the same result, or the code with which\n" +
		"it refuses the operator:\n\n| operator | engine | code | cause |\n|---|---|---|---|\n"
	for _, e := range Exclusions {
		doc += "| " + e.Op + " | " + e.Engine + " | " + string(e.Code) + " | " + e.Cause + " |\n"
	}
	return doc
}

// Package cpu is the target that runs graphs on this machine's processor: it
// turns a graph into a plan (package plan) and executes it. Operators are found
// in the table of rules.go, else by their own kernel or expression, else through
// their decomposition. The plan is data that code generation prints; what is
// particular to executing it in this process is in the Executable.
package cpu

import (
	"runtime"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
)

// Target is the cpu target. The zero value is ready to use.
type Target struct{}

// Name returns "cpu".
func (Target) Name() string { return name }

const name = "cpu"

// Supports implements lowering.Target.
func (Target) Supports(n *graph.Node) (ok bool, reason string) {
	if ok, why := direct(n); ok || n.Op() == nil || !n.Op().Composite() {
		return ok, why
	}
	m := lowering.Trial(n)
	if m == nil {
		return false, "an operand is a tuple"
	}
	if err := lowering.Legalize(m.Graph, name, direct); err != nil {
		var l diag.List
		l.Add(err)
		return false, l[0].Msg
	}
	return true, ""
}

// direct reports whether the builder can make steps of the call as it is.
func direct(n *graph.Node) (ok bool, reason string) {
	o := n.Op()
	if o == nil {
		return false, "nothing is known of the module"
	}
	if _, ok := rules.Find(n); ok {
		return true, ""
	}
	switch {
	case o == op.GetItem || o == op.Assign || o == op.Dim:
		return true, ""
	case o == op.Cond || o == op.While || o == op.Scan:
		return len(n.Regions()) > 0, "it has no regions"
	case o.AdHoc:
		return o.Host != nil, "the Go function is not linked into this program"
	case o.Composite():
		return false, "it is defined by other operators"
	}
	return !o.Structural(), "it has no kernel"
}

// Compile implements lowering.Target; the result is an *Executable.
func (t Target) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := Compile(m, o)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Compile plans the module and makes it ready to run. The module is not kept, but
// its arrays are, uncopied where a plan only reads them: parameters without values
// are an error. Options.Threads 0 stands for GOMAXPROCS; donated inputs are not
// overwritten by this target. The error lists everything in the way, positioned.
func Compile(m *graph.Module, o lowering.Options) (*Executable, error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	p, err := Plan(ready)
	if err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return newExecutable(p, m, ready.Graph.Inputs(), threads, nil)
}

// Plan makes the plan of a module that lowering.Prepare returned; it expands
// composite operators in it. The plan holds no arrays.
func Plan(ready *graph.Module) (*plan.Plan, error) {
	if err := lowering.Legalize(ready.Graph, name, direct); err != nil {
		return nil, err
	}
	return build(ready)
}

// weight returns the array of a weight buffer.
func weight(m *graph.Module, path string) (*array.Array, error) {
	p := m.Param(path)
	if p == nil || p.Value == nil {
		return nil, diag.New(interp.NoParam, "the module has no data for tensor "+path).WithHint("load the weights first")
	}
	return p.Value, nil
}

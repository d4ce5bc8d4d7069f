package cpu

import (
	"runtime"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/internal/measure"
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
	direct := direct(false)
	if ok, why := direct(n); ok || n.Op() == nil || !n.Op().Composite() {
		return ok, why
	}
	m := lowering.IsolateCall(n)
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

// direct returns what reports whether the builder can make steps of a call as it is.
func direct(exact bool) func(n *graph.Node) (ok bool, reason string) {
	return func(n *graph.Node) (bool, string) {
		if _, ok := find(n, exact); ok {
			return true, ""
		}
		return plannable(n)
	}
}

// plannable judges a call for which there is no rule.
func plannable(n *graph.Node) (ok bool, reason string) {
	o := n.Op()
	if o == nil {
		return false, "nothing is known of the module"
	}
	switch {
	case o == op.GetItem || o == op.Assign || o == op.Dim || o == op.Call && n.Callee() != nil:
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
// are an error. Options.Threads 0 stands for GOMAXPROCS. Elementwise steps write over
// donated inputs that nothing reads any more. The error lists everything in the way, positioned.
func Compile(m *graph.Module, o lowering.Options) (*Executable, error) {
	return compile(m, o, chooser)
}

// compile is Compile with the choices of c.
func compile(m *graph.Module, o lowering.Options, c *measure.Chooser) (*Executable, error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	var unplanned *graph.Module
	if len(ready.Graph.Symbols()) > 0 {
		unplanned = ready.WithGraph(ready.Graph.Clone())
	}
	p, err := chosen(ready, o, c)
	if err != nil {
		return nil, err
	}
	dropValues(ready)
	from, inputs := newSource(m), ready.Graph.Inputs()
	e, err := newExecutable(p, from, inputs, threads(o), o.MaxBytes, nil)
	if err == nil && gainsFromSizes(p) {
		e.special = &specialist{ready: unplanned, source: from, opts: o, inputs: inputs}
	}
	return e, err
}

// Plan makes the plan of a module that lowering.Prepare returned, for the same
// options; it expands composite operators in it. The plan holds no arrays, and is the same on every machine unless
// Options.Measure is on.
func Plan(ready *graph.Module, o lowering.Options) (*plan.Plan, error) {
	return chosen(ready, o, chooser)
}

// chosen is Plan with the choices of c.
func chosen(ready *graph.Module, o lowering.Options, c *measure.Chooser) (*plan.Plan, error) {
	p, err := planWithin(ready, o, nil, nil)
	if err == nil {
		c.Choose(p, o, threads(o))
	}
	return p, err
}

// chooser has what was measured in this process.
var chooser = measure.New(measure.Clock)

// threads is the most that a run uses.
func threads(o lowering.Options) int {
	if o.Threads == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return o.Threads
}

// planWithin is Plan for a graph within others, which write the tensors assigned; see
// build.
func planWithin(ready *graph.Module, o lowering.Options, assigned map[string]bool, images map[string][]int) (*plan.Plan, error) {
	if err := cutByValue(ready); err != nil {
		return nil, err
	}
	if err := lowering.Legalize(ready.Graph, name, direct(o.Exact)); err != nil {
		return nil, err
	}
	if err := lowering.Bound(ready.Graph, o); err != nil { // of what operators were expanded to
		return nil, err
	}
	return build(ready, o, assigned, images)
}

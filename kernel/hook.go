package kernel

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Hook is the caller's function for a model's side effects: it is called for each call of
// a Go function that returns nothing (a log line, a measurement), in the model's order.
// function is its import path and name; node is the call's name in the graph, in a
// repeated block after the path of the module; args are its operands, nil for absent
// ones. They may be strided, are valid until the hook returns, and must not be changed. A
// hook that panics ends the call with an error (CodeStep).
type Hook func(function, node string, args []*array.Array)

// Listen gives the call its hook, nil for none.
func (f *Frame) Listen(hook Hook) { f.hook = hook }

// Tell is the step of that name which calls a Go function of the model: the hook of the
// call is called for it, if there is one.
func (f *Frame) Tell(step, function string, args []*array.Array) {
	f.At(step)
	whole := f
	for whole.outer != nil {
		whole = whole.outer
	}
	if whole.hook != nil {
		whole.hook.call(function, f.scope+step, args)
	}
}

// call calls the hook, and panics with an error if that panics.
func (h Hook) call(function, node string, args []*array.Array) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *diag.Error:
			panic(r)
		case string:
			panic(diag.New(CodeStep, "the hook panicked: "+r).WithHint(hookHint))
		default:
			e := diag.New(CodeStep, "the hook panicked").WithHint(hookHint)
			e.Err, _ = r.(error)
			panic(e)
		}
	}()
	h(function, node, args)
}

const hookHint = "operands may be strided (array.Contiguous copies), nil where they are absent, and are gone after the hook has returned"

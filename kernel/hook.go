package kernel

import "github.com/gofx-dev/gofx/array"

// Hook is the caller's function for what a model does beside computing: it is called for
// each call of a Go function that returns nothing (a log line, a measurement), in the
// order of the model. function is its import path and name, node the name of the call
// with the module that it belongs to, args are its operands, nil for absent ones. They
// are of use until the hook returns, and are not to be changed.
type Hook func(function, node string, args []*array.Array)

// Listen gives the call its hook, nil for none. It is asked for after Begin.
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
		whole.hook(function, f.scope+step, args)
	}
}

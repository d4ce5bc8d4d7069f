package kernel

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// This file holds the parts of a call that the bodies of control flow share with it:
// its context, its scratch memory, and its position. Bodies have frames of their own.

// Enter begins the body within the call of outer.
func (f *Frame) Enter(outer *Frame) {
	if f.outer == nil && !slices.Contains(outer.bodies, f) {
		outer.bodies = append(outer.bodies, f)
	}
	f.outer, outer.inner = outer, f
	f.ctx, f.dry = outer.ctx, outer.dry
	f.scope, f.step = outer.scope, outer.step
	f.poll()
}

// Leave ends the body and forgets its context and operands; the memory is kept.
func (f *Frame) Leave() {
	f.End()
	f.outer.inner = nil
}

// workspace is that of the whole call.
func (f *Frame) workspace() *Workspace {
	for f.outer != nil {
		f = f.outer
	}
	return &f.work
}

// Ahead lays a body out before it is known whether the call will enter it, so that
// calls of the same sizes do not allocate whatever they compute. If the sizes are
// such that the body is never entered and cannot be laid out, Enter finds it not
// Ready and reports the error.
func (f *Frame) Ahead(body *Frame, layout func()) {
	defer func() {
		if recover() != nil {
			body.arena, body.size, body.need, body.bodies = nil, 0, 0, nil
			f.inner = nil
		}
	}()
	if !slices.Contains(f.bodies, body) {
		f.bodies = append(f.bodies, body)
	}
	layout()
	f.Need(body.need)
}

// True begins the step of that name, which chooses by the one element of a bool array.
func (f *Frame) True(step string, a *array.Array) bool {
	f.At(step)
	return Truth(a)
}

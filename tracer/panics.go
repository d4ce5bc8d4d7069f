package tracer

import (
	"iter"
	"runtime"

	"github.com/gofx-dev/gofx/diag"
)

// panicPos returns the innermost user frame of a panic that is being recovered.
func panicPos() diag.Pos {
	for pos := range panicFrames() {
		return pos
	}
	return diag.Pos{}
}

// panicFrames are the lines of the model's code that a deferred function is run for, the
// innermost one first.
func panicFrames() iter.Seq[diag.Pos] {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	return func(yield func(diag.Pos) bool) {
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if diag.UserCode(f.Function, f.File) && !yield(diag.Pos{File: f.File, Line: f.Line, Func: f.Function}) {
				return
			}
		}
	}
}

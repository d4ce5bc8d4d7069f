package kernel

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// CPU names what this process uses of its processor: "generic" for Go alone, "neon",
// "avx2" or "avx512", and behind a blank the extensions that it uses beside.
func CPU() string {
	return cpu.CPU()
}

// What every step has to do with: its interfaces, scratch memory, jobs.
type (
	// Job is work over an index range that Parallel cuts into chunks.
	Job = par.Job

	// Step is one kernel call with its attributes baked in: a plain struct whose Go
	// literal code generation can print.
	Step = par.Step

	// Viewer is a Step whose results are views of its first input: View makes dst
	// (headers of the results' types to overwrite) describe them over in[0]'s storage
	// and reports true; it reports false when this layout needs a copy (then Run is
	// called).
	Viewer = par.Viewer

	// PartialViewer is a Viewer that reports false for some layouts.
	PartialViewer = par.PartialViewer

	// Scratcher is a Step that takes scratch memory from its workspace.
	Scratcher = par.Scratcher

	// Overwriter is a Step whose result may lie where an operand lies.
	Overwriter = par.Overwriter

	// Packer is a Step that lays in[0], a weight, out for the processor that runs it.
	Packer = par.Packer

	// Workspace is the per-call state of kernels: scratch memory and the number of
	// threads a call may use.
	Workspace = par.Workspace
)

// Scratch returns n elements of scratch with unspecified contents, aligned to
// array.Align and valid until they are released.
func Scratch[T array.Elem](w *Workspace, n int) []T {
	return par.Scratch[T](w, n)
}

// Pack returns the weight as k lays it out for this processor.
func Pack(w *Workspace, k Packer, weight *array.Array) *array.Array {
	d, shape := k.Packed(weight)
	packed := array.New(d, shape...)
	k.Run(w, []*array.Array{packed}, []*array.Array{weight})
	return packed
}

package par

import "github.com/gofx-dev/gofx/array"

// Step is one kernel call with its attributes baked in: a plain struct whose Go
// literal code generation can print. Shapes come from the arrays at run time,
// so one step serves every size of a symbolic dimension.
//
// The caller gives outputs of the right type and shape, contiguous and not overlapping any input,
// except an Overwriter's. Inputs may be strided; an absent optional input is nil. Run panics on
// operands that its operator's type rule would have refused.
//
//gofx:kernel
type Step interface {
	Run(w *Workspace, out, in []*array.Array)
}

// Viewer is a Step whose results are views of its first input: View makes dst
// (headers of the results' types to overwrite) describe them over in[0]'s storage
// and reports true; it reports false when this layout needs a copy (then Run is
// called).
//
//gofx:kernel
type Viewer interface {
	Step
	View(dst, in []*array.Array) bool
}

// PartialViewer is a Viewer that reports false for some layouts. Others have a
// view of every operand.
//
//gofx:kernel
type PartialViewer interface {
	Viewer
	// Copies is never called: it marks the step.
	Copies()
}

// Scratcher is a Step that takes scratch memory from its workspace.
//
//gofx:kernel
type Scratcher interface {
	Step
	// ScratchBytes returns the most scratch that Run takes for these operands.
	ScratchBytes(out, in []*array.Array) int
}

// Sizer is a Step whose results have sizes that depend on the values of its inputs.
//
//gofx:kernel
type Sizer interface {
	Step
	// Sizes stores the shapes of the results, in their order, in lists that are as long as
	// the results have dimensions; the caller gives outputs of these.
	Sizes(shapes [][]int, in []*array.Array)
}

// Packer is a Step that lays in[0], a weight, out for the processor that runs it,
// or narrower than it is. It is run when weights are loaded; its result may be of no
// use to another processor.
//
//gofx:kernel
type Packer interface {
	Step
	// Packed returns the element type and the shape of the result.
	Packed(weight *array.Array) (d array.DType, shape []int)
}

// Way is one of several implementations of a step.
//
//gofx:kernel
type Way struct {
	Name   string
	Cycles float64 // an estimate, to be compared with those of the other ways
	Step   Step    // a pointer
	Pack   Packer  // of the weight, for Step
}

// Chooser is a Step with a packed weight, its second operand, that may be computed in several ways, with
// the same bounds of errors.
//
//gofx:kernel
type Chooser interface {
	Step
	// Ways returns the ways that this processor has, for a first operand of the shape x and a weight of the
	// shape that the model has it in: what sizes choose comes first, as the step itself has it. There are
	// none where sizes decide alone.
	Ways(x, weight []int) []Way
}

// Updater is a Step whose result may lie exactly where its first operand lies, if that is
// contiguous: it then writes what changes, and copies nothing.
//
//gofx:kernel
type Updater interface {
	Step
	// Updates is never called: it marks the step.
	Updates()
}

// Overwriter is a Step whose results may lie exactly where contiguous operands of their
// types and sizes lie: it reads element i of such an operand before it writes element i
// of the result, and not afterwards.
//
//gofx:kernel
type Overwriter interface {
	Step
	// Overwrites reports whether result out may lie where operand in does.
	Overwrites(out, in int) bool
}

// Indexer is a Step that refuses indices that are no place along a dimension of another
// operand, and nothing else.
//
//gofx:kernel
type Indexer interface {
	Step
	// Indexes returns the operand that holds indices, and of which operand, along which
	// dimension, they are.
	Indexes() (index, of, dim int)
}

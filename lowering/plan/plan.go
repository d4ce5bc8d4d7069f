package plan

import (
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Kind says where a buffer's memory is.
type Kind uint8

// The kinds of buffer.
const (
	Input  Kind = iota // the caller's
	Output             // the caller's, or made for it
	Weight             // the model's state; Path names it
	Temp               // in the arena, at Offset
	View               // in the buffer Of, laid out by a view step
	Sized              // memory that its step asks for when it has found the size
)

// String returns the lower-case name of the kind.
func (k Kind) String() string {
	return [...]string{"input", "output", "weight", "temp", "view", "sized"}[k]
}

// Buffer is one array of a plan. Its element type and rank are known; its sizes
// may be expressions over the plan's symbols.
type Buffer struct {
	Name string // unique; from the node's name
	Kind Kind
	Type shape.Type
	Path string // Weight: where in the state
	// Pack is what a Weight is laid out by when it is loaded, nil where steps read it
	// as it is. Type is then that of the weight before; steps get a vector, of which
	// only the processor knows the length. Weights of one path may be packed in
	// several ways.
	Pack kernel.Packer
	// Below is, of a Weight of integers that no step writes, more than each of them, none of which
	// is negative; 0 where that is not known.
	Below int
	Of    int // View, or Within: the buffer it lies in
	// Late tells of a Sized buffer, and of an Output that follows from one, that its sizes
	// are not known before a step has run. A call of control flow (Control.Late) makes
	// the latter. Most are sizes that it never goes beyond, of a Sized one, where such
	// are known.
	Late bool
	Most shape.Dims
	// Donated tells of an Input that steps may overwrite it once nothing reads it.
	Donated bool
	// Updated tells of an Input that it becomes a result: a step writes that there after everything has
	// read what was given, see UpdateState.
	Updated bool
	// Within tells of a Temp that it has no memory of its own but lies in that of Of,
	// contiguous, At bytes from its beginning; see Share.
	Within bool
	At     shape.Dim
	// Offset is the place in the arena in bytes, a multiple of array.Align; an
	// expression when buffers of symbolic size come before it.
	Offset shape.Dim
	// Bytes is the buffer's size, rounded up to array.Align.
	Bytes shape.Dim
	// First and Last are the steps between which the buffer's memory is in use.
	First, Last int
}

// Step is one kernel call.
type Step struct {
	Kernel kernel.Step    // a pointer to a plain struct
	Sizes  []op.SizeField // fields of Kernel to be set when symbols are bound
	Out    []int          // buffers; -1 for a result that nobody uses
	In     []int          // buffers; -1 for absent operands
	// View tells that the step only lays out its results over In[0]: Kernel is a
	// kernel.Viewer, and nothing is computed.
	View bool

	// Joined tells of a concatenation that its operands lie in its result already:
	// nothing is done.
	Joined bool

	// Regions are the plans of a control-flow step's bodies, in the order of the
	// node's regions. Their inputs are the step's operands; see Operands.
	Regions []*Plan
	// Spare are Temp buffers that a loop works in: one for each carried value (that of its
	// result where each round changes it in its place, see Plan.Updates), and for
	// what a while tests.
	Spare []int

	// Nodes are the graph nodes that the step computes, Op what the user calls it,
	// for comments and profiles.
	Nodes []string
	Op    string
	// Part is what the step computes of Op, where Op is a composite that was expanded.
	Part string
	// Flops are the floating-point operations of the calls, as their operators count
	// them; unknown where one does not.
	Flops shape.Dim
	Scope graph.Scope
	Pos   diag.Pos
}

// Plan is a graph as steps over buffers.
type Plan struct {
	Name    string
	Buffers []Buffer
	Steps   []Step
	Inputs  []int // buffers, in the order of the placeholders
	// Names are what users call the inputs, where that is not the name of the buffer.
	Names []string
	// Defaults are the values of inputs that are not given, nil for inputs that must
	// be; there is one for each of Inputs.
	Defaults  []*array.Array
	Outputs   []int // Output and Updated buffers, in the order of the output node's operands
	Structure *graph.Structure
	Symbols   []guard.Symbol
	// Same are further symbols, of sizes that guards make of those in Symbols: types and
	// steps have none of them, only the guards that say so.
	Same []guard.Symbol
	// Guards are what is checked at entry besides the types of the inputs.
	Guards []guard.Need
	// Arena is the size in bytes of the memory of all Temp buffers.
	Arena shape.Dim
	// Stateful tells that steps write Weight buffers, so that runs must not overlap.
	Stateful bool
	// Measured are the steps of which implementations were compared, see lowering.Options.Measure.
	Measured []Measured
}

// Measured is a step that several implementations compute, of which one was chosen by measuring. Steps that
// read the same packed weight are computed alike.
type Measured struct {
	Nodes []string // that the step computes
	Ways  []Timed  // that were compared; what rules choose comes first
	// Chosen is which of Ways the step goes by.
	Chosen int
	// Stored tells that the choice was made before: by another program, or an earlier compilation of this one.
	Stored bool
}

// Timed is an implementation of a step.
type Timed struct {
	Name string        // of the kernel.Way
	Time time.Duration // the least of some runs; 0 where there was no time to measure
}

// Weights returns the indices of the weight buffers, in order.
func (p *Plan) Weights() []int {
	var w []int
	for i, b := range p.Buffers {
		if b.Kind == Weight {
			w = append(w, i)
		}
	}
	return w
}

package record

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Program is what an engine records into. B tells its blocks apart: the whole, and
// the code of each region.
type Program[V alias.Operand, B comparable] interface {
	// Block returns the block in which a value was made.
	Block(v V) B
	// At makes b the block in which calls are recorded from now on.
	At(b B)
	// Mark gives what is recorded next in the current block the position of the
	// tensor call that is being recorded.
	Mark()
	// Make records a call in the current block.
	Make(o *op.Op, attrs any, args []V) V
	// Recorded is told of every call that was made; c is the tensor call that it
	// stands for, nil for a call of the recorder's own.
	Recorded(v V, c *tensor.Call)
	// Builder records what inverses of views are made of.
	Builder() op.Builder
	// Item returns member i of a tuple, the value that there is already if there is
	// one; NewItem makes another one.
	Item(tuple V, i int) V
	NewItem(tuple V, i int) V
	// Tuple reports whether the value is a tuple, known by its type or by its call.
	Tuple(v V) bool
	// Loose reports whether a fresh result may be laid out other than in row-major
	// order.
	Loose(v V) bool
	// Input reports whether the value is memory of the caller's.
	Input(v V) bool
}

// Slot is where a program keeps a tensor from run to run, and reads it by name.
// Slots are comparable.
type Slot interface {
	// Name is the slot's name: the path of a tensor in a module.
	Name() string
	// Fixed reports whether runs never write it.
	Fixed() bool
	// Array returns what the slot holds; SetArray replaces it.
	Array() *array.Array
	SetArray(a *array.Array)
}

// Source is what an engine knows of eager tensors, what it allows, and how it
// reports what is wrong.
type Source[V alias.Operand, B comparable] interface {
	// Report is told of a mistake in what is recorded. The caller goes on.
	Report(err error)
	// Slot returns the slot of a tensor of the model's state, nil for others.
	Slot(x *tensor.Tensor) Slot
	// Load records a read of a slot in the current block.
	Load(s Slot) V
	// Reload is told that a slot, whose tensor v stands for in block b, is written by
	// runs: it returns what reads the slot there.
	Reload(b B, v V, s Slot) V
	// Constant makes a slot for the captured value of an eager tensor; nil when that
	// is refused, which has been reported.
	Constant(m *Memory[V, B]) Slot
	// Entered is told of an eager tensor that takes part from now on.
	Entered(m *Memory[V, B])
	// Observed is told that code is given the data of an eager tensor.
	Observed(m *Memory[V, B], what string)
	// MayWrite is asked before a storage is written by a call at pos; a refusal has
	// been reported.
	MayWrite(s *alias.Storage[V], what string, pos diag.Pos) bool
	// Wrote is told of a write to a storage.
	Wrote(m *Memory[V, B])
	// Lost reports a use of memory whose value is unknown since the write at written.
	Lost(what string, written diag.Pos)
	// Changed reports that Go code changed memory which the recorder has no way to
	// capture again.
	Changed(what string, m *Memory[V, B])
}

// Regions are the blocks of control flow in a program. An engine that runs control
// flow as it comes has none.
type Regions[V alias.Operand, B comparable] interface {
	// Open begins a block inside the current one.
	Open(name string) B
	// Run calls the user's function of a region.
	Run(f func())
	// Clash reports that another goroutine began or ended a region meanwhile.
	Clash()
	// Param adds a parameter to a block, after its others, named after a value.
	Param(b B, like V, t shape.Type) V
	// Place makes a parameter the i-th one of its block.
	Place(b B, param V, i int)
	// Replace makes the users of a value use another one; Drop takes a parameter out
	// that nothing uses.
	Replace(old, with V)
	Drop(param V)
	// Close ends a block with its results. outer are the values around it that the node
	// passes in last; their parameters become the block's last ones, in this order.
	// inner has the parameters, and the block makes those that are missing.
	Close(b B, results, outer []V, inner map[V]V)
	// Node records a call with blocks.
	Node(o *op.Op, attrs any, blocks []B, args []V) V
	// Returns is told, before anything is written, of memory from outside that a result of a call with blocks may be.
	Returns(s *alias.Storage[V])
	// Within reports whether a block is outer, or lies in it.
	Within(b, outer B) bool
	// Calls reports whether a module that the block calls reads a slot.
	Calls(b B, s Slot) bool
	// Keeps demands of a size that a block finds while it runs that it is d.
	Keeps(o *op.Op, v V, axis int, d shape.Dim)
}

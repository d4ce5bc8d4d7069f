package record

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Memory is what a recorder knows about a storage: the Of of alias.Storage. For the
// storage of an eager tensor it is also the tensor.Holder that the storage has.
type Memory[V alias.Operand, B comparable] struct {
	rec  *Recorder[V, B]
	home B        // in which the storage was made
	item *Item[V] // whose value the storage has, until it is used

	input  bool // the caller's memory
	viewed bool // a tensor of the engine is a place of it
	gone   bool // Forget has dropped it

	// Of an eager tensor:
	root     *tensor.Tensor
	slot     Slot         // read by name
	owner    bool         // part of the model's state
	local    bool         // made while recording
	dirty    atomic.Bool  // a write was recorded; others ask, see Dirty
	snapshot *array.Array // what the memory held when it was captured, where others can write to it
	used     *array.Array // what it held when a value was read of it, if others have written to it since
	mixed    bool         // Go code wrote to it in a region: it holds what one round leaves
	lifted   map[B]V
	given    diag.Pos          // where code took the memory
	free     func()            // gives up a tensor.Claim
	first    *alias.Storage[V] // with the values from before all recorded writes
	copied   bool              // the memory of such a first
	sum      uint64            // of a session's, when a write was recorded; see Sum
}

// memoryOf returns what is known of a storage that a recorder has made.
func memoryOf[V alias.Operand, B comparable](s *alias.Storage[V]) *Memory[V, B] {
	return s.Of.(*Memory[V, B])
}

// Engine implements tensor.Holder.
func (m *Memory[V, B]) Engine() tensor.Engine { return m.rec.engine }

// Dirty implements tensor.Holder.
func (m *Memory[V, B]) Dirty() bool { return m.dirty.Load() }

// Local implements tensor.Holder.
func (m *Memory[V, B]) Local() bool { return m.local }

// Observed implements tensor.Holder: memory that is handed out may change.
func (m *Memory[V, B]) Observed(_ *tensor.Tensor, what string) {
	m.rec.source.Observed(m, what)
	m.given = diag.Here()
	if what != "Data" && what != "Array" {
		return
	}
	if m.snapshot != nil {
		return
	}
	m.snapshot = array.Clone(m.Array())
	if m.slot != nil && !m.owner && m.slot.Array() == m.Array() {
		m.slot.SetArray(m.snapshot) // what was captured stays as it was
	}
}

// Input reports whether the storage is memory of the caller's.
func (m *Memory[V, B]) Input() bool { return m.input }

// Home returns the block in which the storage was made.
func (m *Memory[V, B]) Home() B { return m.home }

// Root returns the eager tensor that the storage is of, nil for a recorded value.
func (m *Memory[V, B]) Root() *tensor.Tensor { return m.root }

// Owner reports whether the tensor is part of the model's state.
func (m *Memory[V, B]) Owner() bool { return m.owner }

// Viewed reports whether tensors of the engine are places of the memory.
func (m *Memory[V, B]) Viewed() bool { return m.viewed }

// Shared reports whether others may write to the memory of an eager tensor.
func (m *Memory[V, B]) Shared() bool { return m.snapshot != nil }

// Slot returns where the program keeps the tensor, nil when it does not.
func (m *Memory[V, B]) Slot() Slot { return m.slot }

// Given returns where code took the memory of an eager tensor, no position when it
// did not.
func (m *Memory[V, B]) Given() diag.Pos { return m.given }

// Lifted returns what stands in a block for an eager tensor before recorded writes.
func (m *Memory[V, B]) Lifted(b B) V { return m.lifted[b] }

// Array returns the data of an eager tensor, as it was before recorded writes.
func (m *Memory[V, B]) Array() *array.Array { return m.root.Value().(*array.Array) }

// Captured returns the data that was captured of an eager tensor.
func (m *Memory[V, B]) Captured() *array.Array {
	if m.snapshot != nil {
		return m.snapshot
	}
	return m.Array()
}

// Changed reports whether somebody who had the memory wrote to it.
func (m *Memory[V, B]) Changed() bool {
	return m.snapshot != nil && !array.Equal(m.snapshot, m.Array())
}

var seed = maphash.MakeSeed()

// Sum tells whether Go code that has the memory as a slice writes to it; it is 0 for other memory.
func (m *Memory[V, B]) Sum() uint64 {
	if !m.Array().Storage().OfSlice() {
		return 0
	}
	return max(1, maphash.Bytes(seed, array.Bytes(array.Contiguous(m.Array()))))
}

// Overwritten reports whether Go code has written through a slice to memory of a session's after a write to it was
// recorded.
func (m *Memory[V, B]) Overwritten() bool { return m.sum != 0 && m.dirty.Load() && m.sum != m.Sum() }

// ReadAndChanged reports whether a value was read of memory of before, and others have written another one since, so that
// the next call would read that.
func (m *Memory[V, B]) ReadAndChanged() bool {
	if m.owner || m.local || m.root == nil {
		return false
	}
	was := m.used
	if was == nil && len(m.lifted) > 0 {
		was = m.snapshot
	}
	return was != nil && !array.Equal(was, m.Array())
}

// renew captures memory again that others have written to.
func (m *Memory[V, B]) renew(s *alias.Storage[V]) {
	if m.used == nil && len(m.lifted) > 0 {
		m.used = m.snapshot
	}
	m.snapshot, m.slot = array.Clone(m.Array()), nil
	clear(m.lifted)
	s.Version++
}

// byName reports whether regions read the memory by themselves: parameters and
// what recipes compute with. Other memory comes into loops through their parameters,
// because the body may write to it yet.
func (m *Memory[V, B]) byName() bool { return m.copied || m.owner && m.slot.Fixed() }

// before returns a storage that keeps the value from before all recorded writes.
func (m *Memory[V, B]) before(s *alias.Storage[V]) *alias.Storage[V] {
	if m.first == nil {
		m.first = &alias.Storage[V]{Header: s.Header, Of: &Memory[V, B]{rec: m.rec, home: m.home, item: m.item, input: m.input,
			root: m.root, slot: m.slot, owner: m.owner, local: m.local, snapshot: m.snapshot, given: m.given,
			copied: true, lifted: map[B]V{}}}
	}
	return m.first
}

// region returns the innermost region whose code made the storage, nil for none.
func (m *Memory[V, B]) region() *Region[V, B] {
	for r := m.rec.region; r != nil && m.local; r = r.outer {
		if m.Array().Storage().Born() > r.from {
			return r
		}
	}
	return nil
}

// ref returns the place of a tensor; nil when it is unusable, which has been
// reported. Recorded values get one only when they are viewed or written.
func (r *Recorder[V, B]) ref(x *tensor.Tensor) *alias.Ref[V] {
	var n, none V
	switch v := x.Value().(type) {
	case *alias.Ref[V]:
		return v
	case *array.Array:
		return r.Eager.eagerRef(x)
	case *Item[V]:
		p := alias.Whole(&alias.Storage[V]{Value: v.value, Loose: r.program.Loose(v.tuple),
			Of: &Memory[V, B]{rec: r, home: r.program.Block(v.tuple), item: v}})
		x.SetValue(p)
		return p
	case V:
		n = v
	}
	if n == none {
		return nil
	}
	p := alias.Whole(&alias.Storage[V]{Value: n, Loose: r.program.Loose(n), Of: &Memory[V, B]{rec: r, home: r.program.Block(n), input: r.program.Input(n)}})
	r.rounds.shows(p.Storage, n)
	x.SetValue(p)
	return p
}

// value returns what a storage holds, in the block where that was computed.
func (r *Recorder[V, B]) value(s *alias.Storage[V]) V {
	var none V
	if m := memoryOf[V, B](s); s.Value == none && m.item != nil {
		s.Value = r.itemOf(m.item)
	}
	return s.Value
}

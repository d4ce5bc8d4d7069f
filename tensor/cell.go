package tensor

import (
	"slices"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// cell is what several handles of one tensor share: who computes it and what it is.
type cell struct {
	first state                 // what the tensor was made with
	moved atomic.Pointer[moved] // the state since; nil while it is first

	made  *made         // how an eager tensor came about, nil when nothing is known
	read  atomic.Uint64 // when a value without a recipe was last computed from it
	fixed bool          // not trained, see Freeze
	baked bool          // computed from parameters in a way that no recipe tells
	param atomic.Bool
	wrote atomic.Pointer[diag.Pos] // where a parameter was last written in place
}

// state is who computes a tensor and what it is. There are three:
//
//	eager     eng is nil, val its array
//	recorded  eng has recorded how to compute it, val is eng's own
//	computed  eng has computed it, val is the array: reads need eng no more
//
// A move from one to another replaces the state as a whole, so that every goroutine sees
// an engine together with its value. Only val of a recorded one is replaced by itself,
// by its engine, which alone reads it.
type state struct {
	eng Engine
	val any
}

// moved is a state that a tensor was not made with.
type moved struct {
	state
	phase phase
}

// made is how an eager tensor came about.
type made struct {
	recipe *recipe // of a tensor made from parameters alone, or from nothing
	origin *Origin // of a view
}

// recipe returns how the tensor was made from parameters alone, nil for others.
func (c *cell) recipe() *recipe {
	if c.made == nil {
		return nil
	}
	return c.made.recipe
}

type phase uint8

const (
	eagerly phase = iota
	recorded
	computed
)

func (p phase) String() string { return [...]string{"eager", "recorded", "computed"}[p] }

// state returns the state that the tensor is in.
func (c *cell) state() (*state, phase) {
	switch m := c.moved.Load(); {
	case m != nil:
		return &m.state, m.phase
	case c.first.eng == nil:
		return &c.first, eagerly
	}
	return &c.first, recorded
}

// engine returns the engine that the tensor belongs to, nil for none.
func (c *cell) engine() Engine { return c.value().eng }

// value returns the state alone.
func (c *cell) value() *state {
	s, _ := c.state()
	return s
}

// array returns the data of a tensor that has some.
func (c *cell) array() *array.Array { return c.value().val.(*array.Array) }

// move brings the tensor from one of the states in from to another one. Two goroutines
// that move one tensor are a mistake of the engine's: the second finds another state.
func (x *Tensor) move(to moved, from ...phase) {
	for {
		old := x.c.moved.Load()
		now, in := x.c.state()
		legal := slices.Contains(from, in)
		if legal && now.eng != nil && to.eng != nil {
			legal = now.eng == to.eng // a tensor does not change hands
		}
		if !legal {
			panic(diag.Bug("a tensor that is " + in.String() + " cannot become " + to.phase.String() + " here"))
		}
		if to.phase == eagerly {
			to.val = now.val
		}
		if x.c.moved.CompareAndSwap(old, &to) {
			return
		}
	}
}

// SetRecorded makes the tensor a value that e has recorded: an eager one that joins a
// session, or one that e has computed and that is written again. Other goroutines see
// the old state or the new one. For engines only.
func (x *Tensor) SetRecorded(e Engine, value any) {
	x.move(moved{state{e, value}, recorded}, eagerly, computed)
}

// SetComputed gives the tensor the data that e has computed for it: from here on it is
// read without e, by any goroutine, and calls on it are still e's. An eager tensor that
// joins a session is computed already. For engines only.
func (x *Tensor) SetComputed(e Engine, a *array.Array) {
	x.move(moved{state{e, a}, computed}, eagerly, recorded)
}

// SetEager takes a computed tensor out of its engine, as the end of a session does. For
// engines only.
func (x *Tensor) SetEager() {
	x.move(moved{phase: eagerly}, computed)
}

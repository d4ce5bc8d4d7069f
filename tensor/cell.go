package tensor

import (
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// cell is what several handles of one tensor share: who computes it and what it is.
type cell struct {
	first state                 // what the tensor was made with
	moved atomic.Pointer[state] // the state since; nil while it is first

	recipe *recipe
	origin *Origin
	read   atomic.Uint64 // when a value without a recipe was last computed from it
	param  atomic.Bool
	wrote  atomic.Pointer[diag.Pos] // where a parameter was last written in place
}

// state is in which of three states a tensor is:
//
//	eager     eng is nil, val its array
//	recorded  eng has recorded how to compute it, val is eng's own
//	computed  eng has computed it, val is the array: reads need eng no more
//
// A move from one to another replaces the state as a whole, so that every goroutine sees
// an engine together with its value. Only val of a recorded one is replaced by itself,
// by its engine, which alone reads it.
type state struct {
	eng   Engine
	val   any
	phase phase
	baked bool // computed from parameters in a way that no recipe tells
}

type phase uint8

const (
	eagerly phase = iota
	recorded
	computed
)

func (p phase) String() string { return [...]string{"eager", "recorded", "computed"}[p] }

// state returns the state that the tensor is in.
func (c *cell) state() *state {
	if s := c.moved.Load(); s != nil {
		return s
	}
	return &c.first
}

// engine returns the engine that the tensor belongs to, nil for none.
func (c *cell) engine() Engine { return c.state().eng }

// array returns the data of a tensor that has some.
func (c *cell) array() *array.Array { return c.state().val.(*array.Array) }

// move brings the tensor from one of the states in from to another one. Two goroutines
// that move one tensor are a mistake of the engine's: the second finds another state.
func (x *Tensor) move(to state, from ...phase) {
	for {
		old := x.c.moved.Load()
		now := x.c.state()
		legal := false
		for _, p := range from {
			legal = legal || now.phase == p
		}
		if legal && now.eng != nil && to.eng != nil {
			legal = now.eng == to.eng // a tensor does not change hands
		}
		if !legal {
			panic(diag.Bug("a tensor that is " + now.phase.String() + " cannot become " + to.phase.String() + " here"))
		}
		to.baked = now.baked
		if x.c.moved.CompareAndSwap(old, &to) {
			return
		}
	}
}

// SetRecorded makes the tensor a value that e has recorded: an eager one that joins a
// session, or one that e has computed and that is written again. Other goroutines see
// the old state or the new one. For engines only.
func (x *Tensor) SetRecorded(e Engine, value any) {
	x.move(state{eng: e, val: value, phase: recorded}, eagerly, computed)
}

// SetComputed gives the tensor the data that e has computed for it: from here on it is
// read without e, by any goroutine, and calls on it are still e's. An eager tensor that
// joins a session is computed already. For engines only.
func (x *Tensor) SetComputed(e Engine, a *array.Array) {
	x.move(state{eng: e, val: a, phase: computed}, eagerly, recorded)
}

// SetEager takes a computed tensor out of its engine, as the end of a session does. For
// engines only.
func (x *Tensor) SetEager() {
	x.move(state{val: x.c.state().val, phase: eagerly}, computed)
}

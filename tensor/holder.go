package tensor

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Holder is what an engine that records leaves on the storage of an eager tensor
// that a recorded call has used: from then on it is told what happens to it.
// Implementations are comparable.
type Holder interface {
	// Engine returns the engine.
	Engine() Engine
	// Dirty reports whether a write to the storage was recorded. Its value is then
	// the engine's: the memory still has that of before the write.
	Dirty() bool
	// Local reports whether the memory, once Dirty, is of no use to anybody else.
	// That of the model's state is: the record writes to it when it runs.
	Local() bool
	// Observed is told that the data of x, whose storage is not Dirty, is given to
	// the model's code; what names the method that asked.
	Observed(x *Tensor, what string)
}

// claims are the holders of storages over memory of the user's to which a write was
// recorded: other tensors over the same memory have storages of their own.
var claims struct {
	sync.Mutex
	count atomic.Int64
	all   map[*array.Storage]Holder
}

// Claim tells that h has recorded a write to memory that others may have tensors
// over, until the returned function is called. For engines only.
func Claim(s *array.Storage, h Holder) (release func()) {
	claims.Lock()
	defer claims.Unlock()
	if claims.all == nil {
		claims.all = map[*array.Storage]Holder{}
	}
	claims.all[s] = h
	claims.count.Store(int64(len(claims.all)))
	return func() {
		claims.Lock()
		defer claims.Unlock()
		delete(claims.all, s)
		claims.count.Store(int64(len(claims.all)))
	}
}

// holders returns who follows the storage of a tensor that has data.
func (x *Tensor) holders() []any { return holdersOf(x.storage()) }

func holdersOf(s *array.Storage) []any {
	all := s.Holders()
	if claims.count.Load() == 0 || !s.Wrapped() {
		return all
	}
	claims.Lock()
	defer claims.Unlock()
	for o, h := range claims.all {
		if o != s && o.Overlaps(s) {
			all = append(slices.Clone(all), h)
		}
	}
	return all
}

// writer returns the engine that has recorded a write to the storage of an eager
// tensor, nil when there is none. several reports that others follow it, too, so
// that a call on the tensor alone could be any one's.
func (x *Tensor) writer() (e Engine, several bool) { return writerOf(x.holders()) }

func writerOf(holders []any) (e Engine, several bool) {
	var first Engine
	for _, h := range holders {
		h := h.(Holder)
		several = several || first != nil && h.Engine() != first
		first = h.Engine()
		if h.Dirty() {
			e = first
		}
	}
	return e, several && e != nil
}

// follower returns the engine that must see a write to an eager tensor because a
// call that it recorded has used the storage.
func (x *Tensor) follower(what string) Engine {
	var e Engine
	for _, h := range x.holders() {
		if f := h.(Holder).Engine(); e != nil && e != f {
			panic(mixed(what, "two traces that run at the same time use the tensor, which is written without a traced value",
				"write tensor.On(x, t) for the tensor t, where x is an input"))
		} else {
			e = f
		}
	}
	return e
}

func mixed(o, msg, hint string) *diag.Error {
	return (&diag.Error{Code: MixedEngines, Op: o, Msg: msg, Hint: hint}).At(diag.Here())
}

// engineOf returns the engine of the operands that are not eager, nil when there
// is none. Eager operands join the engine of the others; on their own they belong
// to the one that has recorded a write to their memory.
func engineOf(o string, extra Engine, args []*Tensor) Engine {
	const kept = "a traced value was kept from an earlier trace; pass it as an input instead"
	if rehearsing() > 0 {
		return rehearsal{}
	}
	e, held := extra, false
	for _, a := range args {
		if a == nil {
			continue
		}
		switch f := a.c.engine(); {
		case f == nil:
			held = held || a.holders() != nil
		case e != nil && f != e:
			panic(mixed(o, "operands belong to two different traces or sessions", kept))
		default:
			e = f
		}
	}
	if !held {
		return e
	}
	join := e == nil
	for _, a := range args {
		if a == nil || a.c.engine() != nil {
			continue
		}
		if f, several := a.writer(); join && f != nil {
			if several || e != nil && e != f {
				panic(mixed(o, "two traces that run at the same time use an operand that one of them has written, and no traced value takes part",
					"write tensor.On(x, t) for the tensor t, where x is an input, or trace one after the other"))
			}
			e = f
		} else if !join && a.lostTo(e) {
			panic(mixed(o, "an operand belongs to another trace, which has recorded a write to it", kept))
		}
	}
	return e
}

// lostTo reports whether another engine than e has the only value of an eager tensor.
func (x *Tensor) lostTo(e Engine) bool {
	return slices.ContainsFunc(x.holders(), func(h any) bool {
		o := h.(Holder)
		return o.Engine() != e && o.Dirty() && o.Local()
	})
}

// Origin tells how an eager tensor shows the memory of another one.
type Origin struct {
	Base *Tensor // what it is a view of
	Call *Call   // the call that made it
	Item int     // which of its results it is
}

// Origin returns how x came to be a view, nil when it is none. For engines only.
//
//gofx:observes nothing
func (x *Tensor) Origin() *Origin {
	if x.c.made == nil {
		return nil
	}
	return x.c.made.origin
}

package tracer

import (
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// usage is who uses a trace. One goroutine at a time may: it holds busy. A call of
// another one meanwhile is a mistake that the trace reports when it ends; the call
// itself gets poison, because a panic in a goroutine that the model started would
// end the whole program.
type usage struct {
	busy   atomic.Bool
	depth  int         // how often the holder holds it: hooks may call operators
	ended  atomic.Bool // the trace is over
	halted atomic.Bool // the trace is to end, found by a goroutine that is not its own

	mu    sync.Mutex
	found diag.List
	open  []*diag.Error // of found, those that lack the place of the other call
	met   map[diag.Pos]bool
	wants atomic.Bool // open is not empty
}

// maxOverlaps bounds what is kept: one place in a loop gives one message, many
// places this many.
const maxOverlaps = 64

// enter takes the trace for a call that records; false where another goroutine has
// it, or where it has ended after such a mistake. m is the leaf that is called, nil for
// none, and in are operands: what tells whose code runs.
func (t *trace) enter(m any, in ...*tensor.Tensor) bool {
	if !t.take() {
		return false
	}
	if t.frames > 0 {
		t.prog.pos = t.prog.cur.Graph().Position(2, t.frames)
		t.prog.cur.SetPos(t.prog.pos)
	}
	if t.scopes != nil {
		if s, ok := t.scopes.find(m, in); ok {
			t.prog.cur.SetScope(t.prog.cur.Graph().Scope(s))
		}
	}
	return true
}

// take takes the trace, for a question too; leave gives it back.
func (t *trace) take() bool {
	u := &t.use
	if u.ended.Load() {
		if u.clashed() {
			return false
		}
		panic((&diag.Error{Code: Ended, Msg: "a traced value is used after its trace has ended",
			Hint: "do not keep traced tensors in globals or fields"}).At(diag.Here()))
	}
	if u.halted.Load() {
		if ownGoroutine() {
			panic(stop{})
		}
		return false
	}
	switch {
	case u.busy.CompareAndSwap(false, true):
		u.depth = 1
	case inCall():
		u.depth++
	default:
		u.overlap(diag.Here())
		return false
	}
	return true
}

func (t *trace) leave() {
	u := &t.use
	if u.wants.Load() {
		u.answer(diag.Related{Pos: diag.Here(), Msg: "while this call was recorded"})
	}
	if u.depth--; u.depth == 0 {
		t.prog.cur.SetScope(t.prog.scope) // what enter found is that call's
		u.busy.Store(false)
	}
}

// body lets a function of the model run in the middle of a call, which goes on after it.
func (t *trace) body(f func()) {
	u := &t.use
	depth := u.depth
	u.depth = 0
	u.busy.Store(false)
	defer func() {
		t.hold("while the function of a region ran")
		u.depth = depth
	}()
	f()
}

// hold takes the trace and waits until it can: there is no call that could be
// given poison instead. what says what the goroutine was doing.
func (t *trace) hold(what string) {
	u := &t.use
	for wait := time.Microsecond; !u.busy.CompareAndSwap(false, true); wait = min(2*wait, time.Millisecond) {
		if wait == time.Microsecond {
			u.overlap(diag.Here())
			u.answer(diag.Related{Msg: what})
		}
		time.Sleep(wait)
	}
	u.depth = 1
}

// clashes moves the overlaps that were found into the trace's mistakes.
func (t *trace) clashes() {
	t.use.mu.Lock()
	defer t.use.mu.Unlock()
	t.errs = append(t.errs, t.use.found...)
	t.use.found, t.use.open = nil, nil
}

// halt ends the trace at once, whose mistake has been reported: by a panic where
// that ends nothing else, else at the next call of the trace's own goroutine.
func (t *trace) halt() {
	if ownGoroutine() {
		panic(stop{})
	}
	t.use.halted.Store(true)
}

func (u *usage) clashed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.met) > 0
}

// overlap records a call that came while another goroutine had the trace.
func (u *usage) overlap(at diag.Pos) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.met == nil {
		u.met = map[diag.Pos]bool{}
	}
	if u.met[at] || len(u.met) >= maxOverlaps {
		return
	}
	u.met[at] = true
	e := (&diag.Error{Code: Overlap, Msg: "two goroutines use one trace at the same time",
		Hint: "trace from one goroutine; start others only outside the model"}).At(at)
	u.found = append(u.found, e)
	u.open = append(u.open, e)
	u.wants.Store(true)
}

// answer completes the overlaps that wait for the place of the other call.
func (u *usage) answer(r diag.Related) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.open {
		e.Related = append(e.Related, r)
	}
	u.open = nil
	u.wants.Store(false)
}

const engine = "github.com/gofx-dev/gofx/tracer.(*trace)."

// inCall reports whether the goroutine is inside a call that it holds the trace
// for: a hook, or a container of the user's, asks or records something itself. It
// is looked up on the stack, because goroutines have no names: below the frames of
// the question comes those of such a call, unless the model's own functions run,
// for which the trace is free.
func inCall() bool {
	asking := true
	in := false
	frames(func(f string) bool {
		name, ours := strings.CutPrefix(f, engine)
		if asking && !ours {
			asking = false
		}
		if asking || !ours {
			return true
		}
		in = !strings.HasPrefix(name, "run") && !strings.HasPrefix(name, "body")
		return false
	})
	return in
}

// ownGoroutine reports whether the goroutine is the one that runs the model.
func ownGoroutine() bool {
	own := false
	frames(func(f string) bool {
		own = f == engine+"run"
		return !own
	})
	return own
}

// frames calls f for the functions on the stack above its caller, until f returns
// false.
func frames(f func(function string) bool) {
	var pcs [64]uintptr
	for skip := 3; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		all := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var fr runtime.Frame
			if fr, more = all.Next(); !f(fr.Function) {
				return
			}
		}
		if n < len(pcs) {
			return
		}
	}
}

// poisonForward returns unusable results for a call of a module.
func (t *trace) poisonForward(m any) []*tensor.Tensor {
	n := 0
	if f := reflect.ValueOf(m).MethodByName("Forward"); f.IsValid() {
		for i := range f.Type().NumOut() {
			if f.Type().Out(i) == tensorType {
				n++
			}
		}
	}
	return t.rec.Poisoned(n)
}

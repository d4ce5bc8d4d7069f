package lazy

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/record"
)

// Options are the choices of a session. The zero value of each stands for its default.
type Options struct {
	// Target compiles the graphs; nil stands for this CPU, and with Generated for none.
	Target lowering.Target
	// Rounding lets plans round as Target does by itself, faster than eager code: sums
	// in another order, fused products. Without it the bits are those of eager code.
	Rounding bool
	// MaxTrace is the most calls that are recorded before they are computed without being
	// asked for; 0 stands for 4096.
	MaxTrace int
	// Warm is how often a graph is run call by call before it is compiled, which happens
	// next to the program; 0 stands for 2. With Rounding a graph is compiled at once, so
	// that its bits do not depend on how often it ran.
	Warm int
	// MaxPrograms is the most graphs that are kept; those that were not used for longest
	// go first. 0 stands for 1024.
	MaxPrograms int
	// Gradients lets tensor.Grad differentiate what the session has recorded. Values then
	// keep how they were computed until the next Barrier, also those that were read.
	Gradients bool
	// Donate has a Barrier that is equal to the two before it update parameters and buffers in
	// their memory, without copies, from then on. Values on the way are not kept then: reading
	// one after the barrier is an error, unless Keep was called for it.
	Donate bool
	// Synchronous has runs wait for the compiler, so that what a session does never depends on its
	// speed: for tests and tools, such as graphs that are checked in.
	Synchronous bool
	// Strict makes it an error that Target refuses a graph, which is run call by call otherwise.
	Strict bool
	// Scalars says when numbers in attributes, such as learning rates, and positions, such
	// as rows, are operands of graphs. Auto: where they have differed; with Rounding, never,
	// since a plan with operands may round in another way.
	Scalars Policy
	// Dims says when sizes that differ become symbols of graphs. Auto: at the third program
	// that differs in one size; with Rounding, never.
	Dims Policy
	// Threads is the most threads of one run; 0 stands for GOMAXPROCS.
	Threads int
	// OneByOne is how many calls after each barrier are computed at once, as eager code does:
	// lazytest.Bisect moves it to find the call whose delay changes a result.
	OneByOne int
	// Folder keeps the graphs that were compiled, so that the next session, of this program or
	// of another process, compiles them without counting to Warm: those that read no tensors
	// of models at New, the others when they come for the first time. "" keeps nothing.
	Folder string
	// Generated has graphs as generated code (fxgen lazy -gen), which run from the first time they
	// come, without a compiler. Others are counted (Stats.Missed) and run call by call, or are
	// compiled where there is a Target, too.
	Generated *generated.Graphs
	// Record has each graph compiled when it comes for the first time, and kept for Recorded: for
	// tools that generate code.
	Record bool
	// Regions has Cond, While and Scan recorded as one call each. Their functions run once then, for all rounds, so they have to
	// do the same in each round and to store nothing outside. What a function does that no record has (it looks at data, writes to
	// tensors of outside) has it run as Go code, from its beginning. With Gradients all do.
	Regions bool
	// Mark, which may be nil, is asked at each call that Capture records where the call is made: CapturedCall has what it says.
	Mark func() uint64
	// Context ends runs; nil stands for one that does not end.
	Context context.Context

	given bool // Target was
}

func (o Options) check() *diag.Error {
	var wrong []string
	for _, n := range []struct {
		name  string
		value int
	}{{"MaxTrace", o.MaxTrace}, {"Warm", o.Warm}, {"MaxPrograms", o.MaxPrograms}, {"Threads", o.Threads}, {"OneByOne", o.OneByOne}} {
		if n.value < 0 {
			wrong = append(wrong, n.name+" is "+strconv.Itoa(n.value))
		}
	}
	if o.Scalars < Auto || o.Scalars > Always {
		wrong = append(wrong, "Scalars is "+o.Scalars.String())
	}
	if o.Dims < Auto || o.Dims > Fixed {
		wrong = append(wrong, "Dims is "+o.Dims.String())
	}
	if wrong == nil {
		return nil
	}
	return diag.New(BadOption, strings.Join(wrong, ", ")+", expected 0 or more, and a policy").WithHint("0 stands for the default")
}

func or[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

func (o Options) complete() Options {
	o.MaxTrace, o.Warm, o.MaxPrograms = or(o.MaxTrace, 4096), or(o.Warm, 2), or(o.MaxPrograms, 1024)
	o.Threads = or(o.Threads, runtime.GOMAXPROCS(0))
	if o.given = o.Target != nil; !o.given {
		o.Target = cpu.Target{}
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	return o
}

// Session records calls on its tensors and computes them when their data is read. One
// goroutine at a time uses a session; it may be handed over.
type Session struct {
	opts  Options
	busy  sync.Mutex
	leave func() // of busy, made once
	rec   *record.Recorder[*place, *block]

	keep    []*place // of Keep, until the next barrier
	pending []*place // recorded since the last barrier or cut
	unread  int      // of those, after the last prune
	calls   int      // of those, that were not computed
	slots   map[any]*slot
	mark    uint64 // of the last search
	work    kernel.Workspace
	forbid  string // why nothing may be computed now, "" where it may
	closed  bool
	capture *capture // nil outside of Capture
	follow  *follow  // of the last Capture that has followed sizes, nil for none
	args    []*place // of a call that is being recorded
	search  search
	flows   flows

	past     history
	programs []*Program // that are open
	cache    cache
	stats    Stats
	log      journal
}

// New returns a session. It panics where an option is out of range.
func New(o Options) *Session {
	if err := o.check(); err != nil {
		panic(err.At(diag.Here()))
	}
	s := &Session{opts: o.complete(), slots: map[any]*slot{}}
	s.work.Threads, s.leave = s.opts.Threads, s.busy.Unlock
	s.stats.Flushes = map[Reason]int{}
	s.stats.AtOnce = map[string]int{}
	s.cache.init(s)
	s.log.init()
	s.rec = record.New[*place, *block](s, source{s}, source{s}, regions{s}, nil)
	s.rec.Eager.Lasting = true
	s.flows.s = s
	s.past = history{s: s, on: s.opts.Gradients, since: array.Now()}
	return s
}

// In returns a tensor of the session with the elements that x has now, of any type. Later
// writes to x and to the result do not concern each other. A tensor of the session is
// returned as it is.
func (s *Session) In(x *tensor.Tensor) *tensor.Tensor {
	defer s.enter("In")()
	if x.Engine() == tensor.Engine(s) {
		return x
	}
	a := array.NewUncleared(x.Type().DType(), x.Shape()...)
	array.Copy(a, observed(x))
	return s.rec.Proxy(s.past.entered(leaf(a), whole, false))
}

// observed returns the data of a tensor that is not the session's, for reading.
func observed(x *tensor.Tensor) *array.Array {
	if a, ok := x.Value().(*array.Array); ok && x.Engine() == nil {
		return a
	}
	return x.Array()
}

// enter begins a use of the session by the method what; the returned function ends it.
func (s *Session) enter(what string) (leave func()) {
	if !s.busy.TryLock() {
		panic((&diag.Error{Code: Overlap, Op: what, Msg: "another goroutine uses the session at this moment",
			Hint: "give each goroutine a session of its own, or hand the session over"}).At(diag.Here()))
	}
	if s.closed {
		s.busy.Unlock()
		panic((&diag.Error{Code: Closed, Op: what, Msg: "the session is closed", Hint: "read results before Close, or make a new session"}).At(diag.Here()))
	}
	return s.leave
}

// Barrier computes what was recorded and not yet computed, and writes tensors of models that
// were changed in place. The error is the first one of a call, at its line.
func (s *Session) Barrier() (err error) {
	defer diag.Catch(&err)
	defer s.enter("Barrier")()
	s.barrier(Barrier)
	return nil
}

// barrier computes all values that no call has used, and those of written memory.
func (s *Session) barrier(why Reason) {
	s.compute(why, slices.Concat(s.ends(), s.written(), s.keep))
	s.settleAll(Barrier)
	for _, p := range s.keep {
		p.kept = false
	}
	s.keep = s.keep[:0]
	s.begin()
	s.past.forget()
	s.log.alone = 0
	s.rec.Eager.Forget(func(m *memory) bool { return !m.Owner() && !m.Viewed() }) // they enter again when they are used again
}

// Close ends the session: Barrier, after which tensors that were computed go on as such,
// and models are eager again. Closing again does nothing.
func (s *Session) Close() (err error) {
	defer diag.Catch(&err)
	if s.closed {
		return nil
	}
	defer func() {
		s.closed = true
		for _, p := range s.programs {
			p.end()
		}
		for _, k := range s.slots {
			if p := k.value; p != nil && p.lent { // tensors that go on have memory of their own
				p.data, p.lent = array.Clone(p.data), false
			}
		}
		s.cache.close()
		s.rec.Eager.Release()
	}()
	defer s.enter("Close")()
	s.barrier(Barrier)
	return nil
}

// Wait waits for graphs that are being compiled next to the program, so that the next flush of
// each runs compiled.
func (s *Session) Wait() {
	defer s.enter("Wait")()
	s.cache.wait()
}

// NoFlush runs f, in which nothing may be computed: an error says what asked for data, and
// where.
func (s *Session) NoFlush(f func()) (err error) {
	defer diag.Catch(&err)
	old := s.forbid
	s.forbid = "NoFlush"
	defer func() { s.forbid = old }()
	f()
	return nil
}

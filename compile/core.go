package compile

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/diag"
)

// call is one call of a compiled function.
type call struct {
	in, out unsafe.Pointer
	run     func() // the function itself
	clear   func() // of the results
	machine state.Machine
	numbers numbers // of the record that fits
}

// core is what compiled functions of all types have.
type core struct {
	name       string
	opts       options
	schema     *state.Schema
	receiver   bool
	inPlace    bool
	anySize    bool
	onlyCounts bool
	regions    bool // Regions of the table, where a call that comes upon what no record has can be run again
	loops      []state.Loop
	sizes      []state.Place  // lines that look at sizes
	asks       *state.Ints    // sizes that code is told as ints
	never      *state.Refusal // why no call has a record
	breaks     []state.Place  // to which some calls come
	opaque     []state.Place  // of the table
	apart      []state.Place  // of those, at which no session may be in use
	sessions   sessions
	tells      []func(in unsafe.Pointer)
	closed     atomic.Bool

	mu      sync.RWMutex
	buckets map[uintptr]*bucket
	counts
}

// bucket has the records of one receiver.
type bucket struct {
	mu      sync.RWMutex
	records []*record // the one used last comes first
	closed  bool
	plain   *state.Refusal // why no calls are recorded any more
	asIs    bool           // nor run in a session
	refused int
	uneven  int // calls whose loops did not roll
	evicted int
	alone   bool         // the next capture follows no sizes
	hits    atomic.Int64 // for Audit

	// Of captures, which are one at a time:
	thawed   map[string]bool
	moments  map[string]*moment
	differed map[string]int // numbers, by path
}

// moment is when a weight was made and last written.
type moment struct {
	born, version uint64
	moved         int
}

func newCore(t state.Table, in, out reflect.Type, o options) *core {
	c := &core{name: t.Func, opts: o, schema: state.NewSchema(&t, in, out), receiver: t.Receiver, inPlace: len(t.InPlace) > 0, anySize: t.AnySize, onlyCounts: t.Counted,
		regions: t.Regions && len(t.Tells) == 0, loops: t.Loops, sizes: t.Sizes, asks: &t.Ints, buckets: map[uintptr]*bucket{}}
	c.opaque = t.Opaque
	for _, p := range t.Opaque {
		if !p.Lazy {
			c.apart = append(c.apart, p)
		}
	}
	for _, p := range slices.Concat(t.Opaque, t.Observes) {
		if len(p.When) > 0 {
			c.breaks = append(c.breaks, p)
		} else if c.never == nil {
			c.never = &state.Refusal{Why: p.What + ": " + p.Why, Line: p.Line}
		}
	}
	return c
}

// using is held for reading by calls, and for writing by a call that makes a record: its tensors are not eager
// meanwhile. Nobody waits for it to write.
var using sync.RWMutex

// exclusiveName is the function in which a call that makes a record runs code of the user's.
const exclusiveName = "github.com/gofx-dev/gofx/compile.(*core).exclusive"

// inside reports whether the goroutine is making a record.
func inside() bool {
	var pcs [64]uintptr
	for skip := 3; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasPrefix(f.Function, exclusiveName) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// do does what the function would do.
func (c *core) do(k *call) {
	c.calls.Add(1)
	if !using.TryRLock() {
		if inside() { // a compiled function calls another one: its calls are the caller's
			c.inlined.Add(1)
			k.run()
			return
		}
		using.RLock()
	}
	locked := true
	defer func() {
		if locked {
			using.RUnlock()
		}
	}()
	if c.closed.Load() {
		c.plain(k, nil)
		return
	}
	// lend runs the call without a record, alone if no other call is being run.
	lend := func(why *state.Refusal) {
		using.RUnlock()
		locked = false
		if using.TryLock() {
			c.exclusiveLend(k, why)
			return
		}
		using.RLock()
		locked = true
		c.plain(k, why)
	}
	if c.never != nil {
		lend(c.never)
		return
	}
	b := c.bucket(k)
	r, failed := b.find(k)
	if r != nil {
		defer r.leave()
	}
	if r != nil && r.proven.Load() && !(c.opts.audit > 0 && b.hits.Add(1)%int64(c.opts.audit) == 0) {
		if r.replay(k) {
			for _, f := range c.tells {
				f(k.in)
			}
			c.hits.Add(1)
			return
		}
		c.failed.Add(1)
		k.run() // which fails at its line
		return
	}
	if r == nil {
		c.missed(b, failed)
	}
	switch why, asIs := b.refusal(); {
	case asIs:
		c.plain(k, why)
	case why != nil:
		lend(why)
	default:
		using.RUnlock()
		locked = false
		if using.TryLock() {
			c.exclusive(b, k, r)
			return
		}
		using.RLock()
		locked = true
		c.plain(k, nil)
	}
}

// plain runs the function as it is.
func (c *core) plain(k *call, why *state.Refusal) {
	c.plains.Add(1)
	if why != nil && c.opts.strict {
		panic(c.notRecorded(why))
	}
	k.run()
}

func (c *core) notRecorded(why *state.Refusal) *diag.Error {
	e := &diag.Error{Code: NotRecorded, Op: c.name, Msg: "the call cannot be recorded: " + why.Why, Hint: "leave compile.Strict out to run the function as it is"}
	if why.Line != "" {
		e.Msg += ", at " + why.Line
	}
	return e.At(diag.Here())
}

// bucket returns the bucket of a call's receiver.
func (c *core) bucket(k *call) *bucket {
	var p *byte
	if c.receiver {
		p = *(**byte)(k.in)
	}
	at := uintptr(unsafe.Pointer(p))
	c.mu.RLock()
	b := c.buckets[at]
	c.mu.RUnlock()
	if b != nil {
		return b
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b = c.buckets[at]; b == nil {
		b = &bucket{thawed: map[string]bool{}, moments: map[string]*moment{}, differed: map[string]int{}}
		c.buckets[at] = b
		if p != nil {
			runtime.AddCleanup(p, c.drop, at)
		}
	}
	return b
}

// drop lets the records of a receiver go that is no more.
func (c *core) drop(at uintptr) {
	c.mu.Lock()
	b := c.buckets[at]
	delete(c.buckets, at)
	c.mu.Unlock()
	if b != nil {
		b.close()
	}
}

func (c *core) close() {
	c.closed.Store(true)
	c.mu.Lock()
	all := c.buckets
	c.buckets = map[uintptr]*bucket{}
	c.mu.Unlock()
	for _, b := range all {
		b.close()
	}
	c.sessions.close()
}

func (b *bucket) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.empty()
}

// empty lets the records go. The lock is held.
func (b *bucket) empty() {
	for _, r := range b.records {
		r.leave()
	}
	b.records = nil
}

func (b *bucket) refusal() (why *state.Refusal, asIs bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.plain, b.asIs
}

// failure is the first step of a guard that does not hold.
type failure struct {
	of *record
	at int
}

// find returns the record that fits a call, for the caller to leave, or why the one used last does not.
func (b *bucket) find(k *call) (*record, failure) {
	b.mu.RLock()
	var first failure
	for i, r := range b.records {
		ok, failed := r.guard.Check(&k.machine, k.in, k.out)
		if ok {
			k.numbers, ok = r.open.now(&k.machine)
			ok = ok && r.open.onSide(r.guard, &k.machine) && r.open.trips(r.guard, &k.machine, &k.numbers)
			failed = state.Special
		}
		if ok {
			r.users.Add(1)
			b.mu.RUnlock()
			if i > 0 {
				b.front(r)
			}
			return r, failure{}
		}
		if i == 0 {
			first = failure{r, failed}
		}
	}
	b.mu.RUnlock()
	return nil, first
}

// front makes a record the one used last.
func (b *bucket) front(r *record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.records, r); i > 0 {
		copy(b.records[1:i+1], b.records[:i])
		b.records[0] = r
	}
}

// missed tells of a call that no record fits.
func (c *core) missed(b *bucket, f failure) {
	c.misses.Add(1)
	m := Miss{Func: c.name}
	if f.of != nil {
		m.Path, m.Line = f.of.guard.Failure(f.at)
	}
	c.note(m)
	if c.opts.miss != nil {
		c.opts.miss(m)
	}
}

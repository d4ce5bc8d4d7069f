package cpu

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
)

// Sharing is how the threads of a run shared the work of a step. Serial is on the clock;
// the others are sums over all threads, so that Threads×(Time-Serial) = Busy+Uneven+Handing.
type Sharing struct {
	Serial   time.Duration // in which one thread worked, and the others had no part
	Busy     time.Duration // in which threads worked at their parts
	Uneven   time.Duration // in which they waited for the last one, or had no part
	Handing  time.Duration // until they came, and from the last part to the end
	Barriers int           // how often work was shared and its end waited for
}

func sharingOf(regions []kernel.Region, took time.Duration) (s Sharing) {
	s.Serial = took
	for i := range regions {
		r := &regions[i]
		s.Barriers += max(1, r.Rounds)
		s.Serial -= r.Wall
		s.Busy, s.Uneven, s.Handing = s.Busy+r.Busy(), s.Uneven+r.Uneven(), s.Handing+r.Handing()
	}
	return s
}

// watch is how the kernels of a run, and of the bodies that it runs, are watched.
type watch struct {
	meter   *kernel.Meter
	threads int
}

// watchKey is that of a watch in a context.
type watchKey struct{}

// watched prepares the workspace for a run.
func (x *instance) watched(ctx context.Context) {
	x.ws.Threads, x.ws.Meter = x.e.threads, nil
	if ctx == nil {
		return
	}
	if w, ok := ctx.Value(watchKey{}).(watch); ok {
		x.ws.Threads, x.ws.Meter = w.threads, w.meter
	}
}

// Cutting says how the steps of the plan are cut for so many threads, and what the parts
// take: the calling goroutine alone does them, one after the other, so many times after a
// first run, of which the medians count (see cost.Median). The machine need not have so many processors.
// cost.Cutting predicts from it. Errors are those of Run, and of a number of threads that is
// less than 1 or more than lowering.MaxThreads.
func (e *Executable) Cutting(ctx context.Context, in []*array.Array, threads, runs int) (*cost.Cutting, error) {
	if threads < 1 || threads > lowering.MaxThreads {
		return nil, diag.New(lowering.BadOption, strconv.Itoa(threads)+" threads, expected 1 to "+strconv.Itoa(lowering.MaxThreads))
	}
	if own := e.forSizes(in); own != nil {
		return own.Cutting(ctx, in, threads, runs)
	}
	seen := make([][]cost.Part, len(e.plan.Steps))
	m := &kernel.Meter{InTurn: true}
	x, err := e.observe(ctx, in, runs, watch{m, threads}, func(step int, took time.Duration) {
		s := cost.Part{Serial: took, Regions: m.Regions}
		for i := range m.Regions {
			s.Serial -= m.Regions[i].Wall
		}
		seen[step] = append(seen[step], s)
		m.Regions = make([]kernel.Region, 0, cap(m.Regions)) // not while a step is timed
	})
	if err != nil {
		return nil, err
	}
	w, err := cost.Of(e.plan, x)
	if err != nil {
		return nil, err
	}
	c := &cost.Cutting{Threads: threads, Steps: make([]cost.Part, len(seen))}
	for i, list := range seen {
		c.Steps[i] = cost.Median(list)
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		c.Steps[s.At].Bytes += s.Bytes()
	}
	return c, nil
}

// observe runs the plan once, and then so many times, at least once, and tells of each step. It
// returns the values of the symbols.
func (e *Executable) observe(ctx context.Context, in []*array.Array, runs int, w watch, tell func(step int, took time.Duration)) (map[string]int, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx = context.WithValue(ctx, watchKey{}, w)
	x, err := e.acquire(ctx, in)
	if err != nil {
		return nil, err
	}
	x.newOutputs(in)
	if e.plan.Stateful {
		if err := e.state.Lock(ctx); err != nil {
			e.release(x)
			return nil, err
		}
		defer e.state.Unlock()
	}
	defer func() {
		x.clock = nil
		e.release(x)
	}()
	// The first run starts the workers, which would keep the labels.
	for range 1 + max(runs, 1) {
		if err := x.execute(ctx); err != nil {
			return nil, err
		}
		w.meter.Regions, x.clock = make([]kernel.Region, 0, mostShared), tell
	}
	return x.symbols(), nil
}

// Handover measures what it takes to share work, by calls of kernels that have next to nothing
// to do: with one processor, what the machine of docs/bench.md takes.
func Handover() cost.Handover {
	const calls = 2001
	if runtime.GOMAXPROCS(0) < 2 {
		return cost.Handover{Call: time.Microsecond, Line: 100 * time.Nanosecond}
	}
	m := &kernel.Meter{}
	w := &kernel.Workspace{Threads: 2, Meter: m}
	took := make([]time.Duration, calls)
	for i := range took {
		start := time.Now()
		w.Parallel(2, 1, nothing{})
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	call := took[calls/2]
	return cost.Handover{Call: call, Line: call / handedLines}
}

// mostShared is the calls that share work in most steps: room for them is made before these are timed.
const mostShared = 64

// handedLines is how often a cache line goes from one processor to another in a call of two
// threads: the loan, the chunks, the farewell.
const handedLines = 3

// nothing is a job without work.
type nothing struct{}

func (nothing) Do(int, int) {}

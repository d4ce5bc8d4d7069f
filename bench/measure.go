package main

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/bench/host"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
)

// bench holds the common state of all measurements of a run.
type bench struct {
	threads int
	pairs   int
	window  time.Duration          // least time of one measurement
	limit   time.Duration          // most time for a case; fewer pairs, at least 3, fit into it
	turns   float64                // times as long as gofx that a peer with turns may take
	dir     string                 // for models
	procs   map[string]*peers.Peer // the running ones
	engines bool                   // whether other ways of gofx are measured
	coarse  map[string]string      // peers that round operands of f32, and how much
	slow    map[string]float64     // nanoseconds for one input of a network, of peers that have no turns
	hold    string                 // a command that runs while a row is timed
	spare   float64                // how many processors a peer may keep busy beyond its threads
	peaks   peak.Peaks
	cpu     string // its name and instruction set
	commit  string // of the code
	failed  []error
}

// runner measures one competitor: the time of so many calls, after warm more.
type runner struct {
	name        string
	process     *peers.Peer // nil where it is gofx
	engine      bool        // another way of gofx, no peer
	slow        bool        // much slower than gofx: it has no turns, one call is its time
	time        func(warm, calls int) (time.Duration, error)
	warm, calls int
	times       []float64 // ms of a call
}

// warming is the time of the calls that nobody counts at the start of a turn. A
// processor that has just been given back is slow for a millisecond or two. And
// up to 10 ms after a Go program ends a pause, its runtime's monitor begins to
// wake up every 20 µs, for 4 to 5 ms: on a virtual processor that has to do this
// as well, kernels take a quarter longer meanwhile.
const warming = 16 * time.Millisecond

// Competitors that are not peers: the machine's peak, and it and gofx on one
// thread where the run has more.
const (
	peakTurn  = "peak"
	peakAlone = "peak alone"
	alone     = "alone"
)

// makesGarbage are the groups whose calls make objects. Their garbage is collected while they are
// measured, as it is where users run them: without that each call would take fresh memory, and the
// first rows of a process would wait for the system to clear it.
var makesGarbage = map[string]bool{"graph": true, "lazy": true, resultGroup: true}

// measure runs one case. A panic of a kernel is an error of its case.
func (b *bench) measure(c *Case) (row *Row, err error) {
	defer func() {
		if r := recover(); r != nil {
			row, err = nil, fmt.Errorf("%s/%s: panic: %v", c.Group, c.Shape, r)
		}
	}()
	row = &Row{Group: c.Group, Shape: c.Shape, Threads: b.threads, Networks: c.Networks, WindowMS: b.window.Seconds() * 1e3}
	b.stamp(row)
	defer func(start time.Time) { row.took(start) }(time.Now())
	var f field
	defer f.close()
	if makesGarbage[c.Group] {
		defer debug.SetGCPercent(debug.SetGCPercent(100))
	}
	switch {
	case c.Train != nil:
		err = b.step(c, row, &f)
	case c.Network != nil:
		err = b.network(c, row, &f)
	case c.Scale != nil:
		err = b.graph(c, row, &f)
	case c.Counts != nil:
		b.describe(row)
		row.Counts, err = c.Counts()
		return row, err
	default:
		err = b.kernel(c, row, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", c.Group, c.Shape, err)
	}
	release, err := held(b.hold)
	if err != nil {
		return nil, err
	}
	defer release()
	list := b.counted(c, row, f.list)
	b.timeOnce(c, row, f.slow)
	runtime.GC()
	before := host.ReadLoad(b.procs)
	if list, err = b.interleave(c, row, list); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", c.Group, c.Shape, err)
	}
	row.Foreign = math.Round(100*before.Foreign(host.ReadLoad(b.procs))) / 100
	if c.Work.memoryBound(&b.peaks, b.threads) {
		b.peaks.RefreshMemory(int(c.Work.Bytes), b.threads)
	}
	b.finish(c, row, list)
	if b.threads > 1 {
		row.HandoverNS = float64(peak.Handover())
	}
	b.explain(c, row)
	return row, nil
}

// took notes how long a row has taken, where there is one.
func (r *Row) took(start time.Time) {
	if r != nil {
		r.TookS = max(0.1, math.Round(10*time.Since(start).Seconds())/10)
	}
}

// stamp notes the time and the conditions of a row's measurement.
func (b *bench) stamp(row *Row) {
	row.Date = time.Now().UTC().Format(time.DateOnly)
	row.Commit = b.commit
	row.Versions = map[string]string{}
	for name, p := range b.procs {
		row.Versions[name] = p.Version
	}
}

// counting is how long a peer computes while its threads are counted, scriptWork is how much of a
// processor its script may need beyond the given threads.
const counting, scriptWork = 50 * time.Millisecond, 0.25

// counted looks on how many threads each peer runs, and leaves out those that are busy on more
// than they are given.
func (b *bench) counted(c *Case, row *Row, list []*runner) (kept []*runner) {
	for _, r := range list {
		if r.process == nil {
			kept = append(kept, r)
			continue
		}
		var n int
		var busy float64
		once, err := r.time(0, 1)
		if err == nil {
			calls := 1 + int(counting/max(1, once))
			n, busy, err = r.process.Running(func() error { _, err := r.time(0, calls); return err })
		}
		if err == nil && busy > float64(b.threads)+b.spare {
			err = fmt.Errorf("it keeps %.2f processors busy", busy)
		}
		if err != nil {
			b.leaveOut(c, row, r.name, err)
			continue
		}
		if row.Running == nil {
			row.Running = map[string]int{}
		}
		row.Running[r.name] = n
		kept = append(kept, r)
	}
	return kept
}

// field holds the competitors of a case and their results.
type field struct {
	list []*runner
	slow []*runner // peers that would keep all others waiting
	want []float64 // of the results of ours
	ours float64   // nanoseconds of a call of ours
	// seen is told the results of each peer; it may be nil.
	seen   func(name string, probe []float64)
	closes []func()
}

func (f *field) close() {
	for _, c := range f.closes {
		c()
	}
}

// kernel lines up the competitors of a case of one operator.
func (b *bench) kernel(c *Case, row *Row, f *field) error {
	if c.Ours != nil {
		in := c.arrays()
		if err := b.ours(row, f, func(threads int) (*Ours, error) { return c.Ours(in, threads) }); err != nil {
			return err
		}
	}
	b.ways(c, row, f)
	// Right after ours, so that both see the same clock.
	f.list = append(f.list, b.beside(c, row)...)
	requests, err := c.requests(b.dir, b.threads)
	if err != nil {
		b.leaveOut(c, row, "peers", err)
	}
	b.load(c, row, f, requests)
	return nil
}

// ours lines up gofx, and gofx on one thread where the run has more.
func (b *bench) ours(row *Row, f *field, prepare func(threads int) (*Ours, error)) error {
	o, err := prepare(b.threads)
	if err != nil {
		return err
	}
	f.ends(o)
	o.Run()
	f.ours = float64(o.once())
	row.Ours, f.want = o.Name, peers.ProbeAll(o.Out)
	row.Allocs = o.allocations()
	row.reads("", o)
	f.list = append(f.list, oursRunner("", o))
	if b.threads > 1 {
		if o, err = prepare(1); err != nil {
			return fmt.Errorf("on one thread: %w", err)
		}
		f.ends(o)
		f.list = append(f.list, oursRunner(alone, o))
	}
	return nil
}

// leaveOut reports a competitor that cannot take part.
func (b *bench) leaveOut(c *Case, row *Row, name string, err error) {
	b.failed = append(b.failed, fmt.Errorf("%s/%s: %s left out: %w", c.Group, c.Shape, name, err))
	row.LeftOut = append(row.LeftOut, name+": "+inTree(err.Error()))
}

// inTree leaves out the folder of the repository from the paths that a text names.
func inTree(text string) string {
	dir, err := filepath.Abs("..")
	if err != nil {
		return text
	}
	return strings.ReplaceAll(text, dir+string(filepath.Separator), "")
}

func oursRunner(name string, o *Ours) *runner {
	return &runner{name: name, time: func(warm, calls int) (d time.Duration, err error) {
		for range warm {
			o.once()
		}
		start := time.Now()
		if o.Before == nil {
			for range calls {
				o.Run()
			}
			return time.Since(start), nil
		}
		for range calls {
			d += o.once()
		}
		return d, nil
	}}
}

// once prepares a call, and returns its time.
func (o *Ours) once() time.Duration {
	if o.Before != nil {
		o.Before()
	}
	start := time.Now()
	o.Run()
	return time.Since(start)
}

// beside returns the machine's peak as a competitor where arithmetic bounds the
// case, and also that of one thread where the run has more.
func (b *bench) beside(c *Case, row *Row) []*runner {
	if max(c.Work.Flops, c.Work.Ops8) == 0 || c.Work.memoryBound(&b.peaks, b.threads) {
		return nil
	}
	int8 := c.Work.Ops8 > 0
	ops, _ := peak.Turn(int8, b.threads, 1)
	if ops == 0 {
		return nil
	}
	row.PeakBeside = ops / 1e6 // of a call, until its milliseconds are known
	turn := func(name string, threads int) *runner {
		return &runner{name: name, time: func(warm, calls int) (time.Duration, error) {
			peak.Turn(int8, threads, warm)
			_, d := peak.Turn(int8, threads, calls)
			return d, nil
		}}
	}
	list := []*runner{turn(peakTurn, b.threads)}
	if b.threads > 1 {
		list = append(list, turn(peakAlone, 1))
	}
	return list
}

// allocations returns the allocations of a call. The call before this one has
// warmed up; the least of three counts, since a call in which the runtime starts a
// thread or a goroutine of the team has some of these.
func (o *Ours) allocations() float64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		if o.Before != nil {
			o.Before()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o.Run()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return float64(least)
}

// load prepares the peers and compares their results with ours. A peer that
// fails is reported and left out.
func (b *bench) load(c *Case, row *Row, f *field, requests []peerCase) {
	for i, q := range requests {
		for ask := &q; ask != nil; ask = ask.instead {
			p := b.procs[ask.process]
			if p == nil {
				break
			}
			ask.load.ID = fmt.Sprint(i, " ", ask.name)
			r, err := b.loaded(c, f, p, *ask)
			if err == nil {
				if r.slow {
					f.slow = append(f.slow, r)
				} else {
					f.list = append(f.list, r)
				}
				break
			}
			b.leaveOut(c, row, ask.name, err)
			b.restart(p, err)
		}
	}
}

// interleave takes turns: every round measures each competitor once, and each
// round begins with the next one. It returns those that have come to the end.
func (b *bench) interleave(c *Case, row *Row, list []*runner) ([]*runner, error) {
	var round time.Duration
	list, err := b.each(c, row, list, func(r *runner) error {
		d, err := r.calibrate(b.window)
		round += d
		return err
	})
	pairs := b.pairs
	if round > 0 && time.Duration(pairs)*round > b.limit {
		pairs = min(b.pairs, max(3, int(b.limit/round)))
	}
	for i := 0; i < pairs && err == nil && len(list) > 0; i++ {
		first := i % len(list)
		turns := slices.Concat(list[first:], list[:first])
		turns, err = b.each(c, row, turns, func(r *runner) error {
			d, err := r.time(r.warm, r.calls)
			r.times = append(r.times, d.Seconds()*1e3/float64(r.calls))
			return err
		})
		list = slices.DeleteFunc(list, func(r *runner) bool { return !slices.Contains(turns, r) })
	}
	return list, err
}

// each does something with every competitor and returns those with which it could. A failure of
// gofx is that of the row, one of a peer leaves it out.
func (b *bench) each(c *Case, row *Row, list []*runner, do func(r *runner) error) (kept []*runner, err error) {
	for _, r := range list {
		switch err := do(r); {
		case err == nil:
			kept = append(kept, r)
		case r.process == nil:
			return nil, err
		default:
			b.leaveOut(c, row, r.name, err)
			b.restart(r.process, err)
		}
	}
	return kept, nil
}

// calibrate says how many calls fill a window, and how long a turn takes.
func (r *runner) calibrate(window time.Duration) (turn time.Duration, err error) {
	// The first call warms up, the second says how many fill the window.
	var d time.Duration
	for range 2 {
		if d, err = r.time(0, 1); err != nil {
			return 0, err
		}
	}
	for r.calls = 1; d < window/8 && r.calls < 1<<20; {
		r.calls *= 4
		if d, err = r.time(0, r.calls); err != nil {
			return 0, err
		}
	}
	if per := d / time.Duration(r.calls); per < window {
		r.calls = int(window/max(1, per)) + 1
		r.warm = int(warming/max(1, per)) + 1
		return window + warming, nil
	} else {
		r.calls, r.warm = 1, 1
		if per > 16*warming { // its own beginning warms it up
			r.warm = 0
		}
		return per * time.Duration(1+r.warm), nil
	}
}

// finish computes the row's numbers from the measurements.
func (b *bench) finish(c *Case, row *Row, list []*runner) {
	theirs := map[string]float64{}
	var peakMS, peakAloneMS float64
	for _, r := range list {
		row.Pairs = len(r.times)
		t := median(r.times)
		if row.Least == nil {
			row.Least = map[string]float64{}
		}
		row.Least[r.name] = slices.Min(r.times)
		if r.engine {
			if row.Engines == nil {
				row.Engines = map[string]float64{}
			}
			row.Engines[r.name] = t
			continue
		}
		switch r.name {
		case "":
			row.OursMS = t
		case alone:
			row.AloneMS = t
		case peakTurn:
			peakMS = t
			row.PeakBeside /= t
		case peakAlone:
			peakAloneMS = t
		default:
			theirs[r.name] = t
		}
	}
	row.setPeers(theirs)
	if row.AloneMS > 0 && peakAloneMS > 0 {
		// A call of the peak does the same on every thread.
		row.PeakScaling = float64(b.threads) * peakAloneMS / peakMS
		row.ScalingShare = row.AloneMS / row.OursMS / row.PeakScaling
	}
	b.describe(row)
	if row.OursMS == 0 {
		return
	}
	seconds := row.OursMS / 1e3
	row.RoofShare = c.Work.Bound(&b.peaks, b.threads) / seconds
	ops := max(c.Work.Flops, c.Work.Ops8, c.Work.Adds+c.Work.Divs)
	row.GFlops = ops / seconds / 1e9
	if row.PeakBeside > 0 {
		row.BesideShare = row.GFlops / row.PeakBeside
	}
	if c.Work.Bytes > 0 {
		row.Intensity = ops / c.Work.Bytes
	}
	if c.Elements > 0 {
		row.NSElement = seconds * 1e9 / float64(c.Elements)
	}
}

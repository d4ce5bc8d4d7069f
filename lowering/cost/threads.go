package cost

import (
	"slices"
	"time"

	"github.com/gofx-dev/gofx/kernel"
)

// Cutting is how the steps of a plan are cut for so many threads, and what the parts took
// on one of them: cpu.Executable.Cutting measures it.
type Cutting struct {
	Threads int
	Steps   []Part // of the plan, in order
}

// Part is a step: what one thread does alone, and the calls that share chunks.
type Part struct {
	Serial  time.Duration
	Regions []kernel.Region // with the time of each chunk
	Bytes   int64           // that the step moves
}

// Median returns the medians of repeated measurements of a step: of what one thread does
// alone, and of each chunk. A loop over state may run another number of rounds each time: only
// measurements with the chunks of the last one count.
func Median(list []Part) Part {
	if len(list) == 0 {
		return Part{}
	}
	last := &list[len(list)-1]
	list = slices.DeleteFunc(slices.Clone(list), func(p Part) bool { return !p.cutAs(last) })
	times := make([]time.Duration, len(list))
	of := func(one func(p *Part) time.Duration) time.Duration {
		for i := range list {
			times[i] = one(&list[i])
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	all := Part{Serial: of(func(p *Part) time.Duration { return p.Serial }), Bytes: list[0].Bytes}
	for k := range list[0].Regions {
		r := list[0].Regions[k]
		r.Took, r.Wall = make([]time.Duration, r.Chunks), 0
		for c := range r.Took {
			r.Took[c] = of(func(p *Part) time.Duration { return p.Regions[k].Took[c] })
			r.Wall += r.Took[c]
		}
		all.Regions = append(all.Regions, r)
	}
	return all
}

// cutAs reports whether a step has the same calls and chunks in two measurements.
func (p *Part) cutAs(q *Part) bool {
	return slices.EqualFunc(p.Regions, q.Regions, func(a, b kernel.Region) bool { return a.Threads == b.Threads && a.Chunks == b.Chunks })
}

// Handover is what sharing work takes: a call of two threads without work, and a cache line
// that goes from one processor to another.
type Handover struct{ Call, Line time.Duration }

// Scaling is what a plan is predicted to take on so many processors like the one that it
// was measured on.
type Scaling struct {
	Threads    int           `json:"threads"`
	Time       time.Duration `json:"ns"`
	Alone      time.Duration `json:"alone_ns"`   // on one thread, cut in the same way
	Serial     time.Duration `json:"serial_ns"`  // in which one thread works
	Uneven     time.Duration `json:"uneven_ns"`  // in which the others wait for the last one, on average
	Handing    time.Duration `json:"handing_ns"` // until threads come, and to the end
	Memory     time.Duration `json:"memory_ns"`  // by which memory is slower than all that
	Barriers   int           `json:"barriers"`
	Tiles      int           `json:"tiles"`      // that threads share
	Bandwidth  float64       `json:"bandwidth"`  // bytes a second that operands and results come to
	Efficiency float64       `json:"efficiency"` // Alone by Threads×Time
}

// Predict predicts a run from the cutting: threads have their shares of the chunks of a
// call and then take those of others, as kernels do, and come one after the other. bandwidth
// are the bytes a second that all processors together get from memory, 0 for no bound: a step that
// moves more takes longer.
func (c *Cutting) Predict(h Handover, bandwidth float64) Scaling {
	s := Scaling{Threads: c.Threads}
	var bytes int64
	for i := range c.Steps {
		p := &c.Steps[i]
		took := p.Serial
		s.Serial, s.Alone = s.Serial+p.Serial, s.Alone+p.Serial
		for k := range p.Regions {
			r := &p.Regions[k]
			wall, handing := makespan(r, h)
			s.Barriers, s.Tiles = s.Barriers+1, s.Tiles+r.Chunks
			s.Alone += r.Wall
			s.Handing += handing
			s.Uneven += wall - handing - r.Wall/time.Duration(r.Threads)
			took += wall
		}
		bytes += p.Bytes
		if bandwidth > 0 {
			if least := duration(float64(p.Bytes) / bandwidth); least > took {
				s.Memory += least - took
				took = least
			}
		}
		s.Time += took
	}
	if s.Time > 0 {
		s.Bandwidth = float64(bytes) / s.Time.Seconds()
		s.Efficiency = float64(s.Alone) / (float64(c.Threads) * float64(s.Time))
	}
	return s
}

// makespan is how long a call takes whose threads take chunks as kernel.Workspace.Parallel
// hands them out, and the average of what of it threads spend until they come and after the
// last chunk.
func makespan(r *kernel.Region, h Handover) (wall, handing time.Duration) {
	threads := min(r.Threads, r.Chunks)
	at := make([]time.Duration, threads)                    // when a thread is free
	next, end := make([]int, threads), make([]int, threads) // of its share
	for i := range at {
		next[i], end[i] = r.Chunks*i/threads, r.Chunks*(i+1)/threads
		at[i] = h.arrival(i, threads)
		handing += at[i]
	}
	for left := r.Chunks; left > 0; left-- {
		who := 0
		for i := range at {
			if at[i] < at[who] {
				who = i
			}
		}
		from := who
		for next[from] == end[from] {
			from = (from + 1) % threads
		}
		at[who] += r.Took[next[from]]
		next[from]++
	}
	leave := h.leaving(threads)
	wall = slices.Max(at) + leave
	return wall, handing/time.Duration(threads) + leave
}

// arrival is when thread i of a call begins: 0 is the caller, which lends the others one
// after the other.
func (h Handover) arrival(i, threads int) time.Duration {
	if i == 0 {
		return h.Line * time.Duration(threads-1)
	}
	return h.Line * time.Duration(i+1)
}

// leaving is the time from the last chunk to the end of a call.
func (h Handover) leaving(threads int) time.Duration {
	if threads < 2 {
		return 0
	}
	return max(h.Call-3*h.Line, 0) + h.Line
}

package cost

import (
	"math"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/diag"
)

// Load is what a fleet of machines is to serve. A request is one run.
type Load struct {
	Rate float64 // requests a second; they come independently of each other
	// Latency is the longest that so great a share of the requests (0.99 for 0) may take,
	// waiting included.
	Latency time.Duration
	Share   float64
}

// Fleet is how many machines serve a load, and how.
type Fleet struct {
	Machines int `json:"machines"`
	Workers  int `json:"workers"` // runs at once on each
	// Service is the time of a run while the other workers run, Latency that within
	// which the share of the requests is served.
	Service time.Duration `json:"service_ns"`
	Latency time.Duration `json:"latency_ns"`
	// Busy is the share of the time in which a worker runs.
	Busy float64 `json:"busy"`
	// Rate is what each machine serves at most, for requests that may wait.
	Rate  float64 `json:"machine_rate"`
	Bytes int64   `json:"machine_bytes"` // of memory, of each machine
	// Bound is what limits the workers or their speed: processors, memory or bandwidth.
	Bound string `json:"bound"`
}

// The bounds of a machine.
const (
	ByCores     = "processors"
	ByBytes     = "memory"
	ByBandwidth = "bandwidth"
)

// Fleet finds the fewest machines that serve a load. A machine has as many workers as
// its cores and memory allow, which share the weights and the bandwidth. Waiting is that
// of Erlang's formula for requests that come by themselves (a queue of the type M/M/c,
// which is the more careful one: runs take equally long, so that waits are shorter).
func (e *Estimate) Fleet(l Load) (*Fleet, error) {
	if l.Share == 0 {
		l.Share = 0.99
	}
	if err := e.refuse(l); err != nil {
		return nil, err
	}
	f, err := e.machine()
	if err != nil {
		return nil, err
	}
	if f.Service > l.Latency {
		return nil, diag.New(BadLoad, "a run takes "+f.Service.String()+" on "+strconv.Quote(e.Device.Name)+", expected at most "+l.Latency.String()).
			WithHint("describe a faster device, give a run more threads, or allow more time")
	}
	enough := func(n int) bool {
		wait, ok := f.wait(l.Rate/float64(n), l.Share)
		return ok && f.Service+wait <= l.Latency
	}
	high := 1
	for ; !enough(high); high *= 2 {
		if high > maxMachines {
			return nil, diag.New(BadLoad, number(l.Rate)+" requests a second take more than "+strconv.Itoa(maxMachines)+" machines, expected fewer requests")
		}
	}
	low := high/2 + 1
	if high == 1 {
		low = 1
	}
	for low < high {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	wait, _ := f.wait(l.Rate/float64(high), l.Share)
	f.Machines, f.Latency = high, f.Service+wait
	f.Busy = l.Rate / float64(high) / f.Rate
	return f, nil
}

// maxMachines bounds a fleet.
const maxMachines = 1 << 30

func (e *Estimate) refuse(l Load) error {
	switch {
	case !(l.Rate > 0) || math.IsInf(l.Rate, 0):
		return diag.New(BadLoad, number(l.Rate)+" requests a second, expected more than 0")
	case l.Latency <= 0:
		return diag.New(BadLoad, "a latency of "+l.Latency.String()+", expected more than 0")
	case !(l.Share > 0 && l.Share < 1):
		return diag.New(BadLoad, "a share of "+number(l.Share)+" of the requests, expected one between 0 and 1")
	case e.Device.Cores < e.Device.Threads:
		return diag.New(BadDevice, "device "+strconv.Quote(e.Device.Name)+" has "+strconv.Itoa(e.Device.Cores)+" cores, expected at least the "+strconv.Itoa(e.Device.Threads)+" threads of a run").
			WithHint("say in the description how many cores a machine has")
	}
	return nil
}

// machine is what one machine can do.
func (e *Estimate) machine() (*Fleet, error) {
	d, m := e.Device, e.Work.Memory
	f := &Fleet{Workers: d.Cores / d.Threads, Service: max(e.Time, 1), Bound: ByCores}
	shared := d.Base + m.Weights
	if d.Bytes > 0 {
		fit := (d.Bytes - shared) / max(m.Run(), 1)
		if d.Bytes < shared || fit < 1 {
			return nil, diag.New(BadLoad, "a machine of "+strconv.Quote(d.Name)+" has "+strconv.FormatInt(d.Bytes, 10)+" bytes of memory, a run takes "+strconv.FormatInt(shared+m.Run(), 10)).
				WithHint("describe a machine with more memory, or run smaller batches")
		}
		if fit < int64(f.Workers) {
			f.Workers, f.Bound = int(fit), ByBytes
		}
	}
	f.Bytes = shared + int64(f.Workers)*m.Run()
	if d.Bandwidth > 0 {
		if t := duration(float64(f.Workers) * float64(e.farBytes()) / d.Bandwidth); t > f.Service {
			f.Service, f.Bound = t, ByBandwidth
		}
	}
	f.Rate = float64(f.Workers) / f.Service.Seconds()
	return f, nil
}

// farBytes are those that a run moves from and to the last level of memory.
func (e *Estimate) farBytes() (n int64) {
	far := e.Device.far(e.Work.Memory.Total())
	for i := range e.Work.Steps {
		s := &e.Work.Steps[i]
		if far {
			n += s.Weights
		}
		if e.Device.far(s.Values / max(s.Times, 1)) {
			n += s.Values
		}
	}
	return n
}

// wait is the time within which a share of the requests is begun on a machine that gets
// so many a second; not ok where they pile up.
func (f *Fleet) wait(rate, share float64) (wait time.Duration, ok bool) {
	service, c := f.Service.Seconds(), float64(f.Workers)
	load := rate * service // workers that are busy, on average
	if load >= c {
		return 0, false
	}
	blocked := 1.0 // Erlang's B, of one worker more each time
	for k := 1.0; k <= c; k++ {
		blocked = load * blocked / (k + load*blocked)
	}
	waits := blocked / (1 - load/c*(1-blocked)) // Erlang's C: that a request waits at all
	if waits <= 1-share {
		return 0, true
	}
	return duration(math.Log(waits/(1-share)) / (c/service - rate)), true
}

package work

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// BenchJSON is the line of bench -json.
type BenchJSON struct {
	Model     string           `json:"model"`
	Engine    string           `json:"engine"`
	Threads   int              `json:"threads"`
	Shapes    map[string][]int `json:"shapes"`
	Runs      int              `json:"runs"`
	MedianMS  float64          `json:"median_ms"`
	MinMS     float64          `json:"min_ms"`
	Allocs    uint64           `json:"allocs"` // of one run
	PeakBytes int64            `json:"peak_bytes"`
}

func (c *captured) bench(ctx context.Context, j *Job, res *Result) error {
	in, dims, err := c.values(j)
	if err != nil {
		return err
	}
	r, err := c.noted(j, res)
	if err != nil {
		return err
	}
	defer r.close()
	b := BenchJSON{Model: c.src.Name, Engine: j.Engine, Threads: runtime.GOMAXPROCS(0), Shapes: map[string][]int{}, PeakBytes: r.peak(dims)}
	for i, n := range c.gm.Graph.Inputs() {
		if in[i] != nil {
			b.Shapes[n.Target()] = append([]int{}, in[i].Shape()...)
		}
	}
	if err := b.Measure(j, func() error { _, err := r.run(ctx, in); return err }); err != nil {
		return err
	}
	return b.Report(j, res)
}

// Measure runs f once to warm up, then until both -repeat and -min-time are
// reached.
func (b *BenchJSON) Measure(j *Job, f func() error) error {
	if err := f(); err != nil {
		return err
	}
	var times []time.Duration
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for start := time.Now(); len(times) < max(j.Repeat, 1) || j.MinTime > 0 && time.Since(start) < time.Duration(j.MinTime); {
		t := time.Now()
		if err := f(); err != nil {
			return err
		}
		times = append(times, time.Since(t))
	}
	runtime.ReadMemStats(&after)
	slices.Sort(times)
	b.Runs = len(times)
	b.Allocs = (after.Mallocs - before.Mallocs) / uint64(len(times))
	mid := times[len(times)/2]
	if len(times)%2 == 0 {
		mid = (mid + times[len(times)/2-1]) / 2
	}
	b.MedianMS, b.MinMS = ms(mid), ms(times[0])
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// Report puts the measurement into the result.
func (b *BenchJSON) Report(j *Job, res *Result) error {
	if j.JSON {
		text, err := json.Marshal(b)
		res.Text = string(text) + "\n"
		return err
	}
	res.Text = fmt.Sprintf("%s, engine %s, %d threads: median %.3f ms, least %.3f ms of %d runs, %d allocations a run, %d bytes at the peak\n",
		b.Model, b.Engine, b.Threads, b.MedianMS, b.MinMS, b.Runs, b.Allocs, b.PeakBytes)
	return nil
}

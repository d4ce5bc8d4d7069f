package exchange

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Bench is the verb of a job that measures.
const Bench = "bench"

// Times is what bench measures, and its line of JSON.
type Times struct {
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

// Measure runs f once to warm up, then at least so often and so many nanoseconds.
func (b *Times) Measure(repeat int, least int64, f func() error) error {
	if err := f(); err != nil {
		return err
	}
	var times []time.Duration
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for start := time.Now(); len(times) < max(repeat, 1) || time.Since(start) < time.Duration(least); {
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
	b.MedianMS, b.MinMS = Milliseconds(mid), Milliseconds(times[0])
	return nil
}

// Milliseconds is a duration as fxgen prints it.
func Milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// Report puts the measurement into the result, as a line of JSON or of text.
func (b *Times) Report(asJSON bool, res *Result) error {
	if asJSON {
		text, err := json.Marshal(b)
		res.Text = string(text) + "\n"
		return err
	}
	res.Text = fmt.Sprintf("%s, engine %s, %d threads: median %.3f ms, least %.3f ms of %d runs, %d allocations a run, %d bytes at the peak\n",
		b.Model, b.Engine, b.Threads, b.MedianMS, b.MinMS, b.Runs, b.Allocs, b.PeakBytes)
	return nil
}

package cost

import (
	"cmp"
	"slices"
	"time"
)

// Estimate is what a device is predicted to take for a work.
type Estimate struct {
	Device *Device
	Work   *Work
	Steps  []Time // of each of Work.Steps
	// Time is that of a run, Roof the least that the device's peaks allow.
	Time, Roof time.Duration
	// PeakBytes is the memory of a process with one run at a time.
	PeakBytes int64
}

// Time is what one step is predicted to take.
type Time struct {
	Seconds float64
	Roof    float64 // seconds at best
	Memory  bool    // memory bounds that, not arithmetic
	Known   bool    // a law says so; without one Roof counts
}

// Estimate predicts a run by the device's laws, or its roofline where it has none.
func (d *Device) Estimate(w *Work) (*Estimate, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	e := &Estimate{Device: d, Work: w, PeakBytes: d.Base + w.Memory.Total()}
	seconds, roof := 0.0, 0.0
	for i := range w.Steps {
		s := &w.Steps[i]
		var t Time
		t.Roof, t.Memory = d.Roof(s, w)
		t.Seconds = t.Roof
		if l, ok := d.law(s.Kind); ok {
			t.Seconds, t.Known = l.seconds(d.least(s, w, s.Laid)), true
		}
		e.Steps = append(e.Steps, t)
		seconds, roof = seconds+t.Seconds, roof+t.Roof
	}
	e.Time, e.Roof = duration(seconds), duration(roof)
	return e, nil
}

func duration(seconds float64) time.Duration {
	return time.Duration(min(seconds*1e9, float64(1<<62)))
}

// Row is a sum of steps.
type Row struct {
	Name    string  `json:"name"`
	Steps   int     `json:"steps"`
	Flops   int64   `json:"flops"`
	Weights int64   `json:"weight_bytes"`
	Values  int64   `json:"value_bytes"`
	Live    int64   `json:"live_bytes"`        // of intermediate values, at most
	Each    float64 `json:"intensity"`         // operations for each byte
	MS      float64 `json:"ms,omitempty"`      // predicted
	Roof    float64 `json:"roof_ms,omitempty"` // at best
	Share   float64 `json:"share,omitempty"`   // of the time of all
	Memory  bool    `json:"memory_bound,omitempty"`

	memory float64 // of Roof, where memory bounds it
}

// By sums steps up by a name, those that take the longest first.
func (e *Estimate) By(name func(*Step) string) []Row {
	rows := e.Work.sum(name, e.Steps)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.MS, a.MS) })
	return rows
}

// By sums steps up by a name, those that compute most first.
func (w *Work) By(name func(*Step) string) []Row {
	rows := w.sum(name, nil)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Flops, a.Flops) })
	return rows
}

// sum makes the rows in the order of the steps.
func (w *Work) sum(name func(*Step) string, times []Time) []Row {
	at := map[string]int{}
	rows := []Row{}
	total := 0.0
	for i := range w.Steps {
		s := &w.Steps[i]
		k, ok := at[name(s)]
		if !ok {
			k = len(rows)
			at[name(s)] = k
			rows = append(rows, Row{Name: name(s)})
		}
		r := &rows[k]
		r.Steps++
		r.Flops, r.Weights, r.Values = r.Flops+s.Flops, r.Weights+s.Weights, r.Values+s.Values
		r.Live = max(r.Live, s.Live)
		if times != nil {
			t := times[i]
			r.MS, r.Roof, total = r.MS+1e3*t.Seconds, r.Roof+1e3*t.Roof, total+1e3*t.Seconds
			if t.Memory {
				r.memory += 1e3 * t.Roof
			}
		}
	}
	for i := range rows {
		r := &rows[i]
		r.Each = float64(r.Flops) / max(float64(r.Weights+r.Values), 1)
		r.Memory = r.memory > r.Roof/2
		if total > 0 {
			r.Share = r.MS / total
		}
	}
	return rows
}

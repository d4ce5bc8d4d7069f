package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/host"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// scaleRow is a network on several threads: as measured on this machine's, in turns, and as
// predicted for more.
type scaleRow struct {
	Name     string  `json:"name"`
	CPU      string  `json:"cpu"`
	Date     string  `json:"date"`
	Pairs    int     `json:"pairs"`
	One      float64 `json:"one_ms"` // on one thread
	Two      float64 `json:"two_ms"`
	Loop     float64 `json:"loop"`     // gain of a loop of multiply-adds from the second thread
	Requests float64 `json:"requests"` // runs a second of two goroutines with one thread each, by those of one
	Serial   float64 `json:"serial"`   // share of the time of two threads in which one works alone
	Busy     float64 `json:"busy"`     // share of the time of both in which they work

	Scaling []cost.Scaling `json:"scaling"`
	Lost    []lostStep     `json:"lost"` // steps that lose most of the time of the threads that the goal is for
}

// lostStep is a step that keeps threads waiting.
type lostStep struct {
	Name       string  `json:"name"`
	Share      float64 `json:"share"` // of the predicted time, that all threads at work would not take
	Efficiency float64 `json:"efficiency"`
	Tiles      int     `json:"tiles"`
	Barriers   int     `json:"barriers"`
}

// scaleThreads are the numbers that are predicted, scaleGoal the one whose steps are listed.
var scaleThreads = []int{1, 2, 4, 8, 16, 32, 64}

const (
	scaleGoal = 16
	scaleRuns = 3 // of which medians count
	mostLost  = 8
	loopCalls = 2000 // of the loop of multiply-adds, some milliseconds
)

// scales measures and predicts networks.
func scales(o options, out io.Writer) error {
	var rows []*scaleRow
	if o.from != "" {
		var err error
		if rows, err = readLists[scaleRow](strings.Split(o.from, ",")); err != nil {
			return err
		}
	} else {
		names := strings.Split(o.scale, ",")
		if slices.Equal(names, []string{"all"}) {
			names = nil
			for _, c := range modelCases() {
				names = append(names, c.Shape)
			}
		}
		for _, n := range names {
			r, err := scaleOf(n, o.pairs)
			if err != nil {
				return err
			}
			if o.json {
				if err := json.NewEncoder(out).Encode(r); err != nil {
					return err
				}
			}
			rows = append(rows, r)
		}
	}
	switch {
	case o.doc:
		return writeScaleDoc(filepath.Join("../docs/bench", scaleFile), rows)
	case o.json:
		return nil
	}
	_, err := io.WriteString(out, scaleTable(rows))
	return err
}

// scaleOf measures a network on one thread, on two, and as two requests at once, pair by
// pair, and predicts it.
func scaleOf(name string, pairs int) (*scaleRow, error) {
	one, in, _, err := compiled(name, 1)
	if err != nil {
		return nil, err
	}
	defer one.Close()
	two, _, _, err := compiled(name, 2)
	if err != nil {
		return nil, err
	}
	defer two.Close()
	r := &scaleRow{Name: name, CPU: host.Processor() + ", " + peak.Measure(1).Level, Date: time.Now().UTC().Format(time.DateOnly), Pairs: pairs}
	if err := r.measure(one, two, in, pairs); err != nil {
		return nil, err
	}
	ctx := context.Background()
	steps, err := two.Profile(ctx, in, scaleRuns)
	if err != nil {
		return nil, err
	}
	var all time.Duration
	for _, s := range steps {
		all += s.Time
		r.Serial += s.Sharing.Serial.Seconds()
		r.Busy += (s.Sharing.Busy + s.Sharing.Serial).Seconds() / 2
	}
	r.Serial, r.Busy = r.Serial/all.Seconds(), r.Busy/all.Seconds()
	hand := cpu.Handover()
	for _, threads := range scaleThreads {
		c, err := two.Cutting(ctx, in, threads, scaleRuns)
		if err != nil {
			return nil, err
		}
		s := c.Predict(hand, 0)
		r.Scaling = append(r.Scaling, s)
		if threads == scaleGoal {
			r.Lost = lostSteps(two, c, hand, s.Time)
		}
	}
	return r, nil
}

// measure times calls in turns.
func (r *scaleRow) measure(one, two *cpu.Executable, in []*array.Array, pairs int) error {
	var ones, twos, both, loops []float64
	for range pairs {
		alone, err := timed(1, one, in)
		if err != nil {
			return err
		}
		shared, err := timed(1, two, in)
		if err != nil {
			return err
		}
		requests, err := timed(2, one, in)
		if err != nil {
			return err
		}
		ops1, d1 := peak.Turn(false, 1, loopCalls)
		ops2, d2 := peak.Turn(false, 2, loopCalls)
		loops = append(loops, ops2/d2.Seconds()/(ops1/d1.Seconds()))
		ones, twos, both = append(ones, alone), append(twos, shared), append(both, 2*alone/requests)
	}
	r.One, r.Two, r.Requests, r.Loop = median(ones), median(twos), median(both), median(loops)
	return nil
}

// scaleWindow is the least time of a measurement.
const scaleWindow = 30 * time.Millisecond

// timed returns the milliseconds of a run, of goroutines that each run as often; the slowest counts.
func timed(goroutines int, e *cpu.Executable, in []*array.Array) (float64, error) {
	ctx := context.Background()
	errs := make([]error, goroutines)
	out := make([][]*array.Array, goroutines)
	run := func(i, runs int) {
		for range runs {
			if errs[i] == nil {
				errs[i] = e.RunInto(ctx, out[i], in)
			}
		}
	}
	for i := range out {
		out[i], errs[i] = e.Run(ctx, in)
	}
	start := time.Now()
	run(0, 1)
	runs := max(1, int(scaleWindow/max(time.Since(start), 1)))
	var wg sync.WaitGroup
	start = time.Now()
	for i := range goroutines {
		wg.Add(1)
		go func() { defer wg.Done(); run(i, runs) }()
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return took.Seconds() * 1e3 / float64(runs), nil
}

// lostSteps are the steps of which threads lose most.
func lostSteps(e *cpu.Executable, c *cost.Cutting, h cost.Handover, all time.Duration) (list []lostStep) {
	for i := range c.Steps {
		s := (&cost.Cutting{Threads: c.Threads, Steps: c.Steps[i : i+1]}).Predict(h, 0)
		st := &e.Plan().Steps[i]
		list = append(list, lostStep{Name: strings.Join(st.Nodes, "+"), Efficiency: s.Efficiency, Tiles: s.Tiles, Barriers: s.Barriers,
			Share: (s.Time - s.Alone/time.Duration(c.Threads)).Seconds() / all.Seconds()})
	}
	slices.SortStableFunc(list, func(a, b lostStep) int { return cmp.Compare(b.Share, a.Share) })
	return list[:min(len(list), mostLost)]
}

// scaleTable is the networks with what was measured and predicted.
func scaleTable(rows []*scaleRow) string {
	var b strings.Builder
	b.WriteString("| network | 1 ms | 2 ms | predicted 2 | gain | of the loop's | busy | serial | requests | barriers | tiles at 16 |")
	for _, n := range scaleThreads[2:] {
		b.WriteString(" " + strconv.Itoa(n) + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", 11+len(scaleThreads)-2) + "\n")
	for _, r := range rows {
		two := r.at(2)
		fmt.Fprintf(&b, "| %s | %.4g | %.4g | %.4g | %.2f | %.2f | %.2f | %.3f | %.2f | %d | %d |", r.Name, r.One, r.Two, r.One*r.gain(2), r.One/r.Two, r.One/r.Two/r.Loop, r.Busy, r.Serial, r.Requests,
			two.Barriers, r.at(scaleGoal).Tiles)
		for _, n := range scaleThreads[2:] {
			fmt.Fprintf(&b, " %.2f |", r.at(n).Efficiency)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// at is the prediction for so many threads.
func (r *scaleRow) at(threads int) cost.Scaling {
	for _, s := range r.Scaling {
		if s.Threads == threads {
			return s
		}
	}
	return cost.Scaling{}
}

// gain is the predicted time on so many threads by that on one.
func (r *scaleRow) gain(threads int) float64 {
	return r.at(threads).Time.Seconds() / math.Max(r.at(1).Time.Seconds(), 1e-12)
}

// scaleFile is the page of the table.
const scaleFile = "threads.md"

// writeScaleDoc brings the table of a page up to date.
func writeScaleDoc(path string, rows []*scaleRow) error {
	if len(rows) == 0 {
		return fmt.Errorf("no rows to write")
	}
	text, err := readPage(path, "Networks on several threads")
	if err != nil {
		return err
	}
	last := rows[len(rows)-1]
	head := fmt.Sprintf("%s, %s, %d processors. %d pairs.\n\n", last.CPU, last.Date, runtime.NumCPU(), last.Pairs)
	return os.WriteFile(path, []byte(between(text, "scale", "## Measured and predicted", head+scaleTable(rows))), 0o644)
}

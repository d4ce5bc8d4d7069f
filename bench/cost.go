package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// costArgument makes the program measure one network, for the one that started it:
// its memory is that of the process.
const costArgument = "-cost-of"

// costRow is a network as it was measured.
type costRow struct {
	Name   string                `json:"name"`
	Device *cost.Device          `json:"device"` // without laws
	Work   *cost.Work            `json:"work"`
	Steps  map[int]time.Duration `json:"steps"` // by index in the plan
	Whole  time.Duration         `json:"whole"` // the median of whole runs
	Peak   int64                 `json:"peak"`  // of the process while it runs, 0 where that is not known
}

// costs measures networks, each in a process of its own, and predicts each from the
// others.
func costs(o options, out io.Writer) error {
	threads, err := strconv.Atoi(o.threads)
	if err != nil || threads < 1 {
		return fmt.Errorf("-threads %s: want a number from 1", o.threads)
	}
	var rows []*costRow
	if o.from != "" {
		rows, err = readLists[costRow](strings.Split(o.from, ","))
	} else {
		rows, err = measureCosts(strings.Split(o.cost, ","), threads)
	}
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(out)
		for _, r := range rows {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	return writeCosts(out, rows)
}

func measureCosts(names []string, threads int) ([]*costRow, error) {
	if slices.Equal(names, []string{"all"}) {
		names = nil
		for _, c := range modelCases() {
			names = append(names, c.Shape)
		}
	}
	p := peak.Measure(threads)
	d := deviceOf(&p, threads)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var rows []*costRow
	for _, n := range names {
		cmd := exec.Command(self, costArgument, n, strconv.Itoa(threads))
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("-cost %s: %w", n, err)
		}
		r := &costRow{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, err
		}
		r.Device = d
		rows = append(rows, r)
	}
	return rows, nil
}

// serveCost measures one network and writes the row.
func serveCost(name, threads string, out io.Writer) error {
	n, err := strconv.Atoi(threads)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(n)
	e, in, dims, err := compiled(name, n)
	if err != nil {
		return err
	}
	defer e.Close()
	r := &costRow{Name: name, Steps: map[int]time.Duration{}}
	if r.Work, err = e.Cost(dims); err != nil {
		return err
	}
	ctx := context.Background()
	results, err := e.Run(ctx, in)
	if err != nil {
		return err
	}
	run := func() error { return e.RunInto(ctx, results, in) }
	debug.FreeOSMemory() // the model as it was captured is gone
	forgetPeak()
	if r.Whole, err = medianOf(run); err != nil {
		return err
	}
	r.Peak = residentPeak()
	steps, err := e.Profile(ctx, in, costRuns)
	if err != nil {
		return err
	}
	for i, s := range steps {
		r.Steps[i] = s.Time
	}
	return json.NewEncoder(out).Encode(r)
}

// compiled is the plan of a network, and nothing else of it.
func compiled(name string, threads int) (*cpu.Executable, []*array.Array, map[string]int, error) {
	for _, c := range modelCases() {
		if c.Shape != name {
			continue
		}
		w, err := openNetwork(c.Network, c.Dims)
		if err != nil {
			return nil, nil, nil, err
		}
		g, err := w.optimised(fx.Optimise())
		if err != nil {
			return nil, nil, nil, err
		}
		e, err := cpu.Compile(g, lowering.Options{Threads: threads, Shapes: w.dims})
		return e, w.arrays(), w.dims, err
	}
	return nil, nil, nil, fmt.Errorf("-cost: there is no network %s; -list -run model prints all names", name)
}

// costRuns is the number of runs for a median, costTime the most time for them.
const (
	costRuns = 9
	costTime = 3 * time.Second
)

func medianOf(run func() error) (time.Duration, error) {
	var times []time.Duration
	for begin := time.Now(); len(times) < costRuns || len(times) < 10*costRuns && time.Since(begin) < costTime/10; {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// forgetPeak starts measuring the process's peak memory again, where the system can.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// residentPeak is the most memory that the process had since, 0 where nobody knows.
func residentPeak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(text, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10
}

// run is the row as a device calibrates with it.
func (r *costRow) run() cost.Run {
	run := r.Device.Measured(r.Work, r.Steps, r.Whole)
	run.Model, run.PeakBytes = r.Name, r.Peak
	return run
}

// architecture is the family of networks that a row's belongs to, of which none may
// teach about another.
func (r *costRow) architecture() string {
	return strings.TrimRight(batchSuffix.ReplaceAllString(r.Name, ""), "0123456789")
}

// writeCosts predicts each network by a device that is calibrated with all others.
func writeCosts(out io.Writer, rows []*costRow) error {
	fmt.Fprint(out, "| network | predicted ms | measured ms | ratio | roofline ms | predicted MB | measured MB | ratio |\n|"+strings.Repeat("---|", 8)+"\n")
	for _, r := range rows {
		d := *r.Device
		var others []cost.Run
		for _, o := range rows {
			if o.architecture() != r.architecture() {
				others = append(others, o.run())
			}
		}
		d.Calibrate(others...)
		e, err := d.Estimate(r.Work)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %.3f | %.3f | %.2f | %.3f | %.1f | %.1f | %.2f |\n", r.Name, 1e3*e.Time.Seconds(), 1e3*r.Whole.Seconds(), e.Time.Seconds()/r.Whole.Seconds(),
			1e3*e.Roof.Seconds(), float64(e.PeakBytes)/1e6, float64(r.Peak)/1e6, float64(e.PeakBytes)/max(float64(r.Peak), 1))
	}
	return nil
}

package work

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// costJSON is the plan in stats -json with -by or -device.
type costJSON struct {
	By      string      `json:"by"`
	Flops   int64       `json:"flops"`
	Moved   int64       `json:"moved_bytes"`
	Each    float64     `json:"intensity"`
	Memory  cost.Memory `json:"memory"`
	Assumed []string    `json:"assumed,omitempty"` // sizes taken to be 1
	Rows    []cost.Row  `json:"rows"`
	Device  string      `json:"device,omitempty"`
	MS      float64     `json:"ms,omitempty"`      // predicted
	Roof    float64     `json:"roof_ms,omitempty"` // at best
	Peak    int64       `json:"process_bytes,omitempty"`
	Fleet   *cost.Fleet `json:"fleet,omitempty"`
}

// costs tells whether a job is about the steps of the plan.
func (j *Job) costs() bool { return j.By != "" || j.Device.Name != "" }

// workOf counts the steps of the plan for the job's sizes and a run's threads.
func workOf(c *captured, j *Job, threads int) (*cost.Work, error) {
	sizes, err := c.sizes(j)
	if err != nil {
		return nil, err
	}
	exe, err := cpu.Compile(c.gm, lowering.Options{Threads: threads, Shapes: pinned(c.gm.Graph, sizes)})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	w, err := exe.Cost(sizes)
	if err != nil {
		return nil, err
	}
	w.Name = c.src.Name
	return w, j.turned(w.Loops)
}

// turned refuses turns of loops that are not among those with these symbols.
func (j *Job) turned(loops []string) error {
	var errs diag.List
	for _, name := range slices.Sorted(maps.Keys(j.Turns)) {
		if !slices.Contains(loops, count.Turns(name)) {
			var have []string
			for _, l := range loops {
				if loop, ok := strings.CutPrefix(l, count.Turns("")); ok {
					have = append(have, loop)
				}
			}
			errs.Add(diag.New(BadValue, fmt.Sprintf("-turns %s=%d: there is no while of that name", name, j.Turns[name])).
				WithHint("the loops are " + cmp.Or(strings.Join(have, ", "), "none")))
		}
	}
	return errs.Err()
}

// pinned are the sizes of the symbols that the types of inputs have; others follow.
func pinned(g *graph.Graph, sizes map[string]int) map[string]int {
	pins := map[string]int{}
	for _, in := range g.Inputs() {
		if !in.Type().Ranked() {
			continue
		}
		for _, d := range in.Type().Dims().Slice() {
			for _, name := range d.Symbols() {
				if n, ok := sizes[name]; ok {
					pins[name] = n
				}
			}
		}
	}
	return pins
}

// estimateOf predicts the plan on the job's device.
func estimateOf(c *captured, j *Job) (*cost.Estimate, error) {
	d, err := cost.ReadDevice(strings.NewReader(j.Device.Value), j.Device.Name)
	if err != nil {
		return nil, err
	}
	w, err := workOf(c, j, d.Threads)
	if err != nil {
		return nil, err
	}
	return d.Estimate(w)
}

// costOf is the cost of the plan, on the job's device if there is one.
func costOf(c *captured, j *Job) (*costJSON, error) {
	s := &costJSON{By: cmp.Or(j.By, ByScope)}
	name := j.summedBy(s.By)
	if j.Device.Name == "" {
		w, err := workOf(c, j, 0)
		if err != nil {
			return nil, err
		}
		s.Rows = w.By(name)
		s.count(w)
		return s, nil
	}
	e, err := estimateOf(c, j)
	if err != nil {
		return nil, err
	}
	s.Rows, s.Device, s.MS, s.Roof, s.Peak = e.By(name), e.Device.Name, exchange.Milliseconds(e.Time), exchange.Milliseconds(e.Roof), e.PeakBytes
	s.count(e.Work)
	if j.Rate > 0 {
		s.Fleet, err = e.Fleet(cost.Load{Rate: j.Rate, Latency: time.Duration(j.Latency)})
	}
	return s, err
}

// count enters the costs that do not depend on a device.
func (s *costJSON) count(w *cost.Work) {
	s.Memory, s.Assumed = w.Memory, w.Assumed
	for i := range w.Steps {
		s.Flops += w.Steps[i].Flops
		s.Moved += w.Steps[i].Bytes()
	}
	s.Each = float64(s.Flops) / max(float64(s.Moved), 1)
}

// summedBy names the row that a step is part of.
func (j *Job) summedBy(by string) func(*cost.Step) string {
	switch by {
	case ByScope:
		return func(s *cost.Step) string { return cmp.Or(cut(s.Scope, j.Depth), "-") }
	case ByOp:
		return func(s *cost.Step) string { return cmp.Or(s.Op, "-") } // copies into results
	}
	return func(s *cost.Step) string { return strings.Join(s.Nodes, "+") }
}

func (s *costJSON) text(model, at string, top int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s: %sFLOP, %sB moved, %.3g FLOP a byte\n", model, at, draw.Amount(s.Flops), draw.Amount(s.Moved), s.Each)
	m := s.Memory
	fmt.Fprintf(&b, "memory: %sB (weights %sB, intermediate values %sB, scratch %sB, inputs %sB, outputs %sB)\n",
		draw.Amount(m.Total()), draw.Amount(m.Weights), draw.Amount(m.Arena), draw.Amount(m.Scratch), draw.Amount(m.Inputs), draw.Amount(m.Outputs))
	if s.Device != "" {
		fmt.Fprintf(&b, "on %s: %.4g ms predicted, %.4g ms by the roofline, %sB for the process\n", s.Device, s.MS, s.Roof, draw.Amount(s.Peak))
	}
	if s.Assumed != nil {
		fmt.Fprintf(&b, "assumed to be 1, see -turns: %s\n", strings.Join(s.Assumed, ", "))
	}
	if f := s.Fleet; f != nil {
		fmt.Fprintf(&b, "fleet: %s, each with %s at once, %.0f%% busy, of at most %.4g requests a second (bound by %s) in %sB; 99%% of the requests take at most %.4g ms, of which a run takes %.4g ms\n",
			plural(f.Machines, "machine"), plural(f.Workers, "run"), 100*f.Busy, f.Rate, f.Bound, draw.Amount(f.Bytes), exchange.Milliseconds(f.Latency), exchange.Milliseconds(f.Service))
	}
	b.WriteString("\n")
	s.table(&b, top)
	return b.String()
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (s *costJSON) table(b *strings.Builder, top int) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	head := "FLOP\tB moved\tFLOP/B\tB live\tsteps\t" + s.By
	if s.Device != "" {
		head = "ms\tshare\troof ms\tbound by\t" + head
	}
	fmt.Fprintln(w, head)
	for i, r := range s.Rows {
		if top > 0 && i == top {
			break
		}
		if s.Device != "" {
			bound := "arithmetic"
			if r.Memory {
				bound = "memory"
			}
			fmt.Fprintf(w, "%.4f\t%.1f%%\t%.4f\t%s\t", r.MS, 100*r.Share, r.Roof, bound)
		}
		fmt.Fprintf(w, "%s\t%s\t%.3g\t%s\t%d\t%s\n", draw.Amount(r.Flops), draw.Amount(r.Weights+r.Values), r.Each, draw.Amount(r.Live), r.Steps, diag.Name(r.Name))
	}
	w.Flush()
	if top > 0 && len(s.Rows) > top {
		fmt.Fprintf(b, "and %d more\n", len(s.Rows)-top)
	}
}

// predicted colours calls by the time that the job's device is predicted to take for the
// step that computes them.
func predicted(c *captured, j *Job) (*draw.Overlay, error) {
	e, err := estimateOf(c, j)
	if err != nil {
		return nil, err
	}
	took := map[string]time.Duration{}
	for i, t := range e.Steps {
		for _, name := range e.Work.Steps[i].Nodes {
			took[name] += time.Duration(1e9 * t.Seconds)
		}
	}
	return timeOverlay("predicted time", took), nil
}

// timeOverlay colours calls by time: one of a hundredth of the longest is a tenth as hot.
func timeOverlay(name string, took map[string]time.Duration) *draw.Overlay {
	o := &draw.Overlay{Name: name, Marks: map[string]draw.Mark{}}
	most := time.Nanosecond
	for _, t := range took {
		most = max(most, t)
	}
	mark := func(t time.Duration) draw.Mark {
		return draw.Mark{Heat: math.Sqrt(float64(t) / float64(most)), Text: fmt.Sprintf("%.3g µs", float64(t)/1e3)}
	}
	for node, t := range took {
		o.Marks[node] = mark(t)
	}
	o.Legend = []draw.Mark{mark(most / 100), mark(most / 4), mark(most)}
	return o
}

// Measured is the result of the verb Measure: a plan and the costs of its runs.
type Measured struct {
	Work  *cost.Work
	Steps map[int]time.Duration
	Whole time.Duration
}

// measure profiles the plan for a calibration.
func (c *captured) measure(ctx context.Context, j *Job, res *Result) error {
	in, sizes, err := c.values(j)
	if err != nil {
		return err
	}
	exe, err := cpu.Compile(c.gm, lowering.Options{Threads: j.Threads, Shapes: pinned(c.gm.Graph, sizes)})
	if err != nil {
		return err
	}
	defer exe.Close()
	m := Measured{Steps: map[int]time.Duration{}}
	if m.Work, err = exe.Cost(sizes); err != nil {
		return err
	}
	m.Work.Name = c.src.Name
	steps, err := exe.Profile(ctx, in, j.Repeat)
	if err != nil {
		return err
	}
	for i, s := range steps {
		m.Steps[i] = s.Time
		m.Whole += s.Time
	}
	return document(res, m)
}

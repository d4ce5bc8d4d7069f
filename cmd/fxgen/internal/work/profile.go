package work

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// Groupings of a profile's times.
const (
	ByStep  = "step"
	ByScope = "scope"
	ByOp    = "op"
)

// ProfileFile is the file of a result that has the samples.
const ProfileFile = "pprof"

// profileJSON is the document of profile -json.
type profileJSON struct {
	Model    string           `json:"model"`
	Threads  int              `json:"threads"`
	Products string           `json:"products,omitempty"` // what -products is granted
	Shapes   map[string][]int `json:"shapes"`
	Runs     int              `json:"runs"`
	By       string           `json:"by"`
	MS       float64          `json:"ms"` // of all steps
	GFlops   float64          `json:"gflops"`
	Peak     float64          `json:"peak_gflops"` // of a product that this process measured as well
	sharing
	// Efficiency is the time in which threads work, by that of all of them.
	Efficiency float64        `json:"efficiency"`
	Rows       []profileRow   `json:"rows"`
	Scaling    []cost.Scaling `json:"scaling,omitempty"` // predicted
	// Measured are the steps of which -measure compared implementations.
	Measured []measuredStep `json:"measured,omitempty"`
}

// measuredStep is a step of which implementations were compared.
type measuredStep struct {
	Step   string          `json:"step"`
	Ways   []measuredTimes `json:"ways"` // what rules choose comes first
	Chosen string          `json:"chosen"`
	Stored bool            `json:"stored"` // the choice was made before
}

// measuredTimes is the least time of an implementation, 0 where there was no time to measure.
type measuredTimes struct {
	Name string  `json:"name"`
	MS   float64 `json:"ms"`
}

// compared lists the steps of which an executable has compared implementations.
func compared(exe *cpu.Executable) (list []measuredStep) {
	for _, m := range exe.Stats().Measured {
		s := measuredStep{Step: strings.Join(m.Nodes, "+"), Chosen: m.Ways[m.Chosen].Name, Stored: m.Stored}
		for _, w := range m.Ways {
			s.Ways = append(s.Ways, measuredTimes{w.Name, exchange.Milliseconds(w.Time)})
		}
		list = append(list, s)
	}
	return list
}

// comparisons prints them: a count, and a line for each step that is not computed as rules choose.
func (p *profileJSON) comparisons(b *strings.Builder) {
	changed, stored, open := 0, 0, 0
	var lines strings.Builder
	for _, m := range p.Measured {
		if m.Stored {
			stored++
		}
		if m.Ways[0].MS == 0 {
			open++
		}
		if m.Chosen == m.Ways[0].Name {
			continue
		}
		changed++
		fmt.Fprintf(&lines, "  %s: %s", m.Step, m.Chosen)
		for _, w := range m.Ways {
			fmt.Fprintf(&lines, ", %s %.4f ms", w.Name, w.MS)
		}
		lines.WriteString("\n")
	}
	if len(p.Measured) > 0 {
		fmt.Fprintf(b, "measured: %d of %d steps are not computed as rules choose, %d choices were made before, %d had no time\n%s",
			changed, len(p.Measured), stored, open, lines.String())
	}
}

// sharing is where the time of the threads goes; ParallelMS, UnevenMS, HandingMS and SerialMS add up to
// the time, each the average of the threads.
type sharing struct {
	ParallelMS float64 `json:"parallel_ms"`
	UnevenMS   float64 `json:"uneven_ms"`  // in which they wait for the last one
	HandingMS  float64 `json:"handing_ms"` // until they come, and to the end
	SerialMS   float64 `json:"serial_ms"`  // in which one of them works alone
	Barriers   int     `json:"barriers"`
}

func (s *sharing) add(t cpu.Sharing, threads int) {
	each := func(d time.Duration) float64 { return exchange.Milliseconds(d) / float64(threads) }
	s.ParallelMS, s.UnevenMS, s.HandingMS = s.ParallelMS+each(t.Busy), s.UnevenMS+each(t.Uneven), s.HandingMS+each(t.Handing)
	s.SerialMS += exchange.Milliseconds(t.Serial)
	s.Barriers += t.Barriers
}

// profileRow is a step, or the sum of those of a module or an operator.
type profileRow struct {
	Name   string  `json:"name"`
	Scope  string  `json:"scope"`
	Kernel string  `json:"kernel"`
	Steps  int     `json:"steps"`
	MS     float64 `json:"ms"`
	Share  float64 `json:"share"`      // of the time of all steps
	GFlops float64 `json:"gflops"`     // a second; 0 where the operators do not count any
	GBs    float64 `json:"gbs"`        // of operands and results a second, each as a whole
	OfPeak float64 `json:"peak_share"` // GFlops of those of the product
	sharing

	flops, bytes float64
}

func (c *captured) profile(ctx context.Context, j *Job, res *Result) error {
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	if j.Threads > 0 {
		runtime.GOMAXPROCS(j.Threads)
	}
	o, err := measured(c, j)
	if err != nil {
		return err
	}
	exe, err := cpu.Compile(c.gm, o)
	if err != nil {
		return err
	}
	defer exe.Close()
	if j.Samples {
		var samples bytes.Buffer
		if err := pprof.StartCPUProfile(&samples); err != nil {
			return err
		}
		defer func() {
			pprof.StopCPUProfile()
			res.Files = append(res.Files, File{Name: ProfileFile, Data: samples.Bytes()})
		}()
	}
	times, err := exe.Profile(ctx, in, j.Repeat)
	if err != nil {
		return err
	}
	p := profileJSON{Model: c.src.Name, Threads: exe.Threads(), Products: exe.Granted(), Runs: max(j.Repeat, 1), By: j.By, Shapes: map[string][]int{}, Peak: productPeak(exe.Threads())}
	for i, n := range c.gm.Graph.Inputs() {
		if in[i] != nil {
			p.Shapes[n.Target()] = append([]int{}, in[i].Shape()...)
		}
	}
	p.add(times, j)
	p.Measured = compared(exe)
	for _, threads := range j.Predict {
		c, err := exe.Cutting(ctx, in, threads, j.Repeat)
		if err != nil {
			return err
		}
		p.Scaling = append(p.Scaling, c.Predict(cpu.Handover(), 0))
	}
	if j.JSON {
		return document(res, p)
	}
	res.Text = p.text(j.Top)
	return nil
}

// add sums the steps up, the slowest first. Steps that only lay out views count
// where others are summed up with them.
func (p *profileJSON) add(times []cpu.StepTime, j *Job) {
	rows := map[string]*profileRow{}
	var flops float64
	for i, t := range times {
		if t.Bytes == 0 && t.Time < time.Microsecond {
			continue // a view
		}
		r := profileRow{Name: strings.Join(t.Step.Nodes, "+"), Scope: cut(t.Step.Scope.Path, j.Depth), Kernel: kernelName(t.Step.Kernel)}
		key := fmt.Sprint(i)
		switch j.By {
		case ByScope:
			key = r.Scope // "" for calls outside modules
			r.Name, r.Scope, r.Kernel = cmp.Or(r.Scope, "-"), "", ""
		case ByOp:
			key = t.Step.Op
			r.Name, r.Scope, r.Kernel = t.Step.Op, "", ""
		}
		if rows[key] == nil {
			rows[key] = &r
		}
		s := rows[key]
		s.Steps++
		s.MS += exchange.Milliseconds(t.Time)
		s.sharing.add(t.Sharing, p.Threads)
		p.sharing.add(t.Sharing, p.Threads)
		s.flops += float64(t.Flops)
		s.bytes += float64(t.Bytes)
		p.MS += exchange.Milliseconds(t.Time)
		flops += float64(t.Flops)
	}
	p.GFlops = rate(flops, p.MS)
	p.Efficiency = (p.ParallelMS + p.SerialMS/float64(p.Threads)) / max(p.MS, 1e-9)
	p.Rows = []profileRow{}
	for _, r := range rows {
		r.Share, r.GFlops, r.GBs = r.MS/max(p.MS, 1e-9), rate(r.flops, r.MS), rate(r.bytes, r.MS)
		r.OfPeak = r.GFlops / p.Peak
		p.Rows = append(p.Rows, *r)
	}
	slices.SortFunc(p.Rows, func(a, b profileRow) int {
		return cmp.Or(cmp.Compare(b.MS, a.MS), cmp.Compare(a.Name, b.Name))
	})
	if j.Top > 0 && len(p.Rows) > j.Top && j.JSON {
		p.Rows = p.Rows[:j.Top]
	}
}

// rate is so much in so many milliseconds, in billions a second.
func rate(n, ms float64) float64 {
	if ms == 0 {
		return 0
	}
	return n / ms / 1e6
}

// cut keeps the first levels of a module's path, all for 0.
func cut(path string, levels int) string {
	parts := strings.Split(path, ".")
	if levels <= 0 || levels >= len(parts) {
		return path
	}
	return strings.Join(parts[:levels], ".")
}

// kernelName is the type of a kernel.
func kernelName(s kernel.Step) string {
	t := reflect.TypeOf(s)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

func (p *profileJSON) text(top int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, engine plan, %d threads: %.3f ms in %d steps, %.1f GFLOP/s, medians of %d runs\n", p.Model, p.Threads, p.MS, p.steps(), p.GFlops, p.Runs)
	if p.Products != "" {
		fmt.Fprintf(&b, "products: %s\n", p.Products)
	}
	p.comparisons(&b)
	fmt.Fprintf(&b, "peak: %.1f GFLOP/s, what a product of matrices reaches in this process\n", p.Peak)
	if p.Threads > 1 {
		share := func(ms float64) float64 { return 100 * ms / max(p.MS, 1e-9) }
		fmt.Fprintf(&b, "threads: %.1f%% of their time at work, %.1f%% of the clock in parts that one does alone; the others wait %.1f%% for the last one, %.1f%% for work, at %d barriers\n",
			100*p.Efficiency, share(p.SerialMS), share(p.UnevenMS), share(p.HandingMS), p.Barriers)
	}
	p.predictions(&b)
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	head := "ms\tshare\tGFLOP/s\tpeak\tGB/s\t"
	if p.Threads > 1 {
		head += "parallel\tuneven\thanding\tserial\tbarriers\t"
	}
	head += "steps\t" + p.By
	if p.By == ByStep {
		head += "\tkernel\tscope"
	}
	fmt.Fprintln(w, head)
	for i, r := range p.Rows {
		if top > 0 && i == top {
			break
		}
		flops, peak := "-", "-"
		if r.GFlops > 0 {
			flops, peak = fmt.Sprintf("%.1f", r.GFlops), fmt.Sprintf("%.0f%%", 100*r.OfPeak)
		}
		line := fmt.Sprintf("%.4f\t%.1f%%\t%s\t%s\t%.1f\t", r.MS, 100*r.Share, flops, peak, r.GBs)
		if p.Threads > 1 {
			line += r.cells(r.MS)
		}
		line += fmt.Sprintf("%d\t%s\t%s\t%s", r.Steps, diag.Name(r.Name), r.Kernel, diag.Name(r.Scope))
		fmt.Fprintln(w, strings.TrimRight(line, "\t"))
	}
	w.Flush()
	if top > 0 && len(p.Rows) > top {
		rest := 0.0
		for _, r := range p.Rows[top:] {
			rest += r.Share
		}
		fmt.Fprintf(&b, "and %d more with %.1f%%\n", len(p.Rows)-top, 100*rest)
	}
	return b.String()
}

// cells are the shares of the time of a row that go where sharing says.
func (s *sharing) cells(ms float64) (line string) {
	for _, part := range []float64{s.ParallelMS, s.UnevenMS, s.HandingMS, s.SerialMS} {
		line += fmt.Sprintf("%.1f%%\t", 100*part/max(ms, 1e-9))
	}
	return line + fmt.Sprintf("%d\t", s.Barriers)
}

// predictions writes a line for each number of threads.
func (p *profileJSON) predictions(b *strings.Builder) {
	if len(p.Scaling) == 0 {
		return
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "threads\tpredicted ms\tefficiency\tuneven\thanding\tserial\tbarriers\ttiles\tGB/s")
	for _, s := range p.Scaling {
		fmt.Fprintf(w, "%d\t%.4f\t%.2f", s.Threads, exchange.Milliseconds(s.Time), s.Efficiency)
		for _, part := range []time.Duration{s.Uneven, s.Handing, s.Serial} {
			fmt.Fprintf(w, "\t%.1f%%", 100*float64(part)/max(float64(s.Time), 1))
		}
		fmt.Fprintf(w, "\t%d\t%d\t%.1f\n", s.Barriers, s.Tiles, s.Bandwidth/1e9)
	}
	w.Flush()
}

func (p *profileJSON) steps() (n int) {
	for _, r := range p.Rows {
		n += r.Steps
	}
	return n
}

// productPeak is the rate in GFLOP/s of the fastest of some products of matrices
// that lie in the caches.
func productPeak(threads int) (best float64) {
	const n = 512
	x, w, y := array.New(array.F32, n, n), array.New(array.F32, n, n), array.New(array.F32, n, n)
	packed := array.New(array.F32, kernel.PackedLen(n, n))
	ws := &kernel.Workspace{Threads: threads}
	kernel.PackLinear{}.Run(ws, []*array.Array{packed}, []*array.Array{w})
	out, in := []*array.Array{y}, []*array.Array{x, packed}
	for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
		start := time.Now()
		kernel.LinearPacked{Features: n}.Run(ws, out, in)
		best = max(best, 2*n*n*n/float64(time.Since(start)))
	}
	return best
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
	b := exchange.Times{Model: c.src.Name, Engine: j.Engine, Threads: runtime.GOMAXPROCS(0), Shapes: map[string][]int{}, PeakBytes: r.peak(dims)}
	for i, n := range c.gm.Graph.Inputs() {
		if in[i] != nil {
			b.Shapes[n.Target()] = append([]int{}, in[i].Shape()...)
		}
	}
	if err := b.Measure(j.Repeat, j.MinTime, func() error { _, err := r.run(ctx, in); return err }); err != nil {
		return err
	}
	return b.Report(j.JSON, res)
}

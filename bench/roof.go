package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/bench/host"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
)

// least is the share of a network's time from which on a kind of step is listed.
const least = 0.05

// kind is the steps of a plan that one kernel computes in one way, together.
type kind struct {
	name         string
	steps        int
	seconds      float64
	flops, bytes float64 // by the definition of the operators
	bound        float64 // least possible seconds
	memory       float64 // of these, where memory bounds
}

// roofFile is the page of docs/bench that -roof writes with -doc.
const roofFile = "roof.md"

// roofs profiles the plans of networks and prints, for each, the kinds of steps that take
// most of the time with their share of the machine's peak. With -doc it brings the tables of
// those threads up to date.
func roofs(o options, out io.Writer) error {
	names := strings.Split(o.roof, ",")
	if slices.Equal(names, []string{"all"}) {
		names = nil
		for _, c := range slices.Concat(modelCases(), quantCases()) {
			names = append(names, c.Shape)
		}
	}
	path := filepath.Join("../docs/bench", roofFile)
	for _, s := range strings.Split(o.threads, ",") {
		threads, err := strconv.Atoi(s)
		if err != nil || threads < 1 {
			return fmt.Errorf("-threads %s: want numbers from 1", o.threads)
		}
		var table strings.Builder
		if err := roofsOn(names, threads, o.pairs, &table); err != nil {
			return err
		}
		if !o.doc {
			if _, err := io.WriteString(out, table.String()+"\n"); err != nil {
				return err
			}
			continue
		}
		text, err := readPage(path, "Kernels of each network and their roof")
		if err != nil {
			return err
		}
		text = between(text, fmt.Sprint("roof ", threads), fmt.Sprintf("## Threads: %d", threads), table.String())
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func roofsOn(names []string, threads, runs int, out io.Writer) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	p := peak.Measure(threads)
	fmt.Fprintf(out, "%s, %s%s, %s. Threads: %d. Peaks: %.0f GFLOP/s, %.0f Gop/s of 8 bits, %.1f GB/s from memory. Medians of %d runs.\n\n", host.Processor(), p.Level, emulated(0),
		time.Now().UTC().Format(time.DateOnly), threads, p.FMA/1e9, p.Int8/1e9, p.Bandwidth[len(p.Bandwidth)-1].Rate/1e9, runs)
	heading(out, []string{"network", "step", "steps", "ms", "of the time", "GFLOP/s", "GB/s", "bound by", "of the roof"})
	for _, n := range names {
		list, err := profiled(n, threads, runs, &p)
		if err != nil {
			return err
		}
		writeKinds(out, n, list)
		runtime.GC() // the plan of a network is large
	}
	return nil
}

// profiled returns the kinds of steps of a network, named as the cases are, or without a
// batch for one input.
func profiled(name string, threads, runs int, p *peak.Peaks) ([]*kind, error) {
	for _, c := range slices.Concat(modelCases(), brainCases(), quantCases(), stepCases()) {
		if c.Shape == name || c.Shape == name+"_b1" {
			return c.profile(threads, runs, p)
		}
	}
	var known []string
	for _, m := range models.All() {
		known = append(known, m.Name)
	}
	return nil, fmt.Errorf("-roof: there is no network %s, expected one of %s, or one with its batch or mode as -list -run 'model|bf16|quant|step' prints it", name, strings.Join(known, ", "))
}

// profile returns the kinds of steps of the case's network.
func (c *Case) profile(threads, runs int, p *peak.Peaks) ([]*kind, error) {
	e, in, err := c.compiled(threads)
	if err != nil {
		return nil, err
	}
	times, err := e.Profile(context.Background(), in, runs)
	if err != nil {
		return nil, err
	}
	p.Refresh(threads)
	work, err := e.Cost(c.Dims)
	if err != nil {
		return nil, err
	}
	return kinds(work, times, deviceOf(p, threads)), nil
}

// kernelShare is a kind of steps of a plan.
type kernelShare struct {
	Name  string  `json:"name"`
	MS    float64 `json:"ms"`
	Share float64 `json:"share"` // of the plan's time
	Roof  float64 `json:"roof"`  // the least possible time divided by its own
}

// explain notes the kinds of steps that take more than the least share of the time, of a network in
// which a peer is faster and of a step of training.
func (b *bench) explain(c *Case, row *Row) {
	if c.Network == nil || c.Op == "" || row.Ratio <= 1 && c.Train == nil {
		return
	}
	list, err := c.profile(b.threads, min(b.pairs, 5), &b.peaks)
	if err != nil {
		b.failed = append(b.failed, fmt.Errorf("%s/%s: profile: %w", c.Group, c.Shape, err))
		return
	}
	total := 0.0
	for _, k := range list {
		total += k.seconds
	}
	for _, k := range list {
		if k.seconds < least*total {
			break
		}
		row.Kernels = append(row.Kernels, kernelShare{Name: k.name, MS: k.seconds * 1e3, Share: k.seconds / total, Roof: k.bound / k.seconds})
	}
}

// measured is the graph that a case compiles.
func (w *network) measured(c *Case) (*graph.Module, error) {
	if c.Quant != nil {
		return w.quantised(*c.Quant)
	}
	return w.optimised(fx.Optimise())
}

// deviceOf describes this machine by its peaks.
func deviceOf(p *peak.Peaks, threads int) *cost.Device {
	d := &cost.Device{Name: host.Processor() + ", " + p.Level, Threads: threads, Cores: runtime.NumCPU(), Float: p.FMA, Int8: p.Int8}
	for _, b := range p.Bandwidth {
		d.Memory = append(d.Memory, cost.Level{Bytes: int64(b.Bytes * threads), Rate: b.Rate, Read: b.Read})
	}
	last := len(d.Memory) - 1
	d.Memory[last].Bytes = 0
	for i := last - 1; i >= 0; i-- {
		m, next := &d.Memory[i], d.Memory[i+1]
		m.Rate, m.Read = max(m.Rate, next.Rate), max(m.Read, next.Read) // less is no slower; strangers are
	}
	return d
}

// kinds sums steps up, those that take the longest first.
func kinds(work *cost.Work, times []cpu.StepTime, d *cost.Device) []*kind {
	byName := map[string]*kind{}
	var list []*kind
	for i := range work.Steps {
		s := &work.Steps[i]
		k := byName[s.Kind]
		if k == nil {
			k = &kind{name: s.Kind}
			byName[s.Kind] = k
			list = append(list, k)
		}
		roof, memory := d.Roof(s, work)
		k.steps++
		k.seconds += times[s.At].Time.Seconds()
		k.flops += float64(s.Flops)
		k.bytes += float64(s.Bytes())
		k.bound += roof
		if memory {
			k.memory += roof
		}
	}
	slices.SortStableFunc(list, func(a, b *kind) int { return cmp.Compare(b.seconds, a.seconds) })
	return list
}

func writeKinds(out io.Writer, network string, list []*kind) {
	total, bound := 0.0, 0.0
	for _, k := range list {
		total, bound = total+k.seconds, bound+k.bound
	}
	for _, k := range list {
		if k.seconds < least*total {
			continue
		}
		by := "arithmetic"
		if k.memory > k.bound/2 {
			by = "memory"
		}
		fmt.Fprintf(out, "| %s | %s | %d | %.3f | %.2f | %.0f | %.1f | %s | %.2f |\n", network, k.name, k.steps, k.seconds*1e3, k.seconds/total,
			k.flops/k.seconds/1e9, k.bytes/k.seconds/1e9, by, k.bound/k.seconds)
	}
	fmt.Fprintf(out, "| %s | all | | %.3f | 1.00 | | | | %.2f |\n", network, total*1e3, bound/total)
}

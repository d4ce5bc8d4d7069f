package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
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

// roofs profiles the plans of networks and prints, for each, the kinds of steps that take
// most of the time with their share of what the machine can do at best.
func roofs(o options, out io.Writer) error {
	for _, s := range strings.Split(o.threads, ",") {
		threads, err := strconv.Atoi(s)
		if err != nil || threads < 1 {
			return fmt.Errorf("-threads %s: want numbers from 1", o.threads)
		}
		if err := roofsOn(strings.Split(o.roof, ","), threads, o.pairs, out); err != nil {
			return err
		}
	}
	return nil
}

func roofsOn(names []string, threads, runs int, out io.Writer) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	p := peak.Measure(threads)
	fmt.Fprintf(out, "%s, %s%s. Threads: %d. Peaks: %.0f GFLOP/s, %.0f Gop/s of 8 bits, %.1f GB/s from memory. Medians of %d runs.\n\n", processor(), p.Level, emulated(0), threads,
		p.FMA/1e9, p.Int8/1e9, p.Bandwidth[len(p.Bandwidth)-1].Rate/1e9, runs)
	fmt.Fprint(out, "| network | step | steps | ms | of the time | GFLOP/s | GB/s | bound by | of the roof |\n|"+strings.Repeat("---|", 9)+"\n")
	for _, n := range names {
		list, err := profiled(n, threads, runs, &p)
		if err != nil {
			return err
		}
		writeKinds(out, n, list)
	}
	fmt.Fprintln(out)
	return nil
}

// profiled returns the kinds of steps of a network, named as the cases are, or without a
// batch for one input.
func profiled(name string, threads, runs int, p *peak.Peaks) ([]*kind, error) {
	for _, c := range slices.Concat(modelCases(), quantCases()) {
		if c.Shape != name && c.Shape != name+"_b1" {
			continue
		}
		w, err := openNetwork(c.Network, c.Dims)
		if err != nil {
			return nil, err
		}
		g, err := w.measured(c)
		if err != nil {
			return nil, err
		}
		e, err := cpu.Compile(g, lowering.Options{Threads: threads, Shapes: w.dims})
		if err != nil {
			return nil, err
		}
		times, err := e.Profile(context.Background(), w.arrays(), runs)
		if err != nil {
			return nil, err
		}
		p.Refresh(threads)
		return kinds(e.Plan(), times, threads, p), nil
	}
	var known []string
	for _, m := range models.All() {
		known = append(known, m.Name)
	}
	return nil, fmt.Errorf("-roof: there is no network %s, expected one of %s, or one with its batch or mode as -list -run 'model|quant' prints it", name, strings.Join(known, ", "))
}

// measured is the graph that a case compiles.
func (w *network) measured(c *Case) (*graph.Module, error) {
	if c.Quant != nil {
		return w.quantised(*c.Quant)
	}
	return w.optimised(fx.Optimise())
}

// kinds sums steps up, those that take the longest first.
func kinds(p *plan.Plan, times []cpu.StepTime, threads int, peaks *peak.Peaks) []*kind {
	weights := 0.0
	for _, k := range p.Weights() {
		weights += bytesOf(p, k)
	}
	byName := map[string]*kind{}
	var list []*kind
	for i := range times {
		t := &times[i]
		if t.Step.View || t.Step.Joined {
			continue
		}
		name := kindName(t.Step.Kernel, operandShape(p, t.Step))
		k := byName[name]
		if k == nil {
			k = &kind{name: name}
			byName[name] = k
			list = append(list, k)
		}
		k.add(p, t, weights, threads, peaks)
	}
	slices.SortStableFunc(list, func(a, b *kind) int { return cmp.Compare(b.seconds, a.seconds) })
	return list
}

// add counts a step in. Weights come from where all of them lie, since a run reads all of
// them; what else it reads and writes was written just before.
func (k *kind) add(p *plan.Plan, t *cpu.StepTime, weights float64, threads int, peaks *peak.Peaks) {
	own, others := 0.0, 0.0
	for _, b := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(t.Step.In), t.Step.Out...)))) {
		switch {
		case b < 0:
		case p.Buffers[b].Kind == plan.Weight:
			own += bytesOf(p, b)
		default:
			others += bytesOf(p, b)
		}
	}
	if t.Flops == 0 {
		own = min(own, others) // rows of a table: no more than what is written
	}
	memory := own/peaks.Memory(int(weights), threads) + others/peaks.Memory(int(others), threads)
	arithmetic := float64(t.Flops) / rateOf(t.Step.Kernel, peaks)
	k.steps++
	k.seconds += t.Time.Seconds()
	k.flops += float64(t.Flops)
	k.bytes += own + others
	k.bound += max(memory, arithmetic)
	if memory > arithmetic {
		k.memory += memory
	}
}

// bytesOf is the size of a value, a weight's as it is in the file.
func bytesOf(p *plan.Plan, k int) float64 {
	n, _ := p.Buffers[k].Type.Dims().Prod().Int()
	return float64(n * p.Buffers[k].Type.DType().Size())
}

// operandShape is the shape of a step's first operand, nil where it has none of known sizes.
func operandShape(p *plan.Plan, s *plan.Step) []int {
	if len(s.In) == 0 || s.In[0] < 0 {
		return nil
	}
	_, dims, _ := p.Buffers[s.In[0]].Type.Concrete()
	return dims
}

// rateOf is the peak of what a kernel multiplies.
func rateOf(k kernel.Step, peaks *peak.Peaks) float64 {
	switch k.(type) {
	case *kernel.QConv, *kernel.QLinear, *kernel.QMatMul:
		return peaks.Int8
	}
	return peaks.FMA
}

// kindName is the kernel's name, and of a convolution what it is computed by. x is the
// shape of the step's first operand.
func kindName(k kernel.Step, x []int) string {
	name := reflect.Indirect(reflect.ValueOf(k)).Type().Name()
	switch c := k.(type) {
	case *kernel.ConvPacked:
		return convName(name, c.Kernel, c.Stride, c.Groups, c.Channels, c.In)
	case *kernel.QConv:
		if c.Packed && !c.ChannelsLast && len(x) > 2 {
			return convName(name, c.Kernel, c.Stride, c.Groups, x[1], x[2:])
		}
	}
	return name
}

// convName names a kind of convolutions of maps of these sizes.
func convName(name string, filter, stride []int, groups, channels int, maps []int) string {
	var sizes []string
	for _, n := range filter {
		sizes = append(sizes, strconv.Itoa(n))
	}
	name += " " + strings.Join(sizes, "x")
	switch {
	case groups > 1 && groups == channels:
		name += " depthwise"
	case groups > 1:
		name += " in groups"
	}
	if slices.ContainsFunc(stride, func(s int) bool { return s > 1 }) {
		name += " with stride"
	}
	if slices.ContainsFunc(maps, func(n int) bool { return n > 1 }) {
		return name
	}
	return name + " of 1x1 maps"
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

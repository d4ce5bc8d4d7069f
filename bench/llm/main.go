// Command llm measures decoders of Llama's family next to llama.cpp, in the formats that GGUF files
// keep weights in: a file by formula, mapped by both; scores are compared before anything is timed.
//
//	cd bench && go run ./llm -formats Q8_0,F16,Q4_0,Q4_K -threads 1
//
// A row has one token after 128 others (decode), or 512 tokens after one (prefill): medians of calls
// in turns, and the share of the memory's bandwidth that reading the matrices takes.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	ggufread "github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
)

// tolerance is how far scores may differ, relative to their mean magnitude: llama.cpp rounds
// activations to 8 bits, in one block of 256 for Q4_K. Those of gofx are compared with f32 weights in a test.
const tolerance = 0.15

// job is one measurement: tokens after others.
type job struct {
	name      string
	past, ids int
}

var jobs = []job{{"decode", 128, 1}, {"prefill", 1, 512}}

type options struct {
	size, formats, work, dir string
	threads, pairs           int
	whole                    bool
	peaks                    peak.Peaks
}

func main() {
	var o options
	flag.StringVar(&o.size, "size", "0.5b", "the decoder's `size`: "+strings.Join(sizeNames(), ", "))
	flag.StringVar(&o.formats, "formats", "Q8_0,F16,Q4_0,Q4_K", "a `list` of formats of its matrices")
	flag.StringVar(&o.work, "work", "decode,prefill", "a `list` of what is measured")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "the `folder` of the files, which stay there")
	flag.BoolVar(&o.whole, "f32", false, "keep activations whole, where llama.cpp rounds them to 8 bits")
	flag.IntVar(&o.threads, "threads", 1, "threads of both")
	flag.IntVar(&o.pairs, "pairs", 7, "interleaved measurements of each median")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "llm:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	dir, err := peers.Dir()
	if err != nil {
		return err
	}
	o.peaks = peak.Measure(o.threads)
	fmt.Println("| size | format | work | threads | gofx ms | llama.cpp ms | ratio | GB/s | share | difference |\n|---|---|---|---|---|---|---|---|---|---|")
	for _, format := range strings.Split(o.formats, ",") {
		file, err := writeModel(o.dir, o.size, format)
		if err != nil {
			return err
		}
		for _, name := range strings.Split(o.work, ",") {
			i := slices.IndexFunc(jobs, func(j job) bool { return j.name == name })
			if i < 0 {
				return fmt.Errorf("there is no work %q", name)
			}
			if err := o.row(dir, file, format, jobs[i]); err != nil {
				return fmt.Errorf("%s, %s: %w", format, name, err)
			}
		}
	}
	return nil
}

// row compares and measures one file and one job.
func (o *options) row(dir, file, format string, j job) error {
	before := peers.Tensor{Shape: []int{1, j.past}, DType: "i64", Seed: 1, Scale: 1000}
	ids := peers.Tensor{Shape: []int{1, j.ids}, DType: "i64", Seed: 2, Scale: 1000}
	f, err := ggufread.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	ours, err := newOurs(f, before, ids, o.threads, o.whole)
	if err != nil {
		return err
	}
	peer, err := peers.Start("llama", dir, o.threads, "")
	if err != nil {
		return err
	}
	defer peer.Close()
	a, err := peer.Do(peers.Request{Do: "load", ID: "llm", File: file, Inputs: []peers.Tensor{ids}, Attrs: map[string]any{"past": before}})
	if err != nil {
		return err
	}
	differ := difference(ours.probe, a.Probe)
	if !(differ <= tolerance) {
		return fmt.Errorf("scores differ by %.3g of their magnitude, ours are %.3g, those of llama.cpp %.3g", differ, ours.probe, a.Probe)
	}
	mine, theirs, err := o.times(ours, peer, time.Duration(a.NS))
	if err != nil {
		return err
	}
	read := "- | -" // many tokens are not bound by it
	if j.ids == 1 {
		rate := ours.bytes / mine.Seconds()
		read = fmt.Sprintf("%.1f | %.2f", rate/1e9, rate/o.peaks.Reading(1<<30, o.threads))
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	fmt.Printf("| %s | %s | %s | %d | %.1f | %.1f | %.2f | %s | %.1e |\n", o.size, format, j.name, o.threads, ms(mine), ms(theirs),
		ms(mine)/ms(theirs), read, differ)
	return nil
}

// window is the least time of a turn.
const window = 300 * time.Millisecond

// times returns the medians of calls, in turns.
func (o *options) times(ours *ours, peer *peers.Peer, theirs time.Duration) (a, b time.Duration, err error) {
	start := time.Now()
	ours.run()
	mine := time.Since(start)
	calls := func(d time.Duration) int { return 1 + int(window/max(d, 1)) }
	var list [2][]time.Duration
	for range o.pairs {
		n := calls(mine)
		ours.run() // warms up
		start = time.Now()
		for range n {
			ours.run()
		}
		list[0] = append(list[0], time.Since(start)/time.Duration(n))
		n = calls(theirs)
		answer, err := peer.Do(peers.Request{Do: "run", ID: "llm", Warm: 1, Calls: n})
		if err != nil {
			return 0, 0, err
		}
		list[1] = append(list[1], time.Duration(answer.NS)/time.Duration(n))
	}
	for i := range list {
		slices.Sort(list[i])
	}
	return list[0][o.pairs/2], list[1][o.pairs/2], nil
}

// ours is the decoder as a plan.
type ours struct {
	run   func()
	probe []float64
	bytes float64 // of the matrices that are multiplied by
}

func newOurs(f *ggufread.File, before, ids peers.Tensor, threads int, whole bool) (*ours, error) {
	ctx, opts := context.Background(), []models.LlamaOption{models.Mapped()}
	if !whole {
		opts = append(opts, models.Activations8())
	}
	m, err := models.LoadLlama(f, opts...)
	if err != nil {
		return nil, err
	}
	c := m.Config
	gm, err := fx.Trace(ctx, m, fx.Input("input_ids", "i64[N,S]"), fx.Input("past", c.PastType()))
	if err != nil {
		return nil, err
	}
	if _, err := passes.Run(ctx, gm.Module, fx.Optimise(), passes.Options{}); err != nil {
		return nil, err
	}
	e, err := cpu.Compile(gm.Module, lowering.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	none := array.New(array.F32, 0, c.NumLayers, 2, 1, c.NumKVHeads, c.HeadDim)
	past, err := e.Run(ctx, []*array.Array{tokens(before), none})
	if err != nil {
		return nil, err
	}
	in := []*array.Array{tokens(ids), past[1]}
	out, err := e.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	o := &ours{probe: peers.ProbeAll(out[:1]), run: func() {
		if err := e.RunInto(ctx, out, in); err != nil {
			panic(err)
		}
	}}
	for _, name := range f.Names() {
		if w, _, ok, err := f.Blocks(name); err == nil && ok {
			o.bytes += float64(w.Len())
		}
	}
	return o, nil
}

func tokens(t peers.Tensor) *array.Array {
	a := array.New(array.I64, t.Shape...)
	for i := range a.Len() {
		array.Data[int64](a)[i] = int64(t.At(i))
	}
	return a
}

// difference is the greatest one of the places that are compared, relative to the mean magnitude,
// which comes last.
func difference(a, b []float64) (worst float64) {
	for i := range len(a) - 1 {
		worst = max(worst, math.Abs(a[i]-b[i])/math.Abs(a[len(a)-1]))
	}
	return worst
}

func sizeNames() []string {
	var names []string
	for name := range sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func fileOf(dir, size, format string) string {
	return filepath.Join(dir, "gofx-"+size+"-"+format+".gguf")
}

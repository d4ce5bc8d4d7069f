// Command llm measures decoders of Llama's family next to llama.cpp, in the formats that GGUF files
// keep weights in: a file by formula, mapped by both; scores are compared before anything is timed.
//
//	cd bench && go run ./llm -formats Q8_0,F16,Q4_0,Q4_K -threads 1
//
// A row has one token after 128 others (decode; -past has another number), or 512 tokens after one (prefill): medians of calls
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
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/models/decode"
)

// tolerance is how far scores may differ, relative to their mean magnitude: llama.cpp rounds
// activations to 8 bits, in one block of 256 for Q4_K, which adds up over layers: 0.13 for 24 of them, 0.29 for 28 wider ones. Other weights are off by more than 1. Those of gofx
// are compared with f32 weights in a test.
const tolerance = 0.35

// job is one measurement: tokens after others.
type job struct {
	name      string
	past, ids int
}

var jobs = []job{{"decode", 128, 1}, {"prefill", 1, 512}}

// caches are the element types of keys and values, of both.
var caches = map[string]array.DType{"f32": array.F32, "f16": array.F16, "int8": array.U8}

type options struct {
	size, formats, work, dir, cache string
	threads, pairs, past            int
	whole                           bool
	peaks                           peak.Peaks
}

func main() {
	var o options
	flag.StringVar(&o.size, "size", "0.5b", "the decoder's `size`: "+strings.Join(sizeNames(), ", "))
	flag.StringVar(&o.formats, "formats", "Q8_0,F16,Q4_0,Q4_K", "a `list` of formats of its matrices")
	flag.StringVar(&o.work, "work", "decode,prefill", "a `list` of what is measured")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "the `folder` of the files, which stay there")
	flag.BoolVar(&o.whole, "f32", false, "keep activations whole, where llama.cpp rounds them to 8 bits")
	flag.StringVar(&o.cache, "cache", "f32", "element type of keys and values: f32, f16 or int8")
	flag.IntVar(&o.past, "past", 128, "how many tokens are before the one of decode, 2040 at most")
	flag.IntVar(&o.threads, "threads", 1, "threads of both")
	flag.IntVar(&o.pairs, "pairs", 7, "interleaved measurements of each median")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "llm:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	if _, known := caches[o.cache]; !known || o.past < 1 || o.past > 2040 {
		return fmt.Errorf("-cache is %q and -past %d, expected f32, f16 or int8, and 1 to 2040", o.cache, o.past)
	}
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
			j := jobs[i]
			if j.ids == 1 {
				j.past = o.past
			}
			if err := o.row(dir, file, format, j); err != nil {
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
	ours, err := newOurs(f, before, ids, o.threads, o.whole, o.cache)
	if err != nil {
		return err
	}
	defer func() { _ = ours.close() }()
	peer, err := peers.Start("llama", dir, o.threads, "")
	if err != nil {
		return err
	}
	defer peer.Close()
	a, err := peer.Do(peers.Request{Do: "load", ID: "llm", File: file, Inputs: []peers.Tensor{ids}, Attrs: map[string]any{"past": before, "cache": o.cache}})
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

// window is the least time of a turn, and long that of calls which need none before them to warm up.
const window, long = 300 * time.Millisecond, time.Second

// times returns the medians of calls, in turns.
func (o *options) times(ours *ours, peer *peers.Peer, theirs time.Duration) (a, b time.Duration, err error) {
	start := time.Now()
	ours.run()
	mine := time.Since(start)
	calls := func(d time.Duration) int { return 1 + int(window/max(d, 1)) }
	var list [2][]time.Duration
	for range o.pairs {
		n := calls(mine)
		if mine < long {
			ours.run()
		}
		start = time.Now()
		for range n {
			ours.run()
		}
		list[0] = append(list[0], time.Since(start)/time.Duration(n))
		n = calls(theirs)
		warm := 1
		if theirs > long {
			warm = 0
		}
		answer, err := peer.Do(peers.Request{Do: "run", ID: "llm", Warm: warm, Calls: n})
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
	close func() error
	probe []float64
	bytes float64 // of the matrices that are multiplied by
}

func newOurs(f *ggufread.File, before, ids peers.Tensor, threads int, whole bool, cache string) (*ours, error) {
	ctx, opts := context.Background(), []models.LlamaOption{models.Mapped()}
	if !whole {
		opts = append(opts, models.Activations8())
	}
	m, err := models.LoadLlama(f, opts...)
	if err != nil {
		return nil, err
	}
	past, n := before.Shape[1], ids.Shape[1]
	d, err := decode.New(ctx, m, decode.Options{Positions: past + n, Cache: caches[cache], Block: max(512, (n+31)/32*32), Threads: threads})
	if err != nil {
		return nil, err
	}
	text, fresh := d.Text(), tokens(ids)
	if _, err := text.Read(ctx, tokens(before)); err != nil {
		return nil, err
	}
	read := func() []float32 {
		text.Cut(past)
		scores, err := text.Read(ctx, fresh)
		if err != nil {
			panic(err)
		}
		return scores[0]
	}
	o := &ours{run: func() { read() }, close: d.Close}
	scores := read()
	o.probe = peers.ProbeAll([]*array.Array{array.FromSlice(scores, 1, len(scores))})
	for _, name := range f.Names() {
		if w, _, ok, err := f.Blocks(name); err == nil && ok {
			o.bytes += float64(w.Len())
		}
	}
	return o, nil
}

func tokens(t peers.Tensor) []int64 {
	list := make([]int64, t.Shape[1])
	for i := range list {
		list[i] = int64(t.At(i))
	}
	return list
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

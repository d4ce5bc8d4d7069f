package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// compiledCases are networks as compiled functions: what is counted of them is below.
func compiledCases() []*Case {
	return []*Case{
		compiledResult("W32_resnet18_28x28", small28("resnet18"), map[string]int{"N": 1}),
		compiledResult("W32_resnet18", models.Lookup("resnet18"), map[string]int{"N": 1}),
		compiledResult("W32_densenet121", models.Lookup("densenet121"), map[string]int{"N": 1}),
		compiledResult("W32_bert_base_7_tokens", models.Lookup("bert_base"), map[string]int{"N": 1, "S": 7}),
		compiledResult("W32_lstm_10x256", models.Lookup("lstm_10x256"), map[string]int{"T": 64, "N": 1}),
	}
}

// compiledResult is a network as a compiled function, and in the ways of networkResult.
func compiledResult(shape string, m *models.Model, dims map[string]int) *Case {
	c := networkResult(shape, m, dims)
	c.Compile = true
	c.Engines = append([]Engine{{Name: "compiled", Ours: (*network).compiled}}, c.Engines...)
	return c
}

// compiled runs the module as a compiled function, with the bits of eager code.
func (w *network) compiled(threads int) (*Ours, error) {
	f, err := nets.New(w.module, compile.Strict(), compile.On(cpu.Target{}, lowering.Options{Exact: true, Threads: threads}))
	if err != nil {
		return nil, err
	}
	call := func() (out []*array.Array, err error) {
		for _, y := range f.Call(w.in...) {
			out = append(out, y.Array())
		}
		return out, nil
	}
	for range 3 {
		if _, err := call(); err != nil {
			return nil, err
		}
	}
	if s := f.Stats(); s.Records != 1 || s.Hits == 0 {
		return nil, fmt.Errorf("expected hits of one record, got %s", s)
	}
	v, err := oursCalls("compiled", call)
	if err == nil {
		v.Close = f.Close
	}
	return v, err
}

// clocked is this CPU, with the time of compiling and of running.
type clocked struct {
	cpu.Target
	compile, run *time.Duration
}

func (c clocked) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	start := time.Now()
	e, err := c.Target.Compile(m, o)
	*c.compile += time.Since(start)
	return clockedRun{e, c.run}, err
}

type clockedRun struct {
	lowering.Executable
	run *time.Duration
}

func (c clockedRun) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	start := time.Now()
	out, err := c.Executable.Run(ctx, in)
	*c.run += time.Since(start)
	return out, err
}

// comparisons matches what Explain tells of a record.
var comparisons = regexp.MustCompile(`record 1: (\d+) comparisons`)

// countGuards counts what calls do besides running their graphs: W36.
func countGuards() (list []Count, err error) {
	for _, c := range compiledCases() {
		counts, err := guardsOf(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Shape, err)
		}
		list = append(list, counts...)
	}
	return list, nil
}

// guardsOf takes the least of many calls for both times.
func guardsOf(c *Case) ([]Count, error) {
	w, err := openNetwork(c.Network, c.Dims)
	if err != nil {
		return nil, err
	}
	var compiling, running time.Duration
	f, err := nets.New(w.module, compile.Strict(), compile.On(clocked{compile: &compiling, run: &running}, lowering.Options{Exact: true, Threads: 1}))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := time.Now()
	f.Call(w.in...)
	first := time.Since(start)
	f.Call(w.in...)
	least, graph := time.Duration(1<<62), time.Duration(0)
	for range 200 {
		running = 0
		start = time.Now()
		f.Call(w.in...)
		if all := time.Since(start); all-running < least {
			least, graph = all-running, running
		}
	}
	if s := f.Stats(); s.Records != 1 || s.Hits < 200 {
		return nil, fmt.Errorf("expected hits of one record, got %s", s)
	}
	var text bytes.Buffer
	if err := f.Explain(&text); err != nil {
		return nil, err
	}
	found := comparisons.FindSubmatch(text.Bytes())
	if found == nil {
		return nil, fmt.Errorf("no record is told of: %s", text.Bytes())
	}
	n, _ := strconv.Atoi(string(found[1]))
	name := strings.ReplaceAll(strings.TrimPrefix(c.Shape, "W32_"), "_", " ") + ": "
	return []Count{
		{name + "comparisons", float64(n)},
		{"µs beyond the graph", float64(least.Nanoseconds()) / 1e3},
		{"percent of the call", 100 * float64(least) / float64(least+graph)},
		{"first call ms", first.Seconds() * 1e3},
		{"of which the compiler", compiling.Seconds() * 1e3},
	}, nil
}

// records counts the records of a network for inputs of several sizes, each three times.
func records(m *models.Model, sizes []map[string]int) (n, hits int, err error) {
	w, err := openNetwork(m, sizes[0])
	if err != nil {
		return 0, 0, err
	}
	f, err := nets.New(w.module, compile.Strict())
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for _, dims := range sizes {
		var x []*tensor.Tensor
		for _, v := range m.Inputs {
			in, err := models.SyntheticInput(v, seed, dims)
			if err != nil {
				return 0, 0, err
			}
			x = append(x, in)
		}
		for range 3 {
			f.Call(x...)
		}
	}
	s := f.Stats()
	return s.Records, s.Hits, nil
}

// countSizes counts records of networks whose inputs differ in one size: W37.
func countSizes() (list []Count, err error) {
	shallow := models.BertBase
	shallow.NumLayers = 1
	bert := *models.Lookup("bert_base")
	bert.New = func() any { return models.NewBert(shallow) }
	var batches, lengths []int
	for n := range 15 {
		batches, lengths = append(batches, 2+n), append(lengths, 32+16*n)
	}
	for _, v := range []struct {
		name  string
		m     *models.Model
		sizes []map[string]int
	}{
		{"resnet18 28x28, 15 batches: ", small28("resnet18"), sizesOf(nil, "N", batches...)},
		{"bert of one layer, 15 lengths: ", &bert, sizesOf(map[string]int{"N": 1}, "S", lengths...)},
	} {
		n, hits, err := records(v.m, v.sizes)
		if err != nil {
			return nil, err
		}
		list = append(list, Count{v.name + "records", float64(n)}, Count{"hits of 45 calls", float64(hits)})
	}
	return list, nil
}

// countSteps counts records of the LSTM for 8 lengths: W38.
func countSteps() ([]Count, error) {
	n, hits, err := records(models.Lookup("lstm_10x256"), sizesOf(map[string]int{"N": 1}, "T", 16, 32, 48, 64, 80, 96, 112, 128))
	return []Count{{"lstm, 8 lengths: records", float64(n)}, {"hits of 24 calls", float64(hits)}}, err
}

// sizesOf are sizes that differ in one name.
func sizesOf(base map[string]int, name string, values ...int) (list []map[string]int) {
	for _, v := range values {
		dims := map[string]int{name: v}
		for k, n := range base {
			if k != name {
				dims[k] = n
			}
		}
		list = append(list, dims)
	}
	return list
}

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// resultGroup is the group of the workloads that papers measure. A row's shape begins with the
// name of its workload: W13_14_letters.
const (
	resultGroup = "results"
	countSuffix = "_counts"
	resultsFile = "results.md"
)

// paper is a table of docs/results.md.
type paper struct {
	key, title string
	about      string
	compiled   bool // its rows are compiled functions, not sessions
	workloads  []workload
}

// workload is what a paper measures, and what this machine can say of it.
type workload struct {
	id, what string
	headline string   // the paper's figure
	rows     []string // of other groups that measure it, GROUP/SHAPE
	verdict  string   // what can be compared here
	none     string   // why nothing is measured, "" where something is
}

// papers are the tables, in the order of the page.
var papers = []paper{
	{"torchy", "Torchy", "Lopes, Torchy: a tracing JIT compiler for PyTorch, CC 2023, and its code. Its sessions end a trace at 64 calls, and compile each trace again.", false, []workload{
		{"W1", "8, 16, 32 elementwise calls on nine n×n matrices", "plots alone; up to 12 times as fast as eager", []string{"lazy/8ops_n100", "lazy/32ops_n100", "lazy/8ops_n1000", "lazy/32ops_n1000"}, "CPU; n=10000 takes 3.6 GB and is left out", ""},
		{"W2", "32 calls of which two groups depend on an argument", "plots alone", []string{"lazy/32ops_n100_branches", "lazy/32ops_n1000_branches"}, "CPU", ""},
		{"W3", "BERT base, classes of 994 sentences of 5 lengths", "87 traces", nil, "CPU, random weights", ""},
		{"W4", "BERT base and large, answers in texts of about 150 tokens", "87 traces, of the large model, too", nil, "CPU, random weights; the large model is counted cut to three layers", ""},
		{"W5", "RoBERTa large, a token for the mask in six sentences", "87 traces", nil, "CPU, random weights", ""},
		{"W6", "GPT-2, texts of 30 tokens", "246 traces", nil, "CPU, random weights; f16 needs a GPU", ""},
		{"W7", "ResNet-18, ResNeXt-50, MobileNet v3, images of 28×28 one by one", "1048, 1065, 1124 traces", []string{"lazy/resnet18_b1"}, "CPU, random weights and images", ""},
		{"W8", "reasons of flushes and sizes of graphs of W3 to W7", "plots alone", nil, "CPU; a session always knows shapes, so there is no table without that", ""},
		{"W9", "bars of eager, interpreter, TorchScript, NNC, nvFuser", "plots alone; up to 5 times as fast as TorchScript", nil, "", "the ways of a session are columns of the rows above; NNC is not part of today's PyTorch, and the bars of GPUs need one"},
	}},
	{"lazytensor", "LazyTensor", "Suhan et al., LazyTensor: combining eager execution with domain-specific compilers, 2021.", false, []workload{
		{"W10", "lines of code that ways to record share", "slightly above 75 %", nil, "CPU", ""},
		{"W11", "RoBERTa, a masked language model, trained", "TPU 3.48 times as fast as GPU", nil, "CPU: a small model, its steps, and what is compiled after the third", ""},
		{"W12", "ResNet-50, ImageNet on 16, 32, 128 cores", "96 % per core", nil, "", "needs TPUs; a session is one goroutine's, and each compiles its own graphs"},
		{"W13", "WordSeg, texts of 4, 8, 14 letters; score, score and gradient", "session by eager 0.68, 0.65, 0.59; 0.66, 0.65, 0.63", nil, "CPU, random weights", ""},
		{"W14", "programs that run seldom, sizes that differ", "\"poor utilization\"", nil, "CPU: sets of 1 to 300 boxes, each five times", ""},
		{"W15", "special numbers, donation, views", "figures", nil, "", "held by the tests of rows L-2, L-7, L-10, L-11 of [lazy.md](lazy.md#rows)"},
		{"W16", "what recording takes in small models", "future work", nil, "CPU", ""},
		{"W17", "a decoder of two layers: eager, eager and compiled, traced", "65, 147, 147 tokens/s", nil, "CPU: inference of 128 tokens; compiled is a program of a session", ""},
	}},
	{"magpy", "MagPy", "Zhang et al., MagPy: compiling eager mode DNN programs by monitoring execution states, USENIX ATC 2024, and its code. What it learns by watching the interpreter, [compiled functions](compile.md) know from tables made of the code.", true, []workload{
		{"W31", "BERT, DeBERTa, MonoDepth, a quantised network, TridentNet: the whole graph, pieces, a session", "graph by eager 1.65 (Inductor), 1.27 (XLA); pieces 2.08 and a session 2.85 times as slow as the graph",
			[]string{resultGroup + "/W32_bert_base_7_tokens"}, "CPU, random weights: BERT; the session and the plan are columns", ""},
		{"W32", "8 models, batches 1 and 16, by eager and by other ways to capture", "up to 2.93, in the mean 1.73 times as fast as eager", nil, "CPU, random weights, batch 1", ""},
		{"W36", "where the time of the first call and of later ones goes", "guards 2 %; the first call 2.91 s to analyse, a quarter of the compiler's time", nil, "CPU: the same networks; what a call does besides running its graph: guard, inputs, results", ""},
		{"W37", "15 sizes of a batch, 15 lengths of a text", "one graph each, 1.06 to 2.05 by Dynamo", nil, "CPU: the first three sizes have records of their own, one record serves all later ones", ""},
		{"W38", "control flow on data: an LSTM, BlockDrop", "up to 11.59 by Dynamo", nil, "CPU: the LSTM is one operator, whose length is a size; BlockDrop is not among the networks here", ""},
	}},
}

// rowsOf are the rows of a workload, in their order.
func (w workload) rowsOf(rows []*Row) (list []*Row) {
	for _, r := range rows {
		id, _, _ := strings.Cut(r.Shape, "_")
		if r.Group == resultGroup && id == w.id || slices.Contains(w.rows, r.Group+"/"+r.Shape) {
			list = append(list, r)
		}
	}
	return list
}

// writeResults brings the tables of docs/results.md up to date that have a row of their own.
func writeResults(dir string, rows []*Row) error {
	path := filepath.Join(dir, resultsFile)
	text, err := readPage(path, "Results of papers")
	if err != nil {
		return err
	}
	fresh := text
	for _, threads := range threadCounts(rows) {
		some := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Threads != threads })
		for _, p := range papers {
			if slices.ContainsFunc(p.workloads, func(w workload) bool {
				return slices.ContainsFunc(w.rowsOf(some), func(r *Row) bool { return r.Group == resultGroup })
			}) {
				fresh = between(fresh, fmt.Sprint(p.key, " ", threads), fmt.Sprintf("## %s, threads: %d", p.title, threads), p.table(some))
			}
		}
	}
	if fresh == text {
		return nil
	}
	return os.WriteFile(path, []byte(fresh), 0o644)
}

// table is the table of a paper.
func (p paper) table(rows []*Row) string {
	var b strings.Builder
	var own []*Row
	for _, w := range p.workloads {
		own = append(own, w.rowsOf(rows)...)
	}
	fmt.Fprintf(&b, "%s\n\n%s%s.%s\n\n", p.about, own[len(own)-1].CPU, dates(own), compared(own))
	columns := []string{"session ms", "eager by it", "call by call by eager", "it by the exact plan", "torch by it", "turns"}
	if p.compiled {
		columns = []string{"compiled ms", "eager by it", "session by it", "it by the exact plan", "torch by it, compiled", "turns"}
	}
	heading(&b, append([]string{"workload", "the paper", "here"}, columns...))
	for _, w := range p.workloads {
		list := w.rowsOf(rows)
		switch {
		case w.none != "":
			fmt.Fprintf(&b, "| %s: %s | %s | not measured: %s | - | - | - | - | - | - |\n", w.id, w.what, w.headline, w.none)
			continue
		case len(list) == 0:
			fmt.Fprintf(&b, "| %s: %s | %s | not measured in this run | - | - | - | - | - | - |\n", w.id, w.what, w.headline)
			continue
		}
		fmt.Fprintf(&b, "| %s: %s | %s | %s | | | | | | |\n", w.id, w.what, w.headline, w.verdict)
		for _, r := range list {
			fmt.Fprintf(&b, "| | | %s |\n", strings.Join(r.resultCells(p.compiled), " | "))
		}
	}
	missing(&b, own)
	return b.String()
}

// resultCells are the cells of a row of results: its name or counts, its time, and ratios of least
// times.
func (r *Row) resultCells(compiled bool) []string {
	name := r.Shape
	if r.Group == resultGroup {
		_, name, _ = strings.Cut(name, "_")
	}
	name = strings.ReplaceAll(name, "_", " ")
	if len(r.Counts) > 0 {
		var list []string
		for _, c := range r.Counts {
			list = append(list, fmt.Sprintf("%s %s", c.Name, c.text()))
		}
		return []string{strings.Join(list, ", "), "-", "-", "-", "-", "-", "-"}
	}
	own, eager := r.Least[""], r.Least["eager"]
	plan := over(own, r.Least["plan exact"])
	if p := r.Least["program"]; p > 0 {
		plan += fmt.Sprintf(" (program %s)", over(p, r.Least["plan exact"]))
	}
	torch := over(r.Least["torch"], own)
	if compiled {
		return []string{name, ms(own), over(eager, own), over(r.Least["session"], own), over(own, r.Least["plan exact"]), torch + ", " + over(r.Least["torch-compile"], own), r.pairs()}
	}
	return []string{name, ms(own), over(eager, own), over(r.Least[callByCall], eager), plan, torch, r.pairs()}
}

// Count is a number that a row tells besides times.
type Count struct {
	Name   string  `json:"name"`
	Number float64 `json:"number"`
}

// text prints whole numbers as such, and others with three digits.
func (c Count) text() string {
	if c.Number == float64(int(c.Number)) {
		return fmt.Sprintf("%.0f", c.Number)
	}
	return fmt.Sprintf("%.3g", c.Number)
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
		x, err := inputsOf(m, dims)
		if err != nil {
			return 0, 0, err
		}
		for range 3 {
			f.Call(x...)
		}
	}
	s := f.Stats()
	return s.Records, s.Hits, nil
}

// inputsOf makes the inputs of a network.
func inputsOf(m *models.Model, dims map[string]int) (x []*tensor.Tensor, err error) {
	for _, v := range m.Inputs {
		in, err := models.SyntheticInput(v, seed, dims)
		if err != nil {
			return nil, err
		}
		x = append(x, in)
	}
	return x, nil
}

// countSizes counts records of networks whose inputs differ in one size, and compares the record of all sizes with records
// of each: W37.
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
		mean, most, err := symbolsByExact(v.m, v.sizes)
		if err != nil {
			return nil, err
		}
		list = append(list, Count{v.name + "records", float64(n)}, Count{"hits of 45 calls", float64(hits)},
			Count{"the record of all sizes by one of each, mean", mean}, Count{"most", most})
	}
	return list, nil
}

// symbolsByExact is how long hits of the record that has symbols take by those of a record of each size, over the sizes
// after those that have records of their own: the mean, and the most. Both are timed in turns.
func symbolsByExact(m *models.Model, sizes []map[string]int) (mean, most float64, err error) {
	w, err := openNetwork(m, sizes[0])
	if err != nil {
		return 0, 0, err
	}
	const own = 3 // compile.LiftAfter
	var all [2]*nets.Network
	for i, after := range []int{own, math.MaxInt} {
		if all[i], err = nets.New(w.module, compile.Strict(), compile.LiftAfter(after), compile.On(cpu.Target{}, lowering.Options{Exact: true, Threads: 1})); err != nil {
			return 0, 0, err
		}
		defer all[i].Close()
	}
	for i, dims := range sizes {
		x, err := inputsOf(m, dims)
		if err != nil {
			return 0, 0, err
		}
		least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for range 8 {
			for k, f := range all {
				start := time.Now()
				f.Call(x...)
				least[k] = min(least[k], time.Since(start))
			}
		}
		if i >= own {
			ratio := float64(least[0]) / float64(least[1])
			mean, most = mean+math.Log(ratio), max(most, ratio)
		}
	}
	if s := all[0].Stats(); s.Records != own+1 {
		return 0, 0, fmt.Errorf("expected a record of all sizes, got %s", s)
	}
	return math.Exp(mean / float64(len(sizes)-own)), most, nil
}

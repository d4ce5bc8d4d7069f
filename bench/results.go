package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/bench/plot"
	"github.com/gofx-dev/gofx/bench/verdict"
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
	hardware   string // that of its figures
	compiled   bool   // its rows are compiled functions, not sessions
	workloads  []workload
}

// workload is what a paper measures, and what this machine can say of it.
type workload struct {
	id, what string
	headline string   // the paper's figure
	rows     []string // of other groups that measure it, GROUP/SHAPE
	verdict  string   // what can be compared here
	none     string   // why it has no row of its own, "" where it has some
	// used are rows that stand elsewhere and that its verdict is about, with a space and the threads where they are more than one.
	used []string
}

// papers are the tables, in the order of the page.
var papers = []paper{
	{"torchy", "Torchy", "Lopes, Torchy: a tracing JIT compiler for PyTorch, CC 2023, and its code. Its sessions end a trace at 64 calls, and compile each trace again.", "12 CPU cores, GPU", false, []workload{
		{"W1", "8, 16, 32 elementwise calls on nine n×n matrices", "plots alone; up to 12 times as fast as eager", []string{"lazy/8ops_n100", "lazy/16ops_n100", "lazy/32ops_n100", "lazy/8ops_n1000", "lazy/16ops_n1000", "lazy/32ops_n1000"}, "CPU; n=10000 takes 3.6 GB and is left out", "", nil},
		{"W2", "32 calls of which two groups depend on an argument", "plots alone", []string{"lazy/32ops_n100_branches", "lazy/32ops_n1000_branches"}, "CPU", "", []string{"lazy/32ops_n1000"}},
		{"W3", "BERT base, classes of 994 sentences of 5 lengths", "87 traces", nil, "CPU, random weights", "", nil},
		{"W4", "BERT base and large, answers in texts of about 150 tokens", "87 traces, of the large model, too", nil, "CPU, random weights; the large model is counted cut to three layers", "", nil},
		{"W5", "RoBERTa large, a token for the mask in six sentences", "87 traces", nil, "CPU, random weights", "", nil},
		{"W6", "GPT-2, texts of 30 tokens", "246 traces", nil, "CPU, random weights; f16 needs a GPU", "", nil},
		{"W7", "ResNet-18, ResNeXt-50, MobileNet v3, images of 28×28 one by one", "1048, 1065, 1124 traces", []string{"lazy/resnet18_b1"}, "CPU, random weights and images", "", nil},
		{"W8", "reasons of flushes and sizes of graphs of W3 to W7", "plots alone", nil, "CPU; a session always knows shapes, so there is no table without that", "", nil},
		{"W9", "bars of eager, interpreter, TorchScript, NNC, nvFuser", "plots alone; up to 5 times as fast as TorchScript", nil, "", "the ways of a session are columns of the rows above; NNC is not part of today's PyTorch, and the bars of GPUs need one",
			[]string{"lazy/8ops_n100", "lazy/16ops_n100", "lazy/32ops_n100", "lazy/8ops_n1000", "lazy/16ops_n1000", "lazy/32ops_n1000"}},
	}},
	{"lazytensor", "LazyTensor", "Suhan et al., LazyTensor: combining eager execution with domain-specific compilers, 2021.", "V100, TPU v3", false, []workload{
		{"W10", "lines of code that ways to record share", "slightly above 75 %", nil, "CPU", "", nil},
		{"W11", "RoBERTa, a masked language model, trained", "TPU 3.48 times as fast as GPU", nil, "CPU: a small model, its steps, and what is compiled after the third", "", nil},
		{"W12", "ResNet-50, ImageNet on 16, 32, 128 cores", "96 % per core", nil, "CPU: steps of ResNet-18 on images of 28×28, in a session of one goroutine, and in two sessions of two; each compiles its own graphs", "", nil},
		{"W13", "WordSeg, texts of 4, 8, 14 letters; score, score and gradient", "session by eager 0.68, 0.65, 0.59; 0.66, 0.65, 0.63", nil, "CPU, random weights", "", nil},
		{"W14", "programs that run seldom, sizes that differ", "\"poor utilization\"", nil, "CPU: sets of 1 to 300 boxes, each five times", "", nil},
		{"W15", "special numbers, donation, views", "figures", nil, "CPU; rows L-2, L-7, L-10, L-11 of [lazy.md](lazy.md#rows) have more", "", nil},
		{"W16", "what recording takes in small models", "future work", nil, "CPU", "", nil},
		{"W17", "a decoder of two layers: eager, eager and compiled, traced", "65, 147, 147 tokens/s", nil, "CPU: inference of 128 tokens; compiled is a program of a session", "", nil},
	}},
	{"magpy", "MagPy", "Zhang et al., MagPy: compiling eager mode DNN programs by monitoring execution states, USENIX ATC 2024, and its code. What it learns by watching the interpreter, [compiled functions](compile.md) know from tables made of the code.", "A100", true, []workload{
		{"W20", "ALIGN, two texts of 64 tokens, an image of 289×289", "in the bars of W32", nil, "CPU, random weights, EfficientNet-B0 where the paper's tower is larger", "", []string{resultGroup + "/W34_counts"}},
		{"W21", "BERT, hidden states of 256 tokens, 12 layers", "in the bars of W32", nil, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W22", "DeBERTa base, 256 tokens", "in the bars of W32", nil, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W23", "DenseNet-121", "in the bars of W32", []string{resultGroup + "/W32_densenet121"}, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W24", "MonoDepth with ResNet-18, images of 256×256", "in the bars of W32", nil, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W25", "a ResNet-18 that rounds by the least and greatest elements", "in the bars of W32", nil, "CPU, random weights; the steps are tensors, where the paper's code reads them as numbers. A session rounds the weights in each step, a record has done so", "", []string{resultGroup + "/W34_counts"}},
		{"W26", "ResNet-101", "in the bars of W32", nil, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W27", "TridentNet on ResNet-50", "in the bars of W32", nil, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W28", "an LSTM of ten layers, 64 steps", "in the bars of W38", []string{resultGroup + "/W32_lstm_10x256"}, "CPU, random weights", "", []string{resultGroup + "/W34_counts"}},
		{"W29", "BlockDrop's ResNet-32, policies that choose blocks", "in the bars of W38", nil, "CPU, random weights; every block is computed, and the policy chooses", "", []string{resultGroup + "/W34_counts"}},
		{"W30", "BART, Longformer, a decoder with attention of 50 words", "in the artifact alone", nil, "CPU, random weights: the decoder; BART and Longformer are not built", "", []string{resultGroup + "/W34_counts"}},
		{"W31", "BERT, DeBERTa, MonoDepth, a quantised network, TridentNet: the whole graph, pieces, a session", "graph by eager 1.65 (Inductor), 1.27 (XLA); pieces 2.08 and a session 2.85 times as slow as the graph",
			nil, "", "W21, W22, W24, W25 and W27, whose columns are the session and the plan of the whole graph; there are no pieces, since nothing cuts these networks",
			[]string{resultGroup + "/W21_bert_256", resultGroup + "/W22_deberta_256", resultGroup + "/W24_monodepth", resultGroup + "/W25_quantized", resultGroup + "/W27_tridentnet"}},
		{"W32", "8 models, batches 1 and 16, by eager and by other ways to capture", "up to 2.93, in the mean 1.73 times as fast as eager", nil, "CPU, random weights, batch 1: the mean is over W20 to W27; other networks are here", "",
			[]string{resultGroup + "/W20_align", resultGroup + "/W21_bert_256", resultGroup + "/W22_deberta_256", resultGroup + "/W24_monodepth", resultGroup + "/W25_quantized", resultGroup + "/W26_resnet101", resultGroup + "/W27_tridentnet"}},
		{"W33", "DenseNet-121 alone, by all ways", "ms: eager 11.5, TorchScript 11.4, MagPy with TorchScript 6.0, LazyTensor with XLA 14.6, MagPy with XLA 15.7", nil, "", "densenet121 of W32, whose columns are the ways", []string{resultGroup + "/W32_densenet121"}},
		{"W34", "graphs of the eight networks of W32", "LazyTensor 44 of the quantised network, 2 of ALIGN, 1 of the others; TorchScript 20.54 in the mean, Dynamo 24.88; MagPy 1", nil, "exact", "", nil},
		{"W35", "programs of a public collection", "1112 of 1191 static ones captured, none wrong", nil, "CPU: a corpus of our own in the paper's classes of failures, [compile-cases.md](compile-cases.md)", "", nil},
		{"W36", "where the time of the first call and of later ones goes", "guards 2 %; the first call 2.91 s to analyse, a quarter of the compiler's time", nil, "CPU: the same networks; what a call does besides running its graph: guard, inputs, results", "", nil},
		{"W37", "15 sizes of a batch, 15 lengths of a text", "one graph each, 1.06 to 2.05 by Dynamo", nil, "CPU: the first three sizes have records of their own, one record serves all later ones", "", nil},
		{"W38", "control flow on data: an LSTM, BlockDrop", "up to 11.59 by Dynamo", nil, "CPU: the LSTM is one operator, whose length is a size; BlockDrop is not among the networks here", "", nil},
	}},
	{"torchfx", "torch.fx", "Reed et al., torch.fx: practical program capture and transformation for deep learning in Python, MLSys 2022.", "Xeon 6138, V100", false, []workload{
		{"W40", "nodes of ResNet-50's graph", "445 in torch.fx, 860 in jit.trace, 2614 in jit.script", nil, "exact: one input, 53 convolutions, 53 batch norms, 49 relus, 16 additions, 2 pools, flatten, linear, the output, and 267 parameters", "", nil},
		{"W41", "DeepRecommender in 8 bits, batches of 1, 16, 64, 128, 256", "f32 by int8: 3.50, 3.10, 1.55, 1.25, 1.10", nil, "", "[quant.md](bench/quant.md) has times and peers",
			[]string{"quant/deep_recommender_static_b1", "quant/deep_recommender_static_b16", "quant/deep_recommender_static_b64", "quant/deep_recommender_static_b128", "quant/deep_recommender_static_b256"}},
		{"W42", "batch norms folded into convolutions, ResNet-50", "unfused by fused: 1.41 on all cores, 1.18 on one, GPU 1.06", nil, "CPU: the passes that every network gets; times are in [networks.md](bench/networks.md)", "",
			[]string{"fold/resnet50_interp_b1", "fold/resnet50_interp_b1 2"}},
		{"W43", "ResNet-50 and LearningToPaint lowered to TensorRT", "eager by TensorRT: 3.69, 1.55", nil, "", "lowered to plans of this CPU; [networks.md](bench/networks.md) has times and peers",
			[]string{"model/resnet50_b1", "model/learning_to_paint_b1"}},
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
				picture := fmt.Sprintf("results_%s_%d.svg", p.key, threads)
				text, bars := p.table(some), p.bars(some, threads)
				if bars != "" {
					if err := os.WriteFile(filepath.Join(dir, "img", picture), []byte(bars), 0o644); err != nil {
						return err
					}
					text += fmt.Sprintf("\n![times by those of eager code](img/%s)\n", picture)
				}
				fresh = between(fresh, fmt.Sprint(p.key, " ", threads), fmt.Sprintf("## %s, threads: %d", p.title, threads), text)
			}
		}
	}
	fresh = between(fresh, "verdicts", "## Verdicts", verdicts(rows))
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
		columns = []string{"compiled ms", "eager by it", "session by it", "it by the exact plan", "torch, torch.compile, torch_xla by it", "turns"}
	}
	heading(&b, append([]string{"workload", "the paper", "here"}, columns...))
	for _, w := range p.workloads {
		list := w.rowsOf(rows)
		switch {
		case w.none != "":
			fmt.Fprintf(&b, "| %s: %s | %s | no row of its own: %s | - | - | - | - | - | - |\n", w.id, w.what, w.headline, w.none)
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

// bars draws the time of each row by that of eager code, and by PyTorch's ways. It is empty where no row has times.
func (p paper) bars(rows []*Row, threads int) string {
	var list []plot.Bar
	seen := map[*Row]bool{}
	for _, w := range p.workloads {
		for _, r := range w.rowsOf(rows) {
			own, eager := r.Least[""], r.Least["eager"]
			if seen[r] || own == 0 || eager == 0 {
				continue
			}
			seen[r] = true
			bar := plot.Bar{Name: r.name(), Than: "eager", Ratio: own / eager}
			for _, n := range slices.Sorted(maps.Keys(r.Least)) {
				if strings.HasPrefix(n, "torch") {
					bar.Others = append(bar.Others, plot.Dot{Than: n, Ratio: own / r.Least[n]})
				}
			}
			list = append(list, bar)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return plot.Bars(fmt.Sprintf("%s's workloads: time by that of eager code, threads: %d; dots: by PyTorch's ways", p.title, threads), list)
}

// name is the shape without the workload's.
func (r *Row) name() string {
	name := r.Shape
	if r.Group == resultGroup {
		_, name, _ = strings.Cut(name, "_")
	}
	return strings.ReplaceAll(name, "_", " ")
}

// resultCells are the cells of a row of results: its name or counts, its time, and ratios of least
// times.
func (r *Row) resultCells(compiled bool) []string {
	name := r.name()
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
		return []string{name, ms(own), over(eager, own), over(r.Least["session"], own), over(own, r.Least["plan exact"]), fmt.Sprintf("%s, %s, %s", torch, over(r.Least["torch-compile"], own), over(r.Least["torch-xla"], own)), r.pairs()}
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

// judged are rows as verdicts see them.
func judged(rows []*Row) verdict.Rows {
	all := verdict.Rows{}
	for _, r := range rows {
		v := verdict.Row{Times: r.Least}
		for _, c := range r.Counts {
			v.Counts = append(v.Counts, verdict.Count(c))
		}
		all[r.key()] = v
	}
	return all
}

// key names a row for verdicts.
func (r *Row) key() string {
	if r.Threads > 1 {
		return fmt.Sprintf("%s/%s %d", r.Group, r.Shape, r.Threads)
	}
	return r.Group + "/" + r.Shape
}

// allOf are the rows of a workload with those that only its verdict is about.
func (w workload) allOf(rows []*Row) []*Row {
	list := w.rowsOf(rows)
	for _, r := range rows {
		if slices.Contains(w.used, r.key()) && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// verdicts is the table of all claims of all workloads, after how many there are of each verdict.
func verdicts(rows []*Row) string {
	var b strings.Builder
	tally(&b, rows)
	heading(&b, []string{"workload", "verdict", "claim", "the paper", "here", "reached", "its direction", "measured on", "in s"})
	seen := judged(rows)
	for _, p := range papers {
		for _, w := range p.workloads {
			all, list := verdict.Judge(w.id, seen)
			where, took := conditions(w.allOf(rows))
			fmt.Fprintf(&b, "| **%s** | **%s** | %s | %s (%s) | | | | %s | %s |\n", w.id, all, w.what, w.headline, p.hardware, where, took)
			for _, f := range list {
				fmt.Fprintf(&b, "| | %s | %s | %s | %s | %s | %s | | |\n", f.Verdict, f.What, f.Own(), f.Here(), f.Reached, f.Shape)
			}
		}
	}
	return b.String()
}

// tally counts the workloads of each verdict.
func tally(b *strings.Builder, rows []*Row) {
	seen, n, all := judged(rows), map[verdict.Verdict]int{}, 0
	longest, most := "", 0.0
	for _, p := range papers {
		for _, w := range p.workloads {
			v, _ := verdict.Judge(w.id, seen)
			n[v]++
			all++
			if s := seconds(w.allOf(rows)); v == verdict.Reproduced && s > most {
				longest, most = w.id, s
			}
		}
	}
	var list []string
	for _, v := range slices.Sorted(maps.Keys(n)) {
		list = append(list, fmt.Sprintf("%d %s", n[v], v))
	}
	fmt.Fprintf(b, "Of %d workloads: %s.", all, strings.Join(list, ", "))
	if longest != "" {
		fmt.Fprintf(b, " `go run ./papers -run %s` takes the longest of those that are reproduced, %.0f s.", longest, math.Ceil(most))
	}
	b.WriteString("\n\n")
}

// seconds is how long rows took.
func seconds(rows []*Row) (sum float64) {
	for _, r := range rows {
		sum += r.TookS
	}
	return sum
}

// conditions are the machines and commits of rows, and the seconds that they took.
func conditions(rows []*Row) (where, took string) {
	var list []string
	for _, r := range rows {
		if v := strings.Trim(r.CPU+", "+r.Commit, ", "); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	sum := seconds(rows)
	if sum == 0 {
		return strings.Join(list, "; "), "-"
	}
	return strings.Join(list, "; "), fmt.Sprintf("%.0f", math.Ceil(sum))
}

// casesOf are the cases of a workload by the number of threads that they run on.
func (w workload) casesOf() map[int][]*Case {
	all := map[int][]*Case{}
	for _, c := range groups() {
		for threads := 1; threads <= 2; threads++ {
			if r := (&Row{Group: c.Group, Shape: c.Shape, Threads: threads}); len(w.allOf([]*Row{r})) > 0 && (threads == 1 || slices.Contains(w.used, r.key())) {
				all[threads] = append(all[threads], c)
			}
		}
	}
	return all
}

// find are the workloads of a list of names, all for none.
func find(names string) (list []workload, err error) {
	for _, name := range strings.Split(names, ",") {
		found := false
		for _, p := range papers {
			for _, w := range p.workloads {
				if name == "" || w.id == name {
					list, found = append(list, w), true
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no workload %q; the page ../docs/%s has all", name, resultsFile)
		}
	}
	return list, nil
}

// judgePapers carries out -papers. The page is that of the stored rows, to which new ones belong with -keep alone.
func judgePapers(o options, measure measuring, out io.Writer) (failed bool, err error) {
	stored, err := readFiles([]string{o.papers})
	if err != nil {
		return false, err
	}
	list, err := find(o.of)
	if err != nil {
		return false, err
	}
	rows := stored
	if o.of != "" {
		var fresh []*Row
		if fresh, failed, err = measure(o, list); err != nil {
			return failed, err
		}
		rows = merged(slices.Clone(stored), fresh)
		sortRows(rows)
	}
	if o.keep {
		stored = rows
		if err := writeRows(o.papers, stored); err != nil {
			return failed, err
		}
	}
	judge(out, list, rows)
	if o.doc {
		return failed, writeResults("../docs", stored)
	}
	return failed, nil
}

// judge prints the claims of workloads.
func judge(out io.Writer, list []workload, rows []*Row) {
	seen := judged(rows)
	for _, w := range list {
		all, findings := verdict.Judge(w.id, seen)
		fmt.Fprintf(out, "%s %s\n", w.id, all)
		for _, f := range findings {
			fmt.Fprintf(out, "\t%s: %s (the paper %s, reached %s): %s\n", f.What, f.Here(), f.Own(), f.Reached, f.Verdict)
		}
	}
}

// measuring measures workloads. failed tells that something was left out.
type measuring func(o options, list []workload) (rows []*Row, failed bool, err error)

// measureWorkloads measures each case of the workloads once.
func measureWorkloads(o options, list []workload) (rows []*Row, failed bool, err error) {
	for threads := 1; threads <= 2; threads++ {
		var cases []*Case
		for _, w := range list {
			for _, c := range w.casesOf()[threads] {
				if !slices.ContainsFunc(cases, func(d *Case) bool { return d.Group == c.Group && d.Shape == c.Shape }) {
					cases = append(cases, c)
				}
			}
		}
		if len(cases) == 0 {
			continue
		}
		o.threads, o.json = fmt.Sprint(threads), false
		some, bad, err := measureAll(o, cases, io.Discard)
		rows, failed = append(rows, some...), failed || bad
		if err != nil {
			return rows, failed, err
		}
	}
	return slices.DeleteFunc(rows, func(r *Row) bool { return r.Group == "precision" }), failed, nil
}

// writeRows writes rows as -json does.
func writeRows(path string, rows []*Row) error {
	var b bytes.Buffer
	for _, r := range rows {
		if err := writeJSON(&b, r); err != nil {
			return err
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

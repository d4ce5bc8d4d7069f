package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Titles of the groups in docs/bench.md.
var titles = []struct{ group, title, text string }{
	{"gemm", "Matrix product, f32", "Names are rows × columns × inner size. `packed_` and named networks have a constant right operand, which every competitor may prepack."},
	{"conv", "Convolution, f32", "One image, with bias. Names are channels, image, output channels, kernel, stride, padding, groups. A sum counts every convolution of the network; its peer is the faster one at each shape."},
	{"qgemm", "Matrix product, u8 by s8", "With bias, requantised to u8."},
	{"qconv", "Convolution, u8 by s8", "With bias, requantised to u8."},
	{"qvector", "8-bit operators between products", "Of u8; zero points and scales of the whole tensor."},
	{"chain", "Elementwise chains", "Operators add, mul, div, add, sub, mul, div, add in turn on nine n by n matrices. PyTorch writes into preallocated results."},
	{"vector", "Functions of vectors", "4096 elements lie in the first level of cache, a million does not. silu is compared with ONNX Runtime's QuickGelu."},
	{"memory", "Bound by memory", "Copies of permuted and broadcast views, softmax and layer norm over the last axis."},
	{"rnn", "Recurrent", "Ten layers of LSTM, width 256."},
	{"attention", "Attention", "Between the projections: twelve heads of 64. `ort-fused` is ONNX Runtime's MultiHeadAttention."},
	{"model", "Whole networks", "Every network of package models, 128 tokens of text, `_bN` with N inputs, after the default pipeline (`fx.Optimise`). plan is the plan in this process, gen the generated program, interp " +
		"the interpreter on the optimised graph, eager the Go function itself. PyTorch computes the captured graph before any pass, written from the operators' own PyTorch expressions (`internal/oracle`) with the same weights and inputs: " +
		"eager, and traced, frozen and optimised for inference; ONNX Runtime computes what PyTorch exports of that. All results are compared at nine places of each output; a difference of 0.005 of the output's mean magnitude is allowed. " +
		"plan/torch takes PyTorch's faster mode. In parentheses are the ratios of the least times, which other programs disturb less. Where optimising for inference gives wrong results, torch-jit is traced and frozen only."},
	{"fold", "Batch norms folded into convolutions", "ResNet-50 after the default pipeline, and after it without `conv-bn` and `bn-affine`. The interpreter then computes each batch norm as a step of its own, the plan in the convolution's epilogue. " +
		"In parentheses is the ratio of the least times. The speed-ups that the paper of torch.fx reports for PyTorch are 1.18 on one thread and 1.41 on several."},
	{"quant", "Quantised networks", "int8 is the plan of the network behind `quant-convert` and `quant-lower`, f32 the optimised plan in floats. ONNX Runtime computes the same scales and weights, exported through PyTorch: " +
		"for static quantisation as a QDQ model, with sums rounded before residuals, without which it computes those convolutions in float; for dynamic as DynamicQuantizeLinear and MatMulInteger, which it fuses. PyTorch computes the same in its quantised engine (`torch.ops.quantized`; oneDNN in Debian's 1.13, which is built without FBGEMM; traced and frozen), " +
		"with activations between relu and selu in floats, and not mobilenet_v3_large. " +
		"Results are compared within 0.1 of the mean magnitude, 0.25 of mobilenet_v3_large, whose synthetic weights quantise badly. The roof counts products as of 8 bits. In parentheses are the ratios of the least times. " +
		"The paper of torch.fx reports float/int8 of DeepRecommender as 3.50, 3.10, 1.55, 1.25 and 1.10 from one input to 256."},
	{"graph", "Graphs", "What is done to a chain of so many calls, `add` of a number and `relu` in turns, f32[N,4]. dce: one call in five has no use; cse: one in five is there a second time; rewrite: every two calls become one; partition: parts of all calls but one in fifty, and sub-graphs of them; " +
		"interpret: four elements. The garbage is collected meanwhile. trace is `fx.Trace`, which calls the function twice and compares; save and load are of folders in a file system in memory. torch.fx does the same to the same chain: " +
		"`symbolic_trace`, a deep copy of the graph, `lint`, `eliminate_dead_code`, `CSEPass`, `replace_pattern`, `CapabilityBasedPartitioner`, the text of the graph, pickle to a file and from it, `Interpreter`; its names are counted as " +
		"later versions do, because in 1.13 making them takes time that grows with the square. In parentheses is the ratio of the least times. Tests hold the allocations, and that a captured chain keeps less than 400 bytes a call (280)." +
		" A synthetic model of 5,000 nodes becomes kernel-style Go in 0.9 s, which compiles in 2.3 s once `kernel` is built, with no function over 400 lines (`TestNightlyLargeGraph`)."},
}

const intro = `# Measurements

Kernels of gofx beside PyTorch, ONNX Runtime and oneDNN, and beside what the machine can do at best. This file is written by

` + "```" + `
bench/peers/install.sh                                  # PyTorch by apt, ONNX Runtime by npm; both optional
cd bench && go run . -threads 1,2 -json >rows.json
go run . -from rows.json -doc                           # or in one: go run . -threads 1,2 -doc
` + "```" + `

` + "`go run . -run REGEXP -threads N -json`" + ` prints one JSON object a row for what the expression finds in GROUP/SHAPE or
GROUP/NETWORK/SHAPE (` + "`-list`" + ` prints all names), without ` + "`-json`" + ` a table. Fields: ` + "`group`, `shape`, `ours_ms`, `peer`, `peer_ms`, `ratio`, `roof_share`" + `
and more beside them (` + "`bench/row.go`" + `); those of a peer that is missing are left out. The exit status is 1 when a
case or a peer's result had to be left out; standard error says which and why.

How it is measured:

- Each peer is a process of its own that lives for the whole run and is stopped (SIGSTOP) while it is not its turn, so that no spinning thread
  of one disturbs another. It times its own calls; pipes carry requests only.
- All operands follow from a formula that each process evaluates; results are compared at nine places before anything is timed, and a
  peer whose result differs is left out and reported.
- Competitors take turns within every pair, each round beginning with the next one. Short calls are repeated until a window of time (` + "`-window`" + `; each
  section states it) has passed, after 16 milliseconds of calls that are not counted, for all alike: a processor that is given back is slow
  at first, and the monitor of the Go runtime keeps it busy for some milliseconds. Caches are therefore warm wherever operands fit into them. The cell is
  the median of 15 pairs. Rows that would take longer than ` + "`-limit`" + ` get fewer, and so does a run with a smaller ` + "`-pairs`" + `: the last column
  shows how many, and below 15 a row is only a first look.
- Equal threads: ` + "`Workspace.Threads`, `GOMAXPROCS`, `torch.set_num_threads`, `OMP_NUM_THREADS`, `intraOpNumThreads`" + ` (one inter-op thread, sequential).
- PyTorch runs eagerly in inference mode into preallocated results where it can (` + "`torch`" + `), and traced, frozen and optimised for
  inference, which prepacks weights for oneDNN (` + "`torch-jit`" + `). Its OpenBLAS is told by ` + "`OPENBLAS_CORETYPE`" + ` to use whichever kernels are fastest on
  this machine, measured at the start; what the environment says is not used, since a wrong value costs half of the speed or more.
- oneDNN (` + "`onednn`" + `, Debian's libdnnl2, called without cgo) multiplies, with weights in the layout that it chooses, and computes elementwise functions;
  its convolutions are those that PyTorch runs.
- ONNX Runtime runs models of one operator, weights as initializers, all graph optimisations on, through its native binding without the event
  loop, into results of an earlier call. A call costs some microseconds nevertheless: read its smallest rows with care.
- **peer** is the fastest of all of them, **ratio** our time divided by its time, **roof** the least possible time divided by ours.
- **beside** is our rate divided by that of a loop of multiply-adds (or 8-bit dot products) that takes turns with us and the peers, median by
  median: the peaks of **roof** are the best that the processor's clock ever gave, which it does not keep up under load.
- **gain**, with more than one thread, is our time on one thread divided by ours, both measured in turns; in parentheses its share of what
  the same loop gains from the threads. The two processors of a virtual machine may or may not share a last level of cache, and move: the
  time in which a cache line goes to the other one and back tells, and stands at the head of the section. A dagger after the number of pairs
  marks rows measured while it was above 250 ns, in which threads that share data gain less.

With ` + "`GOFX_CPU=avx2`" + ` PyTorch and oneDNN are held to AVX2, too (` + "`DNNL_MAX_CPU_ISA`, `ATEN_CPU_CAPABILITY`" + `, OpenBLAS's kernels for Haswell or Zen), and peaks are those of
AVX2. ONNX Runtime has no such switch and is left out.

` + "`go run . -cost all`" + ` predicts each network from the others; [cost.md](cost.md) has the figures.

` + "`go run . -roof resnet50,bert_base`" + ` profiles plans, at batch 1 or as ` + "`resnet50_b8`" + `, and prints every kind of step that takes more than 5 % of the time: how much it
computes and moves, by the definition of the operators, and the least possible time divided by its own.

Networks that PyTorch exports run as fast as the same networks written in Go: their plans have the same steps (internal/conform/imported_test.go). Times of the imported
network by those of the captured one, in turns on one thread (AMD EPYC with AVX-512, 2026-11-23; 41 turns, mobilenet_v3_large 161 turns in both orders, median and lower
quartile): mobilenet_v3_large 1.00, 1.02 and 0.98, 0.98; resnet50 0.96, 0.96; bert_base at 128 tokens 1.00, 0.99. ` + "`GOFX_SPEED=1 go test ./internal/conform -run ImportedSpeed -v`" + `
measures them. A model of 5,000 nodes is imported in 0.04 s and becomes code in 2.4 s (module style 0.3 s), which compiles in 1.8 s (3.5 s) with 100 MB (123 MB):
` + "`go test ./cmd/fxgen -run NONE -bench LargeModel -benchtime 1x`" + `.

Networks on the ` + "`gpu`" + ` target beside the cpu's plan, on PoCL 3.1, which computes on the same two processors (AMD EPYC Zen 5 with AVX-512, 2 vCPU, 2 threads,
2026-11-24; in turns, the least of 101 times, bert_base of 15): resnet18 at batch 1 takes 12.0 ms, 1.78 of the plan's 6.73 ms; bert_base at 128 tokens 57.9 ms with
attention recognised, 62.6 ms with the formula, 1.08 and 1.16 of the plan's 53.8 ms. Attention of 12 heads of 64 numbers alone takes 0.43 ms at 128 positions and
3.57 ms at 512 as a call, 0.72 ms and 7.89 ms as a formula; the plan's call takes 0.17 ms and 2.05 ms. ` + "`GOFX_SPEED=1 go test ./lowering/gpu -run TestSpeed -v`" + ` measures them.
No GPU has been timed.

The same on a smaller processor (AMD EPYC Zen 3 with AVX2, 2 vCPU, 2 threads, 2026-11-25), which other programs kept busy all the time (17 wanted to run where two can): least times on the clock, and least processor
time of both threads, in turns within 45 seconds, two such runs after one another. On the clock everything is disturbed, the plan more, whose threads wait for each other after every step; read the ratios of processor time.

| network, batch 1 | on the clock, ` + "`" + `gpu` + "`" + ` by cpu, ms | ratio | processor time, ` + "`" + `gpu` + "`" + ` by cpu, ms | ratio |
|---|---|---|---|---|
| resnet18 | 95.6 by 53.0, 66.5 by 29.6 | 1.80, 2.25 | 59.4 by 30.0, 61.3 by 27.6 | 1.98, 2.22 |
| mobilenet_v3_large | 27.2 by 8.4, 22.4 by 8.3 | 3.21, 2.68 | 17.6 by 9.4, 20.8 by 6.4 | 1.87, 3.25 |
| resnet50 | 187 by 232, 144 by 206 | 0.81, 0.70 | 144 by 106, 137 by 99.3 | 1.36, 1.38 |
| bert_base, 128 tokens, attention recognised | 641 by 769, 351 by 432 | 0.83, 0.81 | 279 by 284, 270 by 276 | 0.98, 0.98 |
| resnet18 in 8 bits | | | 85.2 by 45.8 (least of three) | 1.86 |

To see what a smaller machine sees: ` + "`GOFX_CACHE=32K,1M,0`" + ` makes ours choose the blocks of a processor with those caches (L1 of data, L2, L3; docs/kernels.md), and ` + "`-beside N`" + `
copies 256 MiB to and fro on N other processors meanwhile, which takes bandwidth and a shared last level from us and from the peers alike. The caches of the
processor stay as large as they are: compare orders and sizes, not times. Rows say so in ` + "`cpu`" + `.

A star after the number of pairs marks a row during which other programs kept more than 0.15 of a processor busy: read its ratio,
whose sides were disturbed alike, not its roof.

The least possible time is the largest of: multiply-adds by the peak of fused multiply-adds, 8-bit products by the peak of 8-bit
dot products, additions and divisions by theirs, and the bytes of operands and results by the bandwidth of the level of
memory that holds them: the best of reading, copying and adding two arrays to a third, and for reductions and chains, which mostly read, no more
than reading alone reaches. Peaks are measured in the same run by assembly loops (` + "`bench/peak`" + `). Work is counted by the definition of the operator, so
that Winograd's convolution may have a share above one.

`

// disturbed is the load of other programs, in processors, from which on a row is marked.
const disturbed = 0.15

// farApart is the nanoseconds of Row.HandoverNS from which on processors do not
// share a cache.
const farApart = 250

// sections are the groups whose tables are not those of one operator.
var sections = map[string]func(b *strings.Builder, rows []*Row){"model": networkSection, "fold": foldSection, "quant": quantSection, "graph": graphSection}

// pairs is the number of interleaved measurements, with marks for what disturbed them.
func (r *Row) pairs() string {
	mark := ""
	if r.Foreign > disturbed {
		mark = "*"
	}
	if r.HandoverNS > farApart {
		mark += "†"
	}
	return fmt.Sprintf("%d%s", r.Pairs, mark)
}

// writeDoc writes bench.md and its picture into the folder.
func writeDoc(dir string, rows []*Row) error {
	if len(rows) == 0 {
		return fmt.Errorf("no rows to write")
	}
	if err := os.MkdirAll(filepath.Join(dir, "img"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "img", "roofline.svg"), []byte(roofline(rows)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bench.md"), []byte(document(rows)), 0o644)
}

// document returns the text of bench.md.
func document(rows []*Row) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("![Rates against the work a byte](img/roofline.svg)\n")
	for _, threads := range threadCounts(rows) {
		some := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Threads != threads })
		p := some[len(some)-1]
		fmt.Fprintf(&b, "\n## Threads: %d\n\n%s. Peaks of this run: %.0f GFLOP/s, %.0f Gop/s of 8 bits, %.1f GB/s past the caches.%s\n", threads, p.CPU, p.PeakGFlops, p.PeakGops8, p.PeakGBs, windowsOf(some)+handovers(some))
		for _, t := range titles {
			section(&b, t.title, t.text, slices.DeleteFunc(slices.Clone(some), func(r *Row) bool { return r.Group != t.group }))
		}
	}
	return b.String()
}

// windowsOf says how long the measurements of the rows took at least.
func windowsOf(rows []*Row) string {
	var list []float64
	for _, r := range rows {
		if r.WindowMS > 0 && !slices.Contains(list, r.WindowMS) {
			list = append(list, r.WindowMS)
		}
	}
	slices.Sort(list)
	switch len(list) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" Windows of %g ms.", list[0])
	}
	return fmt.Sprintf(" Windows of %g to %g ms.", list[0], list[len(list)-1])
}

// handovers says how far apart the processors were.
func handovers(rows []*Row) string {
	var list []float64
	for _, r := range rows {
		if r.HandoverNS > 0 {
			list = append(list, r.HandoverNS)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" A cache line to the other processor and back: %.0f to %.0f ns, mostly %.0f.", slices.Min(list), slices.Max(list), median(list))
}

func threadCounts(rows []*Row) []int {
	var n []int
	for _, r := range rows {
		if !slices.Contains(n, r.Threads) {
			n = append(n, r.Threads)
		}
	}
	slices.Sort(n)
	return n
}

// section writes one table: a column for each peer, ours, and the comparison.
func section(b *strings.Builder, title, text string, rows []*Row) {
	if len(rows) == 0 {
		return
	}
	defer missing(b, rows)
	if table := sections[rows[0].Group]; table != nil {
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n", title, text)
		table(b, rows)
		return
	}
	var names []string
	for _, r := range rows {
		for n := range r.Peers {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n| shape | gofx ms |", title, text)
	for _, n := range names {
		fmt.Fprintf(b, " %s ms |", n)
	}
	gains := slices.ContainsFunc(rows, func(r *Row) bool { return r.AloneMS > 0 })
	columns := []string{"ratio", "roof", "beside"}
	if gains {
		columns = append(columns, "gain")
	}
	fmt.Fprintf(b, " %s | GFLOP/s | pairs |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", 4+len(names)+len(columns)))
	for _, r := range rows {
		c := r.cells()
		fmt.Fprintf(b, "| %s | %s |", r.Shape, c[2])
		for _, n := range names {
			fmt.Fprintf(b, " %s |", ms(r.Peers[n]))
		}
		beside := "-"
		if r.BesideShare > 0 {
			beside = fmt.Sprintf("%.2f", r.BesideShare)
		}
		if gains {
			beside += " | " + r.gain()
		}
		fmt.Fprintf(b, " %s | %s | %s | %s | %s |\n", c[5], c[6], beside, c[7], r.pairs())
	}
}

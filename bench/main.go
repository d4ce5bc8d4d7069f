// Command bench compares kernels and networks of gofx with today's engines and
// with the machine's peak:
//
//	go run . -run REGEXP -threads N -json
//
// REGEXP is matched with GROUP/SHAPE and, for convolutions, GROUP/NETWORK/SHAPE.
// peers/install.sh installs the peers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/bench/host"
	"github.com/gofx-dev/gofx/bench/onednn"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
)

// options are the flags.
type options struct {
	run     string
	threads string
	json    bool
	list    bool
	doc     bool
	from    string
	pairs   int
	window  time.Duration
	limit   time.Duration
	turns   float64
	hold    string
	blas    string
	peers   string
	engines bool
	beside  int
	roof    string
	cost    string
	scale   string
	papers  string
	of      string
	keep    bool
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == costArgument {
		if err := serveCost(os.Args[2], os.Args[3], os.Stdout); err != nil {
			warn("%v", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == peers.OneDNNArgument {
		if err := onednn.Serve(os.Stdin, os.Stdout); err != nil {
			warn("%v", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.StringVar(&o.run, "run", "", "measure what this regular `expression` finds in GROUP/SHAPE or GROUP/NETWORK/SHAPE")
	flag.StringVar(&o.threads, "threads", "1", "threads of gofx and of each peer, or a `list` such as 1,2")
	flag.BoolVar(&o.json, "json", false, "print one JSON object a row instead of a table")
	flag.BoolVar(&o.list, "list", false, "print the names only")
	flag.BoolVar(&o.doc, "doc", false, "bring the tables and plots of ../docs/bench.md and ../docs/bench up to date from the rows")
	flag.StringVar(&o.from, "from", "", "read rows from these `files` (of -json, separated by commas; later rows replace earlier ones) instead of measuring")
	flag.IntVar(&o.pairs, "pairs", 15, "interleaved measurements behind each median")
	flag.DurationVar(&o.window, "window", 10*time.Millisecond, "least time of one measurement; short calls are repeated")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute, "most time for a row; slow rows get fewer pairs, 3 at least")
	flag.Float64Var(&o.turns, "turns", 10, "`times` as long as gofx that a peer's call of over 100 ms may take; one that takes longer is called once instead of in turns")
	flag.StringVar(&o.hold, "hold", "", "run this `command` while a row is timed, after its peers are ready: it prints a line when other work has stopped, and ends with its input")
	flag.StringVar(&o.blas, "blas", "auto", "OPENBLAS_CORETYPE for PyTorch 1.13; auto measures which is the fastest, empty leaves it to OpenBLAS")
	flag.StringVar(&o.peers, "peers", "torch,ort,openvino,jax,iree,llama,onednn", "processes to compare with; torch-1.13 and torch-xla are others")
	flag.BoolVar(&o.engines, "engines", true, "measure gofx's other ways to compute a network, too")
	flag.IntVar(&o.beside, "beside", 0, "copy memory on so many other `processors` meanwhile, as on a machine with less bandwidth and no shared cache")
	flag.StringVar(&o.papers, "papers", "", "judge the workloads of papers by the rows of this `file` instead; with -doc bring ../docs/results.md and its plots up to date. papers calls it so")
	flag.StringVar(&o.of, "workloads", "", "with -papers measure these `workloads` first, such as W1,W2, and judge them alone")
	flag.BoolVar(&o.keep, "keep", false, "with -papers put what was measured into the file")
	flag.StringVar(&o.roof, "roof", "", "profile the plans of these `networks` (separated by commas, all for all of f32 and 8 bits) instead: kinds of steps and their shares of the roof; with -doc ../docs/bench/roof.md")
	flag.StringVar(&o.cost, "cost", "", "measure these `networks` (separated by commas, all for all of them) and predict each from the others; with -json the measurements, which -from reads")
	flag.StringVar(&o.scale, "scale", "", "measure these `networks` (separated by commas, all for all of them) on one thread, on two and as two requests at once, and predict them for more; with -json the measurements, which -from reads; with -doc ../docs/bench/threads.md")
	flag.Parse()
	for _, other := range []struct {
		flag string
		f    func(options, io.Writer) error
	}{{o.roof, roofs}, {o.cost, costs}, {o.scale, scales}} {
		if other.flag == "" {
			continue
		}
		if err := other.f(o, os.Stdout); err != nil {
			warn("%v", err)
			os.Exit(2)
		}
		return
	}
	failed, err := run(o, os.Stdout)
	if err != nil {
		warn("%v", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// groups are all cases in the order of the tables.
func groups() []*Case {
	var all []*Case
	for _, f := range []func() []*Case{gemmCases, convCases, qgemmCases, qconvCases, qvectorCases, chainCases, vectorCases,
		memoryCases, rnnCases, attentionCases, modelCases, foldCases, brainCases, quantCases, stepCases, lazyCases, resultCases, compiledCases, paperCases, graphCases} {
		all = append(all, f()...)
	}
	return all
}

// selected returns the cases that the expression finds.
func selected(expression string) ([]*Case, error) {
	r, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	var list []*Case
	for _, c := range groups() {
		if c.Matches(r) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("-run %s finds nothing; -list prints all names", expression)
	}
	return list, nil
}

// run carries out the flags. failed tells that something was left out.
func run(o options, out io.Writer) (failed bool, err error) {
	if o.papers != "" {
		return judgePapers(o, measureWorkloads, out)
	}
	list, err := selected(o.run)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, c := range list {
			fmt.Fprintln(out, strings.TrimSpace(c.Group+"/"+c.Shape+" "+strings.Join(c.networkNames(), " ")))
		}
		return false, nil
	}
	var rows []*Row
	if o.from != "" {
		rows, err = readFiles(strings.Split(o.from, ","))
	} else {
		rows, failed, err = measureAll(o, list, out)
	}
	if err != nil {
		return failed, err
	}
	for _, r := range rows {
		if r.Allocs > 0 && r.Nodes == 0 {
			warn("%s/%s: %g allocations a call", r.Group, r.Shape, r.Allocs)
		}
	}
	if o.doc {
		return failed, writeDoc("../docs", rows)
	}
	if !o.json || o.from != "" {
		return failed, writeTable(out, rows)
	}
	return failed, nil
}

// readFiles reads rows, in the order of the cases; a row that occurs again replaces the earlier one.
func readFiles(names []string) ([]*Row, error) {
	all, err := readLists[Row](names)
	if err != nil {
		return nil, err
	}
	rows := merged(nil, all)
	sortRows(rows)
	return rows, nil
}

// merged adds rows to others; one that occurs again replaces the earlier one.
func merged(rows, more []*Row) []*Row {
	for _, v := range more {
		same := func(w *Row) bool { return w.Group == v.Group && w.Shape == v.Shape && w.Threads == v.Threads }
		if i := slices.IndexFunc(rows, same); i >= 0 {
			rows[i] = v
		} else {
			rows = append(rows, v)
		}
	}
	return rows
}

// sortRows brings rows into the order of the cases.
func sortRows(rows []*Row) {
	place := map[string]int{}
	all := groups()
	for i, c := range all {
		place[c.Group+"/"+c.Shape] = i - len(all) // sums of several cases are no case, and come last
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return place[a.Group+"/"+a.Shape] - place[b.Group+"/"+b.Shape] })
}

// measureAll measures the cases with every number of threads.
func measureAll(o options, list []*Case, out io.Writer) (rows []*Row, failed bool, err error) {
	// Collections come between cases, never inside a measurement, except where calls make garbage.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(12 << 30)
	blas := o.blas
	for _, s := range strings.Split(o.threads, ",") {
		var threads int
		if _, err := fmt.Sscan(s, &threads); err != nil || threads < 1 {
			return nil, false, fmt.Errorf("-threads %s: want numbers from 1", o.threads)
		}
		r, f, used, err := measureThreads(o, list, threads, blas, out)
		rows, failed, blas = append(rows, r...), failed || f, used
		if err != nil {
			return rows, failed, err
		}
	}
	return rows, failed, nil
}

// measureThreads measures the cases. used is the choice of BLAS.
func measureThreads(o options, list []*Case, threads int, blas string, out io.Writer) (rows []*Row, failed bool, used string, err error) {
	if o.beside > 0 && threads+o.beside > runtime.NumCPU() {
		return nil, false, blas, fmt.Errorf("-beside %d: there are not so many processors beside %d threads", o.beside, threads)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads + max(0, o.beside)))
	defer peak.Beside(max(0, o.beside))()
	b := &bench{threads: threads, pairs: max(1, o.pairs), window: o.window, limit: o.limit, turns: o.turns, engines: o.engines,
		hold: o.hold, commit: host.Commit(), spare: scriptWork, coarse: map[string]string{}, slow: map[string]float64{}}
	if b.dir, err = os.MkdirTemp("", "gofx-bench"); err != nil {
		return nil, false, blas, err
	}
	defer os.RemoveAll(b.dir)
	if err := b.quietly(func() { b.peaks = peak.Measure(threads) }); err != nil {
		return nil, false, blas, err
	}
	b.cpu = host.Processor() + ", " + b.peaks.Level + emulated(o.beside)
	warn("%d threads, %s: %.0f GFLOP/s, %.0f Gop/s of 8 bits, %.1f GB/s from memory", threads, b.cpu,
		b.peaks.FMA/1e9, b.peaks.Int8/1e9, b.peaks.Bandwidth[len(b.peaks.Bandwidth)-1].Rate/1e9)
	used = b.start(o.peers, blas)
	defer b.stop()
	emit := func(r *Row) error {
		rows = append(rows, r)
		if !o.json {
			return nil
		}
		return writeJSON(out, r)
	}
	if slices.ContainsFunc(list, func(c *Case) bool { return c.Network != nil && c.Op != "" && c.Quant == nil }) && len(b.procs) > 0 {
		row, err := b.precisely()
		if err == nil {
			err = emit(row)
		}
		if err != nil {
			return rows, true, used, err
		}
	}
	for i, c := range list {
		if err := b.quietly(func() { b.peaks.Refresh(threads) }); err != nil {
			return rows, true, used, err
		}
		if i > 0 && list[i-1].Group != c.Group {
			if err := b.emitSums(list[i-1].Group, rows, emit); err != nil {
				return rows, true, used, err
			}
		}
		r, err := b.measure(c)
		if err != nil {
			b.failed = append(b.failed, err)
			continue
		}
		if err := emit(r); err != nil {
			return rows, true, used, err
		}
	}
	err = b.emitSums(list[len(list)-1].Group, rows, emit)
	for _, f := range b.failed {
		warn("%v", f)
	}
	return rows, len(b.failed) > 0, used, err
}

// emulated names the emulated properties of the machine.
func emulated(beside int) (text string) {
	for _, name := range []string{"GOFX_CPU", "GOFX_CACHE"} {
		if v := os.Getenv(name); v != "" {
			text += ", " + name + "=" + v
		}
	}
	if beside > 0 {
		text += fmt.Sprintf(", %d processors copying", beside)
	}
	return text
}

// emitSums prints the networks' sums after the rows of a group.
func (b *bench) emitSums(group string, rows []*Row, emit func(*Row) error) error {
	want := convShapes()
	switch group {
	case "conv":
	case "qconv":
		want = map[string]int{"resnet18": want["resnet18"], "resnet50": want["resnet50"]}
	default:
		return nil
	}
	for _, r := range sums(group, rows, want) {
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}

// start starts the installed peers and returns the choice of BLAS.
func (b *bench) start(names, blas string) string {
	dir, err := peers.Dir()
	if err != nil {
		warn("no peers: %v", err)
		return blas
	}
	b.procs = map[string]*peers.Peer{}
	for _, n := range strings.Split(names, ",") {
		if n == "" {
			continue
		}
		p, err := b.startOne(n, dir, &blas)
		if err != nil {
			warn("%s is left out: %v", n, err)
			continue
		}
		b.procs[n] = p
		warn("%s: %s", n, p.Version)
	}
	return blas
}

// restart starts a peer again where the error says that it has ended; where it cannot be, it
// stays out.
func (b *bench) restart(ended *peers.Peer, why error) {
	for name, p := range b.procs {
		if p != ended || !errors.Is(why, peers.ErrEnded) {
			continue
		}
		p.Close()
		delete(b.procs, name)
		dir, err := peers.Dir()
		var blas string
		if err == nil {
			p, err = b.startOne(name, dir, &blas)
		}
		if err != nil {
			warn("%s stays out: %v", name, err)
			return
		}
		b.procs[name] = p
		warn("%s: started again", name)
		return
	}
}

// startOne starts a peer. PyTorch 1.13 is started again with the kernels of OpenBLAS that suit
// the machine, which blas then names.
func (b *bench) startOne(name, dir string, blas *string) (*peers.Peer, error) {
	choose := *blas == "auto"
	kernels := *blas
	if choose {
		kernels = ""
	}
	p, err := peers.Start(name, dir, b.threads, kernels)
	if err != nil || !choose || !strings.HasPrefix(p.Version, "torch 1.") {
		return p, err
	}
	p.Close()
	chosen, rates, ok := peers.ChooseBLAS(dir, b.peaks.Level == "AVX-512")
	if ok {
		warn("OpenBLAS: %s of %v", choice(chosen), gflops(rates))
	}
	*blas = chosen
	return peers.Start(name, dir, b.threads, chosen)
}

func (b *bench) stop() {
	for _, p := range b.procs {
		p.Close()
	}
}

// choice names a set of OpenBLAS kernels.
func choice(name string) string {
	if name == "" {
		return "its own choice"
	}
	return name
}

func gflops(rates map[string]float64) map[string]int {
	out := map[string]int{}
	for n, r := range rates {
		out[choice(n)] = int(r / 1e9)
	}
	return out
}

// describe writes the machine's peaks into a row.
func (b *bench) describe(row *Row) {
	row.CPU = b.cpu
	row.PeakGFlops = b.peaks.FMA / 1e9
	row.PeakGops8 = b.peaks.Int8 / 1e9
	row.PeakGBs = b.peaks.Bandwidth[len(b.peaks.Bandwidth)-1].Rate / 1e9
}

// warn prints to standard error.
func warn(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

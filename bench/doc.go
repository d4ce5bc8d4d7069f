package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/bench/plot"
)

// page is a file of docs/bench. The text is written by hand; the tables between marks are
// written from rows.
type page struct {
	file, title string
	groups      []string
}

var pages = []page{
	{"kernels.md", "Kernels", []string{"gemm", "conv", "qgemm", "qconv", "qvector", "chain", "vector", "memory", "rnn", "attention"}},
	{"networks.md", "Networks", []string{"model", "fold", "bf16"}},
	{"quant.md", "Quantised networks", []string{"quant"}},
	{"steps.md", "Steps of training", []string{"step"}},
	{"lazy.md", "Programs in a session", []string{"lazy"}},
	{"graphs.md", "Graphs", []string{"graph"}},
}

// heldPage has the networks of runs with GOFX_CPU=avx2, next to peers that are held to AVX2, too.
var heldPage = page{"avx2.md", "Networks with AVX2", []string{"model"}}

// isHeld tells whether a row was measured so.
func isHeld(r *Row) bool { return strings.Contains(r.CPU, "GOFX_CPU=avx2") }

// titles of the groups, in the order of the pages.
var titles = []struct{ group, title string }{
	{"gemm", "Matrix product, f32"},
	{"conv", "Convolution, f32"},
	{"qgemm", "Matrix product, u8 by s8"},
	{"qconv", "Convolution, u8 by s8"},
	{"qvector", "8-bit operators between products"},
	{"chain", "Elementwise chains"},
	{"vector", "Functions of vectors"},
	{"memory", "Bound by memory"},
	{"rnn", "Recurrent"},
	{"attention", "Attention"},
	{"model", "Whole networks"},
	{"fold", "Batch norms folded into convolutions"},
	{"bf16", "Networks in bf16"},
	{"quant", "Networks on integers"},
	{"step", "Forwards, backwards, update"},
	{"lazy", "Calls that a session records"},
	{"results", "Workloads of papers"},
	{"graph", "Operations on graphs"},
}

// titleOf is the heading of a group's section.
func titleOf(group string) string {
	for _, t := range titles {
		if t.group == group {
			return t.title
		}
	}
	return group
}

// colours of the groups of the roofline, told apart in print by their order in the legend, too.
var colours = map[string]string{
	"gemm": "#1f6fb4", "conv": "#d95f02", "qgemm": "#7570b3", "qconv": "#b2182b", "qvector": "#984ea3", "chain": "#1b9e77",
	"vector": "#a6761d", "memory": "#666666", "rnn": "#e7298a", "attention": "#2f9fb5",
}

// roofline draws the rates of all rows with one thread, or the least number there is.
func roofline(rows []*Row) string {
	roof := plot.Roof{Threads: threadCounts(rows)[0]}
	var points []plot.Point
	used := map[string]bool{}
	for _, r := range rows {
		if r.Threads != roof.Threads {
			continue
		}
		roof.Peak, roof.Peak8, roof.Bandwidth = max(roof.Peak, r.PeakGFlops), max(roof.Peak8, r.PeakGops8), max(roof.Bandwidth, r.PeakGBs)
		if r.GFlops > 0 && r.Intensity > 0 && colours[r.Group] != "" {
			used[r.Group] = true
			points = append(points, plot.Point{Intensity: r.Intensity, Rate: r.GFlops, Colour: colours[r.Group], Title: fmt.Sprintf("%s/%s: %.1f GFLOP/s", r.Group, r.Shape, r.GFlops)})
		}
	}
	var keys []plot.Key
	for _, t := range titles {
		if used[t.group] {
			keys = append(keys, plot.Key{Colour: colours[t.group], Text: t.title})
		}
	}
	return plot.Roofline(roof, points, keys)
}

// disturbed is the load of other programs, in processors, from which on a row is marked.
const disturbed = 0.15

// farApart is the nanoseconds of Row.HandoverNS from which on processors do not
// share a cache.
const farApart = 250

// sections are the groups whose tables are not those of one operator.
var sections = map[string]func(b *strings.Builder, rows []*Row){"model": networkSection, "fold": foldSection, "bf16": brainSection, "quant": quantSection, "step": stepSection, "lazy": lazySection, "graph": graphSection}

// pairs is the number of interleaved measurements, with marks for disturbances.
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

// writeDoc updates the tables of the rows' groups in the pages below a folder: bench.md
// with its plots, and the pages of bench. Tables without rows stay as they are. Rows that are held
// to AVX2 have a page of their own.
func writeDoc(dir string, rows []*Row) error {
	if len(rows) == 0 {
		return fmt.Errorf("no rows to write")
	}
	for _, sub := range []string{"img", "bench"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	held := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return !isHeld(r) })
	if err := heldPage.write(filepath.Join(dir, "bench", heldPage.file), held); err != nil {
		return err
	}
	rows = slices.DeleteFunc(slices.Clone(rows), isHeld)
	if slices.ContainsFunc(rows, func(r *Row) bool { return colours[r.Group] != "" }) {
		if err := os.WriteFile(filepath.Join(dir, "img", "roofline.svg"), []byte(roofline(rows)), 0o644); err != nil {
			return err
		}
	}
	for _, p := range pages {
		if err := p.write(filepath.Join(dir, "bench", p.file), rows); err != nil {
			return err
		}
	}
	return writeHead(dir, rows)
}

// write brings the tables of a page up to date.
func (p page) write(path string, rows []*Row) error {
	text, err := readPage(path, p.title)
	if err != nil {
		return err
	}
	fresh := text
	for _, group := range p.groups {
		for _, threads := range threadCounts(rows) {
			some := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Threads != threads || r.Group != group })
			if len(some) == 0 {
				continue
			}
			heading := fmt.Sprintf("## %s, threads: %d", titleOf(group), threads)
			fresh = between(fresh, fmt.Sprint(group, " ", threads), heading, table(some))
		}
	}
	if fresh == text {
		return nil
	}
	return os.WriteFile(path, []byte(fresh), 0o644)
}

// readPage returns the text of a page, one with its title alone where there is none.
func readPage(path, title string) (string, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "# " + title + "\n", nil
	}
	return string(b), err
}

// between puts text between the marks of a key, which are added with a heading at the end of the
// page where they are missing.
func between(page, key, heading, text string) string {
	begin, end := "<!-- rows: "+key+" -->\n", "<!-- end of rows -->\n"
	from := strings.Index(page, begin)
	if from < 0 {
		return page + "\n" + heading + "\n\n" + begin + "\n" + text + "\n" + end
	}
	from += len(begin)
	to := strings.Index(page[from:], end)
	if to < 0 {
		return page[:from] + "\n" + text + "\n" + end + page[from:]
	}
	return page[:from] + "\n" + text + "\n" + page[from+to:]
}

// table is a page's table of the rows of one group on a number of threads.
func table(rows []*Row) string {
	var b strings.Builder
	p := rows[len(rows)-1]
	fmt.Fprintf(&b, "%s%s. Peaks of this run: %.0f GFLOP/s, %.0f Gop/s of 8 bits, %.1f GB/s past the caches.%s\n\n", p.CPU, dates(rows), p.PeakGFlops, p.PeakGops8, p.PeakGBs,
		windowsOf(rows)+handovers(rows)+compared(rows))
	if section := sections[p.Group]; section != nil {
		section(&b, rows)
	} else {
		kernelSection(&b, rows)
	}
	missing(&b, rows)
	return b.String()
}

// compared are the versions of the peers that the rows have.
func compared(rows []*Row) string {
	var list []string
	for _, name := range peerNames(rows) {
		for _, r := range rows {
			for process, v := range r.Versions {
				if strings.HasPrefix(name, process) && !slices.Contains(list, v) {
					list = append(list, v)
				}
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return " Compared with " + strings.Join(list, "; ") + "."
}

// dates are the first and the last day of the rows, after a comma.
func dates(rows []*Row) string {
	var days []string
	for _, r := range rows {
		if r.Date != "" {
			days = append(days, r.Date)
		}
	}
	if len(days) == 0 {
		return ""
	}
	first, last := slices.Min(days), slices.Max(days)
	if first == last {
		return ", " + first
	}
	return ", " + first + " to " + last
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

// peerNames are the peers of rows, in the order of their names.
func peerNames(rows []*Row) (names []string) {
	for _, r := range rows {
		for n := range r.Peers {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names
}

// kernelSection writes one table: a column for each peer, ours, and the comparison.
func kernelSection(b *strings.Builder, rows []*Row) {
	names := peerNames(rows)
	b.WriteString("| shape | gofx ms |")
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

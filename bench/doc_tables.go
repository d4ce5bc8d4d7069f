package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/bench/plot"
)

// precisions are the element types that the first tables compare, by the groups that have them.
var precisions = []struct{ name, group string }{{"f32", "model"}, {"bf16", "bf16"}, {"int8", "quant"}}

// writeHead writes the tables at the beginning of bench.md: networks next to every peer, and a plot of
// the ratios, for each type and number of threads, each with its own processor. Tables without rows stay,
// and that of precision where none of them changes: it says who may stand in them.
func writeHead(dir string, rows []*Row) error {
	rows = ofNetworks(rows)
	if !slices.ContainsFunc(rows, func(r *Row) bool { return r.Group != "precision" }) {
		return nil
	}
	path := filepath.Join(dir, "bench.md")
	text, err := readPage(path, "Measurements")
	if err != nil {
		return err
	}
	fresh := text
	for _, t := range precisions {
		for _, threads := range threadCounts(rows) {
			some := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Threads != threads || r.Group != t.group })
			if len(some) == 0 {
				continue
			}
			name := fmt.Sprintf("%s_%d.svg", t.name, threads)
			if err := os.WriteFile(filepath.Join(dir, "bench", name), []byte(bars(some, t.name, threads)), 0o644); err != nil {
				return err
			}
			fresh = between(fresh, fmt.Sprint(t.name, " ", threads), fmt.Sprintf("### %s, threads: %d", t.name, threads), headSection(some, name))
		}
	}
	if table := precisionTable(rows); table != "" {
		fresh = between(fresh, "precision", "### Precision", table)
	}
	if fresh == text {
		return nil
	}
	return os.WriteFile(path, []byte(fresh), 0o644)
}

// headSection is the table of networks of one type on a number of threads, with its plot.
func headSection(rows []*Row, plot string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s.%s\n\n%s\n\n![gofx's time by that of the fastest peer](bench/%s)\n\n", rows[len(rows)-1].CPU, dates(rows), compared(rows), summary(rows), plot)
	headTable(&b, rows)
	slowestTable(&b, rows)
	return b.String()
}

// ofNetworks are the rows of networks that peers computed, too, and those of precision.
func ofNetworks(rows []*Row) []*Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool {
		network := slices.ContainsFunc(precisions, func(t struct{ name, group string }) bool { return t.group == r.Group })
		return (!network || r.Ratio == 0) && r.Group != "precision"
	})
}

// summary counts how often gofx is the fastest, and averages the ratios. A row in which no
// peer has turns is no comparison.
func summary(rows []*Row) string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Once[r.Peer] > 0 })
	if len(rows) == 0 {
		return "No peer has turns."
	}
	faster, sum, few := 0, 0.0, rows[0].Pairs
	for _, r := range rows {
		if r.Ratio <= 1 {
			faster++
		}
		sum += math.Log(r.Ratio)
		few = min(few, r.Pairs)
	}
	return fmt.Sprintf("gofx is at least as fast as the fastest peer in %d of %d rows; the geometric mean of the ratios is %.2f. At least %d pairs a row.",
		faster, len(rows), math.Exp(sum/float64(len(rows))), few)
}

// headTable is network × (gofx, each peer, ratio to the fastest).
func headTable(b *strings.Builder, rows []*Row) {
	names := peerNames(rows)
	heading(b, append(append([]string{"network", "gofx ms"}, inMS(names)...), "fastest peer", "ratio"))
	for _, r := range rows {
		cells := []string{r.Shape, ms(r.OursMS)}
		for _, n := range names {
			cells = append(cells, r.peerMS(n))
		}
		mark := fmt.Sprintf("%.2f", r.Ratio)
		if r.Ratio > 1 {
			mark = "**" + mark + "**"
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(append(cells, r.Peer, mark), " | "))
	}
}

// slowestTable lists the slowest steps where a peer is faster.
func slowestTable(b *strings.Builder, rows []*Row) {
	first := true
	for _, r := range rows {
		for _, k := range r.Kernels {
			if first {
				fmt.Fprintf(b, "\nWhere a peer is faster, the kernels that take more than %g %% of the time:\n\n", 100*least)
				heading(b, []string{"network", "kernel", "ms", "of the time", "of the roof"})
			}
			first = false
			fmt.Fprintf(b, "| %s | %s | %s | %.2f | %.2f |\n", r.Shape, k.Name, ms(k.MS), k.Share, k.Roof)
		}
	}
}

// precisionTable shows that nobody rounds operands of f32. It is empty without rows of precision.
func precisionTable(rows []*Row) string {
	worst := map[string]float64{}
	cpu := ""
	for _, r := range rows {
		for name, e := range r.Errors {
			worst[name], cpu = max(worst[name], e), r.CPU
		}
	}
	if len(worst) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s. The largest difference from the exact results of a convolution and a linear layer whose operands are 1+2⁻¹², "+
		"relative to them. Who rounds operands to bf16, f16 or tf32 is off by 4.9e-04; from %.1e on a peer is left out of f32.\n\n", cpu, coarsest)
	heading(&b, []string{"who", "difference"})
	for _, n := range slices.Sorted(maps.Keys(worst)) {
		fmt.Fprintf(&b, "| %s | %.1e |\n", n, worst[n])
	}
	return b.String()
}

// bars draws gofx's time by that of the fastest peer, and of each other peer that has turns.
func bars(rows []*Row, precision string, threads int) string {
	var list []plot.Bar
	for _, r := range rows {
		v := plot.Bar{Name: r.Shape, Than: r.Peer, Ratio: r.Ratio}
		for _, n := range slices.Sorted(maps.Keys(r.Peers)) {
			if n != r.Peer && r.Once[n] == 0 {
				v.Others = append(v.Others, plot.Dot{Than: n, Ratio: r.OursMS / r.Peers[n]})
			}
		}
		list = append(list, v)
	}
	return plot.Bars(fmt.Sprintf("gofx's time by that of the fastest peer, %s, threads: %d; dots: other peers", precision, threads), list)
}

// engineNames are the columns of the other ways of gofx to compute a network.
var engineNames = []string{"gen", "interp", "eager"}

// over divides two times, "-" where one is missing.
func over(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// ratio divides medians, and in parentheses least times.
func ratio(a, b, leastA, leastB float64) string {
	if leastA == 0 || leastB == 0 {
		return over(a, b)
	}
	return fmt.Sprintf("%s (%s)", over(a, b), over(leastA, leastB))
}

// networkSection is the table of whole networks: gofx's plan, its other ways, each of the
// peers, and the comparison with the fastest.
func networkSection(b *strings.Builder, rows []*Row) {
	var engines []string
	for _, n := range engineNames {
		if slices.ContainsFunc(rows, func(r *Row) bool { return r.Engines[n] > 0 }) {
			engines = append(engines, n)
		}
	}
	peerTable(b, rows, "plan", engines, func(r *Row) string { return "" })
}

// peerTable is a table of networks. first names gofx, engines its other ways, and more is a
// column of its own before the peers, with a title for no row.
func peerTable(b *strings.Builder, rows []*Row, first string, engines []string, more func(r *Row) string) {
	names := peerNames(rows)
	columns := append([]string{"network", first + " ms"}, inMS(engines)...)
	if extra := more(nil); extra != "" {
		columns = append(columns, extra)
	}
	columns = append(append(columns, inMS(names)...), "ratio", "peer", "roof", "beside", "gain", "running", "pairs")
	heading(b, columns)
	for _, r := range rows {
		cells := []string{r.Shape, ms(r.OursMS)}
		for _, n := range engines {
			cells = append(cells, ms(r.Engines[n]))
		}
		if extra := more(r); extra != "" {
			cells = append(cells, extra)
		}
		for _, n := range names {
			cells = append(cells, r.peerMS(n))
		}
		c := r.cells()
		cells = append(cells, ratio(r.OursMS, r.PeerMS, r.Least[""], r.Least[r.Peer]), c[3], c[6], over(r.BesideShare, 1), r.gain(), r.running(), r.pairs())
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

func inMS(names []string) (list []string) {
	for _, n := range names {
		list = append(list, n+" ms")
	}
	return list
}

func heading(b io.Writer, columns []string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

// peerMS is the time of a peer, with a mark where it is that of one call.
func (r *Row) peerMS(name string) string {
	if r.Once[name] > 0 {
		return ms(r.Peers[name]) + "°"
	}
	return ms(r.Peers[name])
}

// running is the most threads on which a peer has run at once.
func (r *Row) running() string {
	most := 0
	for _, n := range r.Running {
		most = max(most, n)
	}
	if most == 0 {
		return "-"
	}
	return fmt.Sprint(most)
}

// stepSection is the table of steps of training, and that of the kinds of kernels of which the
// plan of each consists.
func stepSection(b *strings.Builder, rows []*Row) {
	peerTable(b, rows, "gofx", nil, func(r *Row) string { return "" })
	if !slices.ContainsFunc(rows, func(r *Row) bool { return len(r.Kernels) > 0 }) {
		return
	}
	fmt.Fprintf(b, "\nKernels that take more than %g %% of a step:\n\n", 100*least)
	heading(b, []string{"step", "kernel", "ms", "of the time", "of the roof"})
	for _, r := range rows {
		for _, k := range r.Kernels {
			fmt.Fprintf(b, "| %s | %s | %s | %.2f | %.2f |\n", r.Shape, k.Name, ms(k.MS), k.Share, k.Roof)
		}
	}
}

// foldSection is the table of the gains of folding.
func foldSection(b *strings.Builder, rows []*Row) {
	b.WriteString("| run | folded ms | not folded ms | speed-up | pairs |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		whole := r.Engines["not folded"]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", r.Shape, ms(r.OursMS), ms(whole), ratio(whole, r.OursMS, r.Least["not folded"], r.Least[""]), r.pairs())
	}
}

// brainSection is the table of networks in bf16.
func brainSection(b *strings.Builder, rows []*Row) {
	peerTable(b, rows, "bf16", []string{"float"}, func(r *Row) string {
		if r == nil {
			return "float/bf16"
		}
		return ratio(r.Engines["float"], r.OursMS, r.Least["float"], r.Least[""])
	})
}

// quantSection is the table of quantised networks, and that of decoding, which is bound by
// the bytes of its weights.
func quantSection(b *strings.Builder, rows []*Row) {
	peerTable(b, rows, "int8", []string{"float"}, func(r *Row) string {
		if r == nil {
			return "float/int8"
		}
		return ratio(r.Engines["float"], r.OursMS, r.Least["float"], r.Least[""])
	})
	for _, r := range rows {
		if r.Engines["reading"] > 0 {
			decodeTable(b, r)
		}
	}
}

// decodeTable compares ways to store the weights of a network that reads them once a call.
func decodeTable(b *strings.Builder, r *Row) {
	fmt.Fprintf(b, "\n%s, the next token of one text after %d others, with weights of products (int8, int4: of tables, too) stored in fewer bits. "+
		"The bandwidth is that of a loop which reads as many bytes as f32 takes, in turns with the others; %s pairs.\n\n", r.Shape, past, r.pairs())
	b.WriteString("| weights | ms | f32/ms | MB read | GB/s | of the bandwidth |\n|" + strings.Repeat("---|", 6) + "\n")
	times := map[string]float64{"": r.OursMS}
	maps.Copy(times, r.Engines)
	rate := func(name string, t float64) float64 {
		if t == 0 {
			return 0
		}
		return r.Bytes[name] / t / 1e6
	}
	for _, v := range []struct{ name, engine string }{{"f32", "float"}, {"bf16", "bf16"}, {"int8", "int8"}, {"int4, groups of 32", ""}} {
		t := times[v.engine]
		fmt.Fprintf(b, "| %s | %s | %s | %.0f | %.1f | %s |\n", v.name, ms(t), ratio(times["float"], t, r.Least["float"], r.Least[v.engine]),
			r.Bytes[v.engine]/1e6, rate(v.engine, t), over(rate(v.engine, t), rate("reading", times["reading"])))
	}
}

// graphSection is the table of the jobs on graphs.
func graphSection(b *strings.Builder, rows []*Row) {
	b.WriteString("| what | nodes | ms | µs a node | torch.fx ms | torch.fx/gofx | goal | allocations a node | pairs |\n|" + strings.Repeat("---|", 9) + "\n")
	for _, r := range rows {
		what, _, _ := strings.Cut(r.Shape, "_")
		goal := "-"
		switch {
		case r.Goal > 0:
			goal = fmt.Sprintf("%g", r.Goal)
		case r.Most > 0:
			goal = fmt.Sprintf("%g µs", r.Most)
		}
		n, theirs := float64(r.Nodes), r.Peers["torch.fx"]
		fmt.Fprintf(b, "| %s | %d | %s | %.3f | %s | %s | %s | %.2f | %s |\n", what, r.Nodes, ms(r.OursMS), 1e3*r.OursMS/n, ms(theirs),
			ratio(theirs, r.OursMS, r.Least["torch.fx"], r.Least[""]), goal, r.Allocs/n, r.pairs())
	}
}

// missing lists who could not take part in the rows, and why.
func missing(b *strings.Builder, rows []*Row) {
	first := true
	for _, r := range rows {
		for _, why := range r.LeftOut {
			if first {
				b.WriteString("\nLeft out:\n\n")
			}
			first = false
			why, _, _ = strings.Cut(why, "\n")
			fmt.Fprintf(b, "- %s: %s\n", r.Shape, why)
		}
	}
}

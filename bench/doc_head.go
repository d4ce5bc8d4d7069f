package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/bench/plot"
)

// precisions are the element types that the first tables compare, by the groups that have them.
var precisions = []struct{ name, group string }{{"f32", "model"}, {"int8", "quant"}}

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
				b.WriteString("\nWhere a peer is faster, the kernels that take the longest:\n\n")
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

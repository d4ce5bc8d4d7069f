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

// writeHead writes the beginning of bench.md: networks next to every peer, and a plot of
// the ratios for each type and number of threads. Rows of networks alone change it.
func writeHead(dir string, rows []*Row) error {
	rows = ofNetworks(rows)
	if len(rows) == 0 {
		return nil
	}
	var b strings.Builder
	p := rows[len(rows)-1]
	fmt.Fprintf(&b, "%s%s.%s\n", p.CPU, dates(rows), compared(rows))
	for _, threads := range threadCounts(rows) {
		for _, t := range precisions {
			some := slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Threads != threads || r.Group != t.group })
			if len(some) == 0 {
				continue
			}
			name := fmt.Sprintf("%s_%d.svg", t.name, threads)
			if err := os.WriteFile(filepath.Join(dir, "bench", name), []byte(bars(some, t.name, threads)), 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&b, "\n### %s, threads: %d\n\n%s\n\n![gofx's time by that of the fastest peer](bench/%s)\n\n", t.name, threads, summary(some), name)
			headTable(&b, some)
			slowestTable(&b, some)
		}
	}
	precisionTable(&b, rows)
	path := filepath.Join(dir, "bench.md")
	text, err := readPage(path, "Measurements")
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(between(text, "head", "## Networks", b.String())), 0o644)
}

// ofNetworks are the rows of networks that peers computed, too, and those of precision.
func ofNetworks(rows []*Row) []*Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool {
		network := slices.ContainsFunc(precisions, func(t struct{ name, group string }) bool { return t.group == r.Group })
		return (!network || r.Ratio == 0) && r.Group != "precision"
	})
}

// summary counts how often gofx is the fastest, and averages the ratios.
func summary(rows []*Row) string {
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

// precisionTable shows that nobody rounds operands of f32.
func precisionTable(b *strings.Builder, rows []*Row) {
	worst := map[string]float64{}
	for _, r := range rows {
		for name, e := range r.Errors {
			worst[name] = max(worst[name], e)
		}
	}
	if len(worst) == 0 {
		return
	}
	var names []string
	for n := range worst {
		names = append(names, n)
	}
	slices.Sort(names)
	fmt.Fprintf(b, "\n### Precision\n\nThe largest difference from the exact results of a convolution and a linear layer whose operands are 1+2⁻¹², "+
		"relative to them. Who rounds operands to bf16, f16 or tf32 is off by 4.9e-04; from %.1e on a peer is left out of f32.\n\n", coarsest)
	heading(b, []string{"who", "difference"})
	for _, n := range names {
		fmt.Fprintf(b, "| %s | %.1e |\n", n, worst[n])
	}
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

package main

import (
	"fmt"
	"maps"
	"strings"
)

// engineNames are the columns of the other ways of gofx to compute a network.
var engineNames = []string{"gen", "interp", "eager"}

// torchBest returns the least of the times of PyTorch's modes, 0 where there is none.
func torchBest(times map[string]float64) (best float64) {
	for _, n := range []string{"torch", "torch-jit", "torch-frozen"} {
		if t := times[n]; t > 0 && (best == 0 || t < best) {
			best = t
		}
	}
	return best
}

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

// networkSection is the table of whole networks: gofx against each of the peers, and
// its other engines against its plan.
func networkSection(b *strings.Builder, rows []*Row) {
	b.WriteString("| network | plan ms | gen ms | interp ms | eager ms | ort ms | torch ms | torch-jit ms | plan/ort | plan/torch | gen/plan | roof | beside | gain | pairs |\n|" +
		strings.Repeat("---|", 15) + "\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s |", r.Shape, ms(r.OursMS))
		for _, n := range engineNames {
			fmt.Fprintf(b, " %s |", ms(r.Engines[n]))
		}
		for _, t := range []float64{r.Peers["ort"], r.Peers["torch"], max(r.Peers["torch-jit"], r.Peers["torch-frozen"])} {
			fmt.Fprintf(b, " %s |", ms(t))
		}
		fmt.Fprintf(b, " %s | %s | %s | %s | %s | %s | %s |\n",
			ratio(r.OursMS, r.Peers["ort"], r.Least[""], r.Least["ort"]), ratio(r.OursMS, torchBest(r.Peers), r.Least[""], torchBest(r.Least)),
			ratio(r.Engines["gen"], r.OursMS, r.Least["gen"], r.Least[""]), r.cells()[6], over(r.BesideShare, 1), r.gain(), r.pairs())
	}
}

// foldSection is the table of what folding gains.
func foldSection(b *strings.Builder, rows []*Row) {
	b.WriteString("| run | folded ms | not folded ms | speed-up | pairs |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		whole := r.Engines["not folded"]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", r.Shape, ms(r.OursMS), ms(whole), ratio(whole, r.OursMS, r.Least["not folded"], r.Least[""]), r.pairs())
	}
}

// quantSection is the table of quantised networks, and that of decoding, which is bound by
// the bytes of its weights.
func quantSection(b *strings.Builder, rows []*Row) {
	b.WriteString("| network | int8 ms | f32 ms | f32/int8 | ort ms | torch ms | int8/ort | int8/torch | roof | beside | gain | pairs |\n|" + strings.Repeat("---|", 12) + "\n")
	var decoding []*Row
	for _, r := range rows {
		if r.Bytes != nil {
			decoding = append(decoding, r)
			continue
		}
		float, torch := r.Engines["float"], "torch-int8"
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Shape, ms(r.OursMS), ms(float),
			ratio(float, r.OursMS, r.Least["float"], r.Least[""]), ms(r.Peers["ort"]), ms(r.Peers[torch]), ratio(r.OursMS, r.Peers["ort"], r.Least[""], r.Least["ort"]),
			ratio(r.OursMS, r.Peers[torch], r.Least[""], r.Least[torch]), r.cells()[6], over(r.BesideShare, 1), r.gain(), r.pairs())
	}
	for _, r := range decoding {
		decodeTable(b, r)
	}
}

// decodeTable compares ways to store the weights of a network that reads them once a call.
func decodeTable(b *strings.Builder, r *Row) {
	fmt.Fprintf(b, "\n%s, the next token of one text behind %d others, with weights of products (int8, int4: of tables, too) stored in fewer bits. "+
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

// graphSection is the table of what is done with graphs.
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

// missing lists who could not take part in the rows.
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

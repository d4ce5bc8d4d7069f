package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	flops "github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/lowering"
)

// writeModel writes the part of the page that is about loops.
func writeModel(b *strings.Builder, t tools, p *program) error {
	loops, columns, err := model(t, p)
	if err != nil {
		return err
	}
	writeHead(b, t)
	n := len(products)
	writeHeader(b, "kernel", "instructions", "multiply-adds")
	for i, l := range loops[:n] {
		fmt.Fprintf(b, "| %s | %d | %d |", l.name, len(l.words), roofs[place(l.kind)].lanes*l.count(l.kind))
		for _, list := range columns {
			best := list[len(loops)+place(l.kind)].cycles / independent * float64(l.count(l.kind))
			fmt.Fprintf(b, " %s, **%.2f** |", cell(list[i]), best/list[i].cycles)
		}
		b.WriteString("\n")
	}
	fmt.Fprint(b, "\nOther arithmetic has no single instruction that bounds it. Cycles of a round, and what bounds it:\n\n")
	writeHeader(b, "kernel", "instructions")
	for i, l := range loops[n:] {
		fmt.Fprintf(b, "| %s | %d |", l.name, len(l.words))
		for _, list := range columns {
			fmt.Fprintf(b, " %s |", cell(list[n+i]))
		}
		b.WriteString("\n")
	}
	return nil
}

// model models the loops of all kernels, and after them the roofs, on each core.
func model(t tools, p *program) (loops []loop, columns [][]modelled, err error) {
	var code []string
	add := func(words []uint32) error {
		text, err := t.text(words)
		code = append(code, text)
		return err
	}
	for _, k := range slices.Concat(products, vectors) {
		l, err := find(p, k)
		if err == nil {
			err = add(l.words)
		}
		if err != nil {
			return nil, nil, err
		}
		loops = append(loops, l)
	}
	for _, r := range roofs {
		if err := add(r.words()); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range cores {
		list, scheduling, err := t.regions(c.name, code)
		if err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(os.Stderr, "arm64: %s: LLVM's description is %s\n", c.name, scheduling)
		columns = append(columns, list)
	}
	return loops, columns, nil
}

// place returns which roof a kind has.
func place(k kind) int {
	for i, r := range roofs {
		if r.kind == k {
			return i
		}
	}
	panic("arm64: a product of a kind that has no roof")
}

// cell has the cycles of a round and what bounds it.
func cell(m modelled) string { return fmt.Sprintf("%.1f %s", m.cycles, m.bound) }

// writeHeader writes the head of a table with a column for each core.
func writeHeader(b *strings.Builder, first ...string) {
	for _, c := range cores {
		first = append(first, c.name)
	}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(first, " | "), strings.Repeat("---|", len(first)))
}

// writeHead writes the head of the page.
func writeHead(b *strings.Builder, t tools) {
	fmt.Fprintf(b, `# Machine code of arm64, modelled and counted

No machine with arm64 has measured gofx. This page says what its machine code does by two means that need none: a model of the innermost loops, and counts of the
instructions that networks run under emulation. Neither knows caches, memory or the clock: shares are what a core reaches at most while operands come from its first cache.
Written on %s by %s in %s.

## Loops

The loops are read from the program that is built for arm64, and modelled by llvm-mca of LLVM %s. A cell has the cycles of a round and what bounds it: a unit of the core by LLVM's name, %s of instructions,
or %s for results of earlier instructions. Bold is the share of the roof: the cycles that a loop of independent multiply-adds of the same kind would take.
Numbers of units and latencies are LLVM's, mostly from Arm's guides of optimisation.
`, time.Now().Format(time.DateOnly), "`go run ./arm64 -doc`", "`bench`", t.version(), "dispatch", "waits")
	for _, c := range cores {
		if c.note != "" {
			fmt.Fprintf(b, "LLVM has no description of %s and takes %s.\n", c.name, c.note)
		}
	}
	b.WriteString("\n")
}

// writeCounts writes the part of the page that is about networks.
func writeCounts(b *strings.Builder, p *program, dir string, names []string) error {
	fmt.Fprint(b, `
## Networks

Instructions of one call on one thread, the second one, counted under qemu-aarch64 (a processor with dot products) by a plugin that counts how often each block of instructions runs.
Multiply-adds are half of the operations of the network's operators by definition, so that transforms (Winograd) may take fewer. **Vector multiply-adds** is the share of instructions that
are FMLA, SDOT or SMLAL; functions are those that run the most instructions, with their shares. The runtime's own work is counted, too: two runs differed by up to 5 %.

| network | instructions, millions | multiply-adds, millions | instructions a multiply-add | vector multiply-adds | other arithmetic of vectors | loads and stores | floats one by one | functions |
|---|---|---|---|---|---|---|---|---|
`)
	lines, errs := make([]string, len(networks)), make([]error, len(networks))
	var all sync.WaitGroup
	for i, n := range networks {
		if slices.Contains(names, n.name()) {
			all.Go(func() { lines[i], errs[i] = n.line(i, p, dir) }) // a process each; counts do not depend on how fast it is
		}
	}
	all.Wait()
	b.WriteString(strings.Join(lines, ""))
	return errors.Join(errs...)
}

// line counts network i of the list, and returns its line of the table.
func (n network) line(i int, p *program, dir string) (string, error) {
	sections, err := count(p, dir, []string{n.name()})
	if err != nil {
		return "", fmt.Errorf("%s: %w", n.name(), err)
	}
	c := sections[i]
	if c == nil {
		return "", fmt.Errorf("%s: the emulated program counted nothing", n.name())
	}
	macs, err := n.macs()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "arm64: %s is counted\n", n.name())
	return fmt.Sprintf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %s |\n", n.name(), float64(c.instructions)/1e6, macs/1e6, float64(c.instructions)/macs,
		c.share(fmla, dot, wide), c.share(vector), c.share(memory), c.share(single, scalar), c.functionsText(5)), nil
}

// typeArguments are those of a generic function's name.
var typeArguments = regexp.MustCompile(`\[[^]]*\]`)

// functionsText names the n functions that run the most instructions.
func (c *counted) functionsText(n int) string {
	var list []string
	for _, f := range c.most(n) {
		name := strings.TrimSuffix(path.Base(typeArguments.ReplaceAllString(f, "")), ".abi0")
		list = append(list, fmt.Sprintf("%s %.2f", name, float64(c.functions[f])/float64(c.instructions)))
	}
	return strings.Join(list, ", ")
}

// macs returns half of the operations of the network's operators.
func (n network) macs() (float64, error) {
	n.bits8 = false
	g, _, err := n.capture()
	if err == nil {
		g, err = lowering.Prepare(g, lowering.Options{Shapes: n.dims})
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", n.name(), err)
	}
	total := 0
	for node := range g.Graph.All() {
		operations, ok := flops.Flops(node).Int()
		if !ok {
			return 0, fmt.Errorf("%s: the operations of %s are not known", n.name(), node)
		}
		total += operations
	}
	return float64(total) / 2, nil
}

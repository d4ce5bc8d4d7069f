package draw

import (
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gofx-dev/gofx/graph"
)

// Table returns the nodes of a module as a table of text, one node a line, followed by the
// number of nodes, calls of each operator, and parameters. The nodes of regions are indented
// below the call that has them, those of sub-graphs follow the graph.
func Table(m *graph.Module) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	row := func(cells ...string) { _, _ = w.Write([]byte(strings.Join(cells, "\t") + "\n")) }
	row("opcode", "name", "target", "operands", "attributes", "type", "module")
	tableRows(m.Graph, "", row)
	for _, g := range m.Subs() {
		row("sub-graph", clean(g.Name), "", "", "", "", "")
		tableRows(g, "  ", row)
	}
	_ = w.Flush()

	calls, nodes := counter{}, 0
	for n := range m.All() {
		nodes++
		if n.Opcode().IsCall() {
			calls[operator(n)]++
		}
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) { // tabwriter pads the last column's cells too
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	out.WriteString("\n" + plural(nodes, "node"))
	if len(calls) > 0 {
		out.WriteString(": " + calls.String())
	}
	tensors, elements := state(m)
	out.WriteString("\n" + plural(tensors, "tensor") + " of state, " + plural(elements, "element") + "\n")
	return out.String()
}

func tableRows(g *graph.Graph, indent string, row func(cells ...string)) {
	for n := range g.Nodes() {
		operands := make([]string, n.NumArgs())
		for i := range operands {
			operands[i] = n.Arg(i).String()
		}
		target := operator(n)
		if n.Opcode() != graph.CallFunction && n.Opcode() != graph.Output {
			target = n.Target()
		}
		row(n.Opcode().String(), indent+clean(n.Name()), clean(target), strings.Join(operands, ", "), clean(attributes(n)), n.Type().String(), clean(n.Scope().Path))
		for i, r := range n.Regions() {
			if r == nil {
				continue
			}
			name := r.Name
			if name == "" {
				name = strconv.Itoa(i)
			}
			row("region", indent+"  "+clean(name), "", "", "", "", "")
			tableRows(r, indent+"    ", row)
		}
	}
}

// state counts the tensors of a module and their elements, as far as known.
func state(m *graph.Module) (tensors, elements int) {
	for _, p := range m.Params() {
		tensors++
		if _, dims, ok := p.TypeOf().Concrete(); ok {
			n := 1
			for _, d := range dims {
				n *= d
			}
			elements += n
		}
	}
	return tensors, elements
}

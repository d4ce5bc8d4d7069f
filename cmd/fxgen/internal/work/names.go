package work

import (
	"strconv"

	"github.com/gofx-dev/gofx/graph"
)

// inputNames returns the names of the inputs.
func (c *captured) inputNames() []string {
	var names []string
	for _, n := range c.gm.Graph.Inputs() {
		names = append(names, n.Target())
	}
	return names
}

// outputNames returns a name for each operand of the output node: those of the
// source, else the keys of the structure, else the nodes' own. Names are unique.
func (c *captured) outputNames() []string {
	out := output(c.gm.Graph)
	if out == nil {
		return nil
	}
	names := make([]string, out.NumArgs())
	if s := out.Structure(); s != nil {
		nameLeaves(s, "", names)
	}
	given := c.src.Outputs
	seen := map[string]bool{}
	for i := range names {
		switch {
		case len(given) == len(names) && given[i] != "":
			names[i] = given[i]
		case names[i] == "" && out.Arg(i) != nil:
			names[i] = out.Arg(i).Name()
		}
		for base, k := names[i], 1; seen[names[i]]; k++ {
			names[i] = base + "_" + strconv.Itoa(k)
		}
		seen[names[i]] = true
	}
	return names
}

func output(g *graph.Graph) *graph.Node {
	if n := g.Last(); n != nil && n.Opcode() == graph.Output {
		return n
	}
	return nil
}

// nameLeaves names operands by the keys that lead to them, joined by dots.
func nameLeaves(s *graph.Structure, prefix string, names []string) {
	if s.Kind == graph.LeafValue {
		if s.Index < len(names) {
			names[s.Index] = prefix
		}
		return
	}
	for i, f := range s.Fields {
		key := ""
		switch {
		case i < len(s.Keys):
			key = s.Keys[i]
		case s.Kind == graph.SliceOf:
			key = strconv.Itoa(i)
		}
		if prefix != "" && key != "" {
			key = "." + key
		}
		nameLeaves(f, prefix+key, names)
	}
}

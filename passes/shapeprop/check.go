package shapeprop

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Check says of each shape when it is checked, and changes nothing. Types are gradual:
// what is known of them is checked by the operators' rules, all mistakes at once, and
// what is not known agrees with anything. Three things are told of a graph that passes:
// how many values have types without an unknown part; what a run checks at entry, once
// it has the inputs' sizes, and which call needs it; and, as candidates that are left
// as they are, the calls at which knowledge ends, whose values are checked by the kernels that read them.
var Check = passes.Pass{
	Name:   "shape-check",
	Doc:    "Checks all types and reports the checks left for entry and for a run.",
	Module: true,
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		m := graph.Clone(c.Module)
		if _, err := Infer(nil).Run(passes.NewCtx(c, m), m.Graph); err != nil {
			return false, err
		}
		known, total := 0, 0
		after := every(m)
		for i, n := range every(c.Module) {
			t := after[i].Type()
			if n.Opcode() == graph.Output {
				continue
			}
			if total++; whole(t) {
				known++
			} else if why := lost(after[i]); why != "" {
				c.Refuse(n, why)
			}
		}
		c.Note(strconv.Itoa(known) + " of " + strconv.Itoa(total) + " values have types that are known except for symbols")
		for _, d := range m.Graph.Guards() {
			c.Note("checked at entry: " + d.String() + ", which " + passes.Where(d.Node) + " needs")
		}
		return false, nil
	},
}

func every(m *graph.Module) (list []*graph.Node) {
	for n := range m.All() {
		list = append(list, n)
	}
	return list
}

// whole reports whether a type has no unknown part.
func whole(t shape.Type) bool {
	switch t.Kind() {
	case shape.Tuple:
		for i := range t.Len() {
			if !whole(t.Member(i)) {
				return false
			}
		}
		return true
	case shape.Tensor:
		if t.DType() == array.Invalid || !t.Ranked() {
			return false
		}
		for i := range t.Rank() {
			if t.Dim(i).IsUnknown() {
				return false
			}
		}
		return true
	}
	return false
}

// lost says why a type is not known where those it follows from are.
func lost(n *graph.Node) string {
	if n.Opcode() == graph.Placeholder {
		return "nothing says more of the input than " + n.Type().String()
	}
	for _, t := range n.OperandTypes() {
		if t.Kind() != shape.None && !whole(t) {
			return ""
		}
	}
	return "its operator gives " + n.Type().String() + " for known types: a run tells the rest"
}

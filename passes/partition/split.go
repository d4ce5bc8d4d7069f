package partition

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// Tag is a part that a node is marked for; see ByTag.
var Tag = graph.NewInheritedKey[string]("part")

// ByTag returns the tag of a node, "" when it has none.
func ByTag(n *graph.Node) string {
	tag, _ := Tag.Get(n)
	return tag
}

// Split makes a sub-graph of each part of the module's graph: of the nodes for which
// part gives the same name, which becomes that of the sub-graph. Nodes for which it
// gives "" stay where they are, and so do reads of the state, which parts take as
// operands. getitem nodes go with the call that they take apart. A call of control flow
// goes with its bodies: a part is run once for a run of the graph, so that part is not
// asked about their nodes. The calls are returned in the order of the first nodes of the
// parts.
//
// It is an error (FX3044) when two parts would need each other; it names the way from
// a part back to it. The graph is as it was then. Weights stay where they are in the
// module's state.
func Split(m *graph.Module, part func(n *graph.Node) string) ([]*graph.Node, error) {
	var parts []Part
	place := map[string]int{}
	for n := range m.Graph.Nodes() {
		if !n.Opcode().IsCall() || n.Op() == op.GetItem {
			continue
		}
		var name string
		if err := guarded(n, func() { name = part(n) }); err != nil {
			return nil, err
		}
		if name == "" {
			continue
		}
		k, known := place[name]
		if !known {
			k = len(parts)
			place[name] = k
			parts = append(parts, Part{Name: name})
		}
		parts[k].Nodes = append(parts[k].Nodes, n)
	}
	return Fuse(m, parts...)
}

// within says which part an error is about.
func within(name string, err error) error {
	var l diag.List
	l.Add(err)
	e := *l[0]
	e.Msg = "part " + name + ": " + e.Msg
	return &e
}

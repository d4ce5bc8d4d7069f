package partition

import (
	"slices"

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
// operands. getitem nodes go with the call that they take apart. The calls are
// returned in the order of the first nodes of the parts.
//
// It is an error (FX3044) when two parts would need each other; it names the way from
// a part back to it. The graph is as it was then. Weights stay where they are in the
// module's state.
func Split(m *graph.Module, part func(n *graph.Node) string) ([]*graph.Node, error) {
	work := m.WithGraph(m.Graph.Clone())
	var names []string
	parts := map[string][]*graph.Node{}
	at := work.Graph.First()
	for n := range m.Graph.Nodes() { // the user knows these
		here := at
		at = at.Next()
		if !n.Opcode().IsCall() || n.Op() == op.GetItem {
			continue
		}
		name := part(n)
		if name == "" {
			continue
		}
		if parts[name] == nil {
			names = append(names, name)
		}
		parts[name] = append(parts[name], here)
	}
	calls := make([]string, len(names))
	for i, name := range names {
		call, err := graph.Outline(name, parts[name])
		if err != nil {
			return nil, within(name, err)
		}
		calls[i] = call.Name()
	}
	m.Become(work)
	out := make([]*graph.Node, len(calls))
	for i, name := range calls {
		out[i] = m.Graph.Find(name)
	}
	return slices.Clip(out), nil
}

// within says which part an error is about.
func within(name string, err error) error {
	var l diag.List
	l.Add(err)
	e := *l[0]
	e.Msg = "part " + name + ": " + e.Msg
	return &e
}

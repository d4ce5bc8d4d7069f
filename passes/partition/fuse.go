package partition

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// Fuse makes a sub-graph of each part and returns the calls of them, in the order of
// parts, which is free. Nodes that are not listed stay where they are, among them reads of
// the state, which parts take as operands; a getitem node goes with the call that it takes
// apart. All parts are of one graph: that of the module, a sub-graph or a region.
//
// It is an error (FX3044), and nothing is changed, when a node is in two parts, a part is
// empty or has nodes of another module, or parts would need each other; the error names
// the way. Nodes of the module are new ones afterwards, with the old names. What a part
// needs comes before it then. Time and memory grow with the nodes.
func Fuse(m *graph.Module, parts ...Part) ([]*graph.Node, error) {
	for _, p := range parts {
		for _, n := range p.Nodes {
			if n.Erased() || n.Graph().Module() != m {
				return nil, within(p.Name, n.Error(graph.BadOutline, n.String()+" is no node of the module"))
			}
		}
	}
	work := m.WithGraph(m.Graph.Clone())
	copies := map[*graph.Node]*graph.Node{}
	is := slices.Collect(work.All())
	for n := range m.All() {
		if len(is) == 0 || is[0].Name() != n.Name() {
			return nil, n.Error(graph.BadOutline, "the module is broken, which Lint explains: not all of it can be copied")
		}
		copies[n], is = is[0], is[1:]
	}
	mine := make([]Part, len(parts))
	in := map[*graph.Node]int{}
	for k, p := range parts {
		mine[k].Name = p.Name
		for _, n := range p.Nodes {
			if other, twice := in[n]; twice && other != k && n.Op() != op.GetItem {
				return nil, within(p.Name, n.Error(graph.BadOutline, n.String()+" is in part "+parts[other].Name+", too"))
			}
			in[n] = k
			mine[k].Nodes = append(mine[k].Nodes, copies[n])
		}
	}
	calls, err := fuse(mine)
	if err != nil {
		return nil, err
	}
	m.Become(work)
	return calls, nil
}

// fuse outlines disjoint parts. On an error graphs are left in between.
func fuse(parts []Part) ([]*graph.Node, error) {
	gather(parts)
	calls := make([]*graph.Node, len(parts))
	for i, p := range parts {
		call, err := graph.Outline(p.Name, p.Nodes)
		if err != nil {
			return nil, within(p.Name, err)
		}
		calls[i] = call
	}
	return calls, nil
}

// gather orders the nodes so that those of each part stand together, where that is
// possible: outlining a part then looks at nothing else.
func gather(parts []Part) {
	if len(parts) == 0 || len(parts[0].Nodes) == 0 {
		return
	}
	g := parts[0].Nodes[0].Graph()
	if order := newGathering(g, parts).order(); order != nil {
		// What is refused here is refused, with its reason, when a part is outlined.
		_, _ = g.SetOrder(order)
	}
}

// gathering sorts units: parts, and nodes that are in none.
type gathering struct {
	nodes   []*graph.Node
	at      map[*graph.Node]int
	bonds   map[*graph.Node][]*graph.Node
	unit    []int         // of each node: the place of its unit's first node
	members map[int][]int // of parts, by unit
}

func newGathering(g *graph.Graph, parts []Part) *gathering {
	s := &gathering{nodes: slices.Collect(g.Nodes()), bonds: g.Bonds(), members: map[int][]int{}}
	s.at, s.unit = make(map[*graph.Node]int, len(s.nodes)), make([]int, len(s.nodes))
	part := make(map[*graph.Node]int, len(s.nodes))
	for k, p := range parts {
		for _, n := range p.Nodes {
			part[n] = k
		}
	}
	first := map[int]int{}
	for i, n := range s.nodes {
		s.at[n], s.unit[i] = i, i
		k, in := part[n]
		if n.Op() == op.GetItem {
			if k, in = part[n.Arg(0)]; in {
				part[n] = k
			}
		}
		if !in {
			continue
		}
		if _, known := first[k]; !known {
			first[k] = i
		}
		s.unit[i] = first[k]
		s.members[first[k]] = append(s.members[first[k]], i)
	}
	return s
}

func (s *gathering) of(unit int) []int {
	if list := s.members[unit]; list != nil {
		return list
	}
	return []int{unit}
}

// needs returns the units that a unit needs, in the order of the graph.
func (s *gathering) needs(unit int) []int {
	var list []int
	add := func(a *graph.Node) {
		if k, here := s.at[a]; here && s.unit[k] != unit {
			list = append(list, s.unit[k])
		}
	}
	for _, i := range s.of(unit) {
		for a := range s.nodes[i].Inputs() {
			add(a)
		}
		for _, a := range s.bonds[s.nodes[i]] {
			add(a)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// order returns the nodes unit by unit: each as early as its first node stands, what it
// needs before it. nil where units need each other.
func (s *gathering) order() []*graph.Node {
	const open, done = 1, 2
	state := make([]int8, len(s.nodes))
	out := make([]*graph.Node, 0, len(s.nodes))
	for root := range s.nodes {
		for stack := []int{s.unit[root]}; len(stack) > 0; {
			u := stack[len(stack)-1]
			switch state[u] {
			case done:
				stack = stack[:len(stack)-1]
				continue
			case open:
				stack = stack[:len(stack)-1]
				state[u] = done
				for _, i := range s.of(u) {
					out = append(out, s.nodes[i])
				}
				continue
			}
			state[u] = open
			for _, k := range slices.Backward(s.needs(u)) {
				if state[k] == open {
					return nil
				}
				if state[k] == 0 {
					stack = append(stack, k)
				}
			}
		}
	}
	return out
}

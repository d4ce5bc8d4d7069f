package partition

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/repeat"
	"github.com/gofx-dev/gofx/passes"
)

// DefaultGroup is the least number of nodes that Reroll makes a sub-graph of.
const DefaultGroup = 8

// Reroll finds groups of neighbouring nodes that repeat, such as the layers of a
// transformer, and turns them into calls of one sub-graph. What a group computes from
// are its inputs: values, and the tensors of the state that it reads, which are the
// parameters of the called module. Where a group can begin at several places, it
// begins where the scopes of the model do. Bodies of control flow are looked at by
// themselves, after the graph around them. The inverse is simplify.Inline.
var Reroll = RerollMin(DefaultGroup)

// RerollMin is Reroll for groups of at least so many nodes, reads of the state not
// counted.
func RerollMin(least int) passes.Pass {
	return passes.Pass{
		Name: "reroll",
		Doc:  "Turns groups of nodes that repeat into calls of one sub-graph.",
		// What is in a module's call has no operands to be passed.
		Requires: []passes.Fact{passes.Functional},
		Breaks:   []passes.Fact{passes.Functional, passes.Flat},
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			before := c.Matches()
			effects := graph.EffectsOf(g)
			roll := func(g *graph.Graph) error {
				return (&reroller{c: c, g: g, least: least, effects: effects}).run()
			}
			err := roll(g)
			for n := range g.All() {
				for _, body := range n.Regions() {
					if err == nil {
						err = roll(body)
					}
				}
			}
			return c.Matches() > before, err
		},
	}
}

// reroller is one run over a graph.
type reroller struct {
	c       *passes.Ctx
	g       *graph.Graph
	least   int
	effects *graph.Effects
	nodes   []*graph.Node // calls and reads, in order
	items   repeat.Items
}

func (r *reroller) run() error {
	fixed := map[*graph.Node]bool{}
	for _, s := range r.g.Symbols() {
		fixed[s.Node] = true
	}
	for n := range r.g.Nodes() {
		if n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output {
			continue
		}
		key := ""
		if !fixed[n] && r.free(n) {
			key = r.text([]*graph.Node{n}).String()
		}
		r.nodes, r.items.Keys = append(r.nodes, n), append(r.items.Keys, key)
	}
	r.items.MaxPeriod = len(r.nodes) / 2
	r.items.Same = func(i, k, n int) bool {
		return r.text(r.nodes[i:i+n]).String() == r.text(r.nodes[k:k+n]).String()
	}
	r.items.Accept = func(run repeat.Run) bool { return len(calls(r.nodes[run.At:run.At+run.Period])) >= r.least }
	end := 0
	for _, run := range r.items.Find() {
		if run.At < end {
			continue // the run before has moved on into it
		}
		if err := r.c.Err(); err != nil {
			return err
		}
		run = r.align(run)
		end = run.At + run.Len()
		if err := r.roll(run); err != nil {
			return err
		}
	}
	return nil
}

// free reports whether a node may become one of a sub-graph.
func (r *reroller) free(n *graph.Node) bool {
	o := n.Op()
	return n.Opcode() == graph.GetAttr || n.Opcode() != graph.CallModule && o != nil && len(o.Mutates) == 0
}

// text describes nodes. Reads of the state are values from outside: they go
// with the group, but may stand anywhere in it.
func (r *reroller) text(nodes []*graph.Node) *repeat.Signature {
	s := &repeat.Signature{}
	for _, n := range nodes {
		if n.Opcode() == graph.GetAttr {
			s.Text("read", n.Type().String())
			continue
		}
		s.Node(n)
		for _, body := range n.Bodies() {
			sum := graph.Hash(body)
			s.Text(string(sum[:]))
		}
	}
	return s
}

// calls returns the nodes without reads of the state.
func calls(nodes []*graph.Node) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return n.Opcode() == graph.GetAttr })
}

// maxShift bounds the places at which a group may begin instead.
const maxShift = 512

// align moves a run to where its groups lie deepest in one scope each, if that keeps
// their number.
func (r *reroller) align(run repeat.Run) repeat.Run {
	best, depth := run, r.depth(run)
	for shift := 1; shift < min(run.Period, maxShift); shift++ {
		moved := repeat.Run{At: run.At + shift, Period: run.Period, Count: run.Count}
		if moved.At+moved.Len() > len(r.nodes) || r.depth(moved) <= depth {
			continue
		}
		if found := r.items.At(moved.At, moved.Period); found.Count >= run.Count {
			best, depth = found, r.depth(moved)
		}
	}
	return best
}

// depth is the number of words of the shortest scope that a group has in common.
func (r *reroller) depth(run repeat.Run) int {
	least := -1
	for k := range run.Count {
		path := common(calls(r.nodes[run.At+k*run.Period : run.At+(k+1)*run.Period]))
		words := 0
		if path != "" {
			words = 1 + strings.Count(path, ".")
		}
		if least < 0 || words < least {
			least = words
		}
	}
	return least
}

// common is the scope that all nodes are in.
func common(nodes []*graph.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	path := nodes[0].Scope().Path
	for _, n := range nodes[1:] {
		p := n.Scope().Path
		for path != "" && p != path && !strings.HasPrefix(p, path+".") {
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
	}
	return path
}

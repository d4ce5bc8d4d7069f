package passes

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
)

// Params answers, for a pass that computes new parameters from old ones, which
// values are constant and who else reads them. It does not see later changes.
type Params struct {
	module  *graph.Module
	effects *graph.Effects
	readers map[string][]*graph.Node
}

// readers has the calls that read each tensor of the state, for the graph of a module.
var readers = graph.NewAnalysis("readers of parameters", func(g *graph.Graph) map[string][]*graph.Node {
	m := g.Module()
	list := make(map[string][]*graph.Node, len(m.Params()))
	for n := range m.All() {
		if n.Opcode() == graph.GetAttr {
			for u := range n.Users() {
				list[n.Target()] = append(list[n.Target()], u)
			}
		}
		if b := n.Bound(); b != nil {
			for _, path := range b.Params {
				list[path] = append(list[path], n)
			}
		}
	}
	return list
})

// NewParams looks at the calls of the module; g is the graph that a pass is at.
func NewParams(m *graph.Module, g *graph.Graph) *Params {
	return &Params{module: m, effects: graph.EffectsOf(g), readers: readers.Of(m.Graph)}
}

// Path returns the path of the parameter that is operand i of a call, however it
// is spelt; "" when the operand is absent or no parameter.
func (p *Params) Path(n *graph.Node, i int) string {
	if i < n.NumArgs() {
		if a := n.Arg(i); a != nil && a.Opcode() == graph.GetAttr {
			return a.Target()
		}
		return ""
	}
	if b := n.Bound(); b != nil && i-n.NumArgs() < len(b.Params) {
		return b.Params[i-n.NumArgs()]
	}
	return ""
}

// Constant returns path and value of operand i of a call when it is a parameter
// that no run changes; the path is "" for an absent operand. why says what is in
// the way otherwise.
func (p *Params) Constant(n *graph.Node, i int) (path string, value *array.Array, why string) {
	a := n.Arg(i)
	path = p.Path(n, i)
	switch {
	case a == nil && path == "":
		return "", nil, ""
	case path == "":
		return "", nil, "operand " + a.String() + " of " + n.String() + " is computed, expected a parameter"
	case a != nil && a.Live():
		return path, nil, "parameter " + path + " is live, expected a frozen one"
	case p.effects.WrittenState(path):
		return path, nil, "buffer " + path + " is written by the graph"
	}
	q := p.module.Param(path)
	if q == nil || q.Value == nil {
		return path, nil, "parameter " + path + " has no value"
	}
	return path, q.Value, ""
}

// Reader returns a call other than n that reads a parameter, nil when there is none.
func (p *Params) Reader(path string, n *graph.Node) *graph.Node {
	for _, r := range p.readers[path] {
		if r != n && !r.Erased() {
			return r
		}
	}
	return nil
}

// Shared says what else reads the parameter that is operand i of a call, so that it cannot
// be changed for this operand alone: another call, or another operand of the same one. It is
// "" where nothing does, and for an operand that is no parameter.
func (p *Params) Shared(n *graph.Node, i int) string {
	path := p.Path(n, i)
	if path == "" {
		return ""
	}
	if r := p.Reader(path, n); r != nil {
		return "parameter " + path + " is also read by " + Where(r)
	}
	operands := n.NumArgs()
	if b := n.Bound(); b != nil {
		operands += len(b.Params)
	}
	for j := range operands {
		if j != i && p.Path(n, j) == path {
			return "parameter " + path + " is operand " + strconv.Itoa(min(i, j)) + " and operand " + strconv.Itoa(max(i, j)) + " of " + n.String()
		}
	}
	return ""
}

// Where names a node and, when it is known, its place: for reasons in refusals.
func Where(n *graph.Node) string {
	if p := n.Pos().String(); p != "" {
		return n.String() + " at " + p
	}
	return n.String()
}

package kernelstyle

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// refs are the expressions by which a function reaches buffers.
type refs map[int]*jen.Statement

// list are the arrays of a step as arguments.
func (r refs) list(buffers []int) []jen.Code {
	out := make([]jen.Code, len(buffers))
	for i, k := range buffers {
		if out[i] = jen.Nil(); k >= 0 {
			out[i] = r[k]
		}
	}
	return out
}

// buffers tells where the plan's buffers are in generated code: arguments, results
// and values are fields of the state s of a call, tensors of the model are fields
// of the weights w. A repeated block keeps its own values and weights in structs of
// its own, for each of its calls; see newBlock.
type buffers struct {
	refs   refs
	held   map[int]string // fields of the state
	fields *goname.Set    // all that the state has
}

func newBuffers(m *model, n *names) buffers {
	b := buffers{refs: refs{}, held: map[int]string{}, fields: newSet("places", "s", "m", "w", "b")}
	for i := range mostParts(m) {
		b.fields.Reserve(numbered("layout", i))
	}
	b.fields.Reserve(n.symbols...)
	hold := func(k int, hint string) {
		b.held[k] = b.fields.Lower(hint)
		b.refs[k] = jen.Id("s").Dot(b.held[k])
		if isValue(m, k) {
			b.refs[k] = jen.Op("&").Add(b.refs[k])
		}
	}
	for _, k := range m.Inputs {
		hold(k, m.Buffers[k].Name)
	}
	for _, k := range m.Outputs {
		hold(k, m.valueName(k))
	}
	m.nameWeights(b.refs)
	for k := range m.Buffers {
		if isValue(m, k) {
			hold(k, m.valueName(k))
		}
	}
	return b
}

// isValue tells that a buffer is made by the plan, for the plan.
func isValue(m *model, k int) bool {
	kind := m.Buffers[k].Kind
	return kind == plan.Temp || kind == plan.View
}

// ownNames returns the values that are all that a node of the user's graph
// computes, and the node's name, which says more than that of an expansion.
func ownNames(p *plan.Plan) map[int]string {
	steps := map[string]int{}
	for i := range p.Steps {
		for _, n := range p.Steps[i].Nodes {
			steps[n]++
		}
	}
	own := map[int]string{}
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.Nodes) == 1 && steps[s.Nodes[0]] == 1 && len(s.Out) == 1 && s.Out[0] >= 0 {
			own[s.Out[0]] = s.Nodes[0]
		}
	}
	return own
}

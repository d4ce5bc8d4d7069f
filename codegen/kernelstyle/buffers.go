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
	keeps  []string       // fields of the state for the model's kept tensors
	fields *goname.Set    // all that the state has
}

// newBuffers gives the buffers of a whole plan their places, ends first, so that
// arguments and results keep their names and values take others; newBlock moves
// those of blocks.
func newBuffers(model *model, n *names) buffers {
	made := buffers{refs: refs{}, held: map[int]string{}, fields: newSet("places", "s", "m", "w", "b", "enter", "leave", "run")}
	for i := range mostParts(model) {
		made.fields.Reserve(numbered("layout", i))
	}
	made.fields.Reserve(n.symbols...)
	hold := func(k int, hint string) {
		made.held[k] = made.fields.Lower(hint)
		made.refs[k] = jen.Id("s").Dot(made.held[k])
		if isValue(model, k) {
			made.refs[k] = jen.Op("&").Add(made.refs[k])
		}
	}
	for _, k := range model.Inputs {
		hold(k, model.Buffers[k].Name)
	}
	for _, k := range model.Outputs {
		hold(k, model.valueName(k))
	}
	for k := range model.Buffers {
		if b := &model.Buffers[k]; b.Kind == plan.Weight {
			made.refs[k] = jen.Id("w").Dot(model.byForm[form(b)].field)
		}
	}
	for _, x := range model.kept {
		field := made.fields.Lower(x.path)
		made.keeps = append(made.keeps, field)
		for k := range model.Buffers {
			if model.Buffers[k].Path == x.path {
				made.refs[k] = jen.Id("s").Dot(field)
			}
		}
	}
	for k := range model.Buffers {
		if isValue(model, k) {
			hold(k, model.valueName(k))
		}
	}
	return made
}

// isValue tells that a buffer is made by the plan, for the plan.
func isValue(m *model, k int) bool {
	kind := m.Buffers[k].Kind
	return kind == plan.Temp || kind == plan.View
}

// ownNames returns the values that are all that a node of the user's graph
// computes, and the node's name, which says more than that of an expansion. The
// first pass counts in how many steps a node has a part.
func ownNames(p *plan.Plan) map[int]string {
	steps := map[string]int{}
	for i := range p.Steps {
		for _, n := range p.Steps[i].Nodes {
			steps[n]++
		}
	}
	own := map[int]string{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if last := len(s.Nodes) - 1; last >= 0 && steps[s.Nodes[last]] == 1 && len(s.Out) == 1 && s.Out[0] >= 0 {
			own[s.Out[0]] = s.Nodes[last]
		}
	}
	return own
}

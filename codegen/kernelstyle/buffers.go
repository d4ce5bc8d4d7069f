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
// its own, for each of its calls; see block.
type buffers struct {
	refs   refs
	held   map[int]string // fields of the state
	keeps  []string       // fields of the state for the model's kept tensors
	fields *goname.Set    // all that the state has
}

// newBuffers gives the buffers of a whole plan their places, ends first, so that
// arguments and results keep their names and values take others; those that blocks
// keep get theirs from block.name.
func newBuffers(model *model, n *names, blocks []*block) buffers {
	made := buffers{refs: refs{}, held: map[int]string{}, fields: newSet("s", "m", "w", "b", "enter", "leave", "run")}
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
	for i, k := range model.Inputs {
		if hint := model.Buffers[k].Name; n.body {
			hold(k, hint)
		} else {
			hold(k, n.inputs[i])
		}
	}
	for i, k := range model.Outputs {
		if model.Buffers[k].Updated {
			continue // an input
		}
		if n.body {
			hold(k, model.hints.result(k))
		} else {
			hold(k, n.outputs[i])
		}
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
	kept := map[int]bool{}
	for _, b := range blocks {
		for _, f := range b.fields {
			for _, k := range f.buffers {
				kept[k] = true
			}
		}
	}
	for k := range model.Buffers {
		if isValue(model, k) && !kept[k] {
			hold(k, model.hints.of(k))
		}
	}
	return made
}

// isValue tells that a buffer is made by the plan, for the plan.
func isValue(m *model, k int) bool {
	kind := m.Buffers[k].Kind
	return kind == plan.Temp || kind == plan.View || kind == plan.Sized
}

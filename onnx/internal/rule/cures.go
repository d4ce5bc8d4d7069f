package rule

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Unbound is the cause of an error that values of inputs would cure: a size follows
// from them.
type Unbound struct{ Inputs []string }

// Error names the inputs that the value is computed from.
func (u *Unbound) Error() string { return "it is computed from " + strings.Join(u.Inputs, ", ") }

// Unsized is the cause of an error that sizes of inputs would cure, which are letters or
// unknown: something follows from them that must be a number.
type Unsized struct {
	Inputs []string     // those with such sizes
	Types  []shape.Type // their types
}

// Error names the inputs whose sizes are not known, with their types.
func (u *Unsized) Error() string {
	var list []string
	for i, name := range u.Inputs {
		list = append(list, diag.Quote(name)+" "+u.Types[i].String())
	}
	return "sizes are not known of " + strings.Join(list, ", ")
}

// CureBySizes gives an error the sizes of inputs as its cure, where some are open.
func (dr *Draft) CureBySizes(e *diag.Error) *diag.Error {
	u := &Unsized{}
	for n := range dr.Module.Graph.Nodes() {
		name, ok := dr.InputNames[n]
		if !ok {
			continue
		}
		t := n.Type()
		if t.Ranked() {
			if _, known := t.Dims().Known(); known {
				continue
			}
		}
		u.Inputs, u.Types = append(u.Inputs, name), append(u.Types, t)
	}
	if len(u.Inputs) == 0 {
		return e
	}
	if e.Err == nil {
		e.Err = u
	}
	return e.WithHint("give the sizes of these inputs when importing (Options.Inputs)")
}

// mostBound is how many elements an input may have that is bound by its value: lists of
// sizes, axes, bounds, scales and counts are short.
const mostBound = 64

// isData reports whether an input is data, which change from run to run, and no list of
// numbers that say how the model is to compute: nothing may be bound to the former.
func isData(t shape.Type) bool {
	if !t.Ranked() {
		return true
	}
	n, known := t.Dims().Prod().Int()
	return t.Rank() > 1 || known && n > mostBound || !known && t.DType().IsFloat()
}

// Curable names the facts that would make a node known when the model is imported: values of
// inputs, or their sizes. Data are never fixed by that: results for other data would be
// wrong ones.
func (dr *Draft) Curable(e *diag.Error, n *graph.Node) *diag.Error {
	values, data, sizes := dr.FollowsFrom(n)
	switch {
	case len(data) > 0:
		return e.WithHint("it follows from the elements of " + strings.Join(Quoted(data), ", ") + ", which changes from run to run; export the model so that it follows from sizes")
	case len(values) > 0:
		e.Err = &Unbound{values}
		return e.WithHint("give values for these inputs when importing (Options.Values)")
	case sizes:
		return dr.CureBySizes(e)
	}
	return e.WithHint("give values for the inputs that it follows from when importing (Options.Values)")
}

// FollowsFrom tells which inputs a node follows from: those whose values decide it, of which
// data are apart, and whether it follows from sizes, of which no value decides.
func (dr *Draft) FollowsFrom(n *graph.Node) (values, data []string, sizes bool) {
	seen := map[*graph.Node]bool{}
	todo := []*graph.Node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if n.Op() == op.Dim && !dr.Late(n.Arg(0).Type().Dim(n.Attrs().(op.AxisAttrs).Axis)) {
			sizes = true
			continue
		}
		if name, ok := dr.InputNames[n]; ok && isData(n.Type()) {
			data = append(data, name)
		} else if ok {
			values = append(values, name)
		}
		for a := range n.Inputs() {
			todo = append(todo, a)
		}
	}
	slices.Sort(values)
	slices.Sort(data)
	return values, data, sizes
}

// Quoted returns names for messages.
func Quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = diag.Quote(modelfile.Short(name))
	}
	return out
}

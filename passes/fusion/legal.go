package fusion

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// legal says why bn must not be folded into conv, "" when it may as far as the
// graph goes.
func (f *folder) legal(conv, bn *graph.Node) string {
	if passes.Training(bn) {
		return "it is in training mode and normalises by the batch"
	}
	for u := range conv.Users() {
		if u != bn {
			return "the result of " + conv.String() + " is also used by " + u.String() + at(u)
		}
	}
	if conv.Opcode() == graph.CallModule && conv.NumArgs() != 1 {
		return conv.String() + " has operands besides its input"
	}
	w, _ := f.constant(conv, 1)
	if w.value != nil && conv.Type().Rank() != max(w.value.Rank(), 2) {
		return "the channels of " + conv.String() + " are not known to be axis 1: its type is " + conv.Type().String()
	}
	return f.shared(conv, bn, w.path)
}

func at(n *graph.Node) string {
	if p := n.Pos().String(); p != "" {
		return " at " + p
	}
	return ""
}

// shared refuses to copy a weight that others read for a normalisation that
// others use too: that would make a copy for each use.
func (f *folder) shared(conv, bn *graph.Node, weight string) string {
	other := f.reader(weight, conv)
	if other == nil {
		return ""
	}
	for i := 1; i <= 4; i++ {
		if path := pathOf(bn, i); path != "" {
			if o := f.reader(path, bn); o != nil {
				return "the weight " + weight + " is shared with " + other.String() + " and the normalisation with " + o.String()
			}
		}
	}
	return ""
}

// reader returns a node other than n that reads the parameter.
func (f *folder) reader(path string, n *graph.Node) *graph.Node {
	var found *graph.Node
	for r := range f.readers[path] {
		if r != n && !r.Erased() && (found == nil || r.Name() < found.Name()) {
			found = r
		}
	}
	return found
}

// readers returns the calls that read each parameter.
func readers(g *graph.Graph) map[string]map[*graph.Node]bool {
	all := map[string]map[*graph.Node]bool{}
	enter := func(path string, n *graph.Node) {
		if all[path] == nil {
			all[path] = map[*graph.Node]bool{}
		}
		all[path][n] = true
	}
	for n := range g.All() {
		if n.Opcode() == graph.GetAttr {
			for u := range n.Users() {
				enter(n.Target(), u)
			}
		}
		if b := n.Bound(); b != nil {
			for _, p := range b.Params {
				enter(p, n)
			}
		}
	}
	return all
}

// pathOf returns the path of the parameter that is operand i of a call, "" when
// the operand is absent or no parameter.
func pathOf(n *graph.Node, i int) string {
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

// constant is a parameter whose value is known; path "" means absent.
type constant struct {
	path  string
	value *array.Array
}

// constant returns operand i of a call, or says why it is not constant.
func (f *folder) constant(n *graph.Node, i int) (constant, string) {
	a := n.Arg(i)
	path := pathOf(n, i)
	switch {
	case a == nil && path == "":
		return constant{}, ""
	case path == "":
		return constant{}, "operand " + a.String() + " of " + n.String() + " is computed, expected a parameter"
	case a != nil && a.Live():
		return constant{}, "parameter " + path + " is live, expected a frozen one"
	case f.written[path]:
		return constant{}, "buffer " + path + " is written by the graph"
	}
	p := f.c.Module.Param(path)
	if p == nil || p.Value == nil {
		return constant{}, "parameter " + path + " has no value"
	}
	return constant{path, p.Value}, ""
}

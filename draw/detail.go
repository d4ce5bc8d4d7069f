package draw

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// tooltip describes a vertex in a few lines.
func (d *drawing) tooltip(v *vertex) []string {
	if v.node == nil {
		return []string{strings.Join(v.lines, ", ")}
	}
	var lines []string
	for _, f := range nodeFacts(v.node) {
		lines = append(lines, f.name+": "+f.value)
	}
	return lines
}

// fact is one thing that is known about a node.
type fact struct{ name, value string }

// nodeFacts lists what is known about a node, without machine-dependent paths.
func nodeFacts(n *graph.Node) []fact {
	facts := []fact{{"node", n.String()}, {"opcode", n.Opcode().String()}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	if n.Opcode() != graph.CallFunction && n.Opcode() != graph.Output {
		add("target", n.Target())
	}
	if o := n.Op(); o != nil {
		add("operator", o.Key())
		add("attributes", attributes(n))
	}
	add("type", n.Type().String())
	if v := n.Default(); v != nil {
		add("default", "yes")
	}
	add("parameters", parameters(n))
	if s := n.Scope(); s.Path != "" {
		add("module", strings.TrimSpace(s.Path+" "+base(s.Type)))
	}
	add("recorded at", position(n.Pos()))
	return facts
}

// position returns "model.go:41", without the folder.
func position(p diag.Pos) string {
	if p.File == "" {
		return ""
	}
	p.File = path.Base(strings.ReplaceAll(p.File, `\`, "/"))
	return p.String()
}

// parameters lists the tensors of the state that a call uses, which have no
// nodes in the drawing.
func parameters(n *graph.Node) string {
	var list []string
	for _, p := range stateOf(n) {
		s := p.path
		if p.typ.Kind() != shape.None {
			s += " " + p.typ.String()
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

// tensorOf is a tensor of the state that a call uses: the value of a node, nil for
// one that belongs to the module that is called.
type tensorOf struct {
	path string
	typ  shape.Type
	node *graph.Node
}

func stateOf(n *graph.Node) (list []tensorOf) {
	for i := range n.NumArgs() {
		if a := n.Arg(i); a != nil && a.Opcode() == graph.GetAttr && n.Opcode() != graph.Output {
			list = append(list, tensorOf{a.Target(), a.Type(), a})
		}
	}
	if b := n.Bound(); b != nil {
		for _, p := range b.Params {
			if p == "" {
				continue
			}
			t := tensorOf{path: p}
			if q := n.Graph().Module().Param(p); q != nil {
				t.typ = q.TypeOf()
			}
			list = append(list, t)
		}
	}
	return list
}

// counter counts calls by operator.
type counter map[string]int

// String lists the operators, most frequent first.
func (c counter) String() string {
	names := slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		if c[a] != c[b] {
			return c[b] - c[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = strconv.Itoa(c[name]) + " " + name
	}
	return strings.Join(names, ", ")
}

package shard

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/shape"
)

// Layout is what the author says: along which axes some tensors are cut. A tensor that is
// listed is laid out so and no other way, nil or all "" included; all others follow.
type Layout struct {
	Mesh Mesh
	// Inputs are by the placeholder's name, Weights by path, Values by the name of the call
	// whose result they are.
	Inputs, Weights, Values map[string]Split
	// Stored says how weights lie that lie otherwise than calls use them, by path: each is
	// brought from there into the layout of its uses, which Weights says, or which follows.
	Stored map[string]Split
}

// told is what the author says of a node's value; it stays with the node while the graph
// is prepared.
var told = graph.NewKey[mark]("told")

// mark is what the author says of the result of a call, with the name that it had for it.
type mark struct {
	name  string
	split Split
}

// tensor is a value of the graph while layouts are found.
type tensor struct {
	name  string // as the author knows it
	dtype array.DType
	dims  []int
	split []int     // by dimension the axis of the mesh, -1 for none
	from  []*tensor // by dimension what the author said that it follows from
	fixed bool      // the author said it
}

func newTensor(name string, d array.DType, dims []int) *tensor {
	t := &tensor{name: name, dtype: d, dims: dims, split: make([]int, len(dims)), from: make([]*tensor, len(dims))}
	for i := range t.split {
		t.split[i] = -1
	}
	return t
}

// fix lays the tensor out as the author says.
func (t *tensor) fix(m Mesh, s Split) {
	t.fixed = true
	for i, name := range s {
		if name != "" {
			t.split[i], t.from[i] = m.axis(name), t
		}
	}
}

// has reports whether a dimension is cut along the axis.
func (t *tensor) has(axis int) bool { return slices.Contains(t.split, axis) }

// text is the layout with names.
func (t *tensor) text(m Mesh) Split {
	s := make(Split, len(t.split))
	for i, k := range t.split {
		if k >= 0 {
			s[i] = m[k].Name
		}
	}
	return s
}

// bytes are those of a partition's part where the tensor is laid out so.
func (t *tensor) bytes(m Mesh, split []int) int64 {
	n := int64(1)
	for i, d := range t.dims {
		n *= int64(d)
		if split != nil && split[i] >= 0 {
			n /= int64(m[split[i]].Size)
		}
	}
	return (n*int64(t.dtype.Bits()) + 7) / 8
}

// mark enters what the author says of values into a copy of the graph, so that it is found
// again after preparation, and reports names that the graph does not have, which it takes out.
func (l *Layout) mark(m *graph.Module, bad func(msg, hint string)) *graph.Module {
	out := m.WithGraph(m.Graph.Clone())
	l.Values = maps.Clone(l.Values)
	for _, name := range names(l.Values) {
		n := out.Graph.Find(name)
		if n == nil || !n.Opcode().IsCall() {
			bad("the graph has no call "+strconv.Quote(name), "print the graph: it has the names")
			delete(l.Values, name)
			continue
		}
		told.Set(n, mark{name, l.Values[name]})
	}
	return out
}

func names(m map[string]Split) (list []string) {
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// unknownSize reports a value of which a size is not known.
func unknownSize(n *graph.Node, t shape.Type) *diag.Error {
	return n.Error(lowering.UnknownSize, n.Name()+" is "+t.String()+", a layout needs its sizes").
		WithHint("capture the graph with input types, and pin symbols by Options.Shapes")
}

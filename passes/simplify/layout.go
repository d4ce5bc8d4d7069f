package simplify

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// maxViews bounds the views between two values.
const maxViews = 16

// View returns the layout in which n shows the elements of x when those lie in order, for
// all values of the symbols. ok is false where n is not made of x by views alone, and
// where sizes decide whether it is, or it cannot be shown.
func View(x, n *graph.Node) (at op.Layout, ok bool) {
	var chain []*graph.Node
	for ; n != x; n = viewed(n) {
		if viewed(n) == nil || !n.Type().Ranked() || len(chain) == maxViews {
			return at, false
		}
		chain = append(chain, n)
	}
	if x.Type().Kind() != shape.Tensor || !x.Type().Ranked() {
		return at, false
	}
	at = op.InOrder(x.Type().Dims())
	for _, n := range slices.Backward(chain) {
		out, truth := n.Op().Layout(n.Attrs(), n.OperandTypes(), []shape.Dims{n.Type().Dims()}, at)
		if truth != shape.True || len(out) != 1 {
			return at, false
		}
		at = out[0]
	}
	return at, true
}

// viewed returns what a call of one result is a view of, nil where it is none.
func viewed(n *graph.Node) *graph.Node {
	o := n.Op()
	if o == nil || o.ViewOf == 0 || o.ViewOf > n.NumArgs() || n.Bound() != nil || n.Type().Kind() != shape.Tensor || n.Effect() != op.Pure {
		return nil
	}
	return n.Viewed()
}

// Restores reports whether n, made of x by views, is x: of the same type, with the
// same elements in the same places.
func Restores(x, n *graph.Node) bool {
	if !x.Type().Same(n.Type()) || x == n || n.Type().Kind() != shape.Tensor || !n.Type().Ranked() {
		return false
	}
	for i := range n.Type().Rank() {
		if n.Type().Dim(i).IsUnknown() {
			return false // two sizes that are not known may differ
		}
	}
	at, ok := View(x, n)
	return ok && at.IsInOrder()
}

// Sharing answers whether one value may take the place of another that has the same
// elements, but may have memory of its own.
type Sharing struct{ effects *graph.Effects }

// NewSharing looks at what the graph writes.
func NewSharing(g *graph.Graph) Sharing { return Sharing{graph.EffectsOf(g)} }

// Refuse says why by must not take the place of old: memory of one of them is written,
// or old is a result that shares memory with no input, parameter or other result, and
// by does.
func (s Sharing) Refuse(old, by *graph.Node) string {
	if why := s.Written(old, by); why != "" {
		return why
	}
	from, to := old.Memory(), by.Memory()
	if from != to && result(from) && (!to.Opcode().IsCall() || result(to)) {
		return "it is a result, which shares no memory with " + to.String()
	}
	return ""
}

// Written says whose memory the graph writes: reads of it are not moved, and a copy of
// it keeps what it was.
func (s Sharing) Written(nodes ...*graph.Node) string {
	for _, n := range nodes {
		if !s.effects.Overwritten(n) {
			continue
		}
		if n = n.Memory(); n.Opcode() == graph.GetAttr {
			return "parameter " + n.Target() + " is written by the graph, and a copy of it keeps what it was"
		}
		return n.String() + " may be memory that the graph writes, and a copy of it keeps what it was"
	}
	return ""
}

// result reports whether n, or a view of it, is a result of its graph.
func result(n *graph.Node) bool {
	for u := range n.Users() {
		if u.Opcode() == graph.Output || u.Memory() != u && result(u) {
			return true
		}
	}
	return false
}

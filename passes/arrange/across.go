package arrange

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// maxDepth and maxCalls bound the elementwise calls that a view is taken across.
const (
	maxDepth = 8
	maxCalls = 32
)

// across takes n, a view, before the elementwise calls that it is a view of, where it
// undoes a view there.
func (m *mover) across(n *graph.Node) error {
	x := operand(n)
	if n.NumArgs() != 1 || !elementwise(x) {
		return nil
	}
	t := taker{c: n.Graph().Before(n), view: n, perm: permutation(x, n)}
	by, why := t.take(x, 0)
	if by != nil && t.undone > 0 && by.Type().Same(n.Type()) {
		if why = m.sharing.Written(t.sources...); why == "" {
			defer passes.SweepUnused(t.made)
			return m.replace(n, by, "taken before "+x.String()+", where it undoes another view")
		}
	}
	t.forget()
	if why != "" && t.undone > 0 {
		m.c.Refuse(n, why)
	}
	return nil
}

// elementwise reports whether x is an elementwise call of one result.
func elementwise(x *graph.Node) bool {
	o := x.Op()
	return x.Opcode().IsCall() && o != nil && o.Scalar() && x.Effect() == op.Pure && x.Type().Kind() == shape.Tensor && x.Bound() == nil
}

// taker takes a view before calls.
type taker struct {
	c      *graph.Cursor
	view   *graph.Node
	perm   []int // how the view exchanges dimensions, nil where it does anything else
	undone int   // views that it undoes
	calls  int
	// sources are what these are views of, and parameters that are viewed.
	sources []*graph.Node
	made    []*graph.Node // in order
}

// forget removes what was made.
func (t *taker) forget() {
	for _, n := range slices.Backward(t.made) {
		_ = n.Graph().Erase(n)
	}
}

func (t *taker) call(like *graph.Node, args ...*graph.Node) *graph.Node {
	n := t.c.From(like).Function(like.Op(), like.Attrs(), args...)
	t.made = append(t.made, n)
	return n
}

// exchange exchanges the dimensions of a as the view does those of what it is a view of. A
// reshape that only moves dimensions of size 1 names sizes, which are not those of a.
func (t *taker) exchange(a *graph.Node) *graph.Node {
	step, err := t.view.Op().Step(t.view.Attrs(), t.view.OperandTypes())
	if _, same := step.(*kernel.Permute); same && err == nil {
		return t.call(t.view, a)
	}
	n := t.c.From(t.view).Function(std.Permute, std.PermuteAttrs{Dims: op.IntList(t.perm...)}, a)
	t.made = append(t.made, n)
	return n
}

// take returns what the view shows of x, an elementwise call that only one user reads,
// computed without the view; nil with the reason where that gains nothing.
func (t *taker) take(x *graph.Node, depth int) (by *graph.Node, why string) {
	switch t.calls++; {
	case depth > maxDepth || t.calls > maxCalls:
		return nil, "there are too many elementwise calls between the views"
	case len(x.Graph().SymbolsOf(x)) > 0:
		return nil, x.String() + " defines a symbol"
	}
	body, err := x.Op().Expression(x.Attrs(), x.OperandTypes())
	if err != nil || slices.ContainsFunc(body.Nodes, func(n expr.Node) bool { return n.Code == kernel.OpIndex || n.Code == kernel.OpCoord }) {
		return nil, x.String() + " depends on where an element is"
	}
	args := x.Args()
	for i, a := range args {
		if a == nil {
			continue
		}
		if args[i], why = t.operand(x, a, depth); why != "" {
			return nil, why
		}
	}
	if x.NumUses() != 1 {
		return nil, x.String() + " has other users, which need it as it is"
	}
	return t.call(x, args...), ""
}

// operand returns what the view shows of a, an operand of x.
func (t *taker) operand(x, a *graph.Node, depth int) (by *graph.Node, why string) {
	if !a.Type().Ranked() || !x.Type().Ranked() || !a.Type().Dims().Equal(x.Type().Dims()) {
		return t.broadcast(x, a)
	}
	if operand(a) != nil {
		if y := t.undo(a); y != nil {
			return y, ""
		}
	}
	switch {
	case elementwise(a):
		return t.take(a, depth+1)
	case a.Opcode() == graph.GetAttr && t.perm != nil:
		t.sources = append(t.sources, a)
		return t.exchange(a), ""
	}
	return nil, a.String() + " is not a view that is undone"
}

// undo returns what a shows, where the view of a shows it again.
func (t *taker) undo(a *graph.Node) *graph.Node {
	again := t.call(t.view, a)
	for y := operand(a); y != nil; y = operand(y) {
		if simplify.Restores(y, again) {
			t.undone++
			t.sources = append(t.sources, y)
			return y
		}
	}
	return nil
}

// broadcast returns an operand that has fewer elements than x.
func (t *taker) broadcast(x, a *graph.Node) (by *graph.Node, why string) {
	if !a.Type().Ranked() {
		return nil, "the rank of " + a.String() + " is not known"
	}
	t.sources = append(t.sources, a) // read later than it was
	ones := true
	for i := range a.Type().Rank() {
		ones = ones && a.Type().Dim(i).Is(1)
	}
	switch {
	case ones && a.Type().Rank() <= t.view.Type().Rank():
		return a, ""
	case t.perm != nil && a.Type().Rank() == x.Type().Rank():
		return t.exchange(a), ""
	case t.perm != nil:
		return nil, a.String() + " has fewer dimensions than " + x.String() + ": give it all of them"
	}
	return nil, a.String() + " broadcasts, and a reshape would not do the same to it"
}

package tracer

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// KnownSize implements tensor.Symbolic.
func (t *trace) KnownSize(x *tensor.Tensor, axis int) int {
	if !t.take() {
		return 0
	}
	defer t.leave()
	n := t.node(x, "Dim")
	if n == nil {
		return 0
	}
	if v, ok := resolved(t, n.Type().Dim(axis)).Int(); ok {
		return v
	}
	if t.p.SizeOf != nil {
		if v, ok := t.p.SizeOf(n, axis); ok {
			t.specialise(n, axis, v)
			return v
		}
	}
	at := strconv.Itoa(axis)
	t.report(&diag.Error{Code: UnknownSize, Op: "dim", Node: n.Name(), Msg: "size " + at + " of " + n.String() + " (" + n.Type().String() + ") is not a known number while tracing",
		Hint: "use x.Size(" + at + "), which may stay an expression, or give the input a fixed size"})
	return 0
}

// specialise fixes a size: it is noted and guarded at entry.
func (t *trace) specialise(n *graph.Node, axis, v int) {
	g := n.Graph()
	d := n.Type().Dim(axis)
	if d.IsUnknown() {
		d = g.NewSymbol(n, axis)
	}
	if err := g.Assume(shape.Equality(d, shape.Const(v)), n); err != nil {
		t.report(&diag.Error{Code: graph.Contradiction, Op: "dim", Msg: "Tracer.SizeOf gives " + strconv.Itoa(v) + " for " + d.String() + ", which the captured graph cannot have", Err: err})
		return
	}
	what := n.String() + ".Dim(" + strconv.Itoa(axis) + ") = " + strconv.Itoa(v)
	if !t.notes[what] {
		t.notes[what] = true
		g.NoteSpecialisation(graph.Specialisation{What: what, Guard: guard.Size{Relation: shape.Equality(d, shape.Const(v))}, Pos: diag.Here()})
	}
}

// KnownDim implements tensor.Symbolic.
func (t *trace) KnownDim(d shape.Dim, what string) int {
	if !t.take() {
		return 0
	}
	defer t.leave()
	if v, ok := t.fixed(d); ok {
		return v
	}
	hint := "pass the Size itself where a size is taken, compare by Size.Equal, or give the input a fixed size"
	if what == "Size.String" {
		hint = "compare by Size.Equal, print Size.Dim() to look at it, or give the input a fixed size"
	}
	t.unknownSize(d, &diag.Error{Op: what, Msg: "the size " + d.String() + " is not a known number while tracing", Hint: hint})
	return 0
}

// EqualDims implements tensor.Symbolic. The guards so far, which every run checks at
// entry, may decide what the sizes alone do not.
func (t *trace) EqualDims(a, b shape.Dim) bool {
	if !t.take() {
		return false
	}
	defer t.leave()
	if equal, known := t.compare(a, b); known {
		return equal
	}
	if v, ok := t.fixed(a); ok {
		if w, ok := t.fixed(b); ok {
			return v == w
		}
	}
	t.unknownSize(a.Sub(b), &diag.Error{Op: "Size.Equal", Msg: "whether the sizes " + a.String() + " and " + b.String() + " are equal is not known while tracing",
		Hint: "say in the inputs' types what they are: one name for both, as in f32[N,N], or numbers"})
	return false
}

// compare is graph.CompareDims with the guards of all graphs that are being recorded.
func (t *trace) compare(a, b shape.Dim) (equal, known bool) {
	for g := range t.rec.Blocks {
		if equal, known = g.CompareDims(a, b); known {
			return equal, true
		}
	}
	return false, false
}

// resolved is a size as the guards of all graphs that are being recorded say it.
func resolved(t *trace, d shape.Dim) shape.Dim {
	for g := range t.rec.Blocks {
		d = graph.ResolveDim(g, d)
	}
	return d
}

// Guard implements tensor.Symbolic.
func (t *trace) Guard(x *tensor.Tensor, r shape.Relation) {
	if !t.take() {
		return
	}
	defer t.leave()
	var n *graph.Node
	if x != nil {
		if n = t.node(x, "guard"); n == nil {
			return
		}
	}
	if err := t.prog.cur.Graph().Assume(r, n); err != nil {
		t.report(&diag.Error{Code: graph.Contradiction, Op: "guard", Msg: "the captured graph relies on " + r.String() + ", which no sizes here satisfy", Err: err,
			Hint: "capture it again for these sizes, or with symbolic ones"})
	}
}

// unknownSize reports the use of a size as a number. A size that is not even an
// expression comes from a value whose own mistake was reported, if there is one.
func (t *trace) unknownSize(d shape.Dim, e *diag.Error) {
	if d.IsUnknown() && t.errs.Err() != nil {
		return
	}
	e.Code = UnknownSize
	t.report(e)
}

// fixed evaluates a size by Tracer.SizeOf, which gives the sizes that its symbols
// stand for; these are specialised.
func (t *trace) fixed(d shape.Dim) (int, bool) {
	d = resolved(t, d)
	if n, known := d.Int(); known {
		return n, true
	}
	if t.p.SizeOf == nil || d.IsUnknown() {
		return 0, false
	}
	type choice struct {
		s graph.Symbol
		v int
	}
	var all []choice
	r := d.Bind(func(name string) shape.Dim {
		s, ok := t.symbol(name)
		if !ok {
			return shape.Unknown
		}
		v, ok := t.p.SizeOf(s.Node, s.Axis)
		if !ok {
			return shape.Unknown
		}
		all = append(all, choice{s, v})
		return shape.Const(v)
	})
	n, known := r.Int()
	if known {
		for _, c := range all {
			t.specialise(c.s.Node, c.s.Axis, c.v)
		}
	}
	return n, known
}

// symbol looks a symbol up in the current graph and those around it.
func (t *trace) symbol(name string) (graph.Symbol, bool) {
	for g := range t.rec.Blocks {
		if s, ok := g.Symbol(name); ok {
			return s, true
		}
	}
	return graph.Symbol{}, false
}

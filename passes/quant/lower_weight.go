package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// narrow are the operators that take x in floats and read a weight of 8 or 4 bits as it
// is stored, a row for each channel.
type narrow struct{ eight, four *op.Op }

// weightOnly makes a linear layer, a product or a lookup of which the weight alone is
// quantised the operator that reads it as it is stored; done is false for other calls.
func (l *lowerer) weightOnly(n *graph.Node) (done bool, err error) {
	var to narrow
	var w *graph.Node
	switch n.Op() {
	case std.Linear:
		to, w = narrow{std.Int8Linear, std.Int4Linear}, n.Arg(1)
	case std.Matmul:
		if a := exchanged(n.Arg(1)); a != nil && n.Arg(0).Type().Rank() > 0 {
			to, w = narrow{std.Int8Linear, std.Int4Linear}, a.Arg(0)
		}
	case std.Embedding:
		to, w = narrow{four: std.Int4Embedding}, n.Arg(1) // of 8 bits there is a rule
	}
	if w == nil {
		return false, nil
	}
	in, o, attrs := []*graph.Node{n.Arg(0)}, to.eight, any(nil)
	if f, ok := asFourBits(w); ok {
		if f.group%32 != 0 {
			l.c.Refuse(n, "groups of 4-bit weights are no multiple of 32")
			return true, nil
		}
		in, o, attrs = append(in, f.bytes, f.scale, f.zero), to.four, std.Int4LinearAttrs{Group: f.group}
	} else if q, ok := byRows(w); ok && o != nil && n.Arg(0).Op() != std.Dequantize {
		in = append(in, q.q, q.scale, q.zero)
	} else {
		return false, nil
	}
	for _, b := range in[1:] {
		if b != nil && l.written[passes.Memory(b)] {
			l.c.Refuse(n, "the graph writes "+b.String()+", which its weight is made of")
			return true, nil
		}
	}
	end := n
	if n.Op() != std.Embedding {
		var bias *graph.Node
		if end, bias = l.bias(n); bias != nil {
			in = append(in, bias)
		}
	}
	for in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	by := end.Graph().Before(end).From(n).Function(o, attrs, in...)
	return true, l.replace(end, by, "a weight of fewer bits")
}

// rightOperand reports whether a call exchanges the axes of a weight for products in
// floats alone, which read the weight as it is stored.
func rightOperand(n *graph.Node) bool {
	if exchanged(n) == nil || n.NumUses() == 0 {
		return false
	}
	if _, ok := byRows(n.Arg(0)); !ok {
		return false
	}
	for u := range n.Users() {
		if u.Op() != std.Matmul || u.Arg(0) == n || u.Arg(0).Op() == std.Dequantize {
			return false
		}
	}
	return true
}

// byRows returns a matrix of 8 bits with one scale, or one for each row.
func byRows(w *graph.Node) (q quantity, ok bool) {
	if q, ok = quantised(w); !ok || q.q.Type().Rank() != 2 || q.scale.Type().DType() != array.F32 {
		return q, false
	}
	if d := q.q.Type().DType(); d != array.U8 && d != array.I8 {
		return q, false
	}
	if one(q.scale) && one(q.zero) {
		return q, true
	}
	axis, err := op.Axis(q.call.Attrs().(std.DequantizeAttrs).Axis, 2)
	return q, err == nil && axis == 0
}

// bias returns the bias of a linear layer, or the vector that is added to a product
// without one, and the call that ends with it.
func (l *lowerer) bias(n *graph.Node) (end, bias *graph.Node) {
	if n.NumArgs() > 2 && n.Arg(2) != nil {
		return n, n.Arg(2)
	}
	u := user(n)
	if u == nil || u.Op() != std.Add || u.NumArgs() != 2 || u.Arg(1) == nil || !u.Op().Codec().Equal(u.Attrs(), std.AddAttrs{}) {
		return n, nil
	}
	b := u.Arg(0)
	if b == n {
		b = u.Arg(1)
	}
	if t := b.Type(); b == n || t.DType() != array.F32 || t.Rank() != 1 || t.Dim(0) != n.Type().Dim(-1) || l.written[passes.Memory(n.Arg(0))] {
		return n, nil
	}
	return u, b
}

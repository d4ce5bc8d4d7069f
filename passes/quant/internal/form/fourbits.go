package form

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// WriteFourBits writes what a weight of 4 bits, [n, k] in groups along its rows, is in
// floats: both halves of each byte next to each other, scaled group by group.
func WriteFourBits(c *graph.Cursor, n, k, group int, bytes, scale, zero *graph.Node) *graph.Node {
	groups := n * (k / group)
	flat := func(x *graph.Node, dims ...int) *graph.Node {
		return c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(dims...)}, x)
	}
	column := func(x *graph.Node) *graph.Node { return c.Function(std.Unsqueeze, std.DimAttrs{Dim: -1}, x) }
	low := c.Function(std.BitwiseAnd, std.BinaryAttrs{Other: op.Int(15)}, bytes)
	high := c.Function(std.BitwiseRightShift, std.ReversibleAttrs{Other: op.Int(4)}, bytes)
	both := c.Function(std.Cat, std.DimAttrs{Dim: -1}, column(low), column(high))
	floats := c.Function(std.Dequantize, std.DequantizeAttrs{}, flat(both, groups, group), flat(scale, groups), flat(zero, groups))
	return flat(floats, n, k)
}

// FourBits are the operands of WriteFourBits.
type FourBits struct {
	Bytes, Scale, Zero *graph.Node
	Group              int
}

// ReadFourBits recognises what WriteFourBits writes.
func ReadFourBits(w *graph.Node) (f FourBits, ok bool) {
	ok = true
	take := func(n *graph.Node, o *op.Op, arg int) *graph.Node {
		if !ok || n == nil || n.Op() != o || n.NumArgs() <= arg {
			ok = false
			return nil
		}
		return n.Arg(arg)
	}
	floats := take(w, std.Reshape, 0)
	both := take(take(floats, std.Dequantize, 0), std.Reshape, 0)
	low, high := take(both, std.Cat, 0), take(both, std.Cat, 1)
	low, high = take(low, std.Unsqueeze, 0), take(high, std.Unsqueeze, 0)
	f.Bytes = take(low, std.BitwiseAnd, 0)
	f.Scale = take(take(floats, std.Dequantize, 1), std.Reshape, 0)
	f.Zero = take(take(floats, std.Dequantize, 2), std.Reshape, 0)
	if !ok || take(high, std.BitwiseRightShift, 0) != f.Bytes || w.Type().Rank() != 2 {
		return f, false
	}
	n, k, known := sizes(w.Type())
	_, f.Group, ok = sizes(floats.Type())
	if !known || !ok || f.Group == 0 || k%f.Group != 0 {
		return f, false
	}
	// The attributes are those that are written for these sizes, and nothing else.
	trial := graph.New("")
	c := trial.At()
	in := [3]*graph.Node{}
	for i, x := range []*graph.Node{f.Bytes, f.Scale, f.Zero} {
		in[i] = c.Placeholder("x", x.Type(), nil)
		c.OnError = func(error) { ok = false }
	}
	want := WriteFourBits(c, n, k, f.Group, in[0], in[1], in[2])
	return f, ok && alike(w, want)
}

// sizes returns the sizes of a matrix that are known.
func sizes(t shape.Type) (rows, columns int, known bool) {
	if t.Rank() != 2 {
		return 0, 0, false
	}
	rows, a := t.Dim(0).Int()
	columns, b := t.Dim(1).Int()
	return rows, columns, a && b
}

// alike compares calls, down to what the second one takes as input.
func alike(n, want *graph.Node) bool {
	if want.Opcode() == graph.Placeholder {
		return true
	}
	if n.Op() != want.Op() || !n.Op().Codec().Equal(n.Attrs(), want.Attrs()) || n.NumArgs() != want.NumArgs() {
		return false
	}
	for i := range n.NumArgs() {
		if (n.Arg(i) == nil) != (want.Arg(i) == nil) || n.Arg(i) != nil && !alike(n.Arg(i), want.Arg(i)) {
			return false
		}
	}
	return true
}

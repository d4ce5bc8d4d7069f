package integer

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
)

// product is the integer form of a product.
type product struct {
	to *op.Op
	// channel is the axis of the weight that scales may go along.
	channel int
	// attrs are those of the integer form, from those of the product.
	attrs func(a any, out std.QLinearAttrs) any
	// rank is the rank that x must have, 0 for any.
	rank int
}

// products are the products that have one.
var products = map[*op.Op]product{
	std.Linear: {to: std.QLinear, attrs: plainProduct},
	std.Matmul: {to: std.QMatmul, channel: -1, attrs: plainProduct},
	std.Conv1d: {to: std.QConv1d, attrs: convolution, rank: 3},
	std.Conv2d: {to: std.QConv2d, attrs: convolution, rank: 4},
	std.Conv3d: {to: std.QConv3d, attrs: convolution, rank: 5},
}

func plainProduct(_ any, out std.QLinearAttrs) any { return out }

func convolution(a any, out std.QLinearAttrs) any {
	c := a.(std.ConvAttrs)
	return std.QConvAttrs{Stride: c.Stride, Padding: c.Padding, Dilation: c.Dilation, Groups: c.Groups, PadMode: c.PadMode,
		DType: out.DType, ReLU: out.ReLU, Max: out.Max}
}

// Operands of the integer forms.
const (
	yScale   = 6
	bias     = 8
	table    = 9
	residual = 10
)

// product lowers a product of dequantised operands, with its ending where there is
// one; else its result stays in float.
func (l *lowerer) product(n *graph.Node, p product) error {
	x, w, why := p.operands(n)
	if why != "" {
		l.c.Refuse(n, why)
		return nil
	}
	e := l.follow(n, true)
	in := []*graph.Node{x.q, x.scale, x.zero, w.q, w.scale, w.zero, nil, nil, nil, nil, nil, nil, nil}
	end, out := n, std.QLinearAttrs{DType: array.F32}
	if e.quantize != nil {
		c := e.quantize.Graph().Before(e.quantize).From(n)
		b, why := l.integerBias(c, n, x, w)
		if why == "" {
			end = e.quantize
			out = std.QLinearAttrs{DType: end.Type().DType(), ReLU: e.relu, Max: e.max}
			in[yScale], in[yScale+1] = params(end)
			in[bias] = b
			in[residual], in[residual+1], in[residual+2] = e.residual.q, e.residual.scale, e.residual.zero
		} else {
			l.c.Refuse(e.quantize, "the result of "+n.String()+" is quantised apart: "+why)
		}
	}
	if end == n {
		if in[bias], why = l.floatBias(n, x, w); why != "" {
			l.c.Refuse(n, why)
			return nil
		}
	}
	for in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	q := end.Graph().Before(end).From(n).Function(p.to, p.attrs(n.Attrs(), out), in...)
	return l.replace(end, q, n.Op().Name+" of quantised values")
}

// operands returns the operands of a product, and why it has no integer form.
func (p product) operands(n *graph.Node) (x, w quantity, why string) {
	x, ok := quantised(n.Arg(0))
	if !ok {
		return x, w, "x, " + n.Arg(0).String() + ", is not quantised"
	}
	if w, ok = quantised(n.Arg(1)); !ok {
		return x, w, "the weight, " + n.Arg(1).String() + ", is not quantised"
	}
	if why := notWhole("x", x); why != "" {
		return x, w, why
	}
	if d := w.q.Type().DType(); d != array.U8 && d != array.I8 {
		return x, w, "the weight is dequantised from " + d.String() + ", expected u8 or i8"
	}
	if d := w.call.Type().DType(); d != array.F32 {
		return x, w, "the weight is dequantised to " + d.String() + ", expected f32"
	}
	xr, wr := x.q.Type(), w.q.Type()
	switch {
	case !xr.Ranked() || !wr.Ranked():
		return x, w, "ranks are not known"
	case p.rank > 0 && xr.Rank() != p.rank:
		return x, w, "x is a single image without a batch"
	case p.channel < 0 && (xr.Rank() < 2 || wr.Rank() < 2):
		return x, w, "an operand is a vector"
	}
	if !one(w.scale) || !one(w.zero) {
		axis, err := op.Axis(w.call.Attrs().(std.DequantizeAttrs).Axis, wr.Rank())
		if want := (p.channel + wr.Rank()) % wr.Rank(); err != nil || axis != want {
			return x, w, "scales of the weight do not go along its channels"
		}
	}
	return x, w, ""
}

// exactBias returns an i32 bias in units of x's times the weight's scale, where the
// product has one that is dequantised by that; done tells that there is no other bias.
func (l *lowerer) exactBias(n *graph.Node, x, w quantity) (b *graph.Node, done bool) {
	if n.NumArgs() < 3 || n.Arg(2) == nil {
		return nil, true
	}
	v, ok := quantised(n.Arg(2))
	if !ok || v.q.Type().DType() != array.I32 || v.zero != nil || v.scale.Op() != std.Mul || v.scale.NumArgs() != 2 {
		return nil, false
	}
	a, c := v.scale.Arg(0), v.scale.Arg(1)
	if l.same(a, x.scale) && l.same(c, w.scale) || l.same(a, w.scale) && l.same(c, x.scale) {
		return v.q, true
	}
	return nil, false
}

// floatBias is the bias of a product whose result stays in float.
func (l *lowerer) floatBias(n *graph.Node, x, w quantity) (b *graph.Node, why string) {
	if b, done := l.exactBias(n, x, w); done {
		return b, ""
	}
	if d := n.Arg(2).Type().DType(); d != array.F32 {
		return nil, "the bias is " + d.String() + ", expected f32"
	}
	return n.Arg(2), ""
}

// integerBias is the bias of a product whose result is quantised: one that is in i32
// already, or a parameter rounded to units of x's times the weight's scale.
func (l *lowerer) integerBias(c *graph.Cursor, n *graph.Node, x, w quantity) (b *graph.Node, why string) {
	if b, done := l.exactBias(n, x, w); done {
		return b, ""
	}
	value, why := l.value(n.Arg(2), n, 2)
	if why != "" {
		return nil, "the bias is no constant: " + why
	}
	xs, _, why := l.constants(x.call)
	if why != "" {
		return nil, "the bias needs a constant scale of x: " + why
	}
	ws, _, why := l.constants(w.call)
	if why != "" {
		return nil, "the bias needs constant scales of the weight: " + why
	}
	rounded := array.New(array.I32, value.Len())
	for i, unit := range units(xs, ws, value.Len()) {
		v := math.RoundToEven(array.Float64At(value, i) / unit)
		if !(math.Abs(v) < 1<<30) {
			return nil, "the bias is too large for its unit, the scale of x times that of the weight"
		}
		array.Data[int32](rounded)[i] = int32(v)
	}
	return l.store(c, "_quantized_"+n.Arg(2).Name(), rounded), ""
}

// value is the constant that operand i of n is: a parameter, or one dequantised.
func (l *lowerer) value(a, n *graph.Node, i int) (v *array.Array, why string) {
	if a.Op() != std.Dequantize {
		_, v, why = l.params.Constant(n, i)
		return v, why
	}
	in := make([]*array.Array, a.NumArgs())
	for k := range in {
		if _, in[k], why = l.params.Constant(a, k); why != "" {
			return nil, why
		}
	}
	out, err := std.Dequantize.Eval(&l.w, a.Attrs(), in)
	if err != nil {
		return nil, err.Error()
	}
	return out[0], ""
}

// units are the units of n channels, the scale of x times that of the weight in f32, as
// sums are rescaled.
func units(x, w *array.Array, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		at := 0
		if w.Len() > 1 {
			at = i
		}
		out[i] = float64(float32(array.Float64At(x, 0)) * float32(array.Float64At(w, at)))
	}
	return out
}

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
		if a := form.Exchanged(n.Arg(1)); a != nil && n.Arg(0).Type().Rank() > 0 {
			to, w = narrow{std.Int8Linear, std.Int4Linear}, a.Arg(0)
		}
	case std.Embedding:
		to, w = narrow{four: std.Int4Embedding}, n.Arg(1) // of 8 bits there is a rule
	}
	if w == nil {
		return false, nil
	}
	in, o, attrs := []*graph.Node{n.Arg(0)}, to.eight, any(nil)
	if f, ok := form.ReadFourBits(w); ok {
		if f.Group%32 != 0 {
			l.c.Refuse(n, "groups of 4-bit weights are no multiple of 32")
			return true, nil
		}
		in, o, attrs = append(in, f.Bytes, f.Scale, f.Zero), to.four, std.Int4LinearAttrs{Group: f.Group}
	} else if q, ok := byRows(w); ok && o != nil && n.Arg(0).Op() != std.Dequantize {
		in = append(in, q.q, q.scale, q.zero)
	} else {
		return false, nil
	}
	for _, b := range in[1:] {
		if b != nil && l.effects.Overwritten(b) {
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
	if form.Exchanged(n) == nil || n.NumUses() == 0 {
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
	if t := b.Type(); b == n || t.DType() != array.F32 || t.Rank() != 1 || t.Dim(0) != n.Type().Dim(-1) || l.effects.Overwritten(n.Arg(0)) {
		return n, nil
	}
	return u, b
}

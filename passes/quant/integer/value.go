package integer

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// whole returns operand i of a call with one scale; it refuses the call otherwise.
func (l *lowerer) whole(n *graph.Node, i int, name string) (v quantity, ok bool) {
	v, ok = quantised(n.Arg(i))
	why := name + " is not quantised"
	if ok {
		why = notWhole(name, v)
	}
	if why != "" {
		l.c.Refuse(n, why)
	}
	return v, why == ""
}

// ended returns the ending of a call; it refuses the call without one, or one with an
// activation that the integer form does not have.
func (l *lowerer) ended(n *graph.Node, relu bool) (e ending, ok bool) {
	e = l.follow(n, false)
	switch {
	case e.quantize == nil:
		l.c.Refuse(n, "its result is not quantised")
	case e.max > 0 || e.relu && !relu:
		l.c.Refuse(n, "what limits its result has no integer form with it")
	default:
		return e, true
	}
	return e, false
}

// pair lowers an addition or a multiplication.
func (l *lowerer) pair(n *graph.Node, to *op.Op) error {
	if n.NumArgs() != 2 || n.Arg(1) == nil || !n.Op().Codec().Equal(n.Attrs(), n.Op().Codec().Zero()) {
		return l.function(n) // with a number
	}
	a, ok := l.whole(n, 0, "the first operand")
	if !ok {
		return nil
	}
	b, ok := l.whole(n, 1, "the second operand")
	if !ok {
		return nil
	}
	e, ok := l.ended(n, true)
	if !ok {
		return nil
	}
	q := e.quantize
	if d := q.Type().DType(); a.q.Type().DType() != d || b.q.Type().DType() != d {
		l.c.Refuse(n, "the operands and the result are not of one type")
		return nil
	}
	scale, zero := params(q)
	by := q.Graph().Before(q).From(n).Function(to, std.QPairAttrs{ReLU: e.relu}, a.q, a.scale, a.zero, b.q, b.scale, b.zero, scale, zero)
	return l.replace(q, by, n.Op().Name+" of quantised values")
}

// maxPool takes maxima before they are dequantised.
func (l *lowerer) maxPool(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	a := n.Attrs().(std.MaxPoolAttrs)
	spatial := spatialOf(n.Op(), std.MaxPool1d, std.MaxPool2d, std.MaxPool3d)
	scale, _, why := l.constants(x.call)
	switch {
	case x.q.Type().Rank() != spatial+2:
		why = "x is a single image without a batch"
	case why == "" && !(array.Float64At(scale, 0) > 0):
		why = "the scale is not positive"
	case why == "" && a.Dilation.Len() > 0 && a.Padding.Len() > 0:
		why = "dilated windows may lie in the padding"
	}
	if why != "" {
		l.c.Refuse(n, why)
		return nil
	}
	kernel, _ := a.KernelSize.Or(spatial, 1)
	a.KernelSize = op.IntList(kernel...)
	c := n.Graph().Before(n)
	return l.moved(n, x, c.Function(std.QMaxPool, a, x.q))
}

// spatialOf is 1 + the place of an operator in a list.
func spatialOf(o *op.Op, list ...*op.Op) int {
	for i, p := range list {
		if o == p {
			return i + 1
		}
	}
	return 0
}

// moved puts the dequantised y, quantised as x is, in the place of a call.
func (l *lowerer) moved(n *graph.Node, x quantity, y *graph.Node) error {
	d := n.Graph().Before(n).Function(std.Dequantize, nil, dequantizeArgs(y, x)...)
	return l.replace(n, d, n.Op().Name+" of quantised values")
}

// dropout leaves out what does nothing outside of training.
func (l *lowerer) dropout(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	if n.Attrs().(std.DropoutAttrs).Training {
		l.c.Refuse(n, "it is in training mode")
		return nil
	}
	return l.replace(n, x.call, "dropout does nothing outside of training")
}

func dequantizeArgs(q *graph.Node, like quantity) []*graph.Node {
	if like.zero == nil {
		return []*graph.Node{q, like.scale}
	}
	return []*graph.Node{q, like.scale, like.zero}
}

// view lays a view over a quantised value instead of over what it stands for.
func (l *lowerer) view(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	if n.Type().Kind() != shape.Tensor {
		l.c.Refuse(n, "it has several results")
		return nil
	}
	args := n.Args()
	args[0] = x.q
	return l.moved(n, x, n.Graph().Before(n).Function(n.Op(), n.Attrs(), args...))
}

// avgPool takes means of windows, or of all that there is.
func (l *lowerer) avgPool(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	a, why := windows(n, x.q.Type())
	q := l.pooled(n, x.q, why)
	if q == nil {
		return nil
	}
	scale, zero := params(q)
	by := q.Graph().Before(q).From(n).Function(std.QAvgPool, a, x.q, x.scale, x.zero, scale, zero)
	return l.replace(q, by, n.Op().Name+" of quantised values")
}

// pooled returns the quantize after what takes means of x, nil where why or the types
// refuse an integer form.
func (l *lowerer) pooled(n, x *graph.Node, why string) *graph.Node {
	if why != "" {
		l.c.Refuse(n, why)
		return nil
	}
	e, ok := l.ended(n, false)
	if !ok {
		return nil
	}
	if x.Type().DType() != e.quantize.Type().DType() {
		l.c.Refuse(n, "the operand and the result are not of one type")
		return nil
	}
	return e.quantize
}

// windows are the attributes of the integer form of a pool, and why it has none.
func windows(n *graph.Node, x shape.Type) (to std.QAvgPoolAttrs, why string) {
	switch a := n.Attrs().(type) {
	case std.AvgPoolAttrs:
		spatial := spatialOf(n.Op(), std.AvgPool1d, std.AvgPool2d, std.AvgPool3d)
		if x.Rank() != spatial+2 {
			return to, "x is a single image without a batch"
		}
		if a.DivisorOverride != 0 {
			return to, "it has a divisor of its own"
		}
		kernel, _ := a.KernelSize.Or(spatial, 1)
		return std.QAvgPoolAttrs{KernelSize: op.IntList(kernel...), Stride: a.Stride, Padding: a.Padding, CeilMode: a.CeilMode, CountExcludePad: a.CountExcludePad}, ""
	case std.AdaptivePoolAttrs:
		spatial := spatialOf(n.Op(), std.AdaptiveAvgPool1d, std.AdaptiveAvgPool2d, std.AdaptiveAvgPool3d)
		if x.Rank() != spatial+2 {
			return to, "x is a single image without a batch"
		}
		var kernel []int
		for i := range spatial {
			in, known := x.Dim(2 + i).Int()
			if out, _ := n.Type().Dim(2 + i).Int(); !known || out < 1 || in%out != 0 {
				return to, "its windows are not of one size, or the size is not known"
			} else {
				kernel = append(kernel, in/out)
			}
		}
		return std.QAvgPoolAttrs{KernelSize: op.IntList(kernel...)}, ""
	}
	return to, "it is no pool"
}

// cat joins quantised values: as they are where they are quantised alike, else as the
// result is.
func (l *lowerer) cat(n *graph.Node) error {
	var all []quantity
	alike := true
	for i := range n.NumArgs() {
		v, ok := l.whole(n, i, "an operand")
		if !ok {
			return nil
		}
		all = append(all, v)
		alike = alike && l.same(v.scale, all[0].scale) && l.same(v.zero, all[0].zero) && v.q.Type().DType() == all[0].q.Type().DType()
	}
	if alike {
		var in []*graph.Node
		for _, v := range all {
			in = append(in, v.q)
		}
		return l.moved(n, all[0], n.Graph().Before(n).Function(std.Cat, n.Attrs(), in...))
	}
	e, ok := l.ended(n, false)
	if !ok {
		return nil
	}
	q := e.quantize
	c := q.Graph().Before(q).From(n)
	in := []*graph.Node{q.Arg(1), l.zeroOf(c, q, q.Arg(2))}
	for _, v := range all {
		if v.q.Type().DType() != q.Type().DType() {
			l.c.Refuse(n, "the operands and the result are not of one type")
			return nil
		}
		in = append(in, v.q, v.scale, l.zeroOf(c, v.q, v.zero))
	}
	return l.replace(q, c.Function(std.QConcat, n.Attrs(), in...), "cat of quantised values")
}

// zeroOf is a zero point, that of absent ones of q's type too.
func (l *lowerer) zeroOf(c *graph.Cursor, q, zero *graph.Node) *graph.Node {
	if zero != nil {
		return zero
	}
	return l.store(c, "_zero", array.New(q.Type().DType()))
}

// embedding takes rows of a quantised weight.
func (l *lowerer) embedding(n *graph.Node) error {
	w, ok := quantised(n.Arg(1))
	why := ""
	switch d := w.q; {
	case !ok:
		why = "the weight is not quantised"
	case d.Type().DType() != array.U8 && d.Type().DType() != array.I8:
		why = "the weight is dequantised from " + d.Type().DType().String() + ", expected u8 or i8"
	case w.call.Type().DType() != array.F32:
		why = "the weight is dequantised to " + w.call.Type().DType().String() + ", expected f32"
	case !one(w.scale) || !one(w.zero):
		if axis, err := op.Axis(w.call.Attrs().(std.DequantizeAttrs).Axis, 2); err != nil || axis != 0 {
			why = "scales of the weight do not go along its rows"
		}
	}
	if why != "" {
		l.c.Refuse(n, why)
		return nil
	}
	in := []*graph.Node{n.Arg(0), w.q, w.scale}
	if w.zero != nil {
		in = append(in, w.zero)
	}
	return l.replace(n, n.Graph().Before(n).Function(std.QEmbedding, nil, in...), "rows of a quantised weight")
}

// function makes a table of elementwise calls of one operand, of which the first is n,
// up to the quantize that ends them.
func (l *lowerer) function(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	var calls []*graph.Node
	at := n
	for at != nil && at.Op() != std.Quantize {
		if !alone(at) {
			why := "its result goes to " + at.String() + ", expected quantize or a function of one element"
			if at == n {
				why = "it computes from more than one quantised element, and has no form on quantised values"
			}
			l.c.Refuse(n, why)
			return nil
		}
		calls = append(calls, at)
		at = user(at)
	}
	if at == nil || !makesBytes(at) {
		l.c.Refuse(n, "its result is not quantised to 8 bits, is used in float too, or has a scale for each index of an axis")
		return nil
	}
	entries, why := l.table(x, calls, at)
	if why != "" {
		l.c.Refuse(n, why)
		return nil
	}
	if identity(entries, x.q.Type().DType()) {
		return l.replace(at, x.q, "quantised again as it was")
	}
	c := at.Graph().Before(at).From(n)
	if by := l.fuse(c, x, entries); by != nil {
		return l.replace(at, by, n.Op().Name+" as the table of a product")
	}
	return l.replace(at, c.Function(std.QTable, nil, x.q, l.store(c, "_table_"+n.Name(), entries)), n.Op().Name+" as a table")
}

// alone reports whether a call is elementwise with one operand.
func alone(n *graph.Node) bool {
	o := n.Op()
	if !elementwise(o) || o.Effect != op.Pure || n.NumArgs() == 0 || n.Arg(0) == nil || n.Type().Kind() != shape.Tensor {
		return false
	}
	for i := 1; i < n.NumArgs(); i++ {
		if n.Arg(i) != nil {
			return false
		}
	}
	symbols := false
	o.Codec().Symbols(n.Attrs(), func(shape.Dim) { symbols = true })
	return !symbols && n.Type().Dims().Same(n.Arg(0).Type().Dims())
}

// elementwise reports whether an operator computes each element on its own.
func elementwise(o *op.Op) bool {
	return o != nil && (o.Scalar() || o.Composite() && o.Class == op.Elementwise)
}

// table computes what becomes of each of the 256 values that x may hold.
func (l *lowerer) table(x quantity, calls []*graph.Node, q *graph.Node) (*array.Array, string) {
	v := array.New(x.q.Type().DType(), 256)
	for i := range 256 {
		array.Bytes(v)[i] = byte(i)
	}
	scale, zero, why := l.constants(x.call)
	if why != "" {
		return nil, why
	}
	to, toZero, why := l.constants(q)
	if why != "" {
		return nil, why
	}
	eval := func(o *op.Op, attrs any, in ...*array.Array) {
		if why != "" {
			return
		}
		out, err := o.Eval(&l.w, attrs, in)
		if err != nil {
			why = err.Error()
			return
		}
		v = out[0]
	}
	eval(std.Dequantize, nil, v, scale, zero)
	for _, n := range calls {
		eval(n.Op(), n.Attrs(), v)
	}
	// The axis is that of q's operand, which has another rank; with one scale it says nothing.
	eval(std.Quantize, std.QuantizeAttrs{DType: q.Type().DType()}, v, to, toZero)
	return v, why
}

// identity reports whether a table leaves values of type d as they are.
func identity(table *array.Array, d array.DType) bool {
	if table.DType() != d {
		return false
	}
	for i, b := range array.Bytes(table) {
		if int(b) != i {
			return false
		}
	}
	return true
}

// fuse gives a product, whose result nothing else reads, the table that follows it;
// nil where that cannot be.
func (l *lowerer) fuse(c *graph.Cursor, x quantity, entries *array.Array) *graph.Node {
	made := false
	for _, p := range products {
		made = made || p.to == x.q.Op()
	}
	if !made || x.q.NumUses() != 1 || x.call.NumUses() != 1 || x.q.Type().DType() != entries.DType() || x.q.NumArgs() > table && x.q.Arg(table) != nil {
		return nil
	}
	for a := range x.q.Inputs() {
		if l.effects.Overwritten(a) {
			return nil
		}
	}
	in := make([]*graph.Node, max(table+1, x.q.NumArgs()))
	copy(in, x.q.Args())
	in[table] = l.store(c, "_table_"+x.q.Name(), entries)
	return c.From(x.q).Function(x.q.Op(), x.q.Attrs(), in...)
}

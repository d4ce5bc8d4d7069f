package exporter

import (
	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// exportQuant are quantisation, and the products of integers. The other operators on quantised
// values are written as their equivalent: dequantize, the operator on floats, quantize.
var exportQuant = map[*op.Op][]exportRule{
	std.Quantize: by(func(c *exportCall, a std.QuantizeAttrs) op.Value {
		d := c.typ.DType()
		quantNeeds(c, d, c.dtype(1))
		zero := c.opt(2)
		attrs := []*pb.Attr{attrInt("axis", axisOf(a.Axis, max(c.rank(0), 1)))}
		if a.Unsaturated {
			attrs = append(attrs, attrInt("saturate", 0))
		}
		switch {
		case zero == nil && d.IsNarrow():
			c.needs(21)
			attrs = append(attrs, attrInt("output_dtype", int(elemOf(d))))
		case zero == nil && d != array.U8:
			zero = c.do(std.Zeros, std.SizeAttrs{Size: c.in[1].Type().Dims(), DType: d})
		}
		scale, zero := c.alike(c.in[1], zero)
		return c.node("QuantizeLinear", []op.Value{c.in[0], scale, zero}, attrs...)
	}),
	std.Dequantize: by(func(c *exportCall, a std.DequantizeAttrs) op.Value {
		quantNeeds(c, c.dtype(0), c.dtype(1))
		scale, zero := c.alike(c.in[1], c.opt(2))
		return c.node("DequantizeLinear", []op.Value{c.in[0], scale, zero}, attrInt("axis", axisOf(a.Axis, max(c.rank(0), 1))))
	}),
	std.DynamicQuantize: by(func(c *exportCall, _ op.None) op.Value {
		types := []shape.Type{c.typ.Member(0), c.typ.Member(1), c.typ.Member(2)}
		outs := c.w.emitAll("DynamicQuantizeLinear", types, c.in)
		return c.tuple(outs[0], outs[1], outs[2])
	}),
	std.QMatmul: by(func(c *exportCall, a std.QLinearAttrs) op.Value {
		if !integers(c, a.DType) {
			decline("it is no product of integers")
		}
		return c.node("MatMulInteger", []op.Value{c.in[0], c.in[3], c.opt(2), c.opt(5)})
	}),
	std.QConv1d: by(integerConv), std.QConv2d: by(integerConv), std.QConv3d: by(integerConv),
}

// alike gives a scale and a zero point, of which one may be for all channels, one shape, as ONNX has them.
func (c *exportCall) alike(scale, zero op.Value) (s, z op.Value) {
	if zero == nil || rankOf(scale) == rankOf(zero) {
		return scale, zero
	}
	expand := func(v op.Value, as op.Value) op.Value {
		return c.do(std.Expand, std.ExpandAttrs{Shape: as.Type().Dims()}, v)
	}
	if rankOf(scale) < rankOf(zero) {
		return expand(scale, zero), zero
	}
	return scale, expand(zero, scale)
}

// quantNeeds asks for the set that has the types: the first ones had 8 bits and f32.
func quantNeeds(c *exportCall, q, scale array.DType) {
	switch {
	case q.Size() == 2:
		c.needs(21)
	case scale != array.F32:
		c.needs(19)
	}
}

// integers reports whether a product gives the sums of integers themselves.
func integers(c *exportCall, d array.DType) bool {
	if d != array.I32 {
		return false
	}
	for _, i := range []int{1, 4, 6, 7, 8, 9, 10} {
		if c.has(i) {
			return false
		}
	}
	return true
}

func integerConv(c *exportCall, a std.QConvAttrs) op.Value {
	if !integers(c, a.DType) || a.PadMode == "same" || c.rank(0) != c.rank(3) {
		decline("it is no convolution of integers")
	}
	n := c.rank(3) - 2
	pad := each(a.Padding, n, 0)
	return c.node("ConvInteger", []op.Value{c.in[0], c.in[3], c.opt(2), c.opt(5)}, attrInts("strides", each(a.Stride, n, 1)...),
		attrInts("pads", append(append([]int(nil), pad...), pad...)...), attrInts("dilations", each(a.Dilation, n, 1)...), attrInt("group", max(a.Groups, 1)))
}

// exportRecurrent are the recurrent layers, a node for each layer.
var exportRecurrent = map[*op.Op][]exportRule{
	std.Lstm: by(func(c *exportCall, a std.LstmAttrs) op.Value {
		return c.recurrent(recurrence{"LSTM", 2, []int{0, 3, 1, 2}, a.NumLayers, a.Bidirectional, a.BatchFirst, a.NoBias, ""})
	}),
	std.LstmLayer: expansion, std.LstmLayerGrad: expansion,
	std.Gru: by(func(c *exportCall, a std.GruAttrs) op.Value {
		return c.recurrent(recurrence{"GRU", 1, []int{1, 0, 2}, a.NumLayers, a.Bidirectional, a.BatchFirst, a.NoBias, ""})
	}),
	std.Rnn: by(func(c *exportCall, a std.RnnAttrs) op.Value {
		name := "Tanh"
		if a.Nonlinearity == "relu" {
			name = "Relu"
		}
		return c.recurrent(recurrence{"RNN", 1, []int{0}, a.NumLayers, a.Bidirectional, a.BatchFirst, a.NoBias, name})
	}),
}

// recurrence is the common part of the recurrent operators: order has for each of ONNX's
// gates its index among ours.
type recurrence struct {
	name       string
	states     int
	order      []int
	layers     int
	both       bool
	batchFirst bool
	noBias     bool
	activation string
}

func (c *exportCall) recurrent(r recurrence) op.Value {
	dirs := 1
	if r.both {
		dirs = 2
	}
	x := c.in[0]
	single := c.rank(0) == 2
	batch := 1 // the axis
	switch {
	case single:
		x = c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, x)
	case r.batchFirst:
		x = c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x)
	}
	per := 4
	if r.noBias {
		per = 2
	}
	weights := c.in[1+r.states:]
	last := make([][]op.Value, r.states)
	for layer := range max(r.layers, 1) {
		w := weights[layer*dirs*per : (layer+1)*dirs*per]
		states := make([]op.Value, r.states)
		for s := range states {
			if h := c.opt(1 + s); h != nil {
				if single {
					h = c.do(std.Unsqueeze, std.DimAttrs{Dim: batch}, h)
				}
				states[s] = h
				if r.layers > 1 {
					states[s] = c.do(std.Slice, std.SliceAttrs{Start: shape.Const(layer * dirs), Stop: shape.Const((layer + 1) * dirs)}, h)
				}
			}
		}
		outs := c.layer(r, x, w, per, dirs, states)
		x = outs[0]
		for s := range last {
			last[s] = append(last[s], outs[1+s])
		}
	}
	if single {
		x = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(1)}, x)
	} else if r.batchFirst {
		x = c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x)
	}
	items := []op.Value{x}
	for _, parts := range last {
		v := parts[0]
		if len(parts) > 1 {
			v = c.do(std.Cat, std.DimAttrs{}, parts...)
		}
		if single {
			v = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(1)}, v)
		}
		items = append(items, v)
	}
	return c.tuple(items...)
}

// layer runs one layer over [T,N,I] and returns [T,N,dirs·H] and the last states.
func (c *exportCall) layer(r recurrence, x op.Value, w []op.Value, per, dirs int, states []op.Value) []op.Value {
	hidden := knownSize(w[1].Type().Dim(-1), "the size of the state")
	join := func(b op.Builder, at ...int) func(vals []op.Value) op.Value {
		return func(vals []op.Value) op.Value {
			var rows []op.Value
			for d := range dirs {
				var parts []op.Value
				for _, i := range at {
					parts = append(parts, r.gates(b, vals[d*per+i], hidden)...)
				}
				v := parts[0]
				if len(parts) > 1 {
					v = b.Call(std.Cat, std.DimAttrs{}, parts...)
				}
				rows = append(rows, v)
			}
			return b.Call(std.Stack, std.DimAttrs{}, rows...)
		}
	}
	in := []op.Value{x, prepared(c, "w", w, func(b op.Builder, v []op.Value) op.Value { return join(b, 0)(v) }),
		prepared(c, "r", w, func(b op.Builder, v []op.Value) op.Value { return join(b, 1)(v) }), nil, nil}
	if !r.noBias {
		in[3] = prepared(c, "b", w, func(b op.Builder, v []op.Value) op.Value { return join(b, 2, 3)(v) })
	}
	in = append(in, states...)
	d := x.Type().DType()
	t, n := x.Type().Dim(0), x.Type().Dim(1)
	k, h := shape.Const(dirs), shape.Const(hidden)
	types := []shape.Type{shape.TensorType(d, shape.Of(t, k, n, h))}
	for range states {
		types = append(types, shape.TensorType(d, shape.Of(k, n, h)))
	}
	attrs := r.attributes(hidden, dirs)
	outs := c.w.emitAll(r.name, types, in, attrs...)
	y := permute(c, outs[0], []int{0, 2, 1, 3})
	y = c.reshape(y, t, n, k.Mul(h))
	list := []op.Value{y}
	for _, o := range outs[1:] {
		list = append(list, o)
	}
	return list
}

// attributes are those of a node over one or both directions.
func (r recurrence) attributes(hidden, dirs int) []*pb.Attr {
	direction := "forward"
	if dirs == 2 {
		direction = "bidirectional"
	}
	attrs := []*pb.Attr{attrInt("hidden_size", hidden), attrText("direction", direction)}
	switch {
	case r.activation != "":
		a := &pb.Attr{Name: "activations", Type: pb.AttrStrings}
		for range dirs {
			a.Strings = append(a.Strings, []byte(r.activation))
		}
		attrs = append(attrs, a)
	case r.name == "GRU":
		attrs = append(attrs, attrInt("linear_before_reset", 1))
	}
	return attrs
}

// gates are the parts of a weight or bias in ONNX's order.
func (r recurrence) gates(b op.Builder, w op.Value, hidden int) []op.Value {
	if len(r.order) == 1 {
		return []op.Value{w}
	}
	parts := make([]op.Value, len(r.order))
	for i, at := range r.order {
		parts[i] = b.Call(std.Slice, std.SliceAttrs{Start: shape.Const(at * hidden), Stop: shape.Const((at + 1) * hidden)}, w)
	}
	return parts
}

// prepared computes something from weights, now where all are constants.
func prepared(c *exportCall, name string, in []op.Value, f func(b op.Builder, in []op.Value) op.Value) op.Value {
	known := make([]op.Value, len(in))
	for i, v := range in {
		a := v.(*exported).arr
		if a == nil {
			return f(c.w, in)
		}
		known[i] = spec.Constants{A: []*array.Array{a}}
	}
	out := f(&spec.Folder{Workspace: c.w.x.workspace, Unlimited: true}, known).(spec.Constants)
	return c.array(name, out.A[0])
}

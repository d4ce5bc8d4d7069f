package integer

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// convTranspose makes a transposed convolution of stride s one that is not: each of the
// s·s places of a result within its stride is a channel, with every s-th tap of the
// kernel, and a permutation brings the places together. What padding takes away is cut
// off. Sums are those of the operator.
func (l *lowerer) convTranspose(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	s, why := phases(n, x.q.Type())
	var own *phased
	if why == "" {
		own, why = l.phased(n, s)
	}
	if why != "" {
		l.c.Refuse(n, why)
		return nil
	}
	e := l.follow(n, false)
	end := n
	if e.quantize != nil {
		end = e.quantize
	}
	c := end.Graph().Before(end).From(n)
	w := c.Function(std.Dequantize, nil, own.weight(l, c)...)
	in := []*graph.Node{x.call, w}
	if own.bias != nil {
		in = append(in, l.store(c, "_phases_"+n.Arg(2).Name(), own.bias))
	}
	conv := c.Function(std.Conv2d, std.ConvAttrs{Padding: op.IntList(s.taps[0]-1, s.taps[1]-1)}, in...)
	y := conv
	if e.quantize != nil {
		if e.relu {
			y = c.Function(std.Clamp, clampOf(e), y)
		}
		scale, zero := params(end)
		y = c.Function(std.Quantize, std.QuantizeAttrs{DType: end.Type().DType()}, y, scale, zero)
	}
	made := y
	y = s.together(c, y)
	for i := range 2 {
		if size := n.Type().Dim(2 + i); s.padding[i] > 0 || !size.Same(y.Type().Dim(2+i)) {
			y = c.Function(std.Slice, std.SliceAttrs{Dim: 2 + i, Start: shape.Const(s.padding[i]), Stop: size.AddInt(s.padding[i])}, y)
		}
	}
	if made.Op() == std.Quantize {
		if err := l.replace(end, y, "conv_transpose2d of quantised values"); err != nil {
			return err
		}
	} else if err := l.replace(n, y, "conv_transpose2d of quantised values"); err != nil {
		return err
	}
	return l.product(conv, products[std.Conv2d])
}

// clampOf is the activation of an ending.
func clampOf(e ending) std.ClampAttrs {
	a := std.ClampAttrs{Min: op.Float(0)}
	if e.max > 0 {
		a.Max = op.Float(e.max)
	}
	return a
}

// phasing is how a transposed convolution is one of its phases.
type phasing struct {
	stride                int
	kernel, taps, padding [2]int // taps are those of a phase
}

// together brings the phases [N,C·s·s,H,W] of a result to [N,C,H·s,W·s]: what pixel_shuffle
// is made of, for graphs that are decomposed already.
func (s phasing) together(c *graph.Cursor, y *graph.Node) *graph.Node {
	if s.stride == 1 {
		return y
	}
	d, r := y.Type().Dims(), shape.Const(s.stride)
	channels := d.At(1).FloorDivInt(s.stride * s.stride)
	y = c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(d.At(0), channels, r, r, d.At(2), d.At(3))}, y)
	y = c.Function(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 1, 4, 2, 5, 3)}, y)
	return c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(d.At(0), channels, d.At(2).Mul(r), d.At(3).Mul(r))}, y)
}

// phases says how a transposed convolution of x is one of its phases, and why it is none.
func phases(n *graph.Node, x shape.Type) (s phasing, why string) {
	a := n.Attrs().(std.ConvTransposeAttrs)
	each := func(l op.Ints, or int) []int { v, _ := l.Or(2, or); return v }
	stride, padding, more, dilation := each(a.Stride, 1), each(a.Padding, 0), each(a.OutputPadding, 0), each(a.Dilation, 1)
	switch {
	case x.Rank() != 4:
		return s, "x is a single image without a batch"
	case a.Groups > 1:
		return s, "a transposed convolution of groups has no integer form"
	case dilation[0] != 1 || dilation[1] != 1:
		return s, "a dilated transposed convolution has no integer form"
	case stride[0] != stride[1]:
		return s, "a transposed convolution has an integer form with one stride for both axes, not " + strconv.Itoa(stride[0]) + " and " + strconv.Itoa(stride[1])
	}
	s.stride = stride[0]
	w := n.Arg(1).Type()
	for i := range 2 {
		k, known := w.Dim(2 + i).Int()
		if !known || k == 0 {
			return s, "the size of the kernel is not known, or 0"
		}
		s.kernel[i], s.taps[i], s.padding[i] = k, (k+s.stride-1)/s.stride, padding[i]
		if k+more[i]-padding[i] > s.taps[i]*s.stride {
			return s, "output_padding goes beyond what the kernel reaches"
		}
	}
	return s, ""
}

// phased is the weight, with the phases of a channel after one another, and the bias.
type phased struct {
	bytes, scale, zero, bias *array.Array
	name                     string
}

// phased lays out the weight and the bias of a transposed convolution by phases.
func (l *lowerer) phased(n *graph.Node, s phasing) (p *phased, why string) {
	w, ok := quantised(n.Arg(1))
	if !ok {
		return nil, "the weight, " + n.Arg(1).String() + ", is not quantised"
	}
	if d := w.q.Type().DType(); d != array.U8 && d != array.I8 || w.call.Type().DType() != array.F32 {
		return nil, "the weight is dequantised from " + d.String() + " to " + w.call.Type().DType().String() + ", expected u8 or i8 and f32"
	}
	if axis, err := op.Axis(w.call.Attrs().(std.DequantizeAttrs).Axis, 4); err != nil || axis != 1 && (!one(w.scale) || !one(w.zero)) {
		return nil, "scales of the weight do not go along its channels"
	}
	_, value, why := l.params.Constant(w.call, 0)
	if why != "" {
		return nil, "the weight is no constant: " + why
	}
	scale, zero, why := l.constants(w.call)
	if why != "" {
		return nil, "scales of the weight are no constants: " + why
	}
	p = &phased{name: w.q.Name(), bytes: s.weight(value, zero), scale: s.repeat(scale), zero: s.repeat(zero)}
	if n.NumArgs() > 2 && n.Arg(2) != nil {
		bias, why := l.value(n.Arg(2), n, 2)
		if why != "" {
			return nil, "the bias is no constant: " + why
		}
		p.bias = s.each(bias)
	}
	return p, ""
}

// repeat gives every phase of a channel its scale or zero point; one of the whole weight
// stays one.
func (s phasing) repeat(a *array.Array) *array.Array {
	if a == nil || a.Len() == 1 {
		return a
	}
	return s.each(a)
}

// each gives every phase of a channel what the channel has.
func (s phasing) each(a *array.Array) *array.Array {
	each := s.stride * s.stride
	out := array.New(a.DType(), a.Len()*each)
	for i := range out.Len() {
		array.SetFloat64At(out, i, array.Float64At(a, i/each))
	}
	return out
}

// weight is w [Cin,Cout,kh,kw] as [Cout·s·s,Cin,taps,taps], its zero points where a
// phase has fewer taps.
func (s phasing) weight(w, zero *array.Array) *array.Array {
	in, outs, each := w.Dim(0), w.Dim(1), s.stride*s.stride
	out := array.New(w.DType(), outs*each, in, s.taps[0], s.taps[1])
	w = array.Contiguous(w)
	at := 0
	for c := range outs * each {
		row, col := c%each/s.stride, c%s.stride
		for i := range in {
			for t := range s.taps[0] * s.taps[1] {
				y := (s.taps[0]-1-t/s.taps[1])*s.stride + row
				x := (s.taps[1]-1-t%s.taps[1])*s.stride + col
				switch {
				case y < s.kernel[0] && x < s.kernel[1]:
					array.SetFloat64At(out, at, array.Float64At(w, ((i*outs+c/each)*s.kernel[0]+y)*s.kernel[1]+x))
				case zero != nil:
					array.SetFloat64At(out, at, array.Float64At(zero, min(c/each, zero.Len()-1)))
				}
				at++
			}
		}
	}
	return out
}

// weight stores the weight: the operands of its dequantize.
func (p *phased) weight(l *lowerer, c *graph.Cursor) []*graph.Node {
	in := []*graph.Node{l.store(c, "_phases_"+p.name, p.bytes), l.store(c, "_phases_"+p.name+"_scale", p.scale)}
	if p.zero != nil {
		in = append(in, l.store(c, "_phases_"+p.name+"_zero", p.zero))
	}
	return in
}

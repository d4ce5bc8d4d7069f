package expand

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// pools are the pools that also say where, and those whose windows follow from sizes.
var pools = func() simplify.Expansions {
	all := simplify.Expansions{}
	for n, o := range []*op.Op{std.MaxPool1dWithIndices, std.MaxPool2dWithIndices, std.MaxPool3dWithIndices} {
		all = merge(all, entry(o, func(c *maker, a std.MaxPoolAttrs, in []op.Value) []op.Value { return maxPool(c, n+1, a, in[0]) }))
	}
	for n, o := range []*op.Op{std.AdaptiveAvgPool1d, std.AdaptiveAvgPool2d, std.AdaptiveAvgPool3d} {
		all = merge(all, one(o, func(c *maker, _ std.AdaptivePoolAttrs, in []op.Value) op.Value { return adaptiveAvg(c, n+1, in[0]) }))
	}
	for n, o := range []*op.Op{std.AdaptiveMaxPool1d, std.AdaptiveMaxPool2d, std.AdaptiveMaxPool3d} {
		all = merge(all, one(o, func(c *maker, _ std.AdaptivePoolAttrs, in []op.Value) op.Value { return adaptiveMax(c, n+1, in[0]) }))
	}
	for n, o := range []*op.Op{std.AdaptiveMaxPool1dWithIndices, std.AdaptiveMaxPool2dWithIndices, std.AdaptiveMaxPool3dWithIndices} {
		all = merge(all, entry(o, func(c *maker, _ std.AdaptivePoolAttrs, in []op.Value) []op.Value {
			d, out := c.dims(in[0]), c.outDims(0)
			var spans []span
			for i := len(d) - n - 1; i < len(d); i++ {
				spans = append(spans, adaptive(c, d[i], out[i]))
			}
			taps, places, inside := windows(c, in[0], spans, lowest(in[0].Type().DType()))
			values, at := greatest(c, taps, places, inside, nil)
			return []op.Value{values, at}
		}))
	}
	return all
}()

func maxPool(c *maker, n int, a std.MaxPoolAttrs, x op.Value) []op.Value {
	d, out := c.dims(x), c.outDims(0)
	lead := len(d) - n
	kernel, pad, dilation := list(a.KernelSize, n, 1), list(a.Padding, n, 0), list(a.Dilation, n, 1)
	stride := kernel
	if a.Stride.Len() > 0 {
		stride = list(a.Stride, n, 1)
	}
	var spans []span
	var none op.Value // the place of the first tap that is not before the input
	for i := range n {
		s := sliding(c, d[lead+i], out[lead+i], kernel[i], stride[i], pad[i], dilation[i])
		spans = append(spans, s)
		begin := c.addN(c.mulN(c.iota(s.count), stride[i]), -pad[i])
		step := c.full(array.I64, op.Int(int64(dilation[i])))
		begin = c.where(c.compareN(std.Lt, begin, 0), c.modulo(begin, step), begin)
		at := c.mul(begin, c.number(prod(d[lead+i+1:]...)))
		none = plus(c, none, c.along(at, i, n), c.add)
	}
	taps, places, inside := windows(c, x, spans, lowest(x.Type().DType()))
	if inside == nil {
		none = nil
	}
	values, at := greatest(c, taps, places, inside, none)
	return []op.Value{values, at}
}

// adaptiveAvg averages the axes that divide at once and the others one after the other: the
// windows are boxes.
func adaptiveAvg(c *maker, n int, in op.Value) op.Value {
	x, within, size := boxes(c, c.widened(in), n)
	if within.Len() > 0 {
		x = over(c, c.sum(x, within, false), size, 0)
	}
	out := c.outDims(0)
	for i := len(out) - n; i < len(out); i++ {
		d := c.dims(x)
		if d[i].Equal(out[i]) {
			continue
		}
		s := adaptive(c, d[i], out[i])
		x = axisTaps(c, x, i, s, op.Float(0))
		count := c.cast(c.sum(s.inside, op.IntList(1), false), x.Type().DType())
		x = c.div(c.sum(x, op.IntList(i+1), false), c.along(count, i, len(out)))
	}
	return c.back(x, 0)
}

// adaptiveMax takes the greatest element likewise.
func adaptiveMax(c *maker, n int, in op.Value) op.Value {
	x, within, _ := boxes(c, in, n)
	if within.Len() > 0 {
		x = extreme(c, std.Amax, x, within, false)
	}
	out := c.outDims(0)
	for i := len(out) - n; i < len(out); i++ {
		d := c.dims(x)
		if d[i].Equal(out[i]) {
			continue
		}
		x = axisTaps(c, x, i, adaptive(c, d[i], out[i]), lowest(x.Type().DType()))
		x = extreme(c, std.Amax, x, op.IntList(i+1), false)
	}
	return x
}

// boxes gives each of the last n axes that is a whole number of windows of one size two: the
// windows, and after it the elements within one. It returns which these are, and how many
// elements a window has.
func boxes(c *maker, x op.Value, n int) (cut op.Value, within op.Ints, size shape.Dim) {
	d, out := c.dims(x), c.outDims(0)
	var sizes []shape.Dim
	var inner []int
	size = shape.Const(1)
	for i := range d {
		q, ok := d[i].DivExact(out[i])
		if i < len(d)-n || !ok || d[i].Equal(out[i]) {
			sizes = append(sizes, d[i])
			continue
		}
		sizes = append(sizes, out[i], q)
		inner = append(inner, len(sizes)-1)
		size = size.Mul(q)
	}
	return c.reshape(x, sizes...), op.IntList(inner...), size
}

package expand

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// weightGrad writes the gradient of a convolution by its weight as a convolution of x by the
// gradient of the result, in which batch and channels change places. The groups stay groups.
func weightGrad(c *maker, n int, a std.ConvWeightGradAttrs, in []op.Value) op.Value {
	x, grad := c.widened(in[0]), c.widened(in[1])
	xd, gd, out := c.dims(x), c.dims(grad), c.outDims(0)
	stride, pad, dilation := list(a.Stride, n, 1), list(a.Padding, n, 0), list(a.Dilation, n, 1)
	counts := make([]shape.Dim, 2*n)
	for i := range n { // so long that as many windows fit as the weight has elements
		lo, reach := shape.Const(pad[i]), out[2+i].AddInt(-1).MulInt(dilation[i])
		if a.PadMode == "same" {
			lo = reach.FloorDivInt(2)
		}
		need := gd[2+i].AddInt(-1).MulInt(stride[i]).AddInt(1).Add(reach)
		counts[2*(n-1-i)], counts[2*(n-1-i)+1] = lo, need.Sub(xd[2+i]).Sub(lo)
	}
	for _, d := range gd[2:] {
		if d.Is(0) { // without windows nothing is added up
			return c.zeros(c.result(0).DType(), out...)
		}
	}
	x = c.call(std.Pad, std.PadAttrs{Pad: shape.Of(counts...)}, x)
	groups := max(a.Groups, 1)
	conv := []*op.Op{std.Conv1d, std.Conv2d, std.Conv3d}[n-1]
	y := c.call(conv, std.ConvAttrs{Stride: op.IntList(dilation...), Dilation: op.IntList(stride...), Groups: groups}, exchanged(c, x, groups, false), exchanged(c, grad, groups, true))
	return c.back(c.swap(y, 0, 1), 0)
}

// exchanged exchanges batch and channels. With groups, [N, G·C] becomes [C, G·N], or, as
// filters, [G·C, N].
func exchanged(c *maker, v op.Value, groups int, filters bool) op.Value {
	if groups == 1 {
		return c.swap(v, 0, 1)
	}
	d := c.dims(v)
	each := d[1].FloorDivInt(groups)
	split := append([]shape.Dim{d[0], shape.Const(groups), each}, d[2:]...)
	v = c.reshape(v, split...)
	order := sequence(len(split))
	if filters {
		order[0], order[1], order[2] = 1, 2, 0
		return c.reshape(c.permute(v, order...), append([]shape.Dim{d[1], d[0]}, d[2:]...)...)
	}
	order[0], order[1], order[2] = 2, 1, 0
	return c.reshape(c.permute(v, order...), append([]shape.Dim{each, d[0].MulInt(groups)}, d[2:]...)...)
}

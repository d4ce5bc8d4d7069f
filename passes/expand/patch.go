package expand

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// patches are convolutions that are no primitive, and what takes windows of images apart
// and puts them together.
var patches = func() simplify.Expansions {
	all := merge(one(std.Unfold, unfold), one(std.Fold, fold))
	for n, o := range []*op.Op{std.Conv1d, std.Conv2d, std.Conv3d} {
		all = merge(all, one(o, func(c *maker, a std.ConvAttrs, in []op.Value) op.Value { return samePadded(c, n+1, a, in) }))
	}
	for n, o := range []*op.Op{std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d} {
		all = merge(all, one(o, func(c *maker, a std.ConvTransposeAttrs, in []op.Value) op.Value { return convTranspose(c, n+1, a, in) }))
	}
	for n, o := range []*op.Op{std.Conv1dWeightGrad, std.Conv2dWeightGrad, std.Conv3dWeightGrad} {
		all = merge(all, one(o, func(c *maker, a std.ConvWeightGradAttrs, in []op.Value) op.Value { return weightGrad(c, n+1, a, in) }))
	}
	return all
}()

// samePadded writes the padding "same" as numbers.
func samePadded(c *maker, n int, a std.ConvAttrs, in []op.Value) op.Value {
	if a.PadMode == "" {
		return nil
	}
	x, padding := in[0], list(a.Padding, n, 0)
	if a.PadMode == "same" {
		k, rank := c.dims(in[1])[2:], x.Type().Rank()
		for i, d := range list(a.Dilation, n, 1) {
			total := d * (c.int(k[i], "the size of the kernel") - 1)
			padding[i] = total / 2
			x = c.padAxis(x, rank-n+i, 0, total%2, 0)
		}
	}
	a.PadMode, a.Padding = "", op.IntList(padding...)
	return c.call(c.o, a, x, in[1], in[2])
}

// columns are the windows of fold and unfold over an image.
func columns(c *maker, size [2]shape.Dim, kernel, stride, padding, dilation op.Ints) []span {
	k, s, p, d := list(kernel, 2, 0), list(stride, 2, 1), list(padding, 2, 0), list(dilation, 2, 1)
	spans := make([]span, 2)
	for i, n := range size {
		count := n.AddInt(2*p[i] - d[i]*(k[i]-1) - 1).FloorDivInt(s[i]).AddInt(1)
		spans[i] = sliding(c, n, count, k[i], s[i], p[i], d[i])
	}
	return spans
}

func unfold(c *maker, a std.UnfoldAttrs, in []op.Value) op.Value {
	d := c.dims(in[0])
	n := len(d)
	taps, _, _ := windows(c, in[0], columns(c, [2]shape.Dim{d[n-2], d[n-1]}, a.KernelSize, a.Stride, a.Padding, a.Dilation), op.Int(0))
	// [lead, C, H, W, taps] becomes [lead, C, taps, H, W].
	order := append(sequence(n-2), n, n-2, n-1)
	return c.reshape(c.permute(taps, order...), c.outDims(0)...)
}

func fold(c *maker, a std.FoldAttrs, in []op.Value) op.Value {
	x, out := c.widened(in[0]), c.outDims(0)
	n := len(out)
	spans := columns(c, [2]shape.Dim{out[n-2], out[n-1]}, a.KernelSize, a.Stride, a.Padding, a.Dilation)
	return c.back(folded(c, x, out[:n-2], spans), 0)
}

// folded adds elements [lead..., taps, counts...], in any grouping, where the windows have
// them in a plane of the spans' sizes.
func folded(c *maker, x op.Value, lead []shape.Dim, spans []span) op.Value {
	var sizes, counts, taps []shape.Dim
	var places, inside op.Value
	n := len(spans)
	for _, s := range spans {
		sizes, counts, taps = append(sizes, s.size), append(counts, s.count), append(taps, s.taps)
	}
	for i, s := range spans {
		places = plus(c, places, spread(c, c.mul(s.at, c.number(prod(sizes[i+1:]...))), i, n), c.add)
		if s.inside != nil {
			inside = plus(c, inside, spread(c, s.inside, i, n), c.and)
		}
	}
	together := append(append([]shape.Dim{}, counts...), taps...)
	plane := prod(sizes...)
	if inside != nil { // what lies in the padding goes to an element of its own
		places = c.where(inside, places, c.number(plane))
	}
	order := make([]int, 0, 2*n) // [counts..., taps...] becomes [taps..., counts...]
	for i := range 2 * n {
		order = append(order, (n+i)%(2*n))
	}
	all, outer := prod(together...), prod(lead...)
	places = c.reshape(c.permute(c.expand(places, together...), order...), shape.Const(1), all)
	to := c.zeros(x.Type().DType(), outer, plane.AddInt(1))
	y := scattered(c, 1, "sum", []op.Value{to, c.expand(places, outer, all), c.reshape(x, outer, all)})
	y = c.slice(y, 1, shape.Const(0), plane)
	return c.reshape(y, append(append([]shape.Dim{}, lead...), sizes...)...)
}

// convTranspose multiplies the weight with every position of x and adds each element of
// the products where its tap belongs.
func convTranspose(c *maker, n int, a std.ConvTransposeAttrs, in []op.Value) op.Value {
	x, w := c.widened(in[0]), c.widened(in[1])
	dx, dw, out := c.dims(x), c.dims(w), c.outDims(0)
	batch := shape.Const(1)
	if len(dx) == n+2 {
		batch, dx = dx[0], dx[1:]
	}
	groups := shape.Const(max(a.Groups, 1))
	each, plane := dw[0].FloorDiv(groups), prod(dx[1:]...)
	rows := dw[1].Mul(prod(dw[2:]...))
	left := c.swap(c.reshape(w, groups, each, rows), 1, 2)
	left = c.reshape(c.expand(c.reshape(left, shape.Const(1), groups, rows, each), batch, groups, rows, each), batch.Mul(groups), rows, each)
	y := c.call(std.Bmm, op.None{}, left, c.reshape(x, batch.Mul(groups), each, plane))
	spans := make([]span, n)
	stride, pad, dilation := list(a.Stride, n, 1), list(a.Padding, n, 0), list(a.Dilation, n, 1)
	for i := range spans {
		spans[i] = sliding(c, out[len(out)-n+i], dx[1+i], c.int(dw[2+i], "the size of the kernel"), stride[i], pad[i], dilation[i])
	}
	y = folded(c, y, []shape.Dim{batch, dw[1].Mul(groups)}, spans)
	return affine(c, c.reshape(y, out...), nil, biasOf(c, in[2], n))
}

// biasOf lays a bias along the channels before n axes.
func biasOf(c *maker, bias op.Value, n int) op.Value {
	if bias == nil {
		return nil
	}
	return c.along(c.widened(bias), 0, n+1)
}

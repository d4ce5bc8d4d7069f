package std

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// PadAttrs are the attributes of pad: two counts for each dimension, from the
// last one backwards, as PyTorch has them, numbers or sizes; negative ones crop. Mode
// "" is constant, which fills with Value.
type PadAttrs struct {
	Pad   shape.Dims `fx:",arg"`
	Mode  string     `fx:",enum=constant|reflect|replicate|circular"`
	Value float64
}

// counts returns the padding before and after each of rank dimensions.
func (a PadAttrs) counts(rank int) (lo, hi []shape.Dim) {
	lo, hi = make([]shape.Dim, rank), make([]shape.Dim, rank)
	for i := range a.Pad.Len() / 2 {
		lo[rank-1-i], hi[rank-1-i] = a.Pad.At(2*i), a.Pad.At(2*i+1)
	}
	return lo, hi
}

// crops reports whether a count is negative.
func (a PadAttrs) crops() bool {
	return slices.ContainsFunc(a.Pad.Slice(), func(d shape.Dim) bool {
		n, ok := d.Int()
		return ok && n < 0
	})
}

func (a PadAttrs) mode() string {
	if a.Mode == "" {
		return "constant"
	}
	return a.Mode
}

// PixelShuffleAttrs are the attributes of pixel_shuffle.
type PixelShuffleAttrs struct {
	UpscaleFactor int `fx:",arg"`
}

// PixelUnshuffleAttrs are the attributes of pixel_unshuffle.
type PixelUnshuffleAttrs struct {
	DownscaleFactor int `fx:",arg"`
}

// UnfoldAttrs are the attributes of unfold, one or two elements each, for
// height and width. Empty lists mean dilation 1, padding 0 and stride 1.
type UnfoldAttrs struct {
	KernelSize op.Ints `fx:",arg,each"`
	Dilation   op.Ints
	Padding    op.Ints
	Stride     op.Ints
}

// FoldAttrs are the attributes of fold; OutputSize has two elements.
type FoldAttrs struct {
	OutputSize shape.Dims `fx:",arg"`
	KernelSize op.Ints    `fx:",arg,each"`
	Dilation   op.Ints
	Padding    op.Ints
	Stride     op.Ints
}

// Pad puts elements around a tensor or crops it.
//
//gofx:torch bordered(x, pad, mode, value)
var Pad = fillOp("pad", "pad adds elements before and after dimensions, or crops them.", op.Spec[PadAttrs]{
	Differs: []op.Difference[PadAttrs]{
		extendsEmpty[PadAttrs](),
		{Kind: op.Refuses, Text: "a value that the element type cannot hold, also where nothing is filled with it", When: func(a PadAttrs, in []*array.Array) bool {
			return !fits(in[0].DType(), op.Float(a.Value))
		}},
		{Kind: op.Extends, Text: "a crop of more than the size, with a padding at the other end", When: func(a PadAttrs, _ []*array.Array) bool {
			return a.crops()
		}},
		{Kind: op.Alters, Text: "circular repeats all of x where the other end of the dimension is cropped, PyTorch what is left of it", When: func(a PadAttrs, _ []*array.Array) bool {
			return a.Mode == "circular" && a.crops()
		}},
		{Kind: op.Extends, Text: "the modes but constant for every rank and element type, as many dimensions, and none", When: func(a PadAttrs, _ []*array.Array) bool { return a.Mode != "" && a.Mode != "constant" }},
	},
	Infer: func(c *op.Infer, a PadAttrs, in []shape.Type) (shape.Type, error) {
		if a.mode() == "constant" {
			if err := checkFits("value", in[0].DType(), op.Float(a.Value)); err != nil {
				return shape.Type{}, err
			}
		}
		return dimsRule(padDims)(c, a, in)
	},
	Kernel: func(a PadAttrs, in []shape.Type) kernel.Step {
		lo, hi := a.counts(in[0].Rank())
		s := &kernel.Pad{Lo: make([]int, len(lo)), Hi: make([]int, len(hi)), Mode: a.mode(), Value: a.Value}
		var sizes []op.FieldSize
		for i := range lo {
			sizes = append(sizes, op.Size(&s.Lo[i], lo[i]), op.Size(&s.Hi[i], hi[i]))
		}
		return op.WithSizes(s, sizes...)
	},
	Grad:    padGrad,
	Samples: padSamples,
	Bad:     padBad,
})

// PixelShuffle moves channels into space.
// Ref: Shi et al., Real-Time Single Image and Video Super-Resolution Using an
// Efficient Sub-Pixel Convolutional Neural Network, CVPR 2016.
//
//gofx:torch F.pixel_shuffle(x, upscale_factor)
var PixelShuffle = moveOp("pixel_shuffle", "pixel_shuffle turns [..., C*r*r, H, W] into [..., C, H*r, W*r].", op.Spec[PixelShuffleAttrs]{
	Differs: []op.Difference[PixelShuffleAttrs]{
		departs[PixelShuffleAttrs](op.GradExtends, "operands without elements", empty),
	},
	Ref: "Shi et al., CVPR 2016, arXiv:1609.05158",
	Infer: dimsRule(func(c *op.Infer, a PixelShuffleAttrs, d shape.Dims) (shape.Dims, error) {
		r, n := a.UpscaleFactor, d.Len()
		if err := checkPixels("upscale_factor", r, n); err != nil {
			return d, err
		}
		channels, err := divided(c, d.At(-3), r*r, "channels")
		return d.With(-3, channels).With(-2, d.At(-2).MulInt(r)).With(-1, d.At(-1).MulInt(r)), err
	}),
	Decompose: func(b op.Builder, a PixelShuffleAttrs, in []op.Value) op.Value {
		d, r := in[0].Type().Dims(), shape.Const(a.UpscaleFactor)
		lead, n := d.Sub(0, d.Len()-3), d.Len()-3
		c, _ := divided(nil, d.At(-3), a.UpscaleFactor*a.UpscaleFactor, "channels")
		x := b.Call(Reshape, ReshapeAttrs{lead.Append(c, r, r, d.At(-2), d.At(-1))}, in[0])
		x = b.Call(Clone, op.None{}, b.Call(Permute, PermuteAttrs{tailPermutation(n, 0, 3, 1, 4, 2)}, x)) // never a view
		return b.Call(Reshape, ReshapeAttrs{lead.Append(c, d.At(-2).Mul(r), d.At(-1).Mul(r))}, x)
	},
	Samples: pixelShuffleSamples,
	Bad:     pixelShuffleBad,
})

// PixelUnshuffle moves space into channels: the inverse of pixel_shuffle.
//
//gofx:torch F.pixel_unshuffle(x, downscale_factor)
var PixelUnshuffle = moveOp("pixel_unshuffle", "pixel_unshuffle turns [..., C, H*r, W*r] into [..., C*r*r, H, W].", op.Spec[PixelUnshuffleAttrs]{
	Differs: []op.Difference[PixelUnshuffleAttrs]{
		departs[PixelUnshuffleAttrs](op.Alters, "operands without elements have the sizes of any other, where PyTorch returns them as they are", empty),
	},
	Infer: dimsRule(func(c *op.Infer, a PixelUnshuffleAttrs, d shape.Dims) (shape.Dims, error) {
		r := a.DownscaleFactor
		if err := checkPixels("downscale_factor", r, d.Len()); err != nil {
			return d, err
		}
		h, err := divided(c, d.At(-2), r, "rows")
		if err != nil {
			return d, err
		}
		w, err := divided(c, d.At(-1), r, "columns")
		return d.With(-3, d.At(-3).MulInt(r*r)).With(-2, h).With(-1, w), err
	}),
	Decompose: func(b op.Builder, a PixelUnshuffleAttrs, in []op.Value) op.Value {
		d, r := in[0].Type().Dims(), shape.Const(a.DownscaleFactor)
		lead, n := d.Sub(0, d.Len()-3), d.Len()-3
		h, _ := divided(nil, d.At(-2), a.DownscaleFactor, "rows")
		w, _ := divided(nil, d.At(-1), a.DownscaleFactor, "columns")
		x := b.Call(Reshape, ReshapeAttrs{lead.Append(d.At(-3), h, r, w, r)}, in[0])
		x = b.Call(Clone, op.None{}, b.Call(Permute, PermuteAttrs{tailPermutation(n, 0, 2, 4, 1, 3)}, x)) // never a view
		return b.Call(Reshape, ReshapeAttrs{lead.Append(d.At(-3).Mul(r).Mul(r), h, w)}, x)
	},
	Samples: pixelUnshuffleSamples,
	Bad:     pixelUnshuffleBad,
})

// ChannelShuffleAttrs are the attributes of channel_shuffle.
type ChannelShuffleAttrs struct {
	Groups int `fx:",arg"`
}

// ChannelShuffle interleaves groups of channels, so that the groups of the next
// convolution see all of them.
//
//gofx:torch torch.channel_shuffle(x, groups)
var ChannelShuffle = moveOp("channel_shuffle", "channel_shuffle turns the channels of [N, groups*C, ...], group after group, into the first of each group, the second of each and so on.", op.Spec[ChannelShuffleAttrs]{
	Differs: []op.Difference[ChannelShuffleAttrs]{{Kind: op.GradExtends, Text: "any call: PyTorch 1.13 has no derivative"}},
	Ref:     "Zhang, Zhou, Lin, Sun: ShuffleNet, CVPR 2018, arXiv:1707.01083",
	Infer: dimsRule(func(c *op.Infer, a ChannelShuffleAttrs, d shape.Dims) (shape.Dims, error) {
		if a.Groups < 1 {
			return d, badAttr("groups", strconv.Itoa(a.Groups), "at least 1")
		}
		if d.Len() < 3 {
			return d, diag.New(op.RankMismatch, "x has "+strconv.Itoa(d.Len())+" dimensions, expected at least 3")
		}
		_, err := divided(c, d.At(1), a.Groups, "channels")
		return d, err
	}),
	Decompose: func(b op.Builder, a ChannelShuffleAttrs, in []op.Value) op.Value {
		d, c := in[0].Type().Dims(), composer{b}
		size, _ := divided(nil, d.At(1), a.Groups, "channels")
		x := c.reshape(in[0], shape.Of(d.At(0), shape.Const(a.Groups), size).Append(d.Sub(2, d.Len()).Slice()...))
		x = c.apply(Clone, c.transpose(x, 1, 2)) // never a view
		return c.reshape(x, d)
	},
	Samples: channelShuffleSamples,
	Bad:     channelShuffleBad,
})

// Unfold turns windows of images into columns.
//
//gofx:torch F.unfold(x, one(kernel_size), one(dilation, 1), one(padding, 0), one(stride, 1))
var Unfold = fillOp("unfold", "unfold turns the sliding windows of images into columns.", op.Spec[UnfoldAttrs]{
	Differs: []op.Difference[UnfoldAttrs]{
		extendsIntegers[UnfoldAttrs](),
		extendsEmpty[UnfoldAttrs](),
	},
	Infer: unfoldRule,
	Kernel: func(a UnfoldAttrs, _ []shape.Type) kernel.Step {
		return &kernel.Unfold{Kernel: mustList(a.KernelSize, 2, 0), Dilation: mustList(a.Dilation, 2, 1),
			Padding: mustList(a.Padding, 2, 0), Stride: mustList(a.Stride, 2, 1)}
	},
	Samples: unfoldSamples,
	Bad:     unfoldBad,
})

// Fold adds columns of windows back into images: the adjoint of unfold.
//
//gofx:torch F.fold(x, output_size, one(kernel_size), one(dilation, 1), one(padding, 0), one(stride, 1))
var Fold = op.Define("fold", op.Spec[FoldAttrs]{
	Differs: []op.Difference[FoldAttrs]{
		extendsIntegers[FoldAttrs](),
		extendsEmpty[FoldAttrs](),
	},
	Doc: "fold adds the columns of sliding windows back into images.", In: op.Args("x"),
	Infer: foldRule,
	Kernel: func(a FoldAttrs, _ []shape.Type) kernel.Step {
		s := &kernel.Fold{Output: make([]int, 2), Kernel: mustList(a.KernelSize, 2, 0), Dilation: mustList(a.Dilation, 2, 1),
			Padding: mustList(a.Padding, 2, 0), Stride: mustList(a.Stride, 2, 1)}
		return op.WithSizes(s, op.Size(&s.Output[0], a.OutputSize.At(0)), op.Size(&s.Output[1], a.OutputSize.At(1)))
	},
	Flops:   func(_ FoldAttrs, in []shape.Type, _ shape.Type) shape.Dim { return elementCount(in[0]) },
	Samples: foldSamples,
	Bad:     foldBad,
})

func checkPixels(name string, factor, rank int) error {
	if factor < 1 || factor > 1<<15 {
		return badAttr(name, strconv.Itoa(factor), "a factor from 1 to "+strconv.Itoa(1<<15))
	}
	if rank < 3 {
		return diag.New(op.RankMismatch, "x has "+strconv.Itoa(rank)+" dimensions, expected at least 3")
	}
	return nil
}

// divided returns n/k after requiring k to divide n.
func divided(c *op.Infer, n shape.Dim, k int, what string) (shape.Dim, error) {
	if q, ok := n.DivExact(shape.Const(k)); ok {
		return q, nil
	}
	return n.FloorDivInt(k), c.Multiple(n, shape.Const(k), op.SizeMismatch, func() string {
		return "x has " + n.String() + " " + what + ", expected a multiple of " + strconv.Itoa(k)
	})
}

// tailPermutation permutes the last dimensions after n others.
func tailPermutation(n int, tail ...int) op.Ints {
	perm := make([]int, 0, n+len(tail))
	for i := range n {
		perm = append(perm, i)
	}
	for _, t := range tail {
		perm = append(perm, n+t)
	}
	return op.IntList(perm...)
}

// slidingWindows returns the number of windows in an image of the given height
// and width, and the number of elements of one.
func slidingWindows(c *op.Infer, h, w shape.Dim, kernelSize, dilation, padding, stride op.Ints) (count shape.Dim, elements int, err error) {
	k, err := listAttr("kernel_size", kernelSize, 2, 0, 1)
	if err != nil {
		return
	}
	di, err := listAttr("dilation", dilation, 2, 1, 1)
	if err != nil {
		return
	}
	p, err := listAttr("padding", padding, 2, 0, 0)
	if err != nil {
		return
	}
	s, err := listAttr("stride", stride, 2, 1, 1)
	if err != nil {
		return
	}
	count = shape.Const(1)
	for i, n := range []shape.Dim{h, w} {
		out, err := windowCount(c, i, n, window{extentOf(shape.Const(k[i]), di[i]), s[i], p[i], p[i]})
		if err != nil {
			return count, 0, err
		}
		count = count.Mul(out)
	}
	return count, k[0] * k[1], nil
}

func unfoldRule(c *op.Infer, a UnfoldAttrs, in []shape.Type) (shape.Type, error) {
	t := in[0]
	if err := wantRank("x", t, 3, 4); err != nil {
		return t, err
	}
	count, k, err := slidingWindows(c, t.Dim(-2), t.Dim(-1), a.KernelSize, a.Dilation, a.Padding, a.Stride)
	if err != nil || !t.Ranked() {
		return shape.Unranked(t.DType()), err
	}
	d := t.Dims()
	return t.WithDims(d.Sub(0, d.Len()-3).Append(d.At(-3).MulInt(k), count)), nil
}

func foldRule(c *op.Infer, a FoldAttrs, in []shape.Type) (shape.Type, error) {
	t, size := in[0], a.OutputSize
	if err := wantRank("x", t, 2, 3); err != nil {
		return t, err
	}
	if size.Len() != 2 {
		return t, badAttr("output_size", size.String(), "a height and a width")
	}
	for _, s := range size.Slice() {
		if err := c.AtLeast(s, shape.Const(1), op.BadAttr, func() string {
			return "output_size is " + size.String() + ", expected sizes of at least 1"
		}); err != nil {
			return t, err
		}
	}
	count, k, err := slidingWindows(c, size.At(0), size.At(1), a.KernelSize, a.Dilation, a.Padding, a.Stride)
	if err != nil || !t.Ranked() {
		return shape.Unranked(t.DType()), err
	}
	if _, err := c.Equal(t.Dim(-1), count, op.SizeMismatch, func() string {
		return "x has " + t.Dim(-1).String() + " columns, expected " + count.String() + " windows of an image of size " + size.String()
	}); err != nil {
		return t, err
	}
	channels, err := divided(c, t.Dim(-2), k, "rows")
	d := t.Dims()
	return t.WithDims(d.Sub(0, d.Len()-2).Append(channels).Concat(size)), err
}

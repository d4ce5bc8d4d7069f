package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func padBad(g *op.Gen) []op.BadSample {
	pad := func(mode string, n ...int) PadAttrs { return PadAttrs{Pad: shape.ConstDims(n...), Mode: mode} }
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.BadAttr, "odd", pad("", 1, 1, 1), x),
		badCall(op.BadAttr, "too many", pad("", 1, 1, 1, 1, 1, 1), x),
		badCall(op.BadAttr, "mode", pad("mirror", 1, 1), x),
		badCall(op.BadAttr, "value beyond i8", PadAttrs{Pad: shape.ConstDims(1, 1), Value: 300}, array.New(array.I8, 3)),
		badCall(op.BadAttr, "value beyond f32", PadAttrs{Pad: shape.ConstDims(1, 1), Value: 1e300}, x),
		badCall(op.BadAttr, "count out of range", pad("", math.MaxInt64, 1), x),
		badCall(op.SizeMismatch, "cropped below nothing", pad("", -3, -2), x),
		badCall(op.SizeMismatch, "reflect beyond the other edge", pad("reflect", 4, 0), x),
		badCall(op.SizeMismatch, "circular more than once", pad("circular", 5, 0), x),
		badCall(op.SizeMismatch, "nothing to replicate", pad("replicate", 1, 0), g.Normal(3, 0)),
	}
}

func pixelShuffleSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, PixelShuffleAttrs{2}, 1, 8, 3, 2),
		okCall("three dimensions", PixelShuffleAttrs{3}, g.Normal(9, 2, 2)),
		okCall("factor 1", PixelShuffleAttrs{1}, g.Normal(2, 3, 2, 2)),
		okCall("zero size", PixelShuffleAttrs{2}, g.Normal(0, 4, 2, 2)))
}

func pixelShuffleBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.SizeMismatch, "channels", PixelShuffleAttrs{2}, g.Normal(1, 6, 2, 2)),
		badCall(op.RankMismatch, "rank", PixelShuffleAttrs{2}, g.Normal(4, 2)),
		badCall(op.BadAttr, "factor", PixelShuffleAttrs{0}, g.Normal(4, 2, 2)),
	}
}

func pixelUnshuffleSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, PixelUnshuffleAttrs{2}, 1, 2, 6, 4),
		okCall("three dimensions", PixelUnshuffleAttrs{3}, g.Normal(2, 3, 6)),
		okCall("factor 1", PixelUnshuffleAttrs{1}, g.Normal(2, 3, 2, 2)),
		okCall("zero size", PixelUnshuffleAttrs{2}, g.Normal(0, 4, 2, 2)))
}

func pixelUnshuffleBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.SizeMismatch, "rows", PixelUnshuffleAttrs{2}, g.Normal(1, 2, 3, 2)),
		badCall(op.SizeMismatch, "columns", PixelUnshuffleAttrs{2}, g.Normal(1, 2, 2, 3)),
		badCall(op.RankMismatch, "rank", PixelUnshuffleAttrs{2}, g.Normal(4, 2)),
		badCall(op.BadAttr, "factor", PixelUnshuffleAttrs{-1}, g.Normal(4, 2, 2)),
	}
}

func channelShuffleSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, ChannelShuffleAttrs{2}, 2, 6, 3, 2),
		okCall("one dimension", ChannelShuffleAttrs{3}, g.Normal(2, 6, 3)),
		okCall("one group", ChannelShuffleAttrs{1}, g.Normal(2, 3, 2)),
		okCall("zero size", ChannelShuffleAttrs{2}, g.Normal(0, 4, 2, 2)))
}

func channelShuffleBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.SizeMismatch, "channels", ChannelShuffleAttrs{4}, g.Normal(1, 6, 2, 2)),
		badCall(op.RankMismatch, "rank", ChannelShuffleAttrs{2}, g.Normal(4, 2)),
		badCall(op.BadAttr, "groups", ChannelShuffleAttrs{0}, g.Normal(1, 4, 2)),
	}
}

func unfoldSamples(g *op.Gen) []op.Sample {
	l := op.IntList
	return append(moveCalls(g, UnfoldAttrs{KernelSize: l(2, 3)}, 2, 3, 4, 5),
		okCall("all attributes", UnfoldAttrs{l(2), l(2, 1), l(1, 2), l(1, 3)}, g.Normal(1, 2, 5, 6)),
		okCall("one image", UnfoldAttrs{KernelSize: l(2)}, g.Normal(3, 4, 5)),
		okCall("zero size", UnfoldAttrs{KernelSize: l(2)}, g.Normal(0, 3, 4, 5)))
}

func unfoldBad(g *op.Gen) []op.BadSample {
	l, x := op.IntList, g.Normal(1, 2, 4, 4)
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", UnfoldAttrs{KernelSize: l(2)}, g.Normal(4, 4)),
		badCall(op.BadAttr, "no kernel", UnfoldAttrs{}, x),
		badCall(op.BadAttr, "stride", UnfoldAttrs{KernelSize: l(2), Stride: l(0)}, x),
		badCall(op.BadAttr, "list", UnfoldAttrs{KernelSize: l(2, 2, 2)}, x),
		badCall(op.SizeMismatch, "kernel beyond image", UnfoldAttrs{KernelSize: l(5)}, x),
	}
}

func foldSamples(g *op.Gen) []op.Sample {
	l, size := op.IntList, shape.ConstDims(4, 5)
	a := FoldAttrs{OutputSize: size, KernelSize: l(2, 3)}
	return []op.Sample{
		okCall("f32", a, g.Normal(2, 12, 9)),
		okCall("strided", a, g.Strided(g.Normal(2, 12, 9))),
		okCall("special values", a, specials(g, 1, 6, 9)),
		okCall("f64", a, array.Cast(g.Normal(2, 12, 9), array.F64)),
		okCall("f16", a, array.Cast(g.Int(8, 2, 12, 9), array.F16)),
		okCall("all attributes", FoldAttrs{shape.ConstDims(5, 6), l(2), l(2, 1), l(1, 2), l(1, 3)}, g.Normal(1, 8, 15)),
		okCall("one image", a, g.Normal(6, 9)),
		okCall("zero size", a, g.Normal(0, 6, 9)),
	}
}

func foldBad(g *op.Gen) []op.BadSample {
	l, size, x := op.IntList, shape.ConstDims(4, 5), g.Normal(2, 12, 9)
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", FoldAttrs{OutputSize: size, KernelSize: l(2, 3)}, g.Normal(2, 2, 12, 9)),
		badCall(op.SizeMismatch, "channels", FoldAttrs{OutputSize: size, KernelSize: l(2, 3)}, g.Normal(2, 11, 9)),
		badCall(op.SizeMismatch, "windows", FoldAttrs{OutputSize: size, KernelSize: l(2, 3)}, g.Normal(2, 12, 8)),
		badCall(op.SizeMismatch, "kernel beyond image", FoldAttrs{OutputSize: size, KernelSize: l(6, 2)}, x),
		badCall(op.BadAttr, "output size", FoldAttrs{OutputSize: shape.ConstDims(4), KernelSize: l(2, 3)}, x),
		badCall(op.BadAttr, "negative output size", FoldAttrs{OutputSize: shape.ConstDims(4, -5), KernelSize: l(2, 3)}, x),
		badCall(op.BadAttr, "padding", FoldAttrs{OutputSize: size, KernelSize: l(2, 3), Padding: l(-1)}, x),
	}
}

func padSamples(g *op.Gen) []op.Sample {
	pad := func(mode string, n ...int) PadAttrs { return PadAttrs{Pad: shape.ConstDims(n...), Mode: mode} }
	s := append(moveCalls(g, pad("", 1, 2, 0, 1), 2, 3, 4),
		okCall("value", PadAttrs{Pad: shape.ConstDims(1, 1), Value: -2.5}, g.Normal(2, 3)),
		okCall("value in i64", PadAttrs{Pad: shape.ConstDims(1, 1), Value: 7}, g.Int(9, 3)),
		okCall("infinite value", PadAttrs{Pad: shape.ConstDims(0, 1), Value: math.Inf(-1)}, g.Normal(3)),
		okCall("crop", pad("", -1, 2, 1, -2), g.Normal(4, 5)),
		okCall("nothing", pad(""), g.Normal(3)),
		okCall("zero size", pad("", 1, 1), g.Normal(2, 0)))
	for _, mode := range []string{"reflect", "replicate", "circular"} {
		s = append(s,
			okCall(mode, pad(mode, 2, 1, 1, 3), g.Normal(2, 4, 5)),
			okCall(mode+" strided", pad(mode, 1, 2), g.Strided(g.Normal(2, 3, 4))),
			okCall(mode+" i64", pad(mode, 1, 2), g.Int(9, 3, 4)))
	}
	return append(s, okCall("replicate far", pad("replicate", 9, 0), g.Normal(2, 3)),
		okCall("constant by name", pad("constant", 1, 0), g.Normal(2, 3)))
}

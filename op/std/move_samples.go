package std

import (
	"math"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func sliceBad(g *op.Gen) []op.BadSample {
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.BadAxis, "axis", SliceAttrs{Dim: 2, Stop: End}, x),
		badCall(op.BadAxis, "0-dimensional", SliceAttrs{Stop: End}, g.Normal()),
		badCall(op.BadAttr, "step", SliceAttrs{Stop: End, Step: -1}, x),
	}
}

func narrowBad(g *op.Gen) []op.BadSample {
	at := func(dim, start, n int) NarrowAttrs { return NarrowAttrs{dim, shape.Const(start), shape.Const(n)} }
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.BadAxis, "axis", at(2, 0, 1), x),
		badCall(op.SizeMismatch, "too long", at(1, 2, 3), x),
		badCall(op.SizeMismatch, "start before the dimension", at(0, -4, 1), x),
		badCall(op.BadAttr, "negative length", at(0, 1, -1), x),
	}
}

func selectBad(g *op.Gen) []op.BadSample {
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.BadAxis, "axis", SelectAttrs{2, 0}, x),
		badCall(op.BadAxis, "0-dimensional", SelectAttrs{0, 0}, g.Normal()),
		badCall(op.BadAttr, "index", SelectAttrs{1, 4}, x),
		badCall(op.BadAttr, "negative index", SelectAttrs{0, -4}, x),
	}
}

func diagonalBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "vector", DiagonalAttrs{}, g.Normal(3)),
		badCall(op.BadAttr, "same axis", DiagonalAttrs{0, 1, -1}, g.Normal(3, 4)),
		badCall(op.BadAttr, "offset out of range", DiagonalAttrs{Offset: math.MinInt64}, g.Normal(3, 4)),
	}
}

func rollSamples(g *op.Gen) []op.Sample {
	l := op.IntList
	return append(moveCalls(g, RollAttrs{l(1), l(1)}, 2, 3, 4),
		okCall("flat", RollAttrs{Shifts: l(5)}, g.Strided(g.Normal(3, 4))),
		okCall("several axes", RollAttrs{l(-1, 7), l(0, -1)}, g.Normal(3, 4)),
		okCall("zero size", RollAttrs{l(2), l(0)}, g.Normal(0, 4)),
		okCall("0-dimensional", RollAttrs{Shifts: l(2)}, g.Normal()))
}

func rollBad(g *op.Gen) []op.BadSample {
	l := op.IntList
	return []op.BadSample{
		badCall(op.BadAttr, "lengths", RollAttrs{l(1, 2), l(0)}, g.Normal(3, 4)),
		badCall(op.BadAttr, "two flat shifts", RollAttrs{Shifts: l(1, 2)}, g.Normal(3, 4)),
		badCall(op.BadAxis, "axis", RollAttrs{l(1), l(2)}, g.Normal(3, 4)),
	}
}

func flipSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, FlipAttrs{op.IntList(1)}, 2, 3, 4),
		okCall("negative axes", FlipAttrs{op.IntList(-1, 0)}, g.Normal(2, 3, 4)),
		okCall("none", FlipAttrs{}, g.Normal(3)),
		okCall("zero size", FlipAttrs{op.IntList(0)}, g.Normal(0, 4)))
}

func flipBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", FlipAttrs{op.IntList(2)}, g.Normal(3, 4)),
		badCall(op.BadAttr, "axis twice", FlipAttrs{op.IntList(1, -1)}, g.Normal(3, 4)),
	}
}

func sliceSamples(g *op.Gen) []op.Sample {
	at := func(dim, start, stop, step int) SliceAttrs {
		return SliceAttrs{Dim: dim, Start: shape.Const(start), Stop: shape.Const(stop), Step: step}
	}
	return append(moveCalls(g, at(1, 1, 3, 0), 2, 4, 3),
		okCall("negative axis and bounds", at(-1, -3, -1, 1), g.Normal(2, 4)),
		okCall("to the end", SliceAttrs{Dim: 1, Start: shape.Const(2), Stop: End}, g.Normal(2, 4)),
		okCall("step", SliceAttrs{Dim: 1, Stop: End, Step: 3}, g.Normal(2, 8)),
		okCall("bounds beyond the ends", at(0, -9, 9, 2), g.Normal(5, 2)),
		okCall("huge step", at(0, 1, 4, 1<<62), g.Normal(5, 2)),
		okCall("empty", at(0, 3, 2, 0), g.Normal(5, 2)),
		okCall("zero size", at(0, 1, 2, 0), g.Normal(0, 2)))
}

func selectSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, SelectAttrs{1, 2}, 2, 3, 4),
		okCall("negative axis and index", SelectAttrs{-1, -4}, g.Normal(2, 3, 4)),
		okCall("zero size", SelectAttrs{1, 0}, g.Normal(0, 3)),
		okCall("to 0-dimensional", SelectAttrs{0, 1}, g.Normal(3)))
}

func diagonalSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, DiagonalAttrs{}, 3, 4),
		okCall("batched", DiagonalAttrs{1, -2, -1}, g.Normal(2, 3, 4)),
		okCall("below", DiagonalAttrs{Offset: -1}, g.Normal(4, 3)),
		okCall("outside", DiagonalAttrs{Offset: 9}, g.Normal(4, 3)),
		okCall("zero size", DiagonalAttrs{}, g.Normal(0, 3)))
}

func narrowSamples(g *op.Gen) []op.Sample {
	at := func(dim, start, n int) NarrowAttrs { return NarrowAttrs{dim, shape.Const(start), shape.Const(n)} }
	return append(moveCalls(g, at(1, 1, 2), 2, 4, 3),
		okCall("negative axis and start", at(-1, -3, 2), g.Normal(2, 4)),
		okCall("nothing", at(0, 5, 0), g.Normal(5, 2)),
		okCall("zero size", at(0, 0, 0), g.Normal(0, 2)))
}

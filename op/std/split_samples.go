package std

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func splitSamples(g *op.Gen) []op.Sample {
	l := shape.ConstDims
	return append(moveCalls(g, SplitAttrs{l(1, 2), 1}, 2, 3, 4),
		okCall("negative axis", SplitAttrs{l(2, 0, 2), -1}, g.Normal(2, 3, 4)),
		okCall("one piece", SplitAttrs{l(3), 0}, g.Normal(3)),
		okCall("zero size", SplitAttrs{l(1, 1), 1}, g.Normal(0, 2)))
}

func splitBad(g *op.Gen) []op.BadSample {
	l, x := shape.ConstDims, g.Normal(2, 3)
	return []op.BadSample{
		badCall(op.SizeMismatch, "sum", SplitAttrs{l(1, 1), 1}, x),
		badCall(op.BadAttr, "negative", SplitAttrs{l(4, -1), 1}, x),
		badCall(op.BadAttr, "no pieces", SplitAttrs{l(), 1}, g.Normal(2, 0)),
		badCall(op.BadAxis, "axis", SplitAttrs{l(3), 2}, x),
	}
}

func chunkSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, ChunkAttrs{3, 1}, 2, 6, 4),
		okCall("shorter last", ChunkAttrs{3, -1}, g.Normal(2, 7)),
		okCall("one", ChunkAttrs{1, 0}, g.Normal(3)),
		okCall("of nothing", ChunkAttrs{3, 0}, g.Normal(0, 2)),
		okCall("zero size", ChunkAttrs{2, 1}, g.Normal(0, 2)))
}

func chunkBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAttr, "fewer chunks", ChunkAttrs{4, 0}, g.Normal(6)),
		badCall(op.BadAttr, "no chunks", ChunkAttrs{0, 0}, g.Normal(6)),
		badCall(op.BadAxis, "axis", ChunkAttrs{2, 1}, g.Normal(6)),
	}
}

func unbindSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, UnbindAttrs{1, 3}, 2, 3, 4),
		okCall("negative axis", UnbindAttrs{-1, 4}, g.Normal(2, 3, 4)),
		okCall("to 0-dimensional", UnbindAttrs{0, 2}, g.Normal(2)),
		okCall("zero size", UnbindAttrs{1, 2}, g.Normal(0, 2)))
}

func unbindBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.SizeMismatch, "count", UnbindAttrs{0, 3}, g.Normal(2, 3)),
		badCall(op.BadAttr, "no count", UnbindAttrs{Dim: 0}, g.Normal(2, 3)),
		badCall(op.BadAttr, "huge count", UnbindAttrs{0, 1 << 40}, g.Normal(2, 3)),
		badCall(op.BadAxis, "axis", UnbindAttrs{2, 2}, g.Normal(2, 3)),
	}
}

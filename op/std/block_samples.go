package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/op"
)

// blocked makes a weight [n, k] in blocks: random bits, and scales of a usual size.
func blocked(g *op.Gen, format string, n, k int) *array.Array {
	f := blocks.Lookup(format)
	w := quantised(g, array.U8, n, k/f.Elements*f.Bytes)
	b := array.Data[uint8](w)
	for ; len(b) > 0; b = b[f.Bytes:] {
		for _, at := range f.Scales {
			s := g.Uniform(0.01, 0.02, 1)
			word := uint16(array.HalfFromFloat32(array.Data[float32](s)[0]))
			if format == "BF16" {
				word = uint16(array.BFloatFromFloat32(array.Data[float32](s)[0]))
			}
			b[at], b[at+1] = uint8(word), uint8(word>>8)
		}
	}
	return w
}

func blockLinearSamples(g *op.Gen) []op.Sample {
	var list []op.Sample
	for _, name := range blocks.Names() {
		k := 2 * max(blocks.Lookup(name).Elements, 16)
		list = append(list, okCall(name, BlockAttrs{name}, g.Normal(3, k), blocked(g, name, 5, k), g.Normal(5)))
	}
	a := BlockAttrs{"Q8_0"}
	x, w, bias := g.Normal(3, 96), blocked(g, "Q8_0", 5, 96), g.Normal(5)
	f16 := func(a *array.Array) *array.Array { return array.Cast(a, array.F16) }
	return append(list,
		okCall("no bias", a, x, w),
		okCall("rank 3", BlockAttrs{"Q4_K"}, g.Normal(2, 2, 256), blocked(g, "Q4_K", 3, 256), g.Normal(3)),
		okCall("vector", a, g.Normal(96), w, bias),
		okCall("many rows", a, g.Normal(40, 96), blocked(g, "Q8_0", 37, 96), g.Normal(37)),
		okCall("f16", a, f16(x), w, f16(bias)),
		okCall("strided", a, g.Strided(x), g.Strided(w)),
		okCall("empty batch", a, g.Normal(0, 96), w),
		okCall("no features", a, g.Normal(2, 0), blocked(g, "Q8_0", 5, 0), bias))
}

// blockDynamicSamples have rows of several sizes: activations of which those of a block are 0, or all alike.
func blockDynamicSamples(g *op.Gen) []op.Sample {
	var list []op.Sample
	for _, name := range integerFormats() {
		k := 2 * blocks.Lookup(name).Elements
		list = append(list, okCall(name, BlockAttrs{name}, g.Normal(3, k), blocked(g, name, 5, k), g.Normal(5)))
	}
	a := BlockAttrs{"Q8_0"}
	x, w, bias := g.Normal(3, 96), blocked(g, "Q8_0", 5, 96), g.Normal(5)
	f16 := func(a *array.Array) *array.Array { return array.Cast(a, array.F16) }
	return append(list,
		okCall("no bias", a, x, w),
		okCall("rank 3", BlockAttrs{"Q4_K"}, g.Normal(2, 2, 256), blocked(g, "Q4_K", 3, 256), g.Normal(3)),
		okCall("vector", a, g.Normal(96), w, bias),
		okCall("many rows", a, g.Normal(40, 96), blocked(g, "Q8_0", 37, 96), g.Normal(37)),
		okCall("f16", a, f16(x), w, f16(bias)),
		okCall("strided", a, g.Strided(x), g.Strided(w)),
		okCall("zeros", a, array.New(array.F32, 2, 96), w, bias),
		okCall("empty batch", a, g.Normal(0, 96), w),
		okCall("no features", a, g.Normal(2, 0), blocked(g, "Q8_0", 5, 0), bias))
}

func blockDynamicBad(g *op.Gen) []op.BadSample {
	x := g.Normal(3, 256)
	return append(blockLinearBad(g),
		badCall(op.BadAttr, "floats", BlockAttrs{"F16"}, x, blocked(g, "F16", 5, 256)),
		badCall(op.BadAttr, "format without integers", BlockAttrs{"Q2_K"}, x, blocked(g, "Q2_K", 5, 256)))
}

func blockLinearBad(g *op.Gen) []op.BadSample {
	x, w := g.Normal(3, 64), blocked(g, "Q8_0", 5, 64)
	a := BlockAttrs{"Q8_0"}
	return []op.BadSample{
		badCall(op.BadAttr, "no format", BlockAttrs{}, x, w),
		badCall(op.BadAttr, "format", BlockAttrs{"q8_0"}, x, w),
		badCall(op.DTypeMismatch, "x is f64", a, array.Cast(x, array.F64), w),
		badCall(op.DTypeMismatch, "weight is i8", a, x, array.Cast(w, array.I8)),
		badCall(op.DTypeMismatch, "bias is f64", a, x, w, array.Cast(g.Normal(5), array.F64)),
		badCall(op.SizeMismatch, "weight", a, x, blocked(g, "Q8_0", 5, 96)),
		badCall(op.SizeMismatch, "part of a block", a, x, quantised(g, array.U8, 5, 67)),
		badCall(op.SizeMismatch, "bias", a, x, w, g.Normal(4)),
		badCall(op.RankMismatch, "scalar", a, g.Normal(), w),
		badCall(op.RankMismatch, "weight rank", a, x, quantised(g, array.U8, 68)),
	}
}

func blockEmbeddingSamples(g *op.Gen) []op.Sample {
	var list []op.Sample
	for _, name := range blocks.Names() {
		k := 2 * max(blocks.Lookup(name).Elements, 16)
		list = append(list, okCall(name, BlockAttrs{name}, g.Int(7, 4), blocked(g, name, 7, k)))
	}
	a, w := BlockAttrs{"Q5_0"}, blocked(g, "Q5_0", 7, 96)
	return append(list,
		okCall("matrix", a, g.Int(7, 2, 3), w),
		okCall("one index", a, g.Int(7), w),
		okCall("i32 indices", a, array.Cast(g.Int(7, 2, 3), array.I32), w),
		okCall("no index", a, g.Int(7, 0, 3), w),
		okCall("no columns", a, g.Int(7, 3), blocked(g, "Q5_0", 7, 0)),
		okCall("strided", a, g.Strided(g.Int(7, 2, 3)), g.Strided(w)))
}

func blockEmbeddingBad(g *op.Gen) []op.BadSample {
	x, w := g.Int(7, 3), blocked(g, "Q5_0", 7, 64)
	a := BlockAttrs{"Q5_0"}
	return []op.BadSample{
		badCall(op.BadAttr, "no format", BlockAttrs{}, x, w),
		badCall(op.DTypeMismatch, "float indices", a, g.Normal(3), w),
		badCall(op.DTypeMismatch, "weight is i8", a, x, array.Cast(w, array.I8)),
		badCall(op.SizeMismatch, "part of a block", a, x, quantised(g, array.U8, 7, 43)),
		badCall(op.RankMismatch, "weight rank", a, x, quantised(g, array.U8, 44)),
	}
}

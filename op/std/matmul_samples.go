package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

func matMulSamples(g *op.Gen) []op.Sample {
	pair := func(name string, x, y *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}}
	}
	return []op.Sample{
		pair("matrices", g.Normal(5, 7), g.Normal(7, 3)),
		pair("batch broadcast", g.Normal(2, 1, 4, 6), g.Normal(3, 6, 5)),
		pair("batch by matrix", g.Normal(2, 4, 6), g.Normal(6, 5)),
		pair("strided", g.Strided(g.Normal(2, 5, 6)), g.Strided(g.Normal(2, 6, 4))),
		pair("vector vector", g.Normal(9), g.Normal(9)),
		pair("matrix vector", g.Normal(2, 4, 9), g.Normal(9)),
		pair("vector matrix", g.Normal(9), g.Normal(3, 9, 2)),
		pair("no inner", g.Normal(3, 0), g.Normal(0, 4)),
		pair("empty", g.Normal(0, 3), g.Normal(3, 4)),
		pair("i64", g.Int(9, 3, 4), g.Int(9, 4, 2)),
		pair("f64", array.Cast(g.Normal(3, 4), array.F64), array.Cast(g.Normal(4, 2), array.F64)),
		pair("f16", array.Cast(g.Uniform(-1, 1, 3, 4), array.F16), array.Cast(g.Uniform(-1, 1, 4, 2), array.F16)),
		pair("special", array.Reshape(g.Special(), 5, 3), g.Uniform(0.5, 1, 3, 2)),
	}
}

func matMulBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, x, y *array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}, Code: code}
	}
	return []op.BadSample{
		bad("inner", op.ShapeMismatch, g.Normal(3, 4), g.Normal(3, 4)),
		bad("batch", op.ShapeMismatch, g.Normal(2, 3, 4), g.Normal(3, 4, 5)),
		bad("scalar", op.RankMismatch, g.Normal(), g.Normal(3)),
		bad("mixed types", op.DTypeMismatch, g.Normal(3, 4), g.Int(5, 4, 2)),
		bad("bool", op.DTypeMismatch, g.Bool(3, 4), g.Bool(4, 2)),
	}
}

func bmmSamples(g *op.Gen) []op.Sample {
	pair := func(name string, x, y *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}}
	}
	return []op.Sample{
		pair("batch", g.Normal(3, 4, 5), g.Normal(3, 5, 6)),
		pair("one", g.Normal(1, 4, 5), g.Normal(1, 5, 1)),
		pair("strided", g.Strided(g.Normal(2, 4, 5)), g.Strided(g.Normal(2, 5, 3))),
		pair("empty batch", g.Normal(0, 4, 5), g.Normal(0, 5, 3)),
		pair("no inner", g.Normal(2, 4, 0), g.Normal(2, 0, 3)),
		pair("i32", array.Cast(g.Int(9, 2, 3, 4), array.I32), array.Cast(g.Int(9, 2, 4, 2), array.I32)),
		pair("f64", array.Cast(g.Normal(2, 3, 4), array.F64), array.Cast(g.Normal(2, 4, 2), array.F64)),
		pair("bf16", array.Cast(g.Uniform(-1, 1, 2, 3, 4), array.BF16), array.Cast(g.Uniform(-1, 1, 2, 4, 2), array.BF16)),
	}
}

func bmmBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, x, y *array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}, Code: code}
	}
	return []op.BadSample{
		bad("rank", op.RankMismatch, g.Normal(3, 4), g.Normal(3, 4, 5)),
		bad("batch", op.ShapeMismatch, g.Normal(1, 3, 4), g.Normal(2, 4, 5)),
		bad("inner", op.ShapeMismatch, g.Normal(2, 3, 4), g.Normal(2, 3, 4)),
		bad("mixed types", op.DTypeMismatch, g.Normal(2, 3, 4), g.Int(5, 2, 4, 2)),
	}
}

func addmmSamples(g *op.Gen) []op.Sample {
	call := func(name string, a AddmmAttrs, in ...*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: in}
	}
	return []op.Sample{
		call("plain", AddmmAttrs{}, g.Normal(3, 5), g.Normal(3, 4), g.Normal(4, 5)),
		call("bias", AddmmAttrs{}, g.Normal(5), g.Normal(3, 4), g.Normal(4, 5)),
		call("column", AddmmAttrs{}, g.Normal(3, 1), g.Normal(3, 4), g.Normal(4, 5)),
		call("factors", AddmmAttrs{Beta: op.Float(0.5), Alpha: op.Float(-2)}, g.Normal(3, 5), g.Normal(3, 4), g.Normal(4, 5)),
		call("beta", AddmmAttrs{Beta: op.Int(3)}, g.Normal(5), g.Normal(3, 4), g.Normal(4, 5)),
		call("integers", AddmmAttrs{Alpha: op.Int(2)}, g.Int(9, 2), g.Int(9, 3, 4), g.Int(9, 4, 2)),
		call("strided", AddmmAttrs{}, g.Strided(g.Normal(3, 5)), g.Strided(g.Normal(3, 4)), g.Strided(g.Normal(4, 5))),
		call("no inner", AddmmAttrs{}, g.Normal(5), g.Normal(3, 0), g.Normal(0, 5)),
		call("beta of 0", AddmmAttrs{Beta: op.Int(0)}, g.Special(), g.Normal(3, 4), g.Normal(4, 15)),
		call("f64", AddmmAttrs{}, array.Cast(g.Normal(2), array.F64), array.Cast(g.Normal(3, 4), array.F64), array.Cast(g.Normal(4, 2), array.F64)),
	}
}

func addmmBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: AddmmAttrs{}, In: in, Code: code}
	}
	return []op.BadSample{
		bad("vector", op.RankMismatch, g.Normal(5), g.Normal(4), g.Normal(4, 5)),
		bad("high rank", op.RankMismatch, g.Normal(2, 3, 5), g.Normal(3, 4), g.Normal(4, 5)),
		bad("inner", op.ShapeMismatch, g.Normal(5), g.Normal(3, 4), g.Normal(3, 5)),
		bad("bias", op.ShapeMismatch, g.Normal(4), g.Normal(3, 4), g.Normal(4, 5)),
		bad("larger than the product", op.ShapeMismatch, g.Normal(3, 5), g.Normal(3, 4), g.Normal(4, 1)),
		bad("types", op.DTypeMismatch, g.Int(4, 5), g.Normal(3, 4), g.Normal(4, 5)),
		{Name: "factor of integers", Attrs: AddmmAttrs{Alpha: op.Float(1.5)}, In: []*array.Array{g.Int(9, 2), g.Int(9, 3, 4), g.Int(9, 4, 2)}, Code: op.BadAttr},
		{Name: "factor beyond f32", Attrs: AddmmAttrs{Beta: op.Float(1e39)}, In: []*array.Array{g.Normal(2), g.Normal(3, 4), g.Normal(4, 2)}, Code: op.BadAttr},
	}
}

func outerSamples(g *op.Gen) []op.Sample {
	pair := func(name string, x, y *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}}
	}
	return []op.Sample{
		pair("vectors", g.Normal(3), g.Normal(5)),
		pair("one", g.Normal(1), g.Normal(4)),
		pair("empty", g.Normal(0), g.Normal(4)),
		pair("integers", g.Int(9, 3), g.Int(9, 2)),
		pair("promoted", g.Int(9, 3), g.Normal(2)),
		pair("f64", array.Cast(g.Normal(3), array.F64), array.Cast(g.Normal(2), array.F64)),
		pair("f16", array.Cast(g.Uniform(-1, 1, 3), array.F16), array.Cast(g.Uniform(-1, 1, 2), array.F16)),
		pair("strided", array.Slice(g.Normal(6), 0, 0, 6, 2), g.Normal(2)),
		pair("special", g.Special(), g.Normal(2)),
	}
}

func outerBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "matrix", Attrs: op.None{}, In: []*array.Array{g.Normal(2, 3), g.Normal(3)}, Code: op.RankMismatch},
		{Name: "scalar", Attrs: op.None{}, In: []*array.Array{g.Normal(3), g.Normal()}, Code: op.RankMismatch},
	}
}

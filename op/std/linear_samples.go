package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

func linearSamples(g *op.Gen) []op.Sample {
	call := func(name string, in ...*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: in}
	}
	f64 := func(a *array.Array) *array.Array { return array.Cast(a, array.F64) }
	f16 := func(a *array.Array) *array.Array { return array.Cast(a, array.F16) }
	return []op.Sample{
		call("with bias", g.Normal(3, 5), g.Normal(4, 5), g.Normal(4)),
		call("bias left out", g.Normal(3, 5), g.Normal(4, 5)),
		call("nil bias", g.Normal(3, 5), g.Normal(4, 5), nil),
		call("vector", g.Normal(5), g.Normal(4, 5), g.Normal(4)),
		call("leading dimensions", g.Normal(2, 3, 5), g.Normal(4, 5), g.Normal(4)),
		call("strided", g.Strided(g.Normal(2, 3, 5)), g.Strided(g.Normal(4, 5)), g.Normal(4)),
		call("empty batch", g.Normal(0, 5), g.Normal(4, 5), g.Normal(4)),
		call("no features", g.Normal(3, 0), g.Normal(4, 0), g.Normal(4)),
		call("wide", g.Normal(17, 33), g.Normal(65, 33), g.Normal(65)),
		call("f64", f64(g.Normal(3, 5)), f64(g.Normal(4, 5)), f64(g.Normal(4))),
		call("f16", f16(g.Uniform(-1, 1, 3, 5)), f16(g.Uniform(-1, 1, 4, 5)), f16(g.Normal(4))),
		call("special", array.Reshape(g.Special(), 3, 5), g.Uniform(0.5, 1, 2, 5), g.Normal(2)),
	}
}

func linearBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: op.None{}, In: in, Code: code}
	}
	return []op.BadSample{
		bad("features", op.SizeMismatch, g.Normal(3, 5), g.Normal(4, 6)),
		bad("transposed weight", op.SizeMismatch, g.Normal(3, 5), g.Normal(5, 4)),
		bad("bias size", op.SizeMismatch, g.Normal(3, 5), g.Normal(4, 5), g.Normal(3)),
		bad("bias rank", op.RankMismatch, g.Normal(3, 5), g.Normal(4, 5), g.Normal(1, 4)),
		bad("weight rank", op.RankMismatch, g.Normal(3, 5), g.Normal(5)),
		bad("scalar", op.RankMismatch, g.Normal(), g.Normal(4, 5)),
		bad("types", op.DTypeMismatch, g.Normal(3, 5), array.Cast(g.Normal(4, 5), array.F64)),
		bad("integers", op.DTypeMismatch, g.Int(5, 3, 5), g.Int(5, 4, 5)),
		bad("missing weight", op.OperandCount, g.Normal(3, 5)),
	}
}

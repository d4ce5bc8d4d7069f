package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// poolInputs are the inputs that every pool takes, by name: float ones of
// n spatial dimensions, at least 5 in each.
func poolInputs(g *op.Gen, n int) map[string]*array.Array {
	x := g.Normal(sized(n, []int{2, 3}, 8, 7, 6)...)
	nan := g.Normal(sized(n, []int{1, 1}, 6, 6, 6)...)
	array.SetFloat64At(nan, 3, array.Float64At(g.Special(), 0))
	array.SetFloat64At(nan, 5, array.Float64At(g.Special(), 2))
	return map[string]*array.Array{
		"plain": x, "unbatched": g.Normal(sized(n, []int{3}, 8, 7, 6)...), "strided": g.Strided(x),
		"empty": g.Normal(sized(n, []int{0, 3}, 8, 7, 6)...), "f64": array.Cast(x, array.F64),
		"f16": array.Cast(x, array.F16), "special": nan, "i64": g.Int(50, sized(n, []int{2, 3}, 8, 7, 6)...),
	}
}

func maxPoolSamples(g *op.Gen, n int) []op.Sample {
	x := poolInputs(g, n)
	call := func(name, input string, a MaxPoolAttrs) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: []*array.Array{x[input]}}
	}
	list := func(v ...int) op.Ints { return op.IntList(v[:n]...) }
	three := MaxPoolAttrs{KernelSize: op.IntList(3), Stride: op.IntList(2), Padding: op.IntList(1)}
	ceil := three
	ceil.CeilMode = true
	padded := MaxPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(1), Padding: op.IntList(1), Dilation: op.IntList(3)}
	return []op.Sample{
		call("kernel only", "plain", MaxPoolAttrs{KernelSize: op.IntList(2)}),
		call("stride and padding", "plain", three),
		call("ceil", "plain", ceil),
		call("ceil drops a window", "plain", MaxPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(3), Padding: op.IntList(1), CeilMode: true}),
		call("per dimension", "plain", MaxPoolAttrs{KernelSize: list(3, 2, 1), Stride: list(1, 2, 3), Padding: list(0, 1, 0)}),
		call("dilation", "plain", MaxPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(1), Dilation: op.IntList(3)}),
		okCall("windows in the padding", padded, g.Normal(sized(n, []int{2, 2}, 4, 2, 2)...)),
		okCall("all in the padding", padded, g.Normal(sized(n, []int{1, 2}, 2, 2, 2)...)),
		okCall("all in the padding, f64", padded, array.Cast(g.Normal(sized(n, []int{1, 2}, 2, 2, 2)...), array.F64)),
		okCall("windows in the padding, i64", padded, g.Int(9, sized(n, []int{1, 2}, 4, 2, 2)...)),
		call("unbatched", "unbatched", three),
		call("strided", "strided", three),
		call("empty batch", "empty", three),
		call("special", "special", MaxPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(1)}),
		call("f64", "f64", three),
		call("f16", "f16", three),
		call("i64", "i64", three),
	}
}

func maxPoolBad(g *op.Gen, n int) []op.BadSample {
	x := poolInputs(g, n)["plain"]
	two := MaxPoolAttrs{KernelSize: op.IntList(2)}
	return []op.BadSample{
		badCall(op.BadAttr, "no kernel", MaxPoolAttrs{}, x),
		badCall(op.BadAttr, "kernel", MaxPoolAttrs{KernelSize: op.IntList(0)}, x),
		badCall(op.BadAttr, "stride", MaxPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(-1)}, x),
		badCall(op.BadAttr, "padding", MaxPoolAttrs{KernelSize: op.IntList(3), Padding: op.IntList(2)}, x),
		badCall(op.BadAttr, "dilation", MaxPoolAttrs{KernelSize: op.IntList(3), Dilation: op.IntList(0)}, x),
		badCall(op.BadAttr, "list length", MaxPoolAttrs{KernelSize: op.IntList(2, 2, 2, 2)}, x),
		badCall(op.SizeMismatch, "kernel too large", MaxPoolAttrs{KernelSize: op.IntList(20)}, x),
		badCall(op.SizeMismatch, "no pixels", two, g.Normal(sized(n, []int{1, 2}, 0, 0, 0)...)),
		badCall(op.RankMismatch, "rank", two, g.Normal(4)),
		badCall(op.DTypeMismatch, "bool", two, g.Bool(sized(n, []int{1, 2}, 4, 4, 4)...)),
	}
}

func avgPoolSamples(g *op.Gen, n int) []op.Sample {
	x := poolInputs(g, n)
	call := func(name, input string, a AvgPoolAttrs) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: []*array.Array{x[input]}}
	}
	list := func(v ...int) op.Ints { return op.IntList(v[:n]...) }
	three := AvgPoolAttrs{KernelSize: op.IntList(3), Stride: op.IntList(2), Padding: op.IntList(1)}
	exclude, ceil := three, three
	exclude.CountExcludePad = true
	ceil.CeilMode = true
	both := ceil
	both.CountExcludePad = true
	return []op.Sample{
		call("kernel only", "plain", AvgPoolAttrs{KernelSize: op.IntList(2)}),
		call("stride and padding", "plain", three),
		call("exclude padding", "plain", exclude),
		call("ceil", "plain", ceil),
		call("ceil, exclude padding", "plain", both),
		call("divisor", "plain", AvgPoolAttrs{KernelSize: op.IntList(2), DivisorOverride: 3}),
		call("per dimension", "plain", AvgPoolAttrs{KernelSize: list(3, 2, 1), Stride: list(1, 2, 3), Padding: list(0, 1, 0)}),
		call("unbatched", "unbatched", three),
		call("strided", "strided", three),
		call("empty batch", "empty", three),
		call("special", "special", AvgPoolAttrs{KernelSize: op.IntList(2), Stride: op.IntList(1)}),
		call("f64", "f64", three),
		call("f16", "f16", three),
		call("i64", "i64", AvgPoolAttrs{KernelSize: op.IntList(2)}),
	}
}

func avgPoolBad(g *op.Gen, n int) []op.BadSample {
	x := poolInputs(g, n)["plain"]
	two := AvgPoolAttrs{KernelSize: op.IntList(2)}
	return []op.BadSample{
		badCall(op.BadAttr, "no kernel", AvgPoolAttrs{}, x),
		badCall(op.BadAttr, "padding", AvgPoolAttrs{KernelSize: op.IntList(3), Padding: op.IntList(2)}, x),
		badCall(op.BadAttr, "divisor", AvgPoolAttrs{KernelSize: op.IntList(3), DivisorOverride: -1}, x),
		badCall(op.SizeMismatch, "kernel too large", AvgPoolAttrs{KernelSize: op.IntList(20)}, x),
		badCall(op.RankMismatch, "rank", two, g.Normal(4)),
		badCall(op.DTypeMismatch, "integers", two, array.Cast(x, array.I32)),
	}
}

func adaptivePoolSamples(g *op.Gen, n int) []op.Sample {
	x := poolInputs(g, n)
	call := func(name, input string, size ...int) op.Sample {
		return op.Sample{Name: name, Attrs: AdaptivePoolAttrs{OutputSize: op.IntList(size...)}, In: []*array.Array{x[input]}}
	}
	return []op.Sample{
		call("global", "plain", 1),
		call("uneven", "plain", 5),
		call("larger", "plain", 9),
		call("keep", "plain", -1),
		call("per dimension", "plain", []int{3, 0, 2}[:n]...),
		call("unbatched", "unbatched", 4),
		call("strided", "strided", 3),
		call("empty batch", "empty", 2),
		call("special", "special", 4),
		call("f64", "f64", 3),
		call("f16", "f16", 2),
	}
}

func adaptivePoolBad(g *op.Gen, n int) []op.BadSample {
	x := poolInputs(g, n)
	bad := func(name string, code diag.Code, x *array.Array, size ...int) op.BadSample {
		return op.BadSample{Name: name, Attrs: AdaptivePoolAttrs{OutputSize: op.IntList(size...)}, In: []*array.Array{x}, Code: code}
	}
	return []op.BadSample{
		bad("no size", op.BadAttr, x["plain"]),
		bad("negative", op.BadAttr, x["plain"], -2),
		bad("list length", op.BadAttr, x["plain"], 1, 1, 1, 1),
		bad("no pixels", op.SizeMismatch, g.Normal(sized(n, []int{1, 2}, 0, 0, 0)...), 1),
		bad("rank", op.RankMismatch, g.Normal(4), 1),
		bad("integers", op.DTypeMismatch, x["i64"], 1),
	}
}

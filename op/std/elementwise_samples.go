package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// binarySamples are the calls that every binary operator on the domain is tried with.
func binarySamples(g *op.Gen, on domain, attrs func(n op.Scalar, reverse bool) any) []op.Sample {
	var all []op.Sample
	none := op.Scalar{}
	add := func(name string, x, y *array.Array) {
		all = append(all, op.Sample{Name: name, Attrs: attrs(none, false), In: []*array.Array{x, y}})
	}
	with := func(name string, x *array.Array, n op.Scalar, reverse bool) {
		all = append(all, op.Sample{Name: name, Attrs: attrs(n, reverse), In: []*array.Array{x}})
	}
	if on.float {
		add("equal shapes", g.Normal(2, 3), g.Normal(2, 3))
		add("broadcast", g.Normal(4, 1, 3), g.Normal(5, 1))
		add("zero size", g.Normal(0, 3), g.Normal(3))
		add("strided", g.Strided(g.Normal(3, 4)), g.Strided(g.Normal(1, 4)))
		add("0-dimensional", g.Normal(), g.Normal(2))
		add("special", g.Special(), g.Normal(15))
		add("special by special", array.Unsqueeze(g.Special(), 1), g.Special())
		add("f64", array.Cast(g.Normal(7), array.F64), array.Cast(g.Normal(7), array.F64))
		add("f16", array.Cast(g.Normal(7), array.F16), array.Cast(g.Normal(7), array.F16))
		add("bf16 and f32", array.Cast(g.Normal(7), array.BF16), g.Normal(7))
		with("number", g.Normal(2, 5), op.Float(1.25), false)
		with("number of f16", array.Cast(g.Normal(5), array.F16), op.Float(0.1), false)
		with("reversed number", g.Uniform(0.5, 2, 6), op.Int(3), true)
		with("number that f16 rounds", array.Cast(array.FromSlice([]float32{0.0999, 0.1, 0.2, 1e5}), array.F16), op.Float(0.1), false)
		with("number beyond f32", array.FromSlice([]float32{-1, 1, float32(math.Inf(1))}), op.Float(1e300), false)
	}
	if on.int {
		add("i64", g.Int(9, 3, 4), g.Int(5, 4))
		add("i32 and i64", array.Cast(g.Int(9, 6), array.I32), g.Int(5, 6))
		add("u8 and i8", array.Cast(g.Int(200, 6), array.U8), array.Cast(g.Int(7, 6), array.I8))
		add("negative", array.FromSlice([]int64{-7, 7, -7, 7, 0, -1}), array.FromSlice([]int64{2, 3, 5, 0, 4, 1}))
		add("least by -1", array.FromSlice([]int8{-128, 127, -128}), array.FromSlice([]int8{-1, -1, 1}))
		add("least i64 by -1", array.FromSlice([]int64{math.MinInt64, math.MinInt64, 5}), array.FromSlice([]int64{-1, 1, -1}))
		add("zero size i32", array.New(array.I32, 2, 0), array.New(array.I32, 1))
		add("strided i16", g.Strided(array.Cast(g.Int(9, 3, 2), array.I16)), array.Cast(g.Int(5, 2), array.I16))
		with("number of i64", g.Int(9, 5), op.Int(3), false)
		with("reversed number of i32", array.Cast(g.Int(6, 5), array.I32), op.Int(2), true)
		with("number beyond i8", array.FromSlice([]int8{-100, 1, 2, 44}), op.Int(300), false)
		with("negative number of u8", array.FromSlice([]uint8{1, 2, 250, 255}), op.Int(-1), false)
	}
	if on.int && on.float {
		add("i64 and f32", g.Int(9, 5), g.Normal(5))
		with("float of i64", g.Int(9, 5), op.Float(2.5), false)
	}
	if on.bool {
		add("bool", g.Bool(3, 4), g.Bool(4))
	}
	return all
}

// reversedTensors is the sample that operators without reverse leave out.
const reversedTensors = "reversed tensors"

// binaryBad are the calls that every binary operator on the domain refuses.
func binaryBad(g *op.Gen, on domain, attrs func(n op.Scalar, reverse bool) any) []op.BadSample {
	of := func(shape ...int) *array.Array {
		if on.float {
			return g.Normal(shape...)
		}
		return g.Int(5, shape...)
	}
	none := op.Scalar{}
	all := []op.BadSample{
		{Name: "shapes", Attrs: attrs(none, false), In: []*array.Array{of(2, 3), of(4)}, Code: op.ShapeMismatch},
		{Name: "no second operand", Attrs: attrs(none, false), In: []*array.Array{of(2)}, Code: op.OperandCount},
		{Name: "tensor and number", Attrs: attrs(op.Int(2), false), In: []*array.Array{of(2), of(2)}, Code: op.OperandCount},
		{Name: reversedTensors, Attrs: attrs(none, true), In: []*array.Array{of(2), of(2)}, Code: op.BadAttr},
	}
	if !on.bool {
		all = append(all, op.BadSample{Name: "bool", Attrs: attrs(none, false),
			In: []*array.Array{g.Bool(2), g.Bool(2)}, Code: op.DTypeMismatch})
	}
	if !on.float {
		all = append(all, op.BadSample{Name: "float", Attrs: attrs(none, false),
			In: []*array.Array{g.Int(5, 2), g.Normal(2)}, Code: op.DTypeMismatch})
	}
	return all
}

// unarySamples are the calls that every unary operator on the domain is tried
// with, for each of the attributes.
func unarySamples[A any](g *op.Gen, on domain, attrs []A) []op.Sample {
	var all []op.Sample
	for _, a := range attrs {
		all = append(all, unaryCalls(g, on, a)...)
	}
	return all
}

// unaryCalls is apart from unarySamples so that it is compiled once, not for every
// type of attributes.
func unaryCalls(g *op.Gen, on domain, a any) (all []op.Sample) {
	add := func(name string, x *array.Array) {
		all = append(all, op.Sample{Name: name, Attrs: a, In: []*array.Array{x}})
	}
	if on.float {
		add("matrix", g.Normal(3, 4))
		add("positive", g.Uniform(0.01, 9, 40))
		add("wide", g.Uniform(-30, 30, 60))
		add("special", g.Special())
		add("zero size", g.Normal(0, 2))
		add("strided", g.Strided(g.Normal(2, 3, 4)))
		add("0-dimensional", g.Normal())
		add("f64", array.Cast(g.Normal(9), array.F64))
		add("f16", array.Cast(g.Normal(9), array.F16))
		add("bf16", array.Cast(g.Normal(9), array.BF16))
	}
	if on.int {
		add("i64", g.Int(5, 2, 3))
		add("negative i32", array.FromSlice([]int32{-3, -1, 0, 1, 2, 7}))
		add("u8", array.Cast(g.Int(255, 6), array.U8))
		add("strided i16", g.Strided(array.Cast(g.Int(9, 2, 3), array.I16)))
	}
	if on.bool {
		add("bool", g.Bool(5))
	}
	if on.int && !on.float {
		add("zero size i64", array.New(array.I64, 0))
		add("0-dimensional i64", g.Int(9))
		add("u64", array.Cast(g.Int(9, 2, 1), array.U64))
	}
	return all
}

// unaryBad are the calls that every unary operator on the domain refuses, and
// those with wrong attributes.
func unaryBad[A any](g *op.Gen, on domain, a A, wrong []A) []op.BadSample {
	var all []op.BadSample
	for _, w := range wrong {
		all = append(all, op.BadSample{Name: "attribute", Attrs: w, In: []*array.Array{g.Normal(2)}, Code: op.BadAttr})
	}
	return append(all, unaryRefusals(g, on, a)...)
}

func unaryRefusals(g *op.Gen, on domain, a any) (all []op.BadSample) {
	if !on.float {
		all = append(all, op.BadSample{Name: "float", Attrs: a, In: []*array.Array{g.Normal(2)}, Code: op.DTypeMismatch})
	}
	if !on.int {
		all = append(all, op.BadSample{Name: "i64", Attrs: a, In: []*array.Array{g.Int(5, 2)}, Code: op.DTypeMismatch})
	}
	if !on.bool {
		all = append(all, op.BadSample{Name: "bool", Attrs: a, In: []*array.Array{g.Bool(2)}, Code: op.DTypeMismatch})
	}
	return append(all, op.BadSample{Name: "two operands", Attrs: a, In: []*array.Array{g.Normal(2), g.Normal(2)}, Code: op.OperandCount})
}

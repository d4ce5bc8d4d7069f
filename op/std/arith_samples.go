package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func addSamples(g *op.Gen) []op.Sample {
	return append(binarySamples(g, onAny, addAttrs),
		op.Sample{Name: "alpha", Attrs: AddAttrs{Alpha: op.Float(0.5)}, In: []*array.Array{g.Normal(3), g.Normal(2, 3)}},
		op.Sample{Name: "alpha of f16", Attrs: AddAttrs{Alpha: op.Float(0.1)},
			In: []*array.Array{array.Cast(g.Normal(3), array.F16), array.Cast(g.Normal(3), array.F16)}},
		op.Sample{Name: "alpha of i64", Attrs: AddAttrs{Alpha: op.Int(-2)}, In: []*array.Array{g.Int(5, 4), g.Int(5, 4)}})
}

func addBad(g *op.Gen) []op.BadSample {
	bad := binaryBad(g, onAny, addAttrs)
	return append(bad[:3:3], // add has no reverse
		op.BadSample{Name: "float alpha of i64", Attrs: AddAttrs{Alpha: op.Float(0.5)},
			In: []*array.Array{g.Int(5, 4), g.Int(5, 4)}, Code: op.BadAttr},
		op.BadSample{Name: "alpha beyond i8", Attrs: AddAttrs{Alpha: op.Int(300)},
			In: []*array.Array{array.New(array.I8, 2), array.New(array.I8, 2)}, Code: op.BadAttr},
		op.BadSample{Name: "alpha of bool", Attrs: AddAttrs{Alpha: op.Int(2)},
			In: []*array.Array{g.Bool(4), g.Bool(4)}, Code: op.BadAttr})
}

func subSamples(g *op.Gen) []op.Sample {
	return append(binarySamples(g, onNumbers, subAttrs),
		op.Sample{Name: "alpha", Attrs: SubAttrs{Alpha: op.Float(0.5)}, In: []*array.Array{g.Normal(3), g.Normal(2, 3)}},
		op.Sample{Name: "alpha reversed", Attrs: SubAttrs{Other: op.Int(1), Alpha: op.Int(3), Reverse: true}, In: []*array.Array{g.Normal(3)}})
}

func subBad(g *op.Gen) []op.BadSample {
	return append(binaryBad(g, onNumbers, subAttrs), op.BadSample{Name: "float alpha of i64", Attrs: SubAttrs{Alpha: op.Float(0.5)},
		In: []*array.Array{g.Int(5, 4), g.Int(5, 4)}, Code: op.BadAttr})
}

func divSamples(g *op.Gen) []op.Sample {
	all := binarySamples(g, onAny, divAttrs(""))
	for _, mode := range []string{"trunc", "floor"} {
		for _, s := range binarySamples(g, onNumbers, divAttrs(mode)) {
			s.Name = mode + " " + s.Name
			all = append(all, s)
		}
	}
	return all
}

func divBad(g *op.Gen) []op.BadSample {
	return append(binaryBad(g, onAny, divAttrs("")),
		op.BadSample{Name: "floor of bool", Attrs: DivAttrs{RoundingMode: "floor"}, In: []*array.Array{g.Bool(2), g.Bool(2)}, Code: op.DTypeMismatch},
		op.BadSample{Name: "floor by zero", Attrs: DivAttrs{Other: op.Int(0), RoundingMode: "floor"}, In: []*array.Array{g.Int(5, 2)}, Code: op.BadAttr},
		op.BadSample{Name: "unknown mode", Attrs: DivAttrs{RoundingMode: "up"}, In: []*array.Array{g.Normal(2), g.Normal(2)}, Code: op.BadAttr})
}

func zeroDivisors(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "zero of i64", Attrs: ReversibleAttrs{Other: op.Int(0)}, In: []*array.Array{g.Int(5, 2)}, Code: op.BadAttr},
		{Name: "zero as i8", Attrs: ReversibleAttrs{Other: op.Int(256)}, In: []*array.Array{array.New(array.I8, 2)}, Code: op.BadAttr},
	}
}

func logaddexpSamples(g *op.Gen) []op.Sample {
	return tensorPairs(binarySamples(g, onFloats, func(op.Scalar, bool) any { return op.None{} }))
}

func logaddexpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.ShapeMismatch, "shapes", op.None{}, g.Normal(2, 3), g.Normal(4)),
		badCall(op.DTypeMismatch, "integers", op.None{}, g.Int(5, 2), g.Int(5, 2)),
		badCall(op.OperandCount, "one operand", op.None{}, g.Normal(2)),
	}
}

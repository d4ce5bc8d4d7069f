package std

import "github.com/gofx-dev/gofx/op"

func waitSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, op.None{}, 2, 3), okCall("zero size", op.None{}, g.Normal(0, 3)), okCall("0-dimensional", op.None{}, g.Normal()))
}

func waitBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.OperandCount, "nothing", op.None{}),
		badCall(op.OperandCount, "two operands", op.None{}, g.Normal(2), g.Normal(2)),
	}
}

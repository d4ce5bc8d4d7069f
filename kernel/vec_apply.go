package kernel

const (
	// stepWords is the size of a step of the strip machine in words: the address of
	// its code, twice the address and the index mask of an operand, and the
	// operands' numbers (see stripCoder).
	stepWords = 6
	// maxStrip is the longest strip of any level.
	maxStrip = 128
)

// stripTemp is the scratch of steps, two strips.
type stripTemp [2 * maxStrip]float32

// functionSteps has the steps of the functions of f32.
var functionSteps = [numCodes]uint8{
	OpExp: stepExp, OpExpm1: stepExpm1, OpLog: stepLog, OpLog1p: stepLog1p, OpLog2: stepLog2, OpSin: stepSin, OpCos: stepCos,
	OpTan: stepTan, OpAtan: stepAtan, OpErf: stepErf, OpTanh: stepTanh, OpSigmoid: stepSigmoid, OpRsqrt: stepRsqrt,
}

// applyFunction computes a function of f32, which vmath32 lists, at a level.
func applyFunction(level cpuLevel, op Code, d, a []float32) {
	code := stripCode(level)
	if code == nil {
		applyTwin(op, d, a)
		return
	}
	all := ^uint64(0)
	steps := [4 * stepWords]uint64{code[stepLoad], 0, all, 0, 0, 0, code[functionSteps[op]], 0, 0, 0, 0, 0,
		code[stepStore], 0, all, 0, 0, 0, code[stepEnd]}
	var temp stripTemp
	n := len(d) - len(d)%stripLen(level)
	applyStrips(level, &steps, d[:n], a[:n], &temp)
	if n < len(d) {
		var x, y [maxStrip]float32
		copy(x[:], a[n:len(d)])
		applyStrips(level, &steps, y[:stripLen(level)], x[:], &temp)
		copy(d[n:], y[:])
	}
}

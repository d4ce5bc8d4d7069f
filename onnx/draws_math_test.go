package onnx_test

import "github.com/gofx-dev/gofx/array"

// broadcast are sizes that agree with dims when they are broadcast.
func (r *recipe) broadcast(dims []int) []int {
	d := append([]int{}, dims[r.IntN(len(dims)+1):]...)
	for i := range d {
		if r.chance(3) {
			d[i] = 1
		}
	}
	return d
}

func drawBinary(r *recipe) {
	dims := r.dims(r.upTo(0, 4), 1, 4)
	other := r.broadcast(dims)
	if r.chance(2) {
		dims, other = other, dims
	}
	op := pick(r, "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Min", "Max", "Sum", "Mean", "And", "Or", "Xor",
		"BitShift", "BitwiseAnd", "BitwiseXor", "PRelu", "Where")
	d := pick(r, array.F32, array.F32, array.I32, array.I64, array.F64)
	pair := func(d array.DType, lo, hi int) { r.in(r.of(d, lo, hi, dims...)); r.either(r.of(d, lo, hi, other...)) }
	switch op {
	case "Div":
		r.in(r.of(d, -9, 9, dims...))
		r.either(r.of(d, 1, 4, other...))
	case "Pow":
		r.in(r.of(d, 0, 4, dims...))
		r.either(r.of(pick(r, array.F32, array.I32, array.I64), 0, 3, other...))
	case "Mod":
		d = pick(r, array.I32, array.I64, array.F32, array.I8, array.U8)
		lo := -9
		if d == array.U8 {
			lo = 0
		}
		r.in(r.of(d, lo, 9, dims...))
		if d == array.U8 || r.chance(2) {
			r.either(r.of(d, 1, 5, other...))
		} else {
			r.either(r.of(d, -5, -1, other...))
		}
		if d == array.F32 || r.chance(2) {
			r.i("fmod", 1)
		}
	case "And", "Or", "Xor":
		pair(array.Bool, 0, 1)
	case "BitShift":
		d = pick(r, array.U8, array.U32, array.U64)
		pair(d, 0, 7)
		r.s("direction", pick(r, "LEFT", "RIGHT"))
	case "BitwiseAnd", "BitwiseXor":
		r.opset = 18
		pair(pick(r, array.I32, array.U8, array.I64), 0, 99)
	case "PRelu":
		r.in(r.floats(dims...))
		r.either(r.floats(other...))
	case "Where":
		r.in(r.truths(dims...))
		r.in(r.floats(other...))
		r.in(r.floats())
	case "Sum", "Mean":
		pair(array.F32, -9, 9)
		r.in(r.floats())
	default:
		pair(d, -3, 3)
	}
	r.finish(op, 1)
}

func drawUnary(r *recipe) {
	x := r.floats(r.dims(r.upTo(0, 3), 1, 5)...)
	op := pick(r, "Abs", "Neg", "Ceil", "Floor", "Round", "Sqrt", "Exp", "Log", "Reciprocal", "Sign", "Erf", "Sigmoid", "Tanh", "Relu", "Elu", "Selu", "Celu", "LeakyRelu",
		"ThresholdedRelu", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Shrink", "Mish", "Gelu", "Clip", "Cos", "Sin", "Tan", "Atan", "Sinh", "Cosh", "Asinh",
		"IsNaN", "IsInf", "Not", "Cast")
	alpha := float32(r.upTo(1, 8)) / 4
	switch op {
	case "Sqrt", "Log", "Reciprocal":
		x = r.positive(x.Shape()...)
	case "Elu", "Celu", "LeakyRelu", "ThresholdedRelu":
		r.f("alpha", alpha)
	case "Selu":
		r.f("alpha", alpha)
		r.f("gamma", 1.5)
	case "HardSigmoid":
		r.f("alpha", 0.3)
		r.f("beta", alpha)
	case "Shrink":
		r.f("bias", 0.25)
		r.f("lambd", alpha)
	case "Mish":
		r.opset = 18
	case "Gelu":
		r.opset = 20
		r.s("approximate", pick(r, "none", "tanh"))
	case "Not":
		x = r.truths(x.Shape()...)
	case "Cast":
		x = array.Cast(x, pick(r, array.F32, array.F64, array.I32, array.I64, array.I8, array.Bool))
		r.i("to", int(dataTypes[pick(r, array.F32, array.F64, array.F16, array.I32, array.I64, array.I8, array.Bool)]))
	case "IsInf":
		r.i("detect_negative", r.IntN(2))
		r.i("detect_positive", r.IntN(2))
	}
	r.in(x)
	if op == "Clip" {
		pick(r, func() { r.fixed(number(-0.5)) }, r.absent)()
		if r.chance(2) {
			r.fixed(number(pick(r, float32(0.75), -1)))
		}
	}
	r.finish(op, 1)
}

func drawReduce(r *recipe) {
	op := pick(r, "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
	x := r.floats(r.dims(r.upTo(1, 4), 1, 4)...)
	if op == "ReduceLogSum" {
		x = r.positive(x.Shape()...)
	}
	if r.chance(4) && (op == "ReduceSum" || op == "ReduceMax" || op == "ReduceMin") {
		x = array.Cast(x, pick(r, array.I32, array.I64))
	}
	r.in(x)
	r.opset = int64(pick(r, 11, 13, 18))
	r.i("keepdims", r.IntN(2))
	byInput := r.opset >= 18 || op == "ReduceSum" && r.opset >= 13
	switch {
	case r.chance(4):
	case byInput:
		r.fixed(list(r.axes(x.Rank())...))
	default:
		r.is("axes", r.axes(x.Rank())...)
	}
	if byInput && r.chance(3) {
		r.i("noop_with_empty_axes", r.IntN(2))
	}
	r.finish(op, 1)
}

func drawSoftmax(r *recipe) {
	x := r.floats(r.dims(r.upTo(1, 4), 1, 4)...)
	r.in(x)
	r.opset = int64(pick(r, 7, 11, 13))
	if r.chance(3) {
		r.i("axis", r.upTo(0, x.Rank()-1))
	} else if r.opset >= 11 && r.chance(2) {
		r.i("axis", r.upTo(-x.Rank(), x.Rank()-1))
	}
	r.finish(pick(r, "Softmax", "LogSoftmax"), 1)
}

func drawMatMul(r *recipe) {
	m, k, n := r.upTo(1, 4), r.upTo(1, 4), r.upTo(1, 4)
	if r.chance(2) {
		batch := r.dims(r.upTo(0, 2), 1, 3)
		a, b := append(r.broadcast(batch), m, k), append(append([]int{}, batch...), k, n)
		switch r.IntN(4) {
		case 0:
			a = []int{k}
		case 1:
			b = []int{k}
		}
		r.in(r.floats(a...))
		r.either(r.floats(b...))
		r.finish("MatMul", 1)
		return
	}
	ta, tb := r.IntN(2), r.IntN(2)
	a, b := []int{m, k}, []int{k, n}
	if ta == 1 {
		a = []int{k, m}
	}
	if tb == 1 {
		b = []int{n, k}
	}
	r.in(r.floats(a...))
	r.either(r.floats(b...))
	if r.chance(2) {
		r.either(r.floats(r.broadcast([]int{m, n})...))
	}
	r.i("transA", ta)
	r.i("transB", tb)
	if r.chance(2) {
		r.f("alpha", 0.5)
		r.f("beta", 2)
	}
	r.finish("Gemm", 1)
}

func drawQuant(r *recipe) {
	d := pick(r, array.U8, array.I8)
	lo, hi := 0, 255
	if d == array.I8 {
		lo, hi = -128, 127
	}
	zero := func(dims ...int) *array.Array { return r.of(d, lo+100, hi-100, dims...) }
	switch r.IntN(6) {
	case 5:
		r.quantConv(d, zero)
	case 0, 1:
		dims := r.dims(r.upTo(1, 4), 1, 4)
		axis := r.IntN(len(dims))
		var per []int
		if r.chance(2) {
			per = []int{dims[axis]}
			r.i("axis", axis)
		}
		if r.chance(2) {
			r.in(r.floats(dims...))
			r.fixed(r.positive(per...))
			r.fixed(zero(per...))
			r.finish("QuantizeLinear", 1)
			return
		}
		r.in(r.of(d, lo, hi, dims...))
		r.fixed(r.positive(per...))
		if r.chance(2) {
			r.fixed(zero(per...))
		}
		r.finish("DequantizeLinear", 1)
	case 2:
		r.in(r.floats(r.dims(r.upTo(1, 3), 1, 4)...))
		r.finish("DynamicQuantizeLinear", 3)
	case 3:
		m, k, n := r.upTo(1, 4), r.upTo(1, 4), r.upTo(1, 4)
		r.in(r.of(d, lo, hi, m, k))
		e := pick(r, array.U8, array.I8)
		if d == array.I8 {
			e = array.I8
		}
		r.either(r.of(e, 0, 100, k, n))
		if r.chance(2) {
			r.fixed(zero())
			if r.chance(2) {
				r.fixed(r.of(e, 1, 50))
			}
		}
		r.finish("MatMulInteger", 1)
	default:
		m, k, n := r.upTo(1, 4), r.upTo(1, 4), r.upTo(1, 4)
		r.in(r.of(d, lo, hi, m, k))
		r.fixed(r.positive())
		r.fixed(zero())
		r.either(r.of(array.I8, -100, 100, k, n))
		r.fixed(r.positive())
		r.fixed(r.of(array.I8, -5, 5))
		r.fixed(number(16))
		r.fixed(zero())
		r.tol = 1.01 // a quantum
		r.finish("QLinearMatMul", 1)
	}
}

func (r *recipe) quantConv(d array.DType, zero func(...int) *array.Array) {
	n := r.upTo(1, 2)
	groups := pick(r, 1, 1, 2)
	in, out := groups*r.upTo(1, 3), groups*r.upTo(1, 3)
	kernel := r.dims(n, 1, 3)
	x := array.Cast(r.of(array.I32, 0, 100, append([]int{r.upTo(1, 2), in}, r.dims(n, 4, 9)...)...), d)
	w := r.of(array.I8, -100, 100, append([]int{out, in / groups}, kernel...)...)
	r.i("group", groups)
	r.in(x)
	op := pick(r, "ConvInteger", "QLinearConv")
	if op == "ConvInteger" {
		if d == array.I8 {
			r.drop = true // ONNX Runtime has it for u8 alone
		}
		r.fixed(w)
		if r.chance(2) {
			r.fixed(zero())
		}
	} else {
		var per []int
		if r.chance(2) {
			per = []int{out}
		}
		r.fixed(r.positive())
		r.fixed(zero())
		r.fixed(w)
		r.fixed(r.positive(per...))
		r.fixed(array.New(array.I8, per...))
		r.fixed(number(100))
		r.fixed(zero())
		if r.chance(2) {
			r.fixed(r.of(array.I32, -500, 500, out))
		}
		r.tol = 1.01
	}
	r.windows(kernel, true, false)
	r.finish(op, 1)
}

package onnx_test

import (
	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// contrib finishes a node of ONNX Runtime's own domain.
func (r *recipe) contrib(op string, results int) {
	r.node.Domain = "com.microsoft"
	r.finish(op, results)
	r.model.Opsets = append(r.model.Opsets, &pb.Opset{Domain: "com.microsoft", Version: 1})
}

// maybe adds an operand half of the time.
func (r *recipe) maybe(a *array.Array) bool {
	if r.chance(2) {
		r.absent()
		return false
	}
	r.either(a)
	return true
}

func drawAttention(r *recipe) {
	batch, seq, heads, size := r.upTo(1, 3), r.upTo(1, 4), r.upTo(1, 3), r.upTo(1, 4)
	in, hidden, past := r.upTo(1, 5), heads*size, 0
	r.i("num_heads", heads)
	if r.chance(2) {
		r.i("unidirectional", 1)
	}
	if r.chance(3) {
		r.f("scale", 0.5)
	}
	r.in(r.floats(batch, seq, in))
	r.fixed(r.floats(in, 3*hidden))
	r.fixed(r.floats(3 * hidden))
	withPast := r.chance(3)
	if withPast {
		past = r.upTo(0, 3)
	}
	switch r.IntN(5) {
	case 0:
		r.either(r.of(array.I32, 1, seq+past, batch))
	case 1:
		r.either(r.of(array.I32, 0, 1, batch, seq+past))
	case 2:
		r.either(r.of(array.I32, 0, 1, batch, seq, seq+past))
	default:
		r.absent()
	}
	if withPast {
		r.in(r.floats(2, batch, heads, past, size))
	} else {
		r.absent()
	}
	results := 1
	if withPast { // ONNX Runtime takes no bias then
		results = 2
	} else {
		r.maybe(r.floats(pick(r, 1, batch), pick(r, 1, heads), seq, seq))
	}
	r.contrib("Attention", results)
}

func drawMultiHead(r *recipe) {
	batch, seq, keys, heads, size := r.upTo(1, 3), r.upTo(1, 4), r.upTo(1, 4), r.upTo(1, 3), r.upTo(1, 4)
	values := pick(r, size, r.upTo(1, 4))
	r.i("num_heads", heads)
	if r.chance(3) {
		r.f("mask_filter_value", -20)
	}
	past := 0
	if r.chance(3) {
		past, keys, values = r.upTo(1, 3), seq, size
	}
	r.in(r.floats(batch, seq, heads*size))
	r.in(r.floats(batch, keys, heads*size))
	r.in(r.floats(batch, keys, heads*values))
	r.maybe(r.floats(2*heads*size + heads*values))
	switch r.IntN(3) {
	case 0:
		r.either(r.of(array.I32, 0, 1, batch, keys+past))
	case 1:
		r.either(r.of(array.I32, 0, 1, batch, seq, keys+past))
	default:
		r.absent()
	}
	r.maybe(r.floats(pick(r, 1, batch), pick(r, 1, heads), seq, keys+past))
	if past > 0 {
		r.in(r.floats(batch, heads, past, size))
		r.in(r.floats(batch, heads, past, size))
		r.contrib("MultiHeadAttention", 3)
		return
	}
	r.contrib("MultiHeadAttention", 1)
}

func drawGroupQuery(r *recipe) {
	batch, kv, group, size := r.upTo(1, 2), r.upTo(1, 2), r.upTo(1, 3), 16
	seq, past := r.upTo(1, 4), 0
	next := r.chance(2)
	if next {
		seq, past = 1, r.upTo(1, 4)
	}
	r.i("num_heads", kv*group)
	r.i("kv_num_heads", kv)
	if r.chance(3) {
		r.i("local_window_size", r.upTo(1, 4))
	}
	if r.chance(4) {
		r.f("softcap", 2)
	}
	rotary := r.chance(2)
	if rotary {
		r.i("do_rotary", 1)
		r.i("rotary_interleaved", r.IntN(2))
	}
	if r.chance(3) {
		r.in(r.floats(batch, seq, (kv*group+2*kv)*size))
		r.absent()
		r.absent()
	} else {
		r.in(r.floats(batch, seq, kv*group*size))
		r.in(r.floats(batch, seq, kv*size))
		r.in(r.floats(batch, seq, kv*size))
	}
	if next {
		r.in(r.floats(batch, kv, past, size))
		r.in(r.floats(batch, kv, past, size))
	} else {
		r.absent()
		r.absent()
	}
	r.either(r.of(array.I32, seq+past-1, seq+past-1, batch))
	r.fixed(r.of(array.I32, seq+past, seq+past))
	if rotary {
		r.fixed(r.floats(10, 8))
		r.fixed(r.floats(10, 8))
	}
	r.contrib("GroupQueryAttention", 3)
}

func drawNBits(r *recipe) {
	bits, block := pick(r, 4, 4, 8, 2), pick(r, 16, 32, 64)
	rows, columns := r.upTo(1, 9), r.upTo(1, 150)
	blocks := (columns + block - 1) / block
	r.i("K", columns)
	r.i("N", rows)
	r.i("bits", bits)
	r.i("block_size", block)
	r.tol = 1e-3
	r.in(r.floats(append(r.dims(r.upTo(0, 2), 1, 3), r.upTo(1, 5), columns)...))
	r.fixed(r.of(array.U8, 0, 255, rows, blocks, block*bits/8))
	r.fixed(r.positive(rows * blocks))
	if r.chance(2) {
		r.fixed(r.of(array.U8, 0, 255, rows*((blocks*bits+7)/8)))
	} else {
		r.absent()
	}
	r.absent()
	r.maybe(r.floats(rows))
	r.contrib("MatMulNBits", 1)
}

func drawFused(r *recipe) {
	dims := append(r.dims(r.upTo(1, 2), 1, 4), r.upTo(1, 6))
	last := dims[len(dims)-1]
	switch op := pick(r, "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "FastGelu", "BiasGelu", "QuickGelu", "FusedMatMul", "FusedGemm"); op {
	case "SkipLayerNormalization", "SkipSimplifiedLayerNormalization":
		r.in(r.floats(dims...))
		r.in(r.floats(dims...))
		r.fixed(r.floats(last))
		r.maybe(r.floats(last))
		if op == "SkipLayerNormalization" {
			r.maybe(r.floats(last))
		}
		r.f("epsilon", 0.01)
		r.contrib(op, 1)
	case "FastGelu", "BiasGelu", "QuickGelu":
		r.in(r.floats(dims...))
		if op != "QuickGelu" {
			r.fixed(r.floats(last))
		}
		r.contrib(op, 1)
	default:
		r.product(op)
	}
}

// product draws a matrix product whose operands may lie transposed.
func (r *recipe) product(op string) {
	m, k, n := r.upTo(1, 4), r.upTo(1, 4), r.upTo(1, 4)
	turned := func(name string, a, b int) []int {
		if r.chance(2) {
			r.i(name, 1)
			return []int{b, a}
		}
		return []int{a, b}
	}
	x, w := turned("transA", m, k), turned("transB", k, n)
	r.f("alpha", 0.5)
	if op == "FusedMatMul" {
		batch := r.upTo(1, 3)
		x, w = append([]int{batch}, x...), append([]int{batch}, w...)
		if r.chance(2) {
			r.i("transBatchA", 1)
			x[0], x[1] = x[1], x[0]
		}
	}
	r.in(r.floats(x...))
	r.either(r.floats(w...))
	if op == "FusedGemm" {
		r.maybe(r.floats(pick(r, 1, m), n))
		activation := pick(r, "Relu", "Tanh", "Sigmoid", "LeakyRelu")
		if r.s("activation", activation); activation == "LeakyRelu" {
			r.f("activation_alpha", 0.25)
		}
	}
	r.contrib(op, 1)
}

// drawQuantised draws operators on 8-bit values.
func drawQuantised(r *recipe) {
	d := pick(r, array.U8, array.I8)
	bytes := func(dims ...int) *array.Array {
		if d == array.U8 {
			return r.of(d, 0, 255, dims...)
		}
		return r.of(d, -128, 127, dims...)
	}
	value := func(a *array.Array) { // with its scale and its zero point
		if a != nil {
			r.in(a)
		}
		r.fixed(number(float32(r.upTo(1, 50)) / 1000))
		r.fixed(bytes())
	}
	r.tol = 1 // a quantum, where sums lie between two
	switch op := pick(r, "QLinearAdd", "QLinearMul", "QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", "QLinearConcat"); op {
	case "QLinearAdd", "QLinearMul":
		dims := r.dims(r.upTo(1, 3), 1, 4)
		value(bytes(dims...))
		value(bytes(dims[r.IntN(len(dims)):]...))
		value(nil)
		r.contrib(op, 1)
	case "QLinearConcat":
		value(nil)
		dims := r.dims(3, 1, 3)
		axis := r.IntN(3)
		r.i("axis", axis)
		for range r.upTo(1, 3) {
			dims[axis] = r.upTo(1, 4)
			value(bytes(dims...))
		}
		r.contrib(op, 1)
	case "QLinearSoftmax":
		dims := r.dims(r.upTo(1, 3), 2, 4) // of one element, ONNX Runtime's sum overflows to 0
		r.i("axis", r.IntN(len(dims)))
		r.i("opset", pick(r, 12, 13))
		value(bytes(dims...))
		r.fixed(number(1.0 / 200)) // and the least zero point: ONNX Runtime wraps around where results do not fit
		if d == array.U8 {
			r.fixed(r.of(d, 0, 0))
		} else {
			r.fixed(r.of(d, -128, -128))
		}
		r.contrib(op, 1)
	default:
		if op == "QLinearAveragePool" {
			r.is("kernel_shape", r.dims(2, 1, 3)...)
			r.is("strides", r.dims(2, 1, 2)...)
			r.i("count_include_pad", r.IntN(2))
		}
		if op == "QLinearAveragePool" || op == "QLinearGlobalAveragePool" {
			r.i("channels_last", r.IntN(2))
		}
		value(bytes(r.dims(4, 3, 6)...))
		value(nil)
		r.contrib(op, 1)
	}
}

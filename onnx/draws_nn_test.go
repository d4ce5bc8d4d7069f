package onnx_test

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// windows draws the attributes that convolutions and pools share.
func (r *recipe) windows(kernel []int, dilate, pools bool) {
	n := len(kernel)
	r.is("kernel_shape", kernel...)
	auto := r.chance(4)
	if r.chance(2) {
		strides := r.dims(n, 1, 3)
		r.is("strides", strides...)
		for i, k := range kernel { // it begins somewhere inside then, neither as its formula nor as TensorFlow
			r.drop = r.drop || auto && k < strides[i]
		}
	}
	if dilate && r.chance(3) && !(auto && pools) { // whose padding for SAME does not count the gaps
		r.is("dilations", r.dims(n, 1, 2)...)
	}
	switch {
	case auto:
		r.s("auto_pad", pick(r, "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))
	case !r.chance(3):
		r.is("pads", r.below(kernel, 2)...)
	}
}

// below are numbers below those of list, times over.
func (r *recipe) below(list []int, times int) (out []int) {
	for range times {
		for _, k := range list {
			out = append(out, r.IntN(k))
		}
	}
	return out
}

func (r *recipe) image(n, channels int) *array.Array {
	return r.floats(append([]int{r.upTo(1, 2), channels}, r.dims(n, 4, 9)...)...)
}

func drawConv(r *recipe) {
	n := r.upTo(1, 3)
	groups := pick(r, 1, 1, 2, 3)
	in, out := groups*r.upTo(1, 2), groups*r.upTo(1, 3)
	kernel := r.dims(n, 1, 3)
	r.in(r.image(n, in))
	r.either(r.floats(append([]int{out, in / groups}, kernel...)...))
	if r.chance(2) {
		r.either(r.floats(out))
	}
	r.i("group", groups)
	r.windows(kernel, true, false)
	r.finish("Conv", 1)
}

func drawConvTranspose(r *recipe) {
	n := r.upTo(1, 2)
	groups := pick(r, 1, 1, 2)
	in, out := groups*r.upTo(1, 2), r.upTo(1, 3)
	kernel := r.dims(n, 1, 3)
	r.in(r.image(n, in))
	r.either(r.floats(append([]int{in, out}, kernel...)...))
	if r.chance(2) {
		r.either(r.floats(out * groups))
	}
	r.i("group", groups)
	strides := r.dims(n, 1, 3)
	r.is("strides", strides...)
	dilations := r.dims(n, 1, 2)
	r.is("dilations", dilations...)
	extra := make([]int, n)
	if r.chance(2) {
		extra = r.below(strides, 1)
		r.is("output_padding", extra...)
	}
	switch r.IntN(4) {
	case 0:
		r.s("auto_pad", pick(r, "SAME_UPPER", "SAME_LOWER", "VALID"))
		for i, k := range kernel { // a result that is less than the strides times the operand
			r.drop = r.drop || (k-1)*dilations[i]+1+extra[i] < strides[i]
		}
	case 1:
		r.is("pads", r.below(kernel, 2)...)
	case 2:
		r.is("output_shape", r.dims(n, 8, 14)...)
		if r.chance(2) {
			r.s("auto_pad", pick(r, "SAME_UPPER", "SAME_LOWER"))
		}
	}
	r.finish("ConvTranspose", 1)
}

func drawPool(r *recipe) {
	op := pick(r, "MaxPool", "AveragePool", "LpPool")
	n := r.upTo(1, 3)
	r.opset = int64(pick(r, 11, 12, 17, 19, 22))
	if op == "LpPool" && r.opset < 18 {
		r.opset = pick(r, int64(11), 18)
	}
	kernel := r.dims(n, 1, 3)
	r.in(r.image(n, r.upTo(1, 3)))
	r.windows(kernel, op == "MaxPool" || r.opset >= 19, true)
	if r.chance(2) && (op != "LpPool" || r.opset >= 18) {
		r.i("ceil_mode", 1)
	}
	results := 1
	switch op {
	case "AveragePool":
		if r.chance(2) {
			r.i("count_include_pad", 1)
		}
	case "LpPool":
		r.i("p", r.upTo(1, 3))
	case "MaxPool":
		results = r.upTo(1, 2)
		if results == 2 && r.chance(2) {
			r.i("storage_order", 1)
		}
	}
	r.finish(op, results)
}

func drawGlobalPool(r *recipe) {
	op := pick(r, "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
	r.in(r.image(r.upTo(1, 3), 2))
	if op == "GlobalLpPool" {
		r.i("p", r.upTo(1, 3))
	}
	r.finish(op, 1)
}

func drawNorm(r *recipe) {
	c := r.upTo(1, 4)
	x := r.image(r.upTo(1, 3), c)
	op := pick(r, "InstanceNormalization", "BatchNormalization", "LRN", "LayerNormalization", "MeanVarianceNormalization", "LpNormalization", "GroupNormalization")
	r.in(x)
	switch op {
	case "InstanceNormalization":
		r.either(r.floats(c))
		r.either(r.floats(c))
		r.f("epsilon", 0.01)
	case "BatchNormalization":
		r.opset = int64(pick(r, 7, 9, 14, 15))
		r.either(r.floats(c))
		r.either(r.floats(c))
		r.either(r.floats(c))
		r.either(r.positive(c))
		if r.chance(2) {
			r.f("epsilon", 0.1)
		}
	case "LRN":
		r.i("size", pick(r, 1, 2, 3, 5))
		r.f("alpha", 0.5)
		r.f("beta", 0.75)
		r.f("bias", float32(r.upTo(1, 2)))
	case "LayerNormalization":
		axis := r.upTo(0, x.Rank()-1)
		dims := x.Shape()[axis:]
		r.either(r.floats(dims...))
		if r.chance(2) {
			r.either(r.floats(dims...))
		}
		r.i("axis", axis-pick(r, 0, x.Rank()))
		r.finish(op, pick(r, 1, 2, 3))
		return
	case "MeanVarianceNormalization":
		if r.chance(2) {
			axes := r.axes(x.Rank())
			r.is("axes", axes...)
			n := 1
			for _, a := range axes {
				n *= x.Dim((a + x.Rank()) % x.Rank())
			}
			r.drop = n < 6 // NaN where all are equal
		}
		r.tol = 1e-3
	case "LpNormalization":
		r.i("axis", r.upTo(-x.Rank(), x.Rank()-1))
		r.i("p", r.upTo(1, 2))
	case "GroupNormalization":
		r.opset = int64(pick(r, 18, 21))
		g := 1
		if c%2 == 0 {
			g = 2
		}
		n := c
		if r.opset == 18 {
			n = g
		}
		r.either(r.floats(n))
		r.either(r.floats(n))
		r.i("num_groups", g)
	}
	r.finish(op, 1)
}

// axes are some of so many, negative ones among them.
func (r *recipe) axes(rank int) (list []int) {
	for _, a := range r.Perm(rank)[:r.upTo(1, rank)] {
		list = append(list, a-pick(r, 0, 0, rank))
	}
	return list
}

func drawResize(r *recipe) {
	n := r.upTo(1, 3)
	x := r.floats(append([]int{1, r.upTo(1, 2)}, r.dims(n, 2, 6)...)...)
	r.opset = int64(pick(r, 11, 13, 18, 19))
	mode := pick(r, "nearest", "linear", "cubic")
	if n != 2 && mode == "cubic" {
		mode = "linear"
	}
	r.s("mode", mode)
	ct := pick(r, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
	if r.chance(8) && r.opset >= 19 {
		ct = "half_pixel_symmetric"
	}
	r.s("coordinate_transformation_mode", ct)
	if mode == "nearest" {
		if ct == "half_pixel_symmetric" { // whose positions its floats put on either side of an element
			ct = "half_pixel"
			r.node.Attrs[len(r.node.Attrs)-1].S = []byte(ct)
		}
		r.s("nearest_mode", pick(r, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
	}
	if mode == "cubic" {
		r.f("cubic_coeff_a", pick(r, float32(-0.75), -0.5))
		r.i("exclude_outside", r.IntN(2))
	}
	if r.opset >= 18 && mode != "nearest" && r.chance(3) {
		r.i("antialias", 1)
	}
	r.in(x)
	if ct == "tf_crop_and_resize" {
		roi := []float32{0, 0}
		for range n {
			roi = append(roi, float32(r.upTo(0, 3))/8)
		}
		roi = append(roi, 1, 1)
		for range n {
			roi = append(roi, float32(r.upTo(5, 9))/8)
		}
		r.fixed(array.FromSlice(roi, len(roi)))
		r.f("extrapolation_value", 0.5)
	} else {
		r.absent()
	}
	if r.chance(2) {
		scales := []float32{1, 1}
		for range n {
			scales = append(scales, pick(r, float32(0.5), 0.75, 1, 1.5, 2, 2.5, 3))
		}
		r.fixed(array.FromSlice(scales, len(scales)))
		r.drop = ct == "tf_crop_and_resize" && slices.Contains(scales[2:], 1) // roi does not count
	} else {
		r.absent()
		sizes := r.dims(n, 1, 9)
		r.fixed(list(append([]int{x.Dim(0), x.Dim(1)}, sizes...)...))
		r.drop = r.large && mode == "nearest" // quotients that its floats round to the other side
		for i, n := range sizes {
			r.drop = r.drop || ct == "tf_crop_and_resize" && n == x.Dim(2+i)
		}
	}
	r.finish("Resize", 1)
}

func drawGridSample(r *recipe) {
	n := 2
	x := r.image(n, 2)
	r.opset = int64(pick(r, 16, 20))
	grid := r.floats(append(append([]int{x.Dim(0)}, r.dims(n, 2, 4)...), n)...)
	for i := range array.Data[float32](grid) { // not between two elements
		array.Data[float32](grid)[i] += r.Float32() / 256
	}
	r.in(x)
	r.in(grid)
	if r.opset == 16 {
		r.s("mode", pick(r, "bilinear", "nearest", "bicubic"))
	} else {
		r.s("mode", pick(r, "linear", "nearest", "cubic"))
	}
	r.s("padding_mode", pick(r, "zeros", "border", "reflection"))
	r.i("align_corners", r.IntN(2))
	r.finish("GridSample", 1)
}

// activations draws n of them, with the numbers that they take: all but Softplus, which
// overflows in ONNX Runtime.
func (r *recipe) activations(n int) {
	a := &pb.Attr{Name: "activations", Type: pb.AttrStrings}
	alpha, beta := &pb.Attr{Name: "activation_alpha", Type: pb.AttrFloats}, &pb.Attr{Name: "activation_beta", Type: pb.AttrFloats}
	add := func(a *pb.Attr) {
		a.Floats = binary.LittleEndian.AppendUint32(a.Floats, math.Float32bits(float32(r.upTo(1, 8))/8))
	}
	for range n {
		name := pick(r, "Tanh", "Sigmoid", "Relu", "Softsign", "LeakyRelu", "ThresholdedRelu", "Elu", "HardSigmoid", "Affine", "ScaledTanh")
		a.Strings = append(a.Strings, []byte(name))
		switch name {
		case "HardSigmoid", "Affine", "ScaledTanh":
			add(beta)
			add(alpha)
		case "LeakyRelu", "ThresholdedRelu", "Elu":
			add(alpha)
		}
	}
	r.node.Attrs = append(r.node.Attrs, a, alpha, beta)
}

func drawRecurrent(r *recipe) {
	op := pick(r, "LSTM", "GRU", "RNN")
	gates := map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[op]
	seq, batch, in, hidden := r.upTo(1, 4), r.upTo(1, 3), r.upTo(1, 3), r.upTo(1, 3)
	direction := pick(r, "forward", "reverse", "bidirectional")
	d := 1
	if direction == "bidirectional" {
		d = 2
	}
	r.s("direction", direction)
	r.i("hidden_size", hidden)
	r.in(r.floats(seq, batch, in))
	r.fixed(r.floats(d, gates*hidden, in))
	r.fixed(r.floats(d, gates*hidden, hidden))
	if r.chance(2) {
		r.fixed(r.floats(d, 2*gates*hidden))
	} else {
		r.absent()
	}
	if r.chance(2) {
		r.either(r.of(array.I32, 0, seq, batch))
	} else {
		r.absent()
	}
	if r.chance(2) {
		r.in(r.floats(d, batch, hidden))
	} else {
		r.absent()
	}
	results := 2
	if op == "LSTM" {
		results = 3
		if r.chance(2) {
			r.in(r.floats(d, batch, hidden))
		} else {
			r.absent()
		}
		if r.chance(2) {
			r.fixed(r.floats(d, 3*hidden))
		}
	}
	if op == "GRU" {
		r.i("linear_before_reset", r.IntN(2))
	}
	if r.chance(4) {
		r.f("clip", 0.5)
	}
	if r.chance(2) {
		r.activations(d * map[string]int{"LSTM": 3, "GRU": 2, "RNN": 1}[op])
	}
	if op == "LSTM" && r.chance(4) {
		r.i("input_forget", 1)
	}
	r.finish(op, r.upTo(1, results))
}

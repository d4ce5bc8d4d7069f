package main

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/shapes"
)

// The quantization of all 8-bit cases: u8 activations, s8 weights symmetric
// around 0 in 7 bits so that the saturation of some instruction sets' products
// cannot make results differ.
const (
	xZero, yZero = 128, 128
	xScale       = 0.02
	wScale       = 0.01
)

// yScale spreads sums of fan products over the range of u8.
func yScale(fan int) float64 {
	// Products of independent uniform values: 74 and 37 are their deviations.
	sigma := 74.0 * 37.0 * math.Sqrt(float64(fan))
	return xScale * wScale * sigma * 3 / 128
}

// quantized is a tensor of integers lo to lo+count-1.
func quantized(dtype string, seed, lo, count int, shape ...int) Input {
	in := f32(seed, float64(count), float64(lo), shape...)
	in.DType = dtype
	return in
}

// qgemmCases are the u8 by s8 products that end as u8.
func qgemmCases() []*Case {
	var list []*Case
	for _, g := range shapes.Gemms() {
		if g.Batch > 1 {
			continue
		}
		list = append(list, qgemmCase(g))
	}
	return list
}

func qgemmCase(g shapes.Gemm) *Case {
	c := &Case{Group: "qgemm", Shape: g.Text(), Tol: 0, Step: 1.01, Op: "qlinear"}
	w := quantized("s8", 2, -64, 129, g.K, g.N)
	w.Const = true
	bias := quantized("i32", 3, -1000, 2001, g.N)
	bias.Const = true
	c.Inputs = []Input{quantized("u8", 1, 0, 256, g.M, g.K), w, bias}
	q := qparams{yScale(g.K)}
	c.Attrs = q.attrs()
	c.Work = Work{Ops8: 2 * float64(g.M) * float64(g.N) * float64(g.K), Bytes: float64(g.M*g.K + g.K*g.N + 4*g.N + g.M*g.N)}
	out := []int{g.M, g.N}
	c.Ours = oursQGemm(g, q)
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(out...)
		m.Outputs[0].Type = onnxpb.Uint8
		m.Domains = []string{microsoft}
		q.constants(m)
		// The bias joins as a float after QGemm's sum: its C is int32 with scale x·w.
		m.Nodes = append(m.Nodes, onnxpb.Node{Op: "QGemm", Domain: microsoft,
			In:  []string{"x0", "x_scale", "x_zero", "x1", "w_scale", "w_zero", "x2", "y_scale", "y_zero"},
			Out: []string{"y"}})
		return m
	}}}
	return c
}

// qconvCases are the quantized convolutions of ResNet-18 and ResNet-50.
func qconvCases() []*Case {
	var list []*Case
	for _, s := range shapes.AllConvs() {
		n := map[string]int{}
		for _, name := range []string{"resnet18", "resnet50"} {
			if s.Networks[name] > 0 {
				n[name] = s.Networks[name]
			}
		}
		if len(n) > 0 {
			s.Networks = n
			list = append(list, qconvCase(s))
		}
	}
	return list
}

func qconvCase(s shapes.SharedConv) *Case {
	v := s.Conv
	c := &Case{Group: "qconv", Shape: shapes.Text(v), Networks: s.Networks, Tol: 0, Step: 1.01, Op: "qconv"}
	fan := v.C / v.Groups * v.Kernel * v.Kernel
	w := quantized("s8", 2, -64, 129, v.M, v.C/v.Groups, v.Kernel, v.Kernel)
	w.Const = true
	bias := quantized("i32", 3, -1000, 2001, v.M)
	bias.Const = true
	c.Inputs = []Input{quantized("u8", 1, 0, 256, 1, v.C, v.Size, v.Size), w, bias}
	q := qparams{yScale(fan)}
	c.Attrs = convAttrs(v)
	for k, x := range q.attrs() {
		c.Attrs[k] = x
	}
	size := v.M * v.Out() * v.Out()
	c.Work = Work{Ops8: 2 * float64(v.MACs()), Bytes: float64(c.Inputs[0].Len() + w.Len() + 4*v.M + size)}
	c.Ours = oursQConv(v, q)
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(1, v.M, v.Out(), v.Out())
		m.Outputs[0].Type = onnxpb.Uint8
		q.constants(m)
		node(m, "QLinearConv", "y", []string{"x0", "x_scale", "x_zero", "x1", "w_scale", "w_zero", "y_scale", "y_zero", "x2"}, onnxConv(v)...)
		return m
	}}}
	return c
}

// qparams are the scales of a case.
type qparams struct{ y float64 }

func (q qparams) attrs() map[string]any {
	return map[string]any{"x_scale": xScale, "x_zero": xZero, "w_scale": wScale, "y_scale": q.y, "y_zero": yZero}
}

// constants adds the scales and zero points to a model.
func (q qparams) constants(m *onnxpb.Model) {
	floats(m, "x_scale", nil, xScale)
	floats(m, "w_scale", nil, wScale)
	floats(m, "y_scale", nil, float32(q.y))
	m.Constant = append(m.Constant,
		onnxpb.Tensor{Name: "x_zero", Type: onnxpb.Uint8, Data: []byte{xZero}},
		onnxpb.Tensor{Name: "w_zero", Type: onnxpb.Int8, Data: []byte{0}},
		onnxpb.Tensor{Name: "y_zero", Type: onnxpb.Uint8, Data: []byte{yZero}})
}

// A prepared 8-bit case, or nil where the library has no such kernel.
type oursFunc = func(in []*array.Array, threads int) (*Ours, error)

// qvectorCases are the 8-bit operators between products, with sizes of ResNet-50,
// MobileNetV2 and BERT.
func qvectorCases() []*Case {
	pair := func(name, op string) []*Case {
		var list []*Case
		for _, s := range [][]int{{1, 256, 56, 56}, {1, 1024, 14, 14}, {1, 24, 56, 56}} {
			list = append(list, qvectorCase(name, s, s, []Input{quantized("u8", 1, 0, 256, s...), quantized("u8", 2, 0, 256, s...)},
				onnxpb.Node{Op: op, Domain: microsoft, In: []string{"x0", "x_scale", "x_zero", "x1", "x_scale", "x_zero", "y_scale", "y_zero"}}))
		}
		return list
	}
	list := append(pair("add", "QLinearAdd"), pair("mul", "QLinearMul")...)
	for _, s := range [][]int{{1, 3, 224, 224}, {128, 768}, {1, 1280, 7, 7}} {
		list = append(list,
			qvectorCase("quantize", s, s, []Input{f32(1, 2.5, 0, s...)}, onnxpb.Node{Op: "QuantizeLinear", In: []string{"x0", "x_scale", "x_zero"}}),
			qvectorCase("dequantize", s, s, []Input{quantized("u8", 1, 0, 256, s...)}, onnxpb.Node{Op: "DequantizeLinear", In: []string{"x0", "x_scale", "x_zero"}}),
			qvectorCase("dynamic_quantize", s, s, []Input{f32(1, 2.5, 0, s...)}, onnxpb.Node{Op: "DynamicQuantizeLinear", In: []string{"x0"}, Out: []string{"y", "scale", "zero"}}))
	}
	image, pooled := []int{1, 64, 112, 112}, []int{1, 64, 56, 56}
	list = append(list, qvectorCase("max_pool", image, pooled, []Input{quantized("u8", 1, 0, 256, image...)},
		onnxpb.Node{Op: "MaxPool", In: []string{"x0"}, Attrs: []onnxpb.Attr{attr("kernel_shape", []int{3, 3}), attr("strides", []int{2, 2}), attr("pads", []int{1, 1, 1, 1})}}))
	deep := []int{1, 2048, 7, 7}
	list = append(list, qvectorCase("global_pool", deep, []int{1, 2048, 1, 1}, []Input{quantized("u8", 1, 0, 256, deep...)},
		onnxpb.Node{Op: "QLinearGlobalAveragePool", Domain: microsoft, In: []string{"x0", "x_scale", "x_zero", "y_scale", "y_zero"}, Attrs: []onnxpb.Attr{attr("channels_last", 0)}}))
	wide := []int{128, 3072}
	return append(list, qvectorCase("sigmoid", wide, wide, []Input{quantized("u8", 1, 0, 256, wide...)},
		onnxpb.Node{Op: "QLinearSigmoid", Domain: microsoft, In: []string{"x0", "x_scale", "x_zero", "y_scale", "y_zero"}}))
}

// qvectorCase is one such operator; its result is bytes unless it dequantises.
func qvectorCase(name string, in, shape []int, inputs []Input, n onnxpb.Node) *Case {
	c := &Case{Group: "qvector", Shape: name + "_" + text(in), Inputs: inputs, Step: 1.01, Elements: product(shape)}
	if len(n.Out) == 0 {
		n.Out = []string{"y"}
	}
	result := onnxpb.Uint8
	size := 1
	if name == "dequantize" {
		result, size, c.Step = onnxpb.Float, 4, 1e-5
	}
	c.Work.Bytes = float64(size * product(shape))
	for _, x := range inputs {
		c.Work.Bytes += float64(x.Len() * x.Width())
	}
	q := qparams{qvectorScale(name)}
	c.Ours = oursQVector(name, shape, q)
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model {
		m := c.model(shape...)
		m.Outputs[0].Type = result
		if len(n.Out) > 1 {
			m.Outputs = append(m.Outputs, onnxpb.ValueInfo{Name: "scale", Type: onnxpb.Float}, onnxpb.ValueInfo{Name: "zero", Type: onnxpb.Uint8})
		}
		q.constants(m)
		m.Nodes = append(m.Nodes, n)
		return m
	}}}
	return c
}

// qvectorScale spreads an operator's results over most of u8.
func qvectorScale(name string) float64 {
	switch name {
	case "add":
		return 2 * xScale
	case "mul":
		return 128 * xScale * xScale
	case "sigmoid":
		return 1.0 / 128
	}
	return xScale
}

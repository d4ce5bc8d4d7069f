package standard

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// imageRules are the operators on images and signals.
var imageRules = map[string][]rule.Rule{
	"GridSample":     rule.From(16, gridSample),
	"HannWindow":     rule.From(17, func(c *rule.Call) []op.Value { return cosines(c, 0.5, -0.5, 0) }),
	"HammingWindow":  rule.From(17, func(c *rule.Call) []op.Value { return cosines(c, 25.0/46, -21.0/46, 0) }),
	"BlackmanWindow": rule.From(17, func(c *rule.Call) []op.Value { return cosines(c, 0.42, -0.5, 0.08) }),
	"AffineGrid":     rule.From(20, affineGrid),
	"MaxRoiPool":     rule.From(1, maxRoiPool),
	"ImageScaler":    rule.From(1, imageScaler), // ONNX's before it had operator sets, as Affine is
}

func gridSample(c *rule.Call) []op.Value {
	modes := map[string]string{"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest", "cubic": "bicubic", "bicubic": "bicubic"}
	a := std.GridSampleAttrs{Mode: modes[c.OneOf("mode", "linear", "bilinear", "nearest", "cubic", "bicubic")],
		PaddingMode: c.OneOf("padding_mode", "zeros", "border", "reflection"), AlignCorners: c.Flag("align_corners", false)}
	return c.One(std.GridSample, a, c.X(0), c.X(1))
}

// imageScaler multiplies an image by a number, and adds one to each channel.
func imageScaler(c *rule.Call) []op.Value {
	bias := c.Floats("bias")
	a := array.New(array.F32, 1, len(bias), 1, 1)
	for i, b := range bias {
		array.SetFloat64At(a, i, b)
	}
	if n, ok := c.Type(0).Dim(1).Int(); c.Rank(0) != 4 || !ok || n != len(bias) {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", bias has "+strconv.Itoa(len(bias))+" entries"))
	}
	v := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(c.Float("scale", 1))}, c.X(0))
	return c.One(std.Add, nil, v, c.Do(std.Cast, std.CastAttrs{DType: c.Type(0).DType()}, c.Tensor(a)))
}

// cosines is a window a + b·cos(2πn/N) + d·cos(4πn/N) of a size.
func cosines(c *rule.Call, a, b, d float64) []op.Value {
	size := depthOf(c, 0)
	t := c.DType("output_datatype", array.F32)
	last := size
	if !c.Flag("periodic", true) {
		last = size.AddInt(-1).Max(rule.One)
	}
	n, known := last.Int()
	if k, ok := size.Int(); ok && (k < 0 || k > 1<<24) {
		panic(diag.New(spec.CodeModel, "the size of a window is not a size"))
	}
	at := c.Do(std.Arange, std.ArangeAttrs{End: size, DType: array.F64})
	term := func(f, k float64) op.Value {
		var v op.Value
		if known {
			v = c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(2 * k * pi / float64(n))}, at)
		} else {
			length := c.Do(std.Cast, std.CastAttrs{DType: array.F64}, c.Size(last, array.I64))
			v = c.Do(std.Mul, nil, at, c.Do(std.Div, std.DivAttrs{Other: op.Float(2 * k * pi), Reverse: true}, length))
		}
		return c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(f)}, c.Do(std.Cos, nil, v))
	}
	v := c.Do(std.Add, std.AddAttrs{Other: op.Float(a)}, term(b, 1))
	if d != 0 {
		v = c.Do(std.Add, nil, v, term(d, 2))
	}
	return c.One(std.Cast, std.CastAttrs{DType: t}, v)
}

// affineGrid are the points of an image [N,C,(D,)H,W] moved by theta.
func affineGrid(c *rule.Call) []op.Value {
	size := c.Dims(1)
	align := c.Flag("align_corners", false)
	k := len(size) - 2
	if k != 2 && k != 3 || c.Rank(0) != 3 {
		panic(diag.New(spec.CodeModel, "AffineGrid of "+c.Type(0).String()+" is not supported"))
	}
	c.NeedDims(0, size[0], shape.Const(k), shape.Const(k+1))
	d := c.Type(0).DType()
	parts := make([]op.Value, k+1) // x first, as the columns of theta
	spatial := shape.Of(size[2:]...)
	for i := range k {
		n := size[len(size)-1-i]
		v := c.Do(std.Cast, std.CastAttrs{DType: d}, c.Do(std.Arange, std.ArangeAttrs{End: n}))
		total := c.Do(std.Cast, std.CastAttrs{DType: d}, c.Size(n, array.I64))
		if align {
			v = c.Do(std.Div, nil, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(2)}, v), c.Do(std.Sub, std.SubAttrs{Other: op.Float(1)}, total))
		} else {
			v = c.Do(std.Add, std.AddAttrs{Other: op.Float(1)}, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(2)}, v))
			v = c.Do(std.Div, nil, v, total)
		}
		v = c.Do(std.Sub, std.SubAttrs{Other: op.Float(1)}, v)
		for range i {
			v = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v)
		}
		parts[i] = c.Do(std.Expand, std.ExpandAttrs{Shape: spatial}, v)
	}
	parts[k] = c.Do(std.OnesLike, nil, parts[0])
	points := Reshape(c, c.Do(std.Stack, std.DimAttrs{Dim: -1}, parts...), spatial.Prod(), shape.Const(k+1))
	moved := c.Do(std.Matmul, nil, points, c.Do(std.Transpose, std.TransposeAttrs{Dim0: 1, Dim1: 2}, c.X(0)))
	return []op.Value{Reshape(c, moved, append(append([]shape.Dim{size[0]}, size[2:]...), shape.Const(k))...)}
}

// visionRules read or write images at computed places.
var visionRules = map[string][]rule.Rule{
	"Col2Im":     rule.From(18, col2im),
	"DeformConv": rule.From(19, deformConv),
	"RoiAlign": {
		{Since: 10, Build: func(c *rule.Call) []op.Value { return roiAlign(c, false) }},
		{Since: 16, Build: func(c *rule.Call) []op.Value {
			return roiAlign(c, c.OneOf("coordinate_transformation_mode", "half_pixel", "output_half_pixel") == "half_pixel")
		}},
	},
	"Det": rule.From(11, func(c *rule.Call) []op.Value { return c.One(std.Det, nil, c.X(0)) }),
	"BitCast": rule.From(26, func(c *rule.Call) []op.Value {
		d := c.DType("to", array.Invalid)
		if c.Type(0).DType() == array.Bool && (d == array.U8 || d == array.I8) {
			return c.One(std.Cast, std.CastAttrs{DType: d}, c.X(0)) // 0 and 1 are their bits, too
		}
		return c.One(std.Bitcast, std.BitcastAttrs{DType: d}, c.X(0))
	}),
}

func roiAlign(c *rule.Call, aligned bool) []op.Value {
	a := std.RoiAlignAttrs{OutputSize: op.IntList(c.Int("output_height", 1), c.Int("output_width", 1)), SpatialScale: c.Float("spatial_scale", 1),
		SamplingRatio: c.Int("sampling_ratio", 0), Aligned: aligned}
	if c.OneOf("mode", "avg", "max") == "max" {
		a.Mode = "max"
	}
	return c.One(std.RoiAlign, a, c.X(0), c.X(1), c.X(2))
}

// col2im adds columns of blocks into images: each element goes to the place that a
// constant names, those of the padding after the image.
func col2im(c *rule.Call) []op.Value {
	image, block := c.Ints(1), c.Ints(2)
	n := len(image)
	if n < 1 || len(block) != n || c.Rank(0) != 3 {
		panic(diag.New(spec.CodeModel, "Col2Im of "+c.Type(0).String()+" to "+strconv.Itoa(n)+" dimensions by blocks of "+strconv.Itoa(len(block))))
	}
	w := window{kernel: block, Strides: perDim(c, "strides", n), Dilations: perDim(c, "dilations", n)}
	pads := padsOf(c, n)
	taps, places := 1, 1
	counts := make([]int, n)
	for i := range n {
		counts[i] = (image[i]+pads[i]+pads[n+i]-w.reach(i))/w.Strides[i] + 1
		if image[i] < 1 || block[i] < 1 || pads[i] < 0 || pads[n+i] < 0 || image[i] > mostBasis || block[i] > mostBasis || counts[i] < 1 {
			panic(diag.New(spec.CodeModel, "Col2Im: blocks of "+strconv.Itoa(block[i])+" do not fit an image of "+strconv.Itoa(image[i])))
		}
		if taps *= block[i]; taps > mostBasis/max(counts[i], 1) {
			panic(diag.New(spec.CodeOperator, "Col2Im of so many places is not supported"))
		}
		if places *= counts[i]; places > mostBasis/taps {
			panic(diag.New(spec.CodeOperator, "Col2Im of so many places is not supported"))
		}
	}
	rows, known := c.Type(0).Dim(1).Int()
	if cols := c.Type(0).Dim(2); !known || rows%taps != 0 || !cols.Equal(shape.Const(places)) {
		panic(diag.New(spec.CodeModel, "Col2Im of "+c.Type(0).String()+": expected a multiple of "+strconv.Itoa(taps)+" rows and "+strconv.Itoa(places)+" columns"))
	}
	size := 1
	for _, s := range image {
		if size *= s; size > 1<<31 {
			panic(diag.New(spec.CodeModel, "Col2Im: the image is too large"))
		}
	}
	at := w.places(image, counts, pads[:n], taps, places)
	channels := shape.Const(rows / taps)
	batch := c.Type(0).Dim(0)
	planes, elements := batch.Mul(channels), shape.Const(taps*places)
	src := Reshape(c, c.X(0), planes, elements)
	index := c.Do(std.Expand, std.ExpandAttrs{Shape: shape.Of(planes, elements)}, c.Tensor(at))
	zeros := c.Do(std.Zeros, std.SizeAttrs{Size: shape.Of(planes, shape.Const(size+1)), DType: c.Type(0).DType()})
	v := c.Do(std.ScatterAdd, std.DimAttrs{Dim: 1}, zeros, index, src)
	v = c.Do(std.Narrow, std.NarrowAttrs{Dim: 1, Start: shape.Const(0), Length: shape.Const(size)}, v)
	return []op.Value{Reshape(c, v, append([]shape.Dim{batch, channels}, shape.ConstDims(image...).Slice()...)...)}
}

// places lists, tap by tap, where the columns of each tap go in an image; the size of
// the image stands for the padding.
func (w *window) places(image, counts, begin []int, taps, columns int) *array.Array {
	size := 1
	for _, s := range image {
		size *= s
	}
	at := array.New(array.I64, taps*columns)
	for i := range taps * columns {
		tap, column := i/columns, i%columns
		to, stride := 0, 1
		for d := len(image) - 1; d >= 0; d-- {
			p := column%counts[d]*w.Strides[d] + tap%w.kernel[d]*w.Dilations[d] - begin[d]
			tap, column = tap/w.kernel[d], column/counts[d]
			if p < 0 || p >= image[d] {
				to = -1
			} else if to >= 0 {
				to += p * stride
			}
			stride *= image[d]
		}
		if to < 0 {
			to = size
		}
		array.SetInt64At(at, i, int64(to))
	}
	return at
}

// deformConv reads the image where offsets move each tap, weighs the elements by the
// mask, and multiplies as a convolution does.
func deformConv(c *rule.Call) []op.Value {
	k := spatial(c, 1)
	if len(k) != 2 || c.Rank(0) != 4 || c.Rank(2) != 4 {
		panic(diag.New(spec.CodeOperator, "DeformConv of "+c.Type(0).String()+" is not supported, only over two spatial dimensions"))
	}
	w := WindowOf(c, k)
	groups, own := c.Group(), c.Int("offset_group", 1)
	t, weight := c.Type(0), c.Type(1)
	channels, ok := t.Dim(1).Int()
	made, known := weight.Dim(0).Int()
	if !ok || !known || groups < 1 || own < 1 || channels%groups != 0 || channels%own != 0 || made%groups != 0 {
		panic(diag.New(spec.CodeModel, "DeformConv: "+t.String()+" and "+weight.String()+" do not fit "+strconv.Itoa(groups)+" groups and "+strconv.Itoa(own)+" groups of offsets"))
	}
	d, taps := t.DType(), k[0]*k[1]
	num := shape.Const
	batch, high, wide := t.Dim(0), c.Type(2).Dim(2), c.Type(2).Dim(3)
	c.NeedDims(1, num(made), num(channels/groups), num(k[0]), num(k[1]))
	c.NeedDims(2, batch, num(own*taps*2), w.count(0, t.Dim(2)), w.count(1, t.Dim(3)))
	if c.Has(4) {
		c.NeedDims(4, batch, num(own*taps), high, wide)
	}
	// Offsets are [batch*own, taps, y and x, high, wide].
	offset := Reshape(c, c.X(2), batch.Mul(num(own)), num(taps), num(2), high, wide)
	var at [2]op.Value // [batch*own, 1, places]
	for i := range at {
		moved := c.Do(std.Select, std.SelectAttrs{Dim: 2, Index: i}, offset)
		base := c.Do(std.Add, nil, tapOffsets(c, &w, i, d), outputOffsets(c, &w, i, []shape.Dim{high, wide}[i], d))
		at[i] = Reshape(c, c.Do(std.Add, nil, moved, base), batch.Mul(num(own)), num(1), high.Mul(wide).MulInt(taps))
	}
	v := sampleBetween(c, Reshape(c, c.X(0), batch.Mul(num(own)), num(channels/own), t.Dim(2).Mul(t.Dim(3))), at, [2]shape.Dim{t.Dim(2), t.Dim(3)})
	if c.Has(4) {
		v = c.Do(std.Mul, nil, v, Reshape(c, c.X(4), batch.Mul(num(own)), num(1), high.Mul(wide).MulInt(taps)))
	}
	columns := Reshape(c, v, batch, num(groups), num(channels/groups*taps), high.Mul(wide))
	rows := Reshape(c, c.X(1), num(groups), num(made/groups), num(channels/groups*taps))
	y := Reshape(c, c.Do(std.Matmul, nil, rows, columns), batch, num(made), high, wide)
	if c.Has(3) {
		y = c.Do(std.Add, nil, y, Reshape(c, c.X(3), num(made), num(1), num(1)))
	}
	return []op.Value{y}
}

// sampleBetween reads planes, [batch, channels, places], at the points [batch, 1, points],
// linearly between the four places around each; points outside are zero.
func sampleBetween(c *rule.Call, planes op.Value, at [2]op.Value, size [2]shape.Dim) op.Value {
	d := planes.Type().DType()
	points := planes.Type().Dims().Sub(0, 2).Concat(at[0].Type().Dims().Sub(2, 3))
	var place, weight [2][2]op.Value // by dimension and end
	for i, p := range at {
		low := c.Do(std.Floor, nil, p)
		part := c.Do(std.Sub, nil, p, low)
		last := c.Size(size[i].AddInt(-1), d)
		for end := range 2 {
			v, f := low, c.Do(std.Sub, std.SubAttrs{Other: op.Float(1), Reverse: true}, part)
			if end == 1 {
				v, f = c.Do(std.Add, std.AddAttrs{Other: op.Float(1)}, low), part
			}
			outside := c.Do(std.LogicalOr, nil, c.Do(std.Lt, std.BinaryAttrs{Other: op.Float(0)}, v), c.Do(std.Gt, nil, v, last))
			weight[i][end] = c.Do(std.MaskedFill, std.MaskedFillAttrs{Value: op.Float(0)}, f, outside)
			v = c.Do(std.Minimum, nil, c.Do(std.Relu, nil, v), last)
			place[i][end] = c.Do(std.Cast, std.CastAttrs{DType: array.I64}, v)
		}
	}
	var sum op.Value
	for y := range 2 {
		row := c.Do(std.Mul, nil, place[0][y], c.Size(size[1], array.I64))
		for x := range 2 {
			index := c.Do(std.Expand, std.ExpandAttrs{Shape: points}, c.Do(std.Add, nil, row, place[1][x]))
			v := c.Do(std.Gather, std.DimAttrs{Dim: 2}, planes, index)
			v = c.Do(std.Mul, nil, v, c.Do(std.Mul, nil, weight[0][y], weight[1][x]))
			if sum == nil {
				sum = v
			} else {
				sum = c.Do(std.Add, nil, sum, v)
			}
		}
	}
	return sum
}

// tapOffsets are the distances of the taps along a dimension from where a window of
// the padded image begins, [taps, 1, 1].
func tapOffsets(c *rule.Call, w *window, i int, d array.DType) op.Value {
	taps := w.kernel[0] * w.kernel[1]
	a := array.New(d, taps, 1, 1)
	begin, ok := w.begin[i].Int()
	if !ok {
		panic(diag.New(spec.CodeValue, "the padding of a DeformConv needs sizes that are known"))
	}
	for k := range taps {
		at := [2]int{k / w.kernel[1], k % w.kernel[1]}
		array.SetFloat64At(a, k, float64(at[i]*w.Dilations[i]-begin))
	}
	return c.Tensor(a)
}

// outputOffsets are the starts of windows along a dimension, shaped to broadcast over
// [high, wide].
func outputOffsets(c *rule.Call, w *window, i int, n shape.Dim, d array.DType) op.Value {
	v := c.Do(std.Cast, std.CastAttrs{DType: d}, c.Do(std.Arange, std.ArangeAttrs{End: n}))
	v = c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(float64(w.Strides[i]))}, v)
	if i == 0 {
		return c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v)
	}
	return v
}

package exporter

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// exportImages are the operators that read images at computed places, and windows of them.
var exportImages = map[*op.Op][]exportRule{
	std.Interpolate: by(interpolate),
	std.Resize:      by(exportResize),
	std.GridSample:  by(exportGridSample),
	std.RoiAlign: by(func(c *exportCall, a std.RoiAlignAttrs) op.Value {
		at := "output_half_pixel"
		if a.Aligned {
			at = "half_pixel"
		}
		mode := a.Mode
		if mode == "" {
			mode = "avg"
		}
		size := each(a.OutputSize, 2, 1)
		return c.node("RoiAlign", []op.Value{c.in[0], c.in[1], c.cast(c.in[2], array.I64)}, attrText("mode", mode), attrInt("output_height", size[0]), attrInt("output_width", size[1]),
			attrFloat("spatial_scale", a.SpatialScale), attrInt("sampling_ratio", a.SamplingRatio), attrText("coordinate_transformation_mode", at))
	}),
	std.Fold: {writes(18, func(c *exportCall, a std.FoldAttrs) op.Value {
		size, ok := a.OutputSize.Known()
		if !ok {
			decline("the size of the image must be a number")
		}
		pad := each(a.Padding, 2, 0)
		attrs := []*pb.Attr{attrInts("strides", each(a.Stride, 2, 1)...), attrInts("dilations", each(a.Dilation, 2, 1)...), attrInts("pads", append(append([]int(nil), pad...), pad...)...)}
		x, t := c.in[0], c.typ
		if c.rank(0) == 2 {
			x = c.do(std.Unsqueeze, std.DimAttrs{Dim: 0}, x)
			t = t.WithDims(shape.Of(shape.Const(1)).Concat(t.Dims()))
		}
		v := op.Value(c.w.emit("Col2Im", t, []op.Value{x, c.list(size...), c.list(each(a.KernelSize, 2, 1)...)}, attrs...))
		if c.rank(0) == 2 {
			v = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(0)}, v)
		}
		return v
	})},
	std.Unfold: by(unfold),
}

// unfold takes the part of the image that each place of the window sees, and lays it out
// after the channels.
func unfold(c *exportCall, a std.UnfoldAttrs) op.Value {
	k, dilation, pad, stride := each(a.KernelSize, 2, 1), each(a.Dilation, 2, 1), each(a.Padding, 2, 0), each(a.Stride, 2, 1)
	x := c.do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(pad[1], pad[1], pad[0], pad[0])}, c.in[0])
	var parts []op.Value
	for i := range k[0] {
		for j := range k[1] {
			v := x
			for axis, at := range []int{i, j} {
				n := v.Type().Dim(axis - 2)
				from := at * dilation[axis]
				to := n.AddInt(from - (k[axis]-1)*dilation[axis])
				v = c.do(std.Slice, std.SliceAttrs{Dim: axis - 2, Start: shape.Const(from), Stop: to, Step: stride[axis]}, v)
			}
			parts = append(parts, v)
		}
	}
	return c.reshape(c.do(std.Stack, std.DimAttrs{Dim: c.rank(0) - 2}, parts...), c.typ.Dims().Slice()...)
}

// interpolate is Resize in PyTorch's ways.
func interpolate(c *exportCall, a std.InterpolateAttrs) op.Value {
	n := c.rank(0)
	at, mode, round := "half_pixel", "linear", "floor"
	switch a.Mode {
	case "", "nearest":
		at, mode = "asymmetric", "nearest"
	case "nearest-exact":
		mode, round = "nearest", "round_prefer_ceil"
	case "bicubic":
		mode = "cubic"
	}
	if mode != "nearest" && !c.dtype(0).IsFloat() {
		v := c.do(std.Interpolate, a, c.cast(c.in[0], array.F32))
		return c.cast(c.do(std.Clamp, std.ClampAttrs{Min: op.Float(0), Max: op.Float(255)}, c.do(std.Round, nil, v)), c.dtype(0))
	}
	if a.AlignCorners {
		at = "align_corners"
	}
	var scales []float64
	if a.ScaleFactor.Len() > 0 {
		scales = []float64{1, 1}
		for i := range n - 2 {
			scales = append(scales, a.ScaleFactor.At(min(i, a.ScaleFactor.Len()-1)))
		}
	}
	attrs := []*pb.Attr{attrText("mode", mode), attrText("coordinate_transformation_mode", at)}
	if mode == "nearest" {
		attrs = append(attrs, attrText("nearest_mode", round))
	}
	return c.resized(scales, nil, attrs)
}

// resized writes Resize with the factors, or with the sizes of the result.
func (c *exportCall) resized(scales, roi []float64, attrs []*pb.Attr) op.Value {
	vector := func(f []float64) op.Value {
		a := array.New(array.F32, len(f))
		for i, v := range f {
			array.SetFloat64At(a, i, v)
		}
		return c.w.x.small(a)
	}
	in := []op.Value{c.in[0], nil, nil, nil}
	if roi != nil {
		in[1] = vector(roi)
	}
	if scales == nil {
		in[3] = c.sizes(c.typ.Dims().Slice()...)
		return c.node("Resize", in, attrs...)
	}
	for i, f := range scales {
		from, to := c.in[0].Type().Dim(i), c.typ.Dim(i)
		n, known := from.Int()
		m, counted := to.Int()
		if known && counted && m != int(math.Floor(float64(float32(n)*float32(f)))) {
			decline("a size of " + itoa(m) + " is not " + itoa(n) + " by the factor")
		}
	}
	in[2] = vector(scales)
	return c.node("Resize", in, attrs...)
}

func exportResize(c *exportCall, a std.ResizeAttrs) op.Value {
	n := c.rank(0)
	lead := n - a.Size.Len()
	if a.CoordinateTransformationMode == "tf_half_pixel_for_nn" { // which moves elements by a factor of 1, too
		return resizedLast(c, a)
	}
	var scales, roi []float64
	if a.ScaleFactor.Len() > 0 {
		for i := range n {
			scales = append(scales, 1)
			if i >= lead {
				scales[i] = a.ScaleFactor.At(i - lead)
			}
		}
	}
	if a.Roi.Len() > 0 {
		k := a.Size.Len()
		roi = make([]float64, 2*n)
		for i := range n {
			roi[n+i] = 1
			if i >= lead {
				roi[i], roi[n+i] = a.Roi.At(i-lead), a.Roi.At(k+i-lead)
			}
		}
	}
	return c.resized(scales, roi, resizeAttrs(c, a))
}

// resizedLast names the axes, which set 18 lets a node do.
func resizedLast(c *exportCall, a std.ResizeAttrs) op.Value {
	c.needs(18)
	k, n := a.Size.Len(), c.rank(0)
	axes := c.every(n)[n-k:]
	in := []op.Value{c.in[0], nil, nil, nil}
	if a.ScaleFactor.Len() > 0 {
		f := array.New(array.F32, k)
		for i := range k {
			array.SetFloat64At(f, i, a.ScaleFactor.At(i))
		}
		in[2] = c.w.x.small(f)
	} else {
		in[3] = c.sizes(a.Size.Slice()...)
	}
	return c.node("Resize", in, append(resizeAttrs(c, a), attrInts("axes", axes...))...)
}

// resizeAttrs are the attributes except sizes and factors.
func resizeAttrs(c *exportCall, a std.ResizeAttrs) []*pb.Attr {
	text := func(name, v, def string) *pb.Attr {
		if v == "" {
			v = def
		}
		return attrText(name, v)
	}
	attrs := []*pb.Attr{text("mode", a.Mode, "nearest"), text("coordinate_transformation_mode", a.CoordinateTransformationMode, "half_pixel"),
		attrFlag("exclude_outside", a.ExcludeOutside), attrFloat("extrapolation_value", a.ExtrapolationValue)}
	switch a.Mode {
	case "", "nearest":
		attrs = append(attrs, text("nearest_mode", a.NearestMode, "round_prefer_floor"))
	case "cubic":
		if a.CubicCoeffA.Present() {
			attrs = append(attrs, attrFloat("cubic_coeff_a", a.CubicCoeffA.Float64()))
		}
	}
	if a.Antialias {
		c.needs(18)
		attrs = append(attrs, attrInt("antialias", 1))
	}
	if a.CoordinateTransformationMode == "half_pixel_symmetric" {
		c.needs(19)
	}
	return attrs
}

// exportGridSample: set 20 has volumes, and other names.
func exportGridSample(c *exportCall, a std.GridSampleAttrs) op.Value {
	if c.rank(0) != 4 {
		c.needs(20)
	}
	mode, pad := a.Mode, a.PaddingMode
	if mode == "" {
		mode = "bilinear"
	}
	if pad == "" {
		pad = "zeros"
	}
	if c.w.x.target >= 20 {
		mode = map[string]string{"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}[mode]
	}
	return c.node("GridSample", c.in, attrText("mode", mode), attrText("padding_mode", pad), attrFlag("align_corners", a.AlignCorners))
}

package pt2

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// poolRules are pooling, resizing, padding, and other operators on images.
var poolRules = map[string]rule{
	"max_pool1d": maxPool(1, std.MaxPool1d, false), "max_pool2d": maxPool(2, std.MaxPool2d, false), "max_pool3d": maxPool(3, std.MaxPool3d, false),
	"max_pool2d_with_indices": maxPool(2, std.MaxPool2dWithIndices, true), "max_pool3d_with_indices": maxPool(3, std.MaxPool3dWithIndices, true),
	"max_pool1d_with_indices": maxPool(1, std.MaxPool1dWithIndices, true),
	"avg_pool1d":              avgPool(1, std.AvgPool1d), "avg_pool2d": avgPool(2, std.AvgPool2d), "avg_pool3d": avgPool(3, std.AvgPool3d),
	"adaptive_avg_pool1d":                      adaptive(1, std.AdaptiveAvgPool1d, false),
	"adaptive_avg_pool2d _adaptive_avg_pool2d": adaptive(2, std.AdaptiveAvgPool2d, false),
	"adaptive_avg_pool3d _adaptive_avg_pool3d": adaptive(3, std.AdaptiveAvgPool3d, false),
	"adaptive_max_pool1d":                      adaptive(1, std.AdaptiveMaxPool1dWithIndices, true),
	"adaptive_max_pool2d":                      adaptive(2, std.AdaptiveMaxPool2dWithIndices, true),
	"adaptive_max_pool3d":                      adaptive(3, std.AdaptiveMaxPool3dWithIndices, true),
	"upsample_nearest1d.vec upsample_nearest2d.vec upsample_nearest3d.vec":                      {args: "input output_size scale_factors", build: upsampleList("nearest", "nearest", "nearest")},
	"_upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec": {args: "input output_size scale_factors", build: upsampleList("nearest-exact", "nearest-exact", "nearest-exact")},
	"upsample_linear1d.vec upsample_bilinear2d.vec upsample_trilinear3d.vec":                    {args: "input output_size align_corners scale_factors", build: upsampleList("linear", "bilinear", "trilinear")},
	"upsample_bicubic2d.vec":    {args: "input output_size align_corners scale_factors", build: upsampleList("", "bicubic", "")},
	"upsample_nearest1d":        upsample("nearest", false, "scales"),
	"upsample_nearest2d":        upsample("nearest", false, "scales_h", "scales_w"),
	"upsample_nearest3d":        upsample("nearest", false, "scales_d", "scales_h", "scales_w"),
	"_upsample_nearest_exact1d": upsample("nearest-exact", false, "scales"),
	"_upsample_nearest_exact2d": upsample("nearest-exact", false, "scales_h", "scales_w"),
	"_upsample_nearest_exact3d": upsample("nearest-exact", false, "scales_d", "scales_h", "scales_w"),
	"upsample_linear1d":         upsample("linear", true, "scales"),
	"upsample_bilinear2d":       upsample("bilinear", true, "scales_h", "scales_w"),
	"upsample_bicubic2d":        upsample("bicubic", true, "scales_h", "scales_w"),
	"upsample_trilinear3d":      upsample("trilinear", true, "scales_d", "scales_h", "scales_w"),
	"pixel_shuffle": {args: "self upscale_factor", build: func(c *call) []op.Value {
		return c.one(std.PixelShuffle, std.PixelShuffleAttrs{UpscaleFactor: c.int("upscale_factor")}, c.x("self"))
	}},
	"pixel_unshuffle": {args: "self downscale_factor", build: func(c *call) []op.Value {
		return c.one(std.PixelUnshuffle, std.PixelUnshuffleAttrs{DownscaleFactor: c.int("downscale_factor")}, c.x("self"))
	}},
	"channel_shuffle native_channel_shuffle": {args: "self groups", build: func(c *call) []op.Value {
		return c.one(std.ChannelShuffle, std.ChannelShuffleAttrs{Groups: c.int("groups")}, c.x("self"))
	}},
	"grid_sampler grid_sampler_2d grid_sampler_3d": {args: "input grid interpolation_mode padding_mode align_corners", build: gridSampler},
	"im2col": {args: "self kernel_size dilation padding stride", build: func(c *call) []op.Value {
		a := std.UnfoldAttrs{KernelSize: op.IntList(c.ints("kernel_size")...), Dilation: op.IntList(c.ints("dilation")...), Padding: op.IntList(c.ints("padding")...), Stride: op.IntList(c.ints("stride")...)}
		return c.one(std.Unfold, a, c.x("self"))
	}},
	"col2im": {args: "self output_size kernel_size dilation padding stride", build: func(c *call) []op.Value {
		a := std.FoldAttrs{OutputSize: shape.Of(c.dims("output_size")...), KernelSize: op.IntList(c.ints("kernel_size")...), Dilation: op.IntList(c.ints("dilation")...), Padding: op.IntList(c.ints("padding")...), Stride: op.IntList(c.ints("stride")...)}
		return c.one(std.Fold, a, c.x("self"))
	}},
	"pad":             {args: "self pad mode=constant value=None", build: func(c *call) []op.Value { return padded(c, "pad", c.text("mode", "constant")) }},
	"constant_pad_nd": {args: "self pad value=0", build: func(c *call) []op.Value { return padded(c, "pad", "constant") }},
	"reflection_pad1d reflection_pad2d reflection_pad3d":    {args: "self padding", build: func(c *call) []op.Value { return padded(c, "padding", "reflect") }},
	"replication_pad1d replication_pad2d replication_pad3d": {args: "self padding", build: func(c *call) []op.Value { return padded(c, "padding", "replicate") }},
	"torchvision.roi_align":                                 {args: "input rois spatial_scale pooled_height pooled_width sampling_ratio aligned", build: roiAlign},
	"torchvision.nms":                                       {args: "dets scores iou_threshold", build: nms},
}

// pooled calls a pooling operator along n dimensions; x without a batch gets one for it.
func pooled(c *call, n int, o *op.Op, attrs any, pair bool) []op.Value {
	x := c.x("self")
	single := x.Type().Rank() == n+1
	if single {
		x = c.do(std.Unsqueeze, std.DimAttrs{}, x)
	}
	v := c.do(o, attrs, x)
	out := []op.Value{v}
	if pair {
		out = c.items(v, 2)
	}
	for i := range out {
		if single {
			out[i] = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(0)}, out[i])
		}
	}
	return out
}

func maxPool(n int, o *op.Op, pair bool) rule {
	return rule{args: "self kernel_size stride=[] padding=0 dilation=1 ceil_mode=False", build: func(c *call) []op.Value {
		a := std.MaxPoolAttrs{KernelSize: c.spread("kernel_size", n), Stride: c.spread("stride", n), Padding: c.spread("padding", n),
			Dilation: c.spread("dilation", n), CeilMode: c.bool("ceil_mode")}
		return pooled(c, n, o, a, pair)
	}}
}

func avgPool(n int, o *op.Op) rule {
	return rule{args: "self kernel_size stride=[] padding=0 ceil_mode=False count_include_pad=True divisor_override=None", build: func(c *call) []op.Value {
		a := std.AvgPoolAttrs{KernelSize: c.spread("kernel_size", n), Stride: c.spread("stride", n), Padding: c.spread("padding", n),
			CeilMode: c.bool("ceil_mode"), CountExcludePad: !c.bool("count_include_pad")}
		if c.get("divisor_override") != nil {
			if a.DivisorOverride = c.int("divisor_override"); a.DivisorOverride == 0 {
				panic(refuse(CodeProgram, "divisor_override is 0"))
			}
		}
		return pooled(c, n, o, a, false)
	}}
}

func adaptive(n int, o *op.Op, pair bool) rule {
	return rule{args: "self output_size", build: func(c *call) []op.Value {
		return pooled(c, n, o, std.AdaptivePoolAttrs{OutputSize: c.spread("output_size", n)}, pair)
	}}
}

// upsampleList resizes to a size or by factors, exactly one of which is given; modes are those for
// 1, 2 and 3 dimensions.
func upsampleList(modes ...string) func(c *call) []op.Value {
	return func(c *call) []op.Value {
		n := c.rank("input") - 2
		if n < 1 || n > len(modes) {
			panic(refuse(CodeProgram, "input is "+c.typ("input").String()+", expected 3 to 5 dimensions"))
		}
		a := std.InterpolateAttrs{Mode: modes[n-1]}
		if _, ok := c.def["align_corners"]; ok {
			a.AlignCorners = c.bool("align_corners")
		}
		if c.given("scale_factors") {
			var f []float64
			for _, v := range c.need("scale_factors").list {
				s, ok := v.known()
				if !ok {
					panic(refuse(CodeValue, "scale_factors are not known"))
				}
				f = append(f, s.Float64())
			}
			a.ScaleFactor = op.FloatList(f...)
		} else {
			a.Size = shape.Of(c.dims("output_size")...)
		}
		return c.one(std.Interpolate, a, c.x("input"))
	}
}

// upsample resizes to a size; factors that are given with it decide where elements are read.
func upsample(mode string, corners bool, scales ...string) rule {
	args := "self output_size"
	if corners {
		args += " align_corners"
	}
	for _, s := range scales {
		args += " " + s + "=None"
	}
	return rule{args: args, build: func(c *call) []op.Value {
		a := std.InterpolateAttrs{Mode: mode}
		if corners {
			a.AlignCorners = c.bool("align_corners")
		}
		var f []float64
		for _, s := range scales {
			if c.given(s) {
				f = append(f, c.float(s))
			}
		}
		switch {
		case len(f) == len(scales):
			a.ScaleFactor = op.FloatList(f...)
		case len(f) > 0:
			panic(refuse(CodeArgument, "factors for some dimensions only are not supported"))
		default:
			a.Size = shape.Of(c.dims("output_size")...)
		}
		return c.one(std.Interpolate, a, c.x("self"))
	}}
}

func gridSampler(c *call) []op.Value {
	choose := func(name string, list ...string) string {
		k := c.int(name)
		if k < 0 || k >= len(list) {
			panic(refuse(CodeProgram, "argument "+name+" is out of range"))
		}
		return list[k]
	}
	a := std.GridSampleAttrs{Mode: choose("interpolation_mode", "bilinear", "nearest", "bicubic"),
		PaddingMode: choose("padding_mode", "zeros", "border", "reflection"), AlignCorners: c.bool("align_corners")}
	return c.one(std.GridSample, a, c.x("input"), c.x("grid"))
}

func padded(c *call, name, mode string) []op.Value {
	a := std.PadAttrs{Pad: shape.Of(c.dims(name)...)}
	if mode != "constant" {
		a.Mode = mode
	}
	x := c.x("self")
	if _, ok := c.def["value"]; ok && c.get("value") != nil {
		a.Value = c.float("value")
	}
	return c.one(std.Pad, a, x)
}

// roiAlign is that of torchvision: rows of rois are the number of an image and a box.
func roiAlign(c *call) []op.Value {
	rois := c.x("rois")
	boxes := c.do(std.Slice, std.SliceAttrs{Dim: 1, Start: one, Stop: shape.Const(5)}, rois)
	batch := c.cast(array.I64, c.do(std.Select, std.SelectAttrs{Dim: 1}, rois))
	a := std.RoiAlignAttrs{OutputSize: op.IntList(c.int("pooled_height"), c.int("pooled_width")), SpatialScale: c.float("spatial_scale"),
		SamplingRatio: max(c.int("sampling_ratio"), 0), Aligned: c.bool("aligned")}
	return c.one(std.RoiAlign, a, c.x("input"), boxes, batch)
}

// nms is that of torchvision: the boxes that are kept, those with the greatest scores first.
func nms(c *call) []op.Value {
	boxes, scores := c.x("dets"), c.x("scores")
	lift := func(x op.Value, n int) op.Value {
		for range n {
			x = c.do(std.Unsqueeze, std.DimAttrs{}, x)
		}
		return x
	}
	a := std.NonMaxSuppressionAttrs{Most: wide, Overlap: c.float("iou_threshold")}
	rows := c.do(std.NonMaxSuppression, a, lift(boxes, 1), lift(scores, 2))
	return c.one(std.Select, std.SelectAttrs{Dim: 1, Index: 2}, rows)
}

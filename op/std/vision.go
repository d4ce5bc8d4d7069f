package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// RoiAlignAttrs are the attributes of roi_align. SpatialScale is the size of x by that
// of the image that the regions are in; SamplingRatio 0 takes as many points as there
// are elements. Mode "" is avg; "max" is that of ONNX.
type RoiAlignAttrs struct {
	OutputSize    op.Ints `fx:",arg"`
	SpatialScale  float64 `fx:",arg"`
	SamplingRatio int
	Aligned       bool
	Mode          string `fx:",enum=avg|max"`
}

// mostSamples bounds the points of a part of a region in each dimension.
const mostSamples = 256

// RoiAlign pools regions of images.
// Ref: He, Gkioxari, Dollar, Girshick, Mask R-CNN, ICCV 2017.
//
//gofx:torch roi_align(x, rois, batch, output_size, spatial_scale, sampling_ratio, aligned, mode)
var RoiAlign = op.Define("roi_align", op.Spec[RoiAlignAttrs]{
	Differs: []op.Difference[RoiAlignAttrs]{
		{Kind: op.GradAlters, Text: "the regions have derivatives, too; PyTorch's are of x alone"},
		{Kind: op.GradRefuses, Text: "a sampling_ratio of 0, with which the number of points follows from the regions", When: func(a RoiAlignAttrs, _ []*array.Array) bool { return a.SamplingRatio < 1 }},
		extendsEmpty[RoiAlignAttrs](),
		departs[RoiAlignAttrs](op.Alters, "points outside of an image are 0, where PyTorch multiplies its first element by 0, which shows when that is not finite",
			func(in []*array.Array) bool { return huge(in[0]) }),
		{Kind: op.Alters, Text: "regions that are not finite or far from the image", When: func(a RoiAlignAttrs, in []*array.Array) bool {
			return far(in[1]) || a.SpatialScale > 1<<8
		}},
		{Kind: op.Alters, Text: "aligned regions of negative size hold nothing: PyTorch's result depends on the others", When: func(a RoiAlignAttrs, in []*array.Array) bool {
			return a.Aligned && reversedCorners(in[1])
		}},
	},
	Doc: "roi_align pools the regions rois [R,4], corners as x and y, of the images that batch [R] names.",
	Ref: "He, Gkioxari, Dollar, Girshick: Mask R-CNN, ICCV 2017, arXiv:1703.06870",
	In:  op.Args("x", "rois", "batch"), Class: op.Contraction,
	Infer: roiAlignRule,
	Kernel: func(a RoiAlignAttrs, _ []shape.Type) kernel.Step {
		return &kernel.RoiAlign{Scale: a.SpatialScale, Samples: a.SamplingRatio, Aligned: a.Aligned, Max: a.Mode == "max"}
	},
	Flops: func(a RoiAlignAttrs, _ []shape.Type, out shape.Type) shape.Dim {
		n := max(2, a.SamplingRatio)
		return elementCount(out).MulInt(11 * n * n)
	},
	Samples: roiAlignSamples,
	Bad:     roiAlignBad,
})

// reversedCorners reports whether the second corner of a region is before the first.
func reversedCorners(rois *array.Array) bool {
	if rois.Rank() != 2 || rois.Dim(1) != 4 {
		return false
	}
	for i := range rois.Dim(0) {
		for k := range 2 {
			if array.Float64At(rois, 4*i+2+k) < array.Float64At(rois, 4*i+k) {
				return true
			}
		}
	}
	return false
}

func roiAlignRule(c *op.Infer, a RoiAlignAttrs, in []shape.Type) (shape.Type, error) {
	x, rois, batch := in[0], in[1], in[2]
	if a.OutputSize.Len() == 0 {
		return x, badAttr("output_size", "[]", "1 or 2 elements")
	}
	size, err := listAttr("output_size", a.OutputSize, 2, 1, 1)
	switch {
	case err != nil:
		return x, err
	case !(a.SpatialScale > 0 && a.SpatialScale <= math.MaxFloat32):
		return x, badAttr("spatial_scale", op.Float(a.SpatialScale).String(), "a positive number")
	case a.SamplingRatio < 0 || a.SamplingRatio > mostSamples:
		return x, badAttr("sampling_ratio", strconv.Itoa(a.SamplingRatio), "0 to "+strconv.Itoa(mostSamples))
	case a.Mode != "" && a.Mode != "avg" && a.Mode != "max":
		return x, badAttr("mode", strconv.Quote(a.Mode), "avg or max")
	}
	d, err := sameFloat([]string{"x", "rois"}, in[:2])
	if err != nil {
		return x, err
	}
	if err := wantIndices("batch", batch); err != nil {
		return x, err
	}
	for i, n := range []int{4, 2, 1} {
		if err := wantRank([]string{"x", "rois", "batch"}[i], in[i], n, n); err != nil {
			return x, err
		}
	}
	if !x.Ranked() || !rois.Ranked() || !batch.Ranked() {
		return shape.Unranked(d), nil
	}
	for i := 2; i < 4; i++ {
		if err := notEmpty(c, x.Dim(i), "dimension "+strconv.Itoa(i)+" of x"); err != nil {
			return x, err
		}
	}
	if _, err := c.Equal(rois.Dim(1), shape.Const(4), op.SizeMismatch, func() string {
		return "rois has rows of " + rois.Dim(1).String() + " elements, expected 4"
	}); err != nil {
		return x, err
	}
	n, err := c.Equal(rois.Dim(0), batch.Dim(0), op.ShapeMismatch, func() string {
		return "batch has " + batch.Dim(0).String() + " elements, expected " + rois.Dim(0).String() + " as there are regions"
	})
	if err != nil {
		return x, err
	}
	return shape.TensorType(d, shape.Of(n, x.Dim(1), shape.Const(size[0]), shape.Const(size[1]))), nil
}

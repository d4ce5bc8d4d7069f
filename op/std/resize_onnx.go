package std

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ResizeAttrs are the attributes of resize, which have ONNX's names and meanings.
// Size has the new sizes of the last dimensions, one to three; ScaleFactor, with as
// many entries or none, is what positions are computed with in place of the ratio of
// the sizes, near which it must be. Mode "" is nearest, CoordinateTransformationMode
// "" half_pixel, NearestMode "" round_prefer_floor; an absent CubicCoeffA is -0.75.
// Roi has the starts and then the ends of the region that tf_crop_and_resize reads,
// as parts of the sizes; what it has outside x becomes ExtrapolationValue.
type ResizeAttrs struct {
	Size                         shape.Dims `fx:",arg"`
	ScaleFactor                  op.Floats
	Mode                         string `fx:",enum=nearest|linear|cubic"`
	CoordinateTransformationMode string `fx:",enum=half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|tf_half_pixel_for_nn|tf_crop_and_resize"`
	NearestMode                  string `fx:",enum=round_prefer_floor|round_prefer_ceil|floor|ceil"`
	CubicCoeffA                  op.Scalar
	ExcludeOutside, Antialias    bool
	Roi                          op.Floats
	ExtrapolationValue           float64
}

const (
	cropAndResize = "tf_crop_and_resize"
	// mostSpatial is how many dimensions a step interpolates at once.
	mostSpatial = 3
)

// Resize resizes images in every way that ONNX has.
// Ref: Keys, Cubic convolution interpolation for digital image processing, 1981.
//
//gofx:torch resized(x, size, scale_factor, mode or "nearest", coordinate_transformation_mode or "half_pixel", nearest_mode or "round_prefer_floor", given(cubic_coeff_a, -0.75), exclude_outside, antialias, roi, extrapolation_value)
var Resize = op.Define("resize", op.Spec[ResizeAttrs]{
	Differs: []op.Difference[ResizeAttrs]{
		altersOverflow[ResizeAttrs](),
		{Kind: op.Alters, Text: "in the modes linear and cubic, elements that are NaN, infinite or beyond 2^16: which neighbours of weight 0 count is not defined", When: func(a ResizeAttrs, in []*array.Array) bool {
			return a.Mode != "" && a.Mode != "nearest" && far(in[0])
		}},
	},
	Doc: "resize interpolates the last dimensions to the sizes size, in every way that ONNX's Resize has.",
	Ref: "Keys: Cubic convolution interpolation for digital image processing, IEEE Transactions on Acoustics, Speech, and Signal Processing 29, 1981",
	In:  op.Args("x"), Infer: resizeRule,
	Kernel: func(a ResizeAttrs, _ []shape.Type) kernel.Step {
		s := &kernel.Resample{Mode: nameOr(a.Mode, "nearest"), Coordinates: nameOr(a.CoordinateTransformationMode, "half_pixel"),
			Rounding: nameOr(a.NearestMode, "round_prefer_floor"), Scales: a.ScaleFactor.Slice(), Roi: a.Roi.Slice(), CubicCoeff: -0.75,
			Extrapolation: a.ExtrapolationValue, ExcludeOutside: a.ExcludeOutside, Antialias: a.Antialias, Spatial: a.Size.Len()}
		if a.CubicCoeffA.Present() {
			s.CubicCoeff = a.CubicCoeffA.Float64()
		}
		return s
	},
	Flops: func(a ResizeAttrs, _ []shape.Type, out shape.Type) shape.Dim {
		taps := map[string]int{"linear": 2, "cubic": 4}[a.Mode]
		for range a.Size.Len() - 1 {
			taps *= max(taps, 1)
		}
		return elementCount(out).MulInt(2 * taps)
	},
	Samples: resizeSamples, Bad: resizeBad,
})

func resizeRule(c *op.Infer, a ResizeAttrs, in []shape.Type) (shape.Type, error) {
	t, n := in[0], a.Size.Len()
	if err := a.check(t); err != nil {
		return t, err
	}
	if err := wantRank("x", t, n, math.MaxInt32); err != nil {
		return t, err
	}
	if !t.Ranked() {
		return t, nil
	}
	d := t.Dims()
	for i := range n {
		at := t.Rank() - n + i
		from, to := d.At(at), a.Size.At(i)
		if err := c.AtLeast(to, shape.Const(1), op.SizeMismatch, func() string {
			return "dimension " + strconv.Itoa(at) + " becomes " + to.String() + ", expected at least 1"
		}); err != nil {
			return t, err
		}
		if err := notEmpty(c, from, "dimension "+strconv.Itoa(at)); err != nil {
			return t, err
		}
		if a.ScaleFactor.Len() > 0 {
			if err := near(c, from, to, a.ScaleFactor.At(i)); err != nil {
				return t, err
			}
		}
		d = d.With(at, to)
	}
	return t.WithDims(d), nil
}

// near requires a size times its factor to be within twice and half of what it becomes:
// in whole numbers, so that it is the same for sizes that are symbols.
func near(c *op.Infer, from, to shape.Dim, factor float64) error {
	const unit = 1 << 12
	msg := func() string {
		return "scale_factor is " + op.Float(factor).String() + ", expected a number near " + to.String() + "/" + from.String()
	}
	twice, once := shape.Const(int(math.Ceil(2*factor*unit))), shape.Const(int(math.Floor(factor*unit)))
	if err := c.AtLeast(from.Mul(twice), to.Mul(shape.Const(unit)), op.BadAttr, msg); err != nil {
		return err
	}
	return c.AtLeast(to.Mul(shape.Const(2*unit)), from.Mul(once), op.BadAttr, msg)
}

// check refuses attributes that do not go together, or with the type of x.
func (a ResizeAttrs) check(t shape.Type) error {
	n, mode := a.Size.Len(), nameOr(a.Mode, "nearest")
	crop := a.CoordinateTransformationMode == cropAndResize
	for _, f := range a.ScaleFactor.Slice() {
		if !(f > 0 && f <= maxListAttr) {
			return badAttr("scale_factor", op.Float(f).String(), "positive numbers")
		}
	}
	for _, f := range append(a.Roi.Slice(), a.CubicCoeffA.Float64()) {
		if !(math.Abs(f) <= maxListAttr) {
			return badAttr("roi or cubic_coeff_a", op.Float(f).String(), "finite numbers")
		}
	}
	switch {
	case n < 1 || n > mostSpatial:
		return badAttr("size", a.Size.String(), "1 to 3 elements")
	case a.ScaleFactor.Len() != 0 && a.ScaleFactor.Len() != n:
		return badAttr("the number of factors", strconv.Itoa(a.ScaleFactor.Len()), strconv.Itoa(n)+" or none")
	case crop && a.Roi.Len() != 2*n:
		return badAttr("the number of elements of roi", strconv.Itoa(a.Roi.Len()), strconv.Itoa(2*n)+" for tf_crop_and_resize")
	case !crop && (a.Roi.Len() != 0 || a.ExtrapolationValue != 0):
		return badAttr("coordinate_transformation_mode", strconv.Quote(a.CoordinateTransformationMode), "tf_crop_and_resize beside roi or extrapolation_value")
	case mode == "nearest" && (a.Antialias || a.ExcludeOutside):
		return badAttr("mode", strconv.Quote(a.Mode), "linear or cubic beside antialias or exclude_outside")
	case !slices.Contains([]string{"nearest", "linear", "cubic"}, mode):
		return badAttr("mode", strconv.Quote(a.Mode), "nearest, linear or cubic")
	case !slices.Contains([]string{"", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", cropAndResize}, a.CoordinateTransformationMode):
		return badAttr("coordinate_transformation_mode", strconv.Quote(a.CoordinateTransformationMode), "one of ONNX's")
	case !slices.Contains([]string{"", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, a.NearestMode):
		return badAttr("nearest_mode", strconv.Quote(a.NearestMode), "round_prefer_floor, round_prefer_ceil, floor or ceil")
	case mode != "nearest" && t.DType() != array.Invalid && !t.DType().IsFloat():
		return diag.New(op.DTypeMismatch, "x has element type "+t.DType().String()+", expected a float type for mode "+mode).WithHint("cast x first")
	}
	return nil
}

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

// InterpolateAttrs are the attributes of interpolate: either the sizes of the
// spatial dimensions or the factors by which they grow, one for all or one for
// each. Mode "" is nearest.
type InterpolateAttrs struct {
	Size         shape.Dims
	ScaleFactor  op.Floats
	Mode         string `fx:",enum=nearest|linear|bilinear|bicubic|trilinear|nearest-exact"`
	AlignCorners bool
}

func (a InterpolateAttrs) mode() string {
	if a.Mode == "" {
		return "nearest"
	}
	return a.Mode
}

// scales returns one factor for each of n dimensions, none when Size is given.
func (a InterpolateAttrs) scales(n int) []float64 {
	if a.ScaleFactor.Len() == 0 {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = a.ScaleFactor.At(min(i, a.ScaleFactor.Len()-1))
	}
	return out
}

// GridSampleAttrs are the attributes of grid_sample. Mode "" is bilinear,
// PaddingMode "" is zeros.
type GridSampleAttrs struct {
	Mode         string `fx:",enum=bilinear|nearest|bicubic"`
	PaddingMode  string `fx:",enum=zeros|border|reflection"`
	AlignCorners bool
}

// nameOr returns s, or def when it is empty.
func nameOr(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// Interpolate resizes images.
//
//gofx:torch interpolate(x, size, scale_factor, mode, align_corners)
var Interpolate = op.Define("interpolate", op.Spec[InterpolateAttrs]{
	Differs: []op.Difference[InterpolateAttrs]{
		extendsEmpty[InterpolateAttrs](),
		altersOverflow[InterpolateAttrs](),
		departs[InterpolateAttrs](op.Extends, "integers in the nearest modes and u8 in all", func(in []*array.Array) bool { return !floats(in...) }),
	},
	Doc: "interpolate resizes the spatial dimensions, those after batch and channels.", In: op.Args("x"),
	Infer: interpolateRule,
	Kernel: func(a InterpolateAttrs, in []shape.Type) kernel.Step {
		n := in[0].Rank() - 2
		return &kernel.Resize{Mode: a.mode(), AlignCorners: a.AlignCorners, Scales: a.scales(n), Spatial: n}
	},
	Flops: func(a InterpolateAttrs, _ []shape.Type, out shape.Type) shape.Dim {
		taps := map[string]int{"linear": 2, "bilinear": 4, "trilinear": 8, "bicubic": 16}[a.mode()]
		return elementCount(out).MulInt(2 * taps)
	},
	Samples: interpolateSamples, Bad: interpolateBad,
})

// GridSample reads images at points that a tensor gives.
// Ref: Jaderberg et al., Spatial Transformer Networks, NIPS 2015.
//
//gofx:torch F.grid_sample(x, grid, mode or "bilinear", padding_mode or "zeros", align_corners)
var GridSample = op.Define("grid_sample", op.Spec[GridSampleAttrs]{
	Differs: []op.Difference[GridSampleAttrs]{
		{Kind: op.GradAlters, Text: "that by places at the very border, with align_corners and padding of border or reflection, is not that of PyTorch", When: func(a GridSampleAttrs, in []*array.Array) bool {
			return a.AlignCorners && a.PaddingMode != "" && a.PaddingMode != "zeros" && slices.ContainsFunc([]float64{-3, -1, 1, 3}, func(v float64) bool { return hasElement(in[1], v) })
		}},
		departs[GridSampleAttrs](op.GradAlters, "that at places that are not finite, and of elements that are not, is NaN; PyTorch's is 0 for some", func(in []*array.Array) bool { return far(in[1]) || huge(in[0]) }),
		refusesMixed[GridSampleAttrs](),
		altersOverflow[GridSampleAttrs](),
		departs[GridSampleAttrs](op.Alters, "points that are NaN, infinite or beyond 2^16 are outside in every mode: PyTorch's result depends on the mode and the processor", func(in []*array.Array) bool { return far(in[1]) }),
	},
	Doc: "grid_sample reads images at points given as x, y (and z) between -1 and 1.", In: op.Args("x", "grid"),
	Ref:   "Jaderberg et al., Spatial Transformer Networks, NIPS 2015, arXiv:1506.02025",
	Infer: gridSampleRule,
	Kernel: func(a GridSampleAttrs, _ []shape.Type) kernel.Step {
		return &kernel.GridSample{Mode: nameOr(a.Mode, "bilinear"), PaddingMode: nameOr(a.PaddingMode, "zeros"), AlignCorners: a.AlignCorners}
	},
	Flops:   func(_ GridSampleAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out).MulInt(8) },
	Samples: gridSampleSamples,
	Bad:     gridSampleBad,
})

// spatialOf returns how many spatial dimensions a mode of interpolate takes.
func spatialOf(mode string) (lo, hi int, ok bool) {
	switch mode {
	case "nearest", "nearest-exact":
		return 1, 3, true
	case "linear":
		return 1, 1, true
	case "bilinear", "bicubic":
		return 2, 2, true
	case "trilinear":
		return 3, 3, true
	}
	return 0, 0, false
}

func interpolateRule(c *op.Infer, a InterpolateAttrs, in []shape.Type) (shape.Type, error) {
	t := in[0]
	lo, hi, ok := spatialOf(a.mode())
	if !ok {
		return t, badAttr("mode", strconv.Quote(a.Mode), "nearest, nearest-exact, linear, bilinear, bicubic or trilinear")
	}
	smooth := a.mode() != "nearest" && a.mode() != "nearest-exact"
	if a.AlignCorners && !smooth {
		return t, badAttr("align_corners", "true", "false for mode "+a.mode())
	}
	if smooth && !t.DType().IsFloat() && !hasType(t, array.U8) {
		return t, diag.New(op.DTypeMismatch, "x has element type "+t.DType().String()+", expected a float type or u8 for mode "+a.mode()).WithHint("cast x first")
	}
	if err := wantRank("x", t, lo+2, hi+2); err != nil {
		return t, err
	}
	if (a.Size.Len() == 0) == (a.ScaleFactor.Len() == 0) {
		return t, badAttr("size", a.Size.String()+" beside scale_factor of "+strconv.Itoa(a.ScaleFactor.Len())+" elements", "exactly one of them")
	}
	for _, f := range a.ScaleFactor.Slice() {
		if !(f > 0 && f <= maxListAttr) {
			return t, badAttr("scale_factor", op.Float(f).String(), "positive numbers")
		}
	}
	if !t.Ranked() {
		return t, nil
	}
	n := t.Rank() - 2
	if l := max(a.Size.Len(), a.ScaleFactor.Len()); l != 1 && l != n {
		return t, badAttr("the number of sizes or factors", strconv.Itoa(l), oneOr(n))
	}
	d := t.Dims()
	for i := range n {
		from := d.At(2 + i)
		var to shape.Dim
		if a.Size.Len() > 0 {
			to = a.Size.At(min(i, a.Size.Len()-1))
		} else {
			to = scaledSize(from, a.scales(n)[i])
		}
		if err := c.AtLeast(to, shape.Const(1), op.SizeMismatch, func() string {
			return "dimension " + strconv.Itoa(i+2) + " of size " + from.String() + " becomes " + to.String() + ", expected at least 1"
		}); err != nil {
			return t, err
		}
		if err := notEmpty(c, from, "dimension "+strconv.Itoa(i+2)); err != nil {
			return t, err
		}
		d = d.With(2+i, to)
	}
	return t.WithDims(d), nil
}

// scaledSize returns floor(n*factor), as products of float64 give it, Unknown where an expression
// cannot say it.
func scaledSize(n shape.Dim, factor float64) shape.Dim {
	if v, ok := n.Int(); ok {
		if f := math.Floor(float64(v) * factor); f <= math.MaxInt32 {
			return shape.Const(int(f))
		}
		return shape.Unknown
	}
	num, den, ok := fraction(factor)
	if !ok {
		return shape.Unknown
	}
	return n.MulInt(num).FloorDivInt(den)
}

// fraction returns num/den with floor(n*num/den) = floor(n*factor) for all sizes n, where the
// product is rounded to float64.
//
// factor is num/den rounded, so n*factor is k(1+d) for a whole number k = n*num/den, and |d| is at
// most 2^-53. The floor is k unless the product rounds to the number below k, which is at least
// 2^-53*k away: for d from -2^-54 on it never does. A size that is no multiple of den gives a product 1/den away from
// whole numbers, more than products of sizes below 2^40 are rounded by.
func fraction(factor float64) (num, den int, ok bool) {
	for den = 1; den <= 1<<10; den++ {
		n := math.Round(factor * float64(den))
		if n >= 1 && n/float64(den) == factor {
			return int(n), den, (n <= 1<<12 || den == 1) && math.FMA(factor, float64(den), -n)/n >= -0x1p-54
		}
	}
	return 0, 0, false
}

func gridSampleRule(c *op.Infer, a GridSampleAttrs, in []shape.Type) (shape.Type, error) {
	x, grid := in[0], in[1]
	mode := nameOr(a.Mode, "bilinear")
	switch {
	case mode != "bilinear" && mode != "nearest" && mode != "bicubic":
		return x, badAttr("mode", strconv.Quote(a.Mode), "bilinear, nearest or bicubic")
	case nameOr(a.PaddingMode, "zeros") != "zeros" && a.PaddingMode != "border" && a.PaddingMode != "reflection":
		return x, badAttr("padding_mode", strconv.Quote(a.PaddingMode), "zeros, border or reflection")
	}
	d, err := sameFloat([]string{"x", "grid"}, in)
	if err != nil {
		return x, err
	}
	if err := wantRank("x", x, 4, 5); err != nil {
		return x, err
	}
	if !x.Ranked() {
		return shape.Unranked(d), wantRank("grid", grid, 4, 5)
	}
	n := x.Rank() - 2
	if mode == "bicubic" && n != 2 {
		return x, badAttr("mode", "bicubic for "+strconv.Itoa(x.Rank())+" dimensions", "bilinear or nearest")
	}
	if err := wantRank("grid", grid, n+2, n+2); err != nil {
		return x, err
	}
	for i := range n {
		if err := notEmpty(c, x.Dim(2+i), "dimension "+strconv.Itoa(i+2)+" of x"); err != nil {
			return x, err
		}
	}
	if !grid.Ranked() {
		return shape.Unranked(d), nil
	}
	batch, err := c.Equal(x.Dim(0), grid.Dim(0), op.ShapeMismatch, func() string {
		return "grid has a batch of " + grid.Dim(0).String() + ", expected " + x.Dim(0).String() + " as x has"
	})
	if err != nil {
		return x, err
	}
	if _, err := c.Equal(grid.Dim(-1), shape.Const(n), op.SizeMismatch, func() string {
		return "the last dimension of grid has size " + grid.Dim(-1).String() + ", expected " + strconv.Itoa(n) + " coordinates"
	}); err != nil {
		return x, err
	}
	return shape.TensorType(d, shape.Of(batch, x.Dim(1)).Concat(grid.Dims().Sub(1, n+1))), nil
}

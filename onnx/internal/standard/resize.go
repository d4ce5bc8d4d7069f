package standard

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// resizeRules resize images.
var resizeRules = map[string][]rule.Rule{
	"Resize": {
		{Since: 10, Build: func(c *rule.Call) []op.Value { return scaled(c, numberOperands(c, 1)) }},
		{Since: 11, Build: resize},
	},
	"Upsample": {
		{Since: 7, Build: func(c *rule.Call) []op.Value { return scaled(c, c.Floats("scales")) }},
		{Since: 9, Build: func(c *rule.Call) []op.Value { return scaled(c, numberOperands(c, 1)) }},
	},
}

// resizing is one call: the treatment of each axis, and its method.
type resizing struct {
	axes []resizedAxis
	a    std.ResizeAttrs // without sizes and factors
	// scaled: the factors are given, and sizes follow from them.
	scaled bool
}

type resizedAxis struct {
	from, to   shape.Dim
	kept       bool    // it is not listed
	limited    bool    // its expression is right for sizes up to mostScaled
	scale      float64 // 0 where the ratio of the sizes is meant
	start, end float64
}

// numberOperands returns the elements of an operand that must be known.
func numberOperands(c *rule.Call, i int) []float64 {
	a := c.Constant(i)
	if a.Len() > rule.MostSizes || !a.DType().IsFloat() {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected a few floats"))
	}
	n := make([]float64, a.Len())
	for k := range n {
		n[k] = array.Float64At(a, k)
	}
	return n
}

// scaled is the operator of the first sets, which had one way.
func scaled(c *rule.Call, scales []float64) []op.Value {
	r := resizingOf(c, c.OneOf("mode", "nearest", "linear"), "asymmetric", "floor")
	scaleBy(c, &r, every(c), scales)
	return []op.Value{resized(c, &r)}
}

func resizingOf(c *rule.Call, mode, coordinates, nearest string) resizing {
	r := resizing{axes: make([]resizedAxis, c.Rank(0)), a: std.ResizeAttrs{Mode: mode, CoordinateTransformationMode: coordinates, NearestMode: nearest}}
	for i := range r.axes {
		d := c.Type(0).Dim(i)
		r.axes[i] = resizedAxis{from: d, to: d, end: 1}
	}
	return r
}

// every lists all axes.
func every(c *rule.Call) []int {
	axes := make([]int, c.Rank(0))
	for i := range axes {
		axes[i] = i
	}
	return axes
}

func resize(c *rule.Call) []op.Value {
	r := resizingOf(c, c.OneOf("mode", "nearest", "linear", "cubic"),
		c.OneOf("coordinate_transformation_mode", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"),
		c.OneOf("nearest_mode", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
	r.a.CubicCoeffA = op.Float(c.Float("cubic_coeff_a", -0.75))
	r.a.ExcludeOutside, r.a.Antialias = c.Flag("exclude_outside", false), c.Flag("antialias", false)
	if r.a.Mode == "nearest" && (r.a.ExcludeOutside || r.a.Antialias) {
		panic(diag.New(spec.CodeAttribute, "antialias and exclude_outside are not defined for the mode nearest"))
	}
	outside := c.Float("extrapolation_value", 0)
	axes := every(c)
	if list := c.List("axes"); list != nil {
		axes = nil
		for i := range r.axes {
			r.axes[i].kept = true
		}
		for _, x := range list {
			axes = append(axes, c.Axis(x, c.Rank(0)))
			r.axes[c.Axis(x, c.Rank(0))].kept = false
		}
	}
	if r.a.CoordinateTransformationMode == "tf_crop_and_resize" {
		r.a.ExtrapolationValue = outside
		roi := numberOperands(c, 1)
		if len(roi) != 2*len(axes) {
			panic(diag.New(spec.CodeModel, "roi has "+strconv.Itoa(len(roi))+" elements, expected "+strconv.Itoa(2*len(axes))))
		}
		for i, x := range axes {
			r.axes[x].start, r.axes[x].end = roi[i], roi[len(axes)+i]
		}
	}
	policy := c.OneOf("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
	given := func(i int) bool { // an empty operand is none, as files of set 11 have it
		return c.Has(i) && !(c.Type(i).Rank() == 1 && c.Type(i).Dim(0).Equal(shape.Const(0)))
	}
	switch {
	case given(2) == given(3):
		panic(diag.New(spec.CodeModel, "expected one of scales and sizes"))
	case given(2):
		scaleBy(c, &r, axes, numberOperands(c, 2))
	default:
		sizes := c.Dims
		if policy != "stretch" { // a factor follows from them, which must be a number
			sizes = func(i int) []shape.Dim { return shape.ConstDims(c.Ints(i)...).Slice() }
		}
		r.sizes(axes, sizes(3), policy)
	}
	return []op.Value{resized(c, &r)}
}

// scaleBy sets sizes from factors, which are f32 and multiplied as such: sizes that are open
// as expressions of the same value, else as numbers that the run computes.
func scaleBy(c *rule.Call, r *resizing, axes []int, scales []float64) {
	if len(scales) != len(axes) {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(scales))+" scales, expected "+strconv.Itoa(len(axes))))
	}
	r.scaled = true
	for i, x := range axes {
		a, f := &r.axes[x], scales[i]
		if !(f > 0 && f <= 1<<20) {
			panic(diag.New(spec.CodeModel, "a scale is "+op.Float(f).String()+", expected a positive number"))
		}
		a.scale = f
		if n, ok := a.from.Int(); ok {
			a.to = shape.Const(int(math.Floor(float64(float32(n) * float32(f)))))
			continue
		}
		if f == 1 {
			continue
		}
		if a.from.IsUnknown() {
			panic(diag.New(spec.CodeValue, "the input is "+c.Type(0).String()+", and the size of axis "+strconv.Itoa(x)+" is multiplied"))
		}
		num, den, ok := fraction(f)
		if a.to = a.from.MulInt(num).FloorDivInt(max(den, 1)); !ok || a.to.IsUnknown() {
			a.to = multiplied(c, x, f)
		} else {
			a.limited = den&(den-1) != 0
		}
	}
}

// multiplied is the size of an axis of operand 0 times a factor, as the run computes it in f32.
func multiplied(c *rule.Call, axis int, f float64) shape.Dim {
	v := c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.Do(op.Dim, op.AxisAttrs{Axis: axis}, c.X(0)))
	v = c.Do(std.Floor, nil, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(f)}, v))
	n, ok := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, v).(*graph.Node)
	if !ok {
		panic(c.NotConstant(0))
	}
	return rule.Measure(c, n, false)[0]
}

// mostPart bounds the numbers of fractions, mostScaled the sizes for which it is tried out
// that they are the same times a fraction and times its f32.
const mostPart, mostScaled = 1 << 10, 1 << 18

// fraction returns num/den with floor(n·num/den) = floor(n·f in f32) for sizes n up to
// mostScaled.
func fraction(f float64) (num, den int, ok bool) {
	for den = 1; den <= mostPart; den++ {
		if num = int(math.Round(f * float64(den))); float32(float64(num)/float64(den)) == float32(f) {
			break
		}
	}
	if den > mostPart || num < 1 || num > mostPart*mostPart {
		return 0, 0, false
	}
	for n := range mostScaled + 1 {
		if int(math.Floor(float64(float32(n)*float32(f)))) != n*num/den {
			return 0, 0, false
		}
	}
	return num, den, true
}

// sizes sets the sizes, which a policy may replace by those of one factor.
func (r *resizing) sizes(axes []int, sizes []shape.Dim, policy string) {
	if len(sizes) != len(axes) {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(sizes))+" sizes, expected "+strconv.Itoa(len(axes))))
	}
	common := 0.0
	for i, x := range axes {
		a := &r.axes[x]
		a.to = sizes[i]
		if policy == "stretch" {
			continue
		}
		n, ok := a.from.Int()
		m, counted := a.to.Int()
		if !ok || !counted || n < 1 {
			panic(diag.New(spec.CodeValue, "keep_aspect_ratio_policy needs sizes that are known, not "+a.from.String()+" and "+a.to.String()))
		}
		f := float64(m) / float64(n)
		switch {
		case i == 0:
			common = f
		case policy == "not_larger":
			common = min(common, f)
		default:
			common = max(common, f)
		}
	}
	for _, x := range axes {
		if a := &r.axes[x]; policy != "stretch" {
			n, _ := a.from.Int()
			a.to, a.scale = shape.Const(int(math.Floor(common*float64(n)+0.5))), common
		}
	}
}

// same reports whether an axis stays as it is.
func (r *resizing) same(a resizedAxis) bool {
	if a.kept {
		return true
	}
	if !a.from.Equal(a.to) && !(a.from.IsUnknown() && a.to.IsUnknown()) || a.scale != 0 && a.scale != 1 || a.start != 0 || a.end != 1 {
		return false
	}
	return r.a.CoordinateTransformationMode != "tf_half_pixel_for_nn" || r.a.Mode == "nearest" && (r.a.NearestMode == "floor" || r.a.NearestMode == "round_prefer_floor")
}

// resized applies the call to operand 0.
func resized(c *rule.Call, r *resizing) op.Value {
	v := resizedAs(c, r)
	for _, a := range r.axes {
		if n, ok := v.(*graph.Node); ok && a.limited {
			n.Graph().Require(shape.AtLeast(shape.Const(mostScaled), a.from), n)
		}
	}
	return v
}

// resizedAs interpolates integers as floats, and cuts them.
func resizedAs(c *rule.Call, r *resizing) op.Value {
	x, d := c.X(0), c.Type(0).DType()
	if r.a.Mode != "nearest" && !d.IsFloat() {
		wide := array.F32
		if d.Size() > 2 {
			wide = array.F64
		}
		return c.Do(std.Cast, std.CastAttrs{DType: d}, resizeBy(c, r, c.Do(std.Cast, std.CastAttrs{DType: wide}, x)))
	}
	return resizeBy(c, r, x)
}

// resizeBy interpolates the axes that change: by interpolate where that is the same,
// else those that lie last, else a few at a time, brought there.
func resizeBy(c *rule.Call, r *resizing, x op.Value) op.Value {
	var changed []int
	for i, a := range r.axes {
		if !r.same(a) {
			changed = append(changed, i)
		}
	}
	const most = 3 // dimensions of one call
	rank := len(r.axes)
	switch {
	case len(changed) == 0:
		return x
	case changed[0] >= 2 && rank <= 2+most:
		if a, ok := r.interpolate(); ok {
			return c.Do(std.Interpolate, a, x)
		}
	}
	if rank-changed[0] <= most {
		return c.Do(std.Resize, r.attrs(r.axes[changed[0]:]), x)
	}
	for part := range slices.Chunk(changed, most) {
		var perm []int
		for i := range rank {
			if !slices.Contains(part, i) {
				perm = append(perm, i)
			}
		}
		perm = append(perm, part...)
		back := make([]int, rank)
		axes := make([]resizedAxis, len(part))
		for i, p := range perm {
			back[p] = i
		}
		for i, p := range part {
			axes[i] = r.axes[p]
		}
		x = c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)}, x)
		x = c.Do(std.Resize, r.attrs(axes), x)
		x = c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(back...)}, x)
	}
	return x
}

// attrs are the attributes of resize for some axes.
func (r *resizing) attrs(axes []resizedAxis) std.ResizeAttrs {
	a := r.a
	sizes := make([]shape.Dim, len(axes))
	scales, roi := make([]float64, len(axes)), make([]float64, 2*len(axes))
	given := false
	for i, x := range axes {
		sizes[i], scales[i] = x.to, x.scale
		roi[i], roi[len(axes)+i] = x.start, x.end
		given = given || x.scale != 0
		if x.scale == 0 {
			scales[i] = 1 // an axis that is not listed stays
		}
	}
	a.Size = shape.Of(sizes...)
	if given {
		a.ScaleFactor = op.FloatList(scales...)
	}
	if a.CoordinateTransformationMode == "tf_crop_and_resize" {
		a.Roi = op.FloatList(roi...)
	}
	if a.Mode != "cubic" || a.CubicCoeffA.Float64() == -0.75 {
		a.CubicCoeffA = op.Scalar{}
	}
	if a.Mode != "nearest" || a.NearestMode == "round_prefer_floor" {
		a.NearestMode = ""
	}
	if a.CoordinateTransformationMode == "half_pixel" {
		a.CoordinateTransformationMode = ""
	}
	return a
}

// interpolate returns the attributes of interpolate, which computes in PyTorch's ways,
// where its result is the same.
func (r *resizing) interpolate() (a std.InterpolateAttrs, ok bool) {
	spatial := r.axes[2:]
	at, align := r.a.CoordinateTransformationMode, false
	if r.a.ExcludeOutside || r.a.Antialias || len(spatial) == 0 {
		return a, false
	}
	switch r.a.Mode {
	case "nearest":
		return r.repeats(spatial)
	case "linear":
		a.Mode = []string{"linear", "bilinear", "trilinear"}[len(spatial)-1]
	case "cubic":
		if len(spatial) != 2 || r.a.CubicCoeffA.Float64() != -0.75 {
			return a, false
		}
		a.Mode = "bicubic"
	}
	sizes, scales := make([]shape.Dim, len(spatial)), make([]float64, len(spatial))
	for i, x := range spatial {
		n, known := x.to.Int()
		switch {
		case at == "pytorch_half_pixel" && !(known && n > 1):
			return a, false // one position is another one there
		case at == "align_corners":
			align = true
		case at != "half_pixel" && at != "pytorch_half_pixel":
			return a, false
		}
		if sizes[i], scales[i] = x.to, x.scale; x.scale == 0 {
			scales[i] = 1
		}
		if r.scaled && !align {
			if !scaledAlike(x, scales[i]) {
				return a, false // rounded in f32
			}
		} else if x.scale != 0 && !align {
			return a, false // a common factor of all axes together with other sizes
		}
	}
	a.AlignCorners = align
	if r.scaled && !align {
		a.ScaleFactor = op.FloatList(scales...)
	} else {
		a.Size = shape.Of(sizes...)
	}
	return a, true
}

// scaledAlike reports whether interpolate makes the same size of an axis by a factor.
func scaledAlike(x resizedAxis, f float64) bool {
	line := shape.TensorType(array.F32, shape.Of(shape.Const(1), shape.Const(1), x.from))
	t, err := std.Interpolate.Type(nil, std.InterpolateAttrs{ScaleFactor: op.FloatList(f)}, []shape.Type{line})
	return err == nil && t.Dim(2).Equal(x.to)
}

// repeats is nearest by factors that are powers of two, where no position is halfway
// between two elements, and all ways are one.
func (r *resizing) repeats(spatial []resizedAxis) (a std.InterpolateAttrs, ok bool) {
	switch at, nearest := r.a.CoordinateTransformationMode, r.a.NearestMode; {
	case at == "asymmetric" && nearest == "floor", at == "tf_half_pixel_for_nn" && nearest == "floor":
	case at == "half_pixel" && (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil"):
	default:
		return a, false
	}
	scales := make([]float64, len(spatial))
	for i, x := range spatial {
		from, known := x.from.Int()
		to, counted := x.to.Int()
		switch {
		case x.scale != 0:
			scales[i] = x.scale
		case x.from.Equal(x.to):
			scales[i] = 1
		case known && counted && from > 0:
			scales[i] = float64(to) / float64(from)
		}
		if f, _ := math.Frexp(scales[i]); f != 0.5 || scales[i] < 1 {
			return a, false
		}
	}
	a.ScaleFactor = op.FloatList(scales...)
	return a, true
}

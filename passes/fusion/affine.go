package fusion

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
)

// affine is a normalisation as what it does to each channel, in float64:
// scale·(x - mean) + shift.
type affine struct{ scale, mean, shift []float64 }

// normalisation reads the parameters of a batch normalisation, or says why they
// are not constant.
func (f *folder) normalisation(bn *graph.Node) (*affine, string) {
	var v [5][]float64
	for i := 1; i < 5; i++ {
		_, value, why := f.params.Constant(bn, i)
		if why != "" {
			return nil, why
		}
		if value != nil {
			v[i] = floats(value)
		}
	}
	if v[1] == nil || v[2] == nil {
		return nil, "it has no running statistics and normalises by the batch"
	}
	a := &affine{scale: make([]float64, len(v[1])), mean: v[1], shift: v[4]}
	if v[3] != nil && len(v[3]) != len(v[1]) || v[4] != nil && len(v[4]) != len(v[1]) || len(v[2]) != len(v[1]) {
		return nil, "its parameters have different sizes"
	}
	eps := epsilon(bn)
	for i := range a.scale {
		a.scale[i] = 1 / math.Sqrt(v[2][i]+eps)
		if v[3] != nil {
			a.scale[i] *= v[3][i]
		}
	}
	return a, ""
}

func epsilon(bn *graph.Node) float64 {
	switch a := bn.Attrs().(type) {
	case std.BatchNormAttrs:
		return a.Eps
	case std.EpsAttrs:
		return a.Eps
	}
	return 0
}

// into returns the weight and bias that make conv's result the normalised one,
// in the weight's element type. bias may be nil.
func (a *affine) into(conv *graph.Node, weight, bias *array.Array) (scaled, shifted *array.Array, why string) {
	groups, ins, outs := layout(conv, weight)
	if groups*outs != len(a.scale) {
		return nil, nil, "it has " + strconv.Itoa(len(a.scale)) + " channels, the result of " + conv.String() + " has " + strconv.Itoa(groups*outs)
	}
	scaled = scaleRows(weight, groups*ins*outs, func(r int) float64 { return a.scale[r/(ins*outs)*outs+r%outs] })
	shift := make([]float64, len(a.scale))
	if bias != nil {
		copy(shift, floats(bias))
	}
	for i := range shift {
		shift[i] = float64((shift[i] - a.mean[i]) * a.scale[i])
		if a.shift != nil {
			shift[i] += a.shift[i]
		}
	}
	return scaled, array.Cast(array.FromSlice(shift, len(shift)), weight.DType()), ""
}

// layout describes the first axes of a weight as [groups, ins, outs], such that
// channel g·outs+o of the result is made by the rows [g, :, o].
func layout(conv *graph.Node, weight *array.Array) (groups, ins, outs int) {
	t, transposed := conv.Attrs().(std.ConvTransposeAttrs)
	if !transposed {
		return 1, 1, weight.Dim(0)
	}
	groups = max(t.Groups, 1)
	return groups, weight.Dim(0) / groups, weight.Dim(1)
}

// scaleRows multiplies the rows of a weight, which all have as many elements, by numbers: in f64, rounded to the weight's type.
func scaleRows(weight *array.Array, rows int, by func(row int) float64) *array.Array {
	if weight.Len() == 0 {
		return weight
	}
	size := weight.Len() / rows
	if weight.DType() != array.F32 {
		v := floats(weight)
		for r := range rows {
			f := by(r)
			for i := range size {
				v[r*size+i] *= f
			}
		}
		return array.Cast(array.FromSlice(v, weight.Shape()...), weight.DType())
	}
	out := array.New(array.F32, weight.Shape()...) // most weights: without a copy in f64
	from, to := array.Data[float32](array.Contiguous(weight)), array.Data[float32](out)
	for r := range rows {
		f, row := by(r), to[r*size:(r+1)*size]
		for i, v := range from[r*size:][:len(row)] {
			row[i] = float32(float64(v) * f)
		}
	}
	return out
}

// floats returns the elements as a fresh slice of float64.
func floats(a *array.Array) []float64 {
	out := make([]float64, a.Len())
	copy(out, array.Data[float64](array.Contiguous(array.Cast(a, array.F64))))
	return out
}

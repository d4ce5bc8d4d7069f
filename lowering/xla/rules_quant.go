package xla

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// along broadcasts a scale or zero point: one for all, or one for each index along an axis.
func (c *call) along(v *value, dims []int, axis int) *value {
	if v.Type.Len() == 1 {
		return c.Broadcast(c.Reshape(v), dims)
	}
	return c.Broadcast(v, dims, axis)
}

// quantize is round(x/scale)+zero, saturated; NaN is the least value.
func quantize(c *call) *value {
	s, x, d := step[*kernel.Quantize](c), c.widen(c.in[0]), c.out[0].Elem
	return c.quantized(x, c.in[1], c.operand(2), s.Axis, d)
}

func (c *call) quantized(x, scale, zero *value, axis int, d array.DType) *value {
	dims := x.Type.Dims
	q := c.Op("round_nearest_even", c.Op("divide", x, c.along(c.Convert(scale, array.F32), dims, axis)))
	if zero != nil {
		q = c.Op("add", q, c.along(c.Convert(zero, array.F32), dims, axis))
	}
	nan := c.isNaN(q)
	r := c.saturate(q, d)
	return c.Op("select", nan, c.Const(r.Type, lowest(d)), r)
}

// dequantize is (q-zero)·scale; the difference is of i32.
func dequantize(c *call) *value {
	s, q := step[*kernel.Dequantize](c), c.in[0]
	if stablehlo.ElemName(q.Type.Elem) == "" {
		refuse("values of type " + q.Type.Elem.String() + " have no rules")
	}
	dims := q.Type.Dims
	v := c.Convert(q, array.I32)
	if zero := c.operand(2); zero != nil {
		v = c.Op("subtract", v, c.along(c.Convert(zero, array.I32), dims, s.Axis))
	}
	y := c.Op("multiply", c.Convert(v, array.F32), c.along(c.Convert(c.in[1], array.F32), dims, s.Axis))
	return c.Convert(y, c.out[0].Elem)
}

// dynamicQuantize finds a scale and a zero point that cover the finite elements and 0.
func dynamicQuantize(c *call) []*value {
	x := c.in[0]
	t := stablehlo.Of(array.F32)
	zero := c.Const(t, 0)
	all := upto(x.Type.Rank())
	// NaN counts as nothing.
	plain := c.Op("select", c.isNaN(x), c.Const(x.Type, 0), x)
	lo := c.Op("minimum", c.extremes("min", plain, all), zero)
	hi := c.Op("maximum", c.extremes("max", plain, all), zero)
	scale := c.Op("divide", c.Op("subtract", hi, lo), c.number(t, 255))
	scale = c.Op("select", c.Compare("EQ", hi, lo), c.number(t, 1.0/255), scale)
	z := c.saturate(c.Op("round_nearest_even", c.Op("divide", c.Op("negate", lo), scale)), array.U8)
	return []*value{c.quantized(x, scale, z, 0, array.U8), c.Reshape(scale, c.out[1].Dims...), c.Reshape(z, c.out[2].Dims...)}
}

// resample is linear in its operand, one axis after the other: the operator says by which
// matrix, when it resamples the unit vectors of an axis.
func resample(c *call) *value {
	k, mode := 0, ""
	st, err := c.node.Op().Step(c.node.Attrs(), c.types())
	if err != nil {
		panic(err)
	}
	switch s := st.(type) {
	case *kernel.Resize:
		k, mode = s.Spatial, s.Mode
	case *kernel.Resample:
		k, mode = s.Spatial, s.Mode
		if s.Coordinates == "tf_crop_and_resize" && (mode != "nearest" || s.Extrapolation != 0) {
			refuse("extrapolation is not linear")
		}
	default:
		refuse("its kernel's step is not the one that the rule reads")
	}
	if mode == "nearest" || mode == "nearest-exact" {
		return positions(c)[0]
	}
	x := c.widen(c.in[0])
	whole := !x.Type.Elem.IsFloat()
	if whole {
		x = c.Convert(x, array.F32)
	}
	if c.out[0].Len() == 0 || x.Type.Len() == 0 {
		return c.Const(c.out[0], 0)
	}
	lead := x.Type.Rank() - k
	for d := lead; d < x.Type.Rank(); d++ {
		if m := c.matrix(d); m != nil { // [out, in]
			w := c.array(array.Cast(m, x.Type.Elem))
			y := c.dot(x, w, stablehlo.Dot{LhsContract: []int{d}, RhsContract: []int{1}})
			perm := upto(x.Type.Rank() - 1) // the new size is last
			x = c.Transpose(y, append(append(append([]int(nil), perm[:d]...), x.Type.Rank()-1), perm[d:]...)...)
		}
	}
	if whole {
		return c.saturate(c.Op("round_nearest_even", x), c.out[0].Elem)
	}
	return c.Convert(x, c.out[0].Elem)
}

// matrix returns by what a resampling multiplies an axis: column j is what becomes of a vector that
// is 1 at j, the same in all lines.
func (c *call) matrix(axis int) *array.Array {
	in, out := c.in[0].Type.Dims, c.out[0].Dims
	n := in[axis]
	m := array.New(array.F64, out[axis], n)
	if int64(len(in))*int64(n) > math.MaxInt32 {
		refuse("an axis is too long")
	}
	d := array.F64
	for j := range n {
		x := array.New(d, in...)
		inner := 1
		for _, s := range in[axis+1:] {
			inner *= s
		}
		for i := range x.Len() {
			if i/inner%n == j {
				array.Data[float64](x)[i] = 1
			}
		}
		y := c.eval([]*array.Array{x})[0]
		step := 1
		for _, s := range out[axis+1:] {
			step *= s
		}
		for i := range out[axis] {
			array.Data[float64](m)[i*n+j] = array.Float64At(y, i*step)
		}
	}
	return m
}

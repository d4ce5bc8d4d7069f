package xla

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// pool describes windows over the last dimensions of images.
type pool struct{ size, stride, lo, hi, dilation []int }

// over returns the attributes of a reduce_window: ones for the dimensions in front, and at the
// end as much padding as the result needs, which may round its size up.
func (p pool) over(in, out []int) []any {
	n, k := len(in), len(p.size)
	size, stride, dilation, lo, hi := repeated(1, n), repeated(1, n), repeated(1, n), repeated(0, n), repeated(0, n)
	for i := range k {
		d := n - k + i
		size[d], stride[d], lo[d] = p.size[i], p.stride[i], p.lo[i]
		if p.dilation != nil {
			dilation[d] = p.dilation[i]
		}
		need := (out[d]-1)*stride[d] + (size[d]-1)*dilation[d] + 1 - in[d] - lo[d]
		hi[d] = max(p.hi[i], need)
	}
	return []any{"window_dimensions", stablehlo.Ints(size), "window_strides", stablehlo.Ints(stride), "window_dilations", stablehlo.Ints(dilation),
		"padding", stablehlo.Pairs(lo, hi)}
}

// maxPool searches the windows, with indices for their places in the plane where they are wanted.
func maxPool(c *call) []*value {
	s, x := step[*kernel.MaxPool](c), c.in[0]
	p := pool{s.Kernel, s.Stride, s.PadLo, s.PadHi, s.Dilation}
	where := p.over(x.Type.Dims, c.out[0].Dims)
	if len(c.out) == 1 {
		name := "maximum"
		if x.Type.Elem == array.Bool {
			name = "or"
		}
		windows := func(name string, x, init *value) *value {
			o := c.With("reduce_window", []*value{x, init}, where...)
			o.Regions = []*stablehlo.Region{stablehlo.Binary(name, x.Type.Elem)}
			return c.Add(o)[0]
		}
		r := windows(name, x, c.Const(stablehlo.Of(x.Type.Elem), lowest(x.Type.Elem)))
		return []*value{c.keepNaN(x, r, func(nan, none *value) *value { return windows("or", nan, none) })}
	}
	o := c.With("reduce_window", c.pair("max", x, c.plane(x, len(s.Kernel))), where...)
	o.Regions = []*stablehlo.Region{first("max", x.Type.Elem, true)}
	out := c.Add(o)
	if !padded(s, x.Type.Dims, out[0].Type.Dims) {
		return out
	}
	none := c.Compare("EQ", out[1], c.Const(out[1].Type, math.MaxInt64)) // windows in the padding alone
	return []*value{out[0], c.Op("select", none, c.array(emptyWindows(s, x.Type.Dims, out[0].Type.Dims)), out[1])}
}

// plane numbers the elements of the last k dimensions of x.
func (c *call) plane(x *value, k int) *value {
	dims := x.Type.Dims[x.Type.Rank()-k:]
	n := stablehlo.Of(array.I64, dims...)
	return c.Trailing(c.Reshape(c.Iota(stablehlo.Of(array.I64, n.Len()), 0), dims...), x.Type.Dims)
}

// padded reports whether a window sees padding alone: along one dimension none of its taps is in the input.
// One that begins within the input sees that element.
func padded(s *kernel.MaxPool, in, out []int) bool {
	k := len(s.Kernel)
	for d, size := range in[len(in)-k:] {
		n := out[len(out)-k+d]
		if n > 0 && (n-1)*s.Stride[d]-s.PadLo[d] >= size {
			return true
		}
		for from := -s.PadLo[d]; from < 0 && from < n*s.Stride[d]-s.PadLo[d]; from += s.Stride[d] {
			tap := (s.Dilation[d] - 1 - from) / s.Dilation[d] // the first that is not before the input
			if tap >= s.Kernel[d] || from+tap*s.Dilation[d] >= size {
				return true
			}
		}
	}
	return false
}

// emptyWindows returns the index that windows have which see padding alone: that of their
// first tap which is not before the input.
func emptyWindows(s *kernel.MaxPool, in, out []int) *array.Array {
	k := len(s.Kernel)
	a := array.New(array.I64, out...)
	space := out[len(out)-k:]
	data := array.Data[int64](a)
	at := make([]int, k)
	for i := range data {
		rest, index := i, 0
		for d := k - 1; d >= 0; d-- {
			at[d] = rest % space[d]
			rest /= space[d]
		}
		for d := range k {
			from := at[d]*s.Stride[d] - s.PadLo[d]
			for from < 0 {
				from += s.Dilation[d]
			}
			index = index*in[len(in)-k+d] + from
		}
		data[i] = int64(index)
	}
	return a
}

// avgPool divides sums by the windows' sizes.
func avgPool(c *call) *value {
	s, x := step[*kernel.AvgPool](c), c.widen(c.in[0])
	p := pool{size: s.Kernel, stride: s.Stride, lo: s.PadLo, hi: s.PadHi}
	if c.out[0].Len() == 0 {
		return c.Const(c.out[0], 0)
	}
	o := c.With("reduce_window", []*value{x, c.Const(stablehlo.Of(x.Type.Elem), 0)}, p.over(x.Type.Dims, c.out[0].Dims)...)
	o.Regions = []*stablehlo.Region{stablehlo.Binary("add", x.Type.Elem)}
	sum := c.Add(o)[0]
	return c.Convert(c.Op("divide", sum, c.divisors(s, x.Type.Dims, sum.Type)), c.out[0].Elem)
}

// divisors is what each place is divided by: a number where all windows are as large, else a product of what
// they have along each dimension, so that no constant is as large as the plane.
func (c *call) divisors(s *kernel.AvgPool, in []int, t hlo) *value {
	if s.DivisorOverride != 0 {
		return c.number(t, float64(s.DivisorOverride))
	}
	number, lead := 1.0, t.Rank()-len(s.Kernel)
	var edges []*value
	for d, size := range s.Kernel {
		places, limit := t.Dims[lead+d], in[lead+d]
		has := func(i int) float64 {
			from := i*s.Stride[d] - s.PadLo[d]
			to := min(from+size, limit+s.PadHi[d])
			if !s.CountIncludePad {
				from, to = max(from, 0), min(to, limit)
			}
			return float64(max(to-from, 1)) // the sum of nothing is 0, whatever divides it
		}
		if first := has(0); places == 1 || first == float64(size) && has(places-1) == first {
			number *= first // those between begin later and end earlier
			continue
		}
		along := array.New(array.F64, places)
		for i := range places {
			array.Data[float64](along)[i] = has(i)
		}
		edges = append(edges, c.Broadcast(c.array(array.Cast(along, t.Elem)), t.Dims, lead+d))
	}
	n := c.number(t, number)
	for _, e := range edges {
		n = c.Op("multiply", n, e)
	}
	return n
}

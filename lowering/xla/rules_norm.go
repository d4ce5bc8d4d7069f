package xla

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// normalised divides deviations over dims by their root mean square.
func (c *call) normalised(x *value, eps float64, dims []int) *value {
	_, dev := c.moments(x, dims)
	return c.overRMS(dev, eps, dims)
}

// overRMS divides x by sqrt(mean(x²)+eps) over dims.
func (c *call) overRMS(x *value, eps float64, dims []int) *value {
	v := c.squares(x, count(x, dims), dims)
	r := c.Op("rsqrt", c.Op("add", v, c.number(v.Type, eps)))
	return c.Op("multiply", x, c.spread(r, x.Type.Dims, dims...))
}

// affine multiplies by weight and adds bias, which lie along dims; either may be absent.
func (c *call) affine(x, weight, bias *value, dims ...int) *value {
	if weight != nil {
		x = c.Op("multiply", x, c.Broadcast(c.Convert(weight, x.Type.Elem), x.Type.Dims, dims...))
	}
	if bias != nil {
		x = c.Op("add", x, c.Broadcast(c.Convert(bias, x.Type.Elem), x.Type.Dims, dims...))
	}
	return x
}

// last returns the last n dimensions of x.
func last(x *value, n int) []int { return upto(x.Type.Rank())[x.Type.Rank()-n:] }

func layerNorm(c *call) *value {
	s, x := step[*kernel.LayerNorm](c), c.widen(c.in[0])
	dims := last(x, s.Axes)
	y := c.affine(c.normalised(x, s.Eps, dims), c.operand(1), c.operand(2), dims...)
	return c.Convert(y, c.out[0].Elem)
}

func rmsNorm(c *call) *value {
	s, x := step[*kernel.RMSNorm](c), c.widen(c.in[0])
	dims := last(x, s.Axes)
	return c.Convert(c.affine(c.overRMS(x, s.Eps, dims), c.operand(1), nil, dims...), c.out[0].Elem)
}

func groupNorm(c *call) *value {
	s, x := step[*kernel.GroupNorm](c), c.widen(c.in[0])
	n, channels := x.Type.Dims[0], x.Type.Dims[1]
	groups := s.Groups
	if groups < 0 {
		groups = channels
	}
	if x.Type.Len() == 0 {
		return c.in[0]
	}
	y := c.normalised(c.Reshape(x, n, groups, x.Type.Len()/(n*groups)), s.Eps, []int{2})
	return c.Convert(c.affine(c.Reshape(y, x.Type.Dims...), c.operand(1), c.operand(2), 1), c.out[0].Elem)
}

func batchNorm(c *call) *value {
	s, x := step[*kernel.BatchNorm](c), c.widen(c.in[0])
	mean, v := c.widen(c.in[1]), c.widen(c.in[2])
	d := x.Type.Elem
	r := c.Op("rsqrt", c.Op("add", c.Convert(v, d), c.number(v.Type.As(d), s.Eps)))
	y := c.Op("subtract", x, c.Broadcast(c.Convert(mean, d), x.Type.Dims, 1))
	y = c.affine(c.affine(y, r, nil, 1), c.operand(3), c.operand(4), 1)
	return c.Convert(y, c.out[0].Elem)
}

func batchNormStats(c *call) []*value {
	x := c.widen(c.in[0])
	dims := others(x.Type.Rank(), []int{1})
	mean, dev := c.moments(x, dims)
	v := c.squares(dev, count(x, dims), dims)
	return []*value{c.Convert(mean, c.out[0].Elem), c.Convert(v, c.out[1].Elem)}
}

// determinant eliminates column by column, in f64: the row with the greatest element of
// the column is exchanged with the diagonal's, and its multiples are subtracted below.
func determinant(c *call) *value {
	x := c.Convert(c.in[0], array.F64)
	r := x.Type.Rank()
	n, batch := x.Type.Dims[r-1], 1
	for _, d := range x.Type.Dims[:r-2] {
		batch *= d
	}
	if n > 32 {
		refuse("matrices of more than 32 rows would be unrolled")
	}
	m := c.Reshape(x, batch, n, n)
	line := stablehlo.Of(array.F64, batch)
	det := c.number(line, 1)
	for k := range n {
		size := n - k
		col := c.Reshape(c.part(m, 2, 0, 1, 1), batch, size)
		idx := c.best("max", c.Op("abs", col), c.Iota(col.Type.As(array.I64), 1), []int{1}, false)[1]
		hit := c.Compare("EQ", c.Iota(col.Type.As(array.I64), 1), c.spread(idx, col.Type.Dims, 1)) // [B, size]
		mask := c.Broadcast(hit, m.Type.Dims, 0, 1)
		pivot := c.total(c.Op("select", mask, m, c.Const(m.Type, 0)), 1) // the row, [B, size]
		top := c.Reshape(c.part(m, 1, 0, 1, 1), batch, size)
		rest := c.Op("select", mask, c.spread(top, m.Type.Dims, 1), m) // the first row goes where the pivot was
		p := c.Reshape(c.part(pivot, 1, 0, 1, 1), batch)
		stays := c.Compare("EQ", idx, c.Const(idx.Type, 0))
		det = c.Op("multiply", det, c.Op("select", stays, p, c.Op("negate", p)))
		if size == 1 {
			break
		}
		rest = c.part(c.part(rest, 1, 1, size, 1), 2, 0, size, 1)
		zero := c.Compare("EQ", p, c.Const(line, 0))
		factor := c.Op("divide", c.Reshape(c.part(rest, 2, 0, 1, 1), batch, size-1),
			c.Broadcast(c.Op("select", zero, c.number(line, 1), p), []int{batch, size - 1}, 0))
		sub := c.Op("multiply", c.Broadcast(factor, rest.Type.Dims, 0, 1), c.Broadcast(pivot, rest.Type.Dims, 0, 2))
		m = c.part(c.Op("subtract", rest, sub), 2, 1, size, 1)
	}
	return c.Convert(c.Reshape(det, c.out[0].Dims...), c.out[0].Elem)
}

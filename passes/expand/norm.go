package expand

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// norms are the normalisations.
var norms = merge(
	one(std.LayerNorm, func(c *maker, a std.LayerNormAttrs, in []op.Value) op.Value {
		x := c.widened(in[0])
		dims := lastAxes(x.Type().Rank(), a.NormalizedShape.Len())
		return affine(c, normed(c, deviation(c, x, dims), dims, a.Eps), c.widened(in[1]), c.widened(in[2]))
	}),
	one(std.RmsNorm, func(c *maker, a std.LayerNormAttrs, in []op.Value) op.Value {
		x := c.widened(in[0])
		return affine(c, normed(c, x, lastAxes(x.Type().Rank(), a.NormalizedShape.Len()), a.Eps), c.widened(in[1]), nil)
	}),
	one(std.GroupNorm, groupNorm),
	one(std.BatchNormInference, func(c *maker, a std.EpsAttrs, in []op.Value) op.Value {
		n := in[0].Type().Rank()
		factor := c.apply(std.Rsqrt, c.addF(c.widened(in[2]), a.Eps))
		if in[3] != nil {
			factor = c.mul(factor, c.widened(in[3]))
		}
		x := c.sub(c.widened(in[0]), channels(c, in[1], n))
		return affine(c, x, channels(c, factor, n), channels(c, in[4], n))
	}),
	entry(std.BatchNormStats, func(c *maker, _ op.None, in []op.Value) []op.Value {
		dims := []int{0}
		for i := 2; i < in[0].Type().Rank(); i++ {
			dims = append(dims, i)
		}
		all, x := op.IntList(dims...), c.widened(in[0])
		left, first := shifted(c, x, all)
		shift := c.mean(left, all)
		variance := c.variance(c.sub(left, shift), std.VarAttrs{Dim: all, Correction: op.Int(0)})
		mean := c.add(shift, first)
		return []op.Value{c.back(c.reshape(mean, c.outDims(0)...), 0), c.back(variance, 1)}
	}),
)

// lastAxes are the last n of rank axes.
func lastAxes(rank, n int) op.Ints { return op.IntList(sequence(rank)[rank-n:]...) }

// channels lays a parameter of each channel along dimension 1, in the type that it is
// computed in.
func channels(c *maker, p op.Value, rank int) op.Value {
	if p == nil {
		return nil
	}
	return c.along(c.widened(p), 1, rank)
}

// normed divides x by its root mean square over dims.
func normed(c *maker, x op.Value, dims op.Ints, eps float64) op.Value {
	square := over(c, c.sum(c.mul(x, x), dims, true), reduced(c, x, dims), 0)
	return c.div(x, c.apply(std.Sqrt, c.addF(square, eps)))
}

// affine scales and shifts what there are parameters for, and rounds to the result.
func affine(c *maker, x, weight, bias op.Value) op.Value {
	if weight != nil {
		x = c.mul(x, weight)
	}
	if bias != nil {
		x = c.add(x, bias)
	}
	return c.back(x, 0)
}

func groupNorm(c *maker, a std.GroupNormAttrs, in []op.Value) op.Value {
	x, d := c.widened(in[0]), c.dims(in[0])
	groups, size := d[1], shape.Const(1) // of one channel each, of which there may be none
	if a.NumGroups != -1 {
		groups = shape.Const(a.NumGroups)
		var ok bool
		if size, ok = d[1].DivExact(groups); !ok {
			size = d[1].FloorDiv(groups)
		}
	}
	x = c.reshape(x, d[0], groups, size.Mul(prod(d[2:]...)))
	two := op.IntList(2)
	x = c.reshape(normed(c, deviation(c, x, two), two, a.Eps), d...)
	return affine(c, x, channels(c, in[1], len(d)), channels(c, in[2], len(d)))
}

package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

func reshape(c *call) *value { return c.Reshape(c.in[0], c.out[0].Dims...) }

// barrier has XLA merge nothing that is computed of the result with what is computed of the operand.
// There is none for sizes that are left open: there, XLA may keep what would be computed again.
func barrier(c *call) *value {
	if c.open {
		return c.in[0]
	}
	return c.Op("optimization_barrier", c.in[0])
}

func permute(c *call) *value { return c.Transpose(c.in[0], step[*kernel.Permute](c).Dims...) }

func broadcast(c *call) *value { return c.Trailing(c.in[0], c.out[0].Dims) }

// part returns the elements of one dimension from start to stop, by step.
func (c *call) part(x *value, dim, start, stop, step int) *value {
	lo, hi, by := repeated(0, x.Type.Rank()), slices.Clone(x.Type.Dims), repeated(1, x.Type.Rank())
	lo[dim], hi[dim], by[dim] = start, stop, step
	return c.Slice(x, lo, hi, by)
}

func slice(c *call) *value {
	s, n := step[*kernel.Slice](c), c.in[0].Type
	clip := func(i int) int {
		if i < 0 {
			i += n.Dims[s.Dim]
		}
		return min(max(i, 0), n.Dims[s.Dim])
	}
	start := clip(s.Start)
	return c.part(c.in[0], s.Dim, start, max(clip(s.Stop), start), min(s.Step, max(n.Dims[s.Dim], 1)))
}

func flip(c *call) *value {
	return c.Add(c.With("reverse", c.in[:1], "dimensions", stablehlo.Ints(step[*kernel.Flip](c).Dims)))[0]
}

// cat passes over empty vectors, which join with anything.
func cat(c *call) *value {
	var parts []*value
	for _, v := range c.in {
		if v.Type.Rank() == c.out[0].Rank() {
			parts = append(parts, v)
		}
	}
	return c.Concat(step[*kernel.Concat](c).Dim, parts...)
}

func pad(c *call) *value {
	s, x := step[*kernel.Pad](c), c.in[0]
	return c.Add(c.With("pad", []*value{x, c.number(stablehlo.Of(x.Type.Elem), s.Value)}, "edge_padding_low", stablehlo.Ints(s.Lo),
		"edge_padding_high", stablehlo.Ints(s.Hi), "interior_padding", stablehlo.Ints(repeated(0, x.Type.Rank()))))[0]
}

func bitcast(c *call) *value {
	return c.Add(&stablehlo.Op{Name: "bitcast_convert", Operands: c.in[:1]}, c.out[0])[0]
}

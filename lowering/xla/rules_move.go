package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

func reshape(c *call) *value { return c.Reshape(c.in[0], c.out[0].Dims...) }

func permute(c *call) *value { return c.Transpose(c.in[0], step[*kernel.Permute](c).Dims...) }

func expand(c *call) *value { return c.Trailing(c.in[0], c.out[0].Dims) }

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

func selects(c *call) *value {
	s := step[*kernel.Select](c)
	i := s.Index
	if i < 0 {
		i += c.in[0].Type.Dims[s.Dim]
	}
	return c.Reshape(c.part(c.in[0], s.Dim, i, i+1, 1), c.out[0].Dims...)
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

func split(c *call) (out []*value) {
	dim, at := step[*kernel.Split](c).Dim, 0
	unbind := step[*kernel.Split](c).Unbind
	for _, t := range c.out {
		n := 1
		if !unbind {
			n = t.Dims[dim]
		}
		out = append(out, c.Reshape(c.part(c.in[0], dim, at, at+n, 1), t.Dims...))
		at += n
	}
	return out
}

func pad(c *call) *value {
	s := step[*kernel.Pad](c)
	if s.Mode != "constant" && s.Mode != "" {
		return positions(c)[0]
	}
	x := c.in[0]
	return c.Add(c.With("pad", []*value{x, c.number(stablehlo.Of(x.Type.Elem), s.Value)}, "edge_padding_low", stablehlo.Ints(s.Lo),
		"edge_padding_high", stablehlo.Ints(s.Hi), "interior_padding", stablehlo.Ints(repeated(0, x.Type.Rank()))))[0]
}

func roll(c *call) *value {
	x := c.in[0]
	if x.Type.Rank() == 0 {
		return x
	}
	s := step[*kernel.Roll](c)
	dims, shifts := s.Dims, s.Shifts
	if len(dims) == 0 {
		x = c.Reshape(x, x.Type.Len())
		dims = []int{0}
	}
	for i, d := range dims {
		if n := x.Type.Dims[d]; n > 0 {
			if k := ((shifts[i] % n) + n) % n; k > 0 {
				x = c.Concat(d, c.part(x, d, n-k, n, 1), c.part(x, d, 0, n-k, 1))
			}
		}
	}
	return c.Reshape(x, c.out[0].Dims...)
}

// tile puts a dimension of repetitions in front of each dimension.
func tile(c *call) *value {
	x, out := c.in[0], c.out[0].Dims
	if c.out[0].Len() == 0 {
		return c.Const(c.out[0], 0)
	}
	dims := append(repeated(1, len(out)-x.Type.Rank()), x.Type.Dims...)
	var wide, at []int
	for i, n := range dims {
		wide = append(wide, out[i]/n, n)
		at = append(at, 2*i+1)
	}
	return c.Reshape(c.Broadcast(c.Reshape(x, dims...), wide, at...), out...)
}

func repeatInterleave(c *call) *value {
	s, x := step[*kernel.RepeatInterleave](c), c.in[0]
	dims := slices.Insert(slices.Clone(x.Type.Dims), s.Dim+1, s.Repeats)
	return c.Reshape(c.Broadcast(x, dims, others(len(dims), []int{s.Dim + 1})...), c.out[0].Dims...)
}

// positions is the rule of movements whose results are made of elements of their operands and of
// zeros, wherever they go: the operator itself says so, when it moves the numbers of the
// elements. They become a constant by which one gather reads all.
func positions(c *call) (out []*value) {
	flat, numbered := c.numbered()
	for i, a := range c.eval(numbered) {
		out = append(out, c.Reshape(c.take(flat, c.array(array.Cast(array.Reshape(array.Contiguous(a), a.Len()), array.I32)), 0), c.out[i].Dims...))
	}
	return out
}

// numbered returns a zero and all elements of the operands in one line, and arrays like the
// operands of where their elements lie in it.
func (c *call) numbered() (flat *value, at []*array.Array) {
	parts := []*value{c.Const(stablehlo.Of(c.in[0].Type.Elem, 1), 0)}
	n := 1
	for _, v := range c.in {
		if v == nil {
			at = append(at, nil)
			continue
		}
		a := array.New(array.I64, v.Type.Dims...)
		for i := range a.Len() {
			array.Data[int64](a)[i] = int64(n)
			n++
		}
		at = append(at, a)
		parts = append(parts, c.Reshape(v, v.Type.Len()))
	}
	return c.Concat(0, parts...), at
}

// fold adds columns back into images: a scatter to where unfold would have read them. The
// operator says where, when it folds each column's element alone.
func fold(c *call) *value {
	s, x := step[*kernel.Fold](c), c.in[0]
	rank := x.Type.Rank()
	img := c.out[0].Dims[len(c.out[0].Dims)-3:] // C, H, W
	n := c.out[0].Len() / max(img[0]*img[1]*img[2], 1)
	from := array.New(array.F64, append([]int{1}, img...)...)
	for i := range from.Len() {
		array.Data[float64](from)[i] = float64(i + 1)
	}
	cols := array.New(array.F64, 1, x.Type.Dims[rank-2], x.Type.Dims[rank-1])
	kernel.Unfold{Kernel: s.Kernel, Dilation: s.Dilation, Padding: s.Padding, Stride: s.Stride}.Run(&kernel.Workspace{}, []*array.Array{cols}, []*array.Array{from})
	per := from.Len()
	idx := make([]int, cols.Len())
	for i := range idx {
		idx[i] = int(array.Data[float64](cols)[i]) - 1 // -1 is padding, which a scatter leaves out
	}
	columns := c.Transpose(c.Reshape(c.widen(x), n, cols.Len()), 1, 0) // [columns, N]
	zero := c.Const(stablehlo.Of(columns.Type.Elem, per, n), 0)
	sum := c.scatterRows("add", zero, c.ints(array.I32, []int{len(idx), 1}, idx), columns)
	return c.Convert(c.Reshape(c.Transpose(sum, 1, 0), c.out[0].Dims...), c.out[0].Elem)
}

// scatterRows combines row i of rows into the row of x that idx [n, 1] names.
func (c *call) scatterRows(name string, x, idx, rows *value) *value {
	o := c.With("scatter", []*value{x, idx, rows}, "scatter_dimension_numbers",
		stablehlo.Scatter{UpdateWindowDims: others(x.Type.Rank(), []int{0}), InsertedWindowDims: []int{0}, ScatterDimsToOperandDims: []int{0}, IndexVectorDim: 1})
	o.Regions = []*stablehlo.Region{stablehlo.Binary(name, x.Type.Elem)}
	return c.Add(o)[0]
}

func bitcast(c *call) *value {
	return c.Add(&stablehlo.Op{Name: "bitcast_convert", Operands: c.in[:1]}, c.out[0])[0]
}

package expand

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// movement are the operators that only move elements, besides those of scatter.go.
var movement = merge(
	each(reshaped[op.None], std.ViewAs), each(reshaped[std.ReshapeAttrs], std.View), each(reshaped[std.FlattenAttrs], std.Flatten),
	each(reshaped[std.UnflattenAttrs], std.Unflatten), each(reshaped[std.SqueezeAttrs], std.Squeeze), each(reshaped[std.DimAttrs], std.Unsqueeze),
	one(std.Detach, func(_ *maker, _ op.None, in []op.Value) op.Value { return in[0] }),
	one(std.T, func(c *maker, _ op.None, in []op.Value) op.Value {
		if in[0].Type().Rank() < 2 {
			return c.reshape(in[0], c.dims(in[0])...)
		}
		return c.swap(in[0], 0, 1)
	}),
	one(std.Transpose, func(c *maker, a std.TransposeAttrs, in []op.Value) op.Value {
		n := in[0].Type().Rank()
		if n == 0 {
			return in[0]
		}
		return c.swap(in[0], axis(a.Dim0, n), axis(a.Dim1, n))
	}),
	one(std.Movedim, movedim),
	one(std.Select, func(c *maker, a std.SelectAttrs, in []op.Value) op.Value {
		return c.pick(in[0], axis(a.Dim, in[0].Type().Rank()), a.Index)
	}),
	entry(std.Split, func(c *maker, a std.SplitAttrs, in []op.Value) []op.Value {
		var out []op.Value
		at, dim := shape.Const(0), axis(a.Dim, in[0].Type().Rank())
		for _, n := range a.Sizes.Slice() {
			out = append(out, c.slice(in[0], dim, at, at.Add(n)))
			at = at.Add(n)
		}
		return out
	}),
	entry(std.Chunk, chunk),
	entry(std.Unbind, func(c *maker, a std.UnbindAttrs, in []op.Value) []op.Value {
		out := make([]op.Value, a.Count)
		for i := range out {
			out[i] = c.pick(in[0], axis(a.Dim, in[0].Type().Rank()), i)
		}
		return out
	}),
	one(std.Tile, func(c *maker, a std.TileAttrs, in []op.Value) op.Value { return repeat(c, in[0], a.Reps) }),
	one(std.Repeat, func(c *maker, a std.RepeatAttrs, in []op.Value) op.Value { return repeat(c, in[0], a.Repeats) }),
	one(std.RepeatInterleave, func(c *maker, a std.RepeatInterleaveAttrs, in []op.Value) op.Value {
		d := c.dims(in[0])
		i := axis(a.Dim, len(d))
		x := c.reshape(in[0], prod(d[:i+1]...), shape.Const(1), prod(d[i+1:]...))
		x = c.expand(x, prod(d[:i+1]...), shape.Const(a.Repeats), prod(d[i+1:]...))
		return c.reshape(x, c.outDims(0)...)
	}),
	one(std.Roll, roll),
	one(std.Pad, bordered),
	one(std.Diagonal, diagonal),
	one(std.Embedding, func(c *maker, _ op.None, in []op.Value) op.Value { return c.take(in[1], 0, in[0]) }),
)

// reshaped is any operator that gives the elements other sizes.
func reshaped[A any](c *maker, _ A, in []op.Value) op.Value {
	return c.call(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(c.outDims(0)...)}, in[0])
}

func movedim(c *maker, a std.MovedimAttrs, in []op.Value) op.Value {
	n := in[0].Type().Rank()
	perm, taken := make([]int, n), make([]bool, n)
	for i := range perm {
		perm[i] = -1
	}
	for i, s := range a.Source.Slice() {
		perm[axis(a.Destination.At(i), n)], taken[axis(s, n)] = axis(s, n), true
	}
	next := 0
	for i := range perm {
		if perm[i] >= 0 {
			continue
		}
		for taken[next] {
			next++
		}
		perm[i] = next
		next++
	}
	return c.permute(in[0], perm...)
}

func chunk(c *maker, a std.ChunkAttrs, in []op.Value) []op.Value {
	dim := axis(a.Dim, in[0].Type().Rank())
	n := c.dims(in[0])[dim]
	size := n.AddInt(a.Chunks - 1).FloorDivInt(a.Chunks)
	out := make([]op.Value, a.Chunks)
	for i := range out {
		stop := size.MulInt(i + 1)
		if i == a.Chunks-1 {
			stop = std.End
		}
		out[i] = c.slice(in[0], dim, size.MulInt(i), stop)
	}
	return out
}

// repeat repeats x along its and new leading axes: each gets one in front of it.
func repeat(c *maker, x op.Value, times shape.Dims) op.Value {
	d := c.dims(x)
	for len(d) < times.Len() {
		d = put(d, 0, shape.Const(1))
	}
	var before, behind, all []shape.Dim
	for i, n := range d {
		k := shape.Const(1)
		if at := len(d) - i; at <= times.Len() {
			k = times.FromEnd(at)
		}
		all = append(all, n.Mul(k))
		if !k.Is(1) {
			before, behind = append(before, shape.Const(1)), append(behind, k)
		}
		before, behind = append(before, n), append(behind, n)
	}
	return c.reshape(c.expand(c.reshape(x, before...), behind...), all...)
}

func roll(c *maker, a std.RollAttrs, in []op.Value) op.Value {
	x, d := in[0], c.dims(in[0])
	switch {
	case len(d) == 0:
		return x
	case a.Dims.Len() == 0:
		return c.reshape(rolled(c, c.reshape(x, prod(d...)), 0, a.Shifts.At(0)), d...)
	}
	for i, dim := range a.Dims.Slice() {
		x = rolled(c, x, axis(dim, len(d)), a.Shifts.At(i))
	}
	return x
}

// rolled shifts one axis around its end.
func rolled(c *maker, x op.Value, dim, by int) op.Value {
	n := c.dims(x)[dim]
	size, ok := n.Int()
	if !ok {
		return c.take(x, dim, c.modulo(c.addN(c.iota(n), -by), c.number(n)))
	}
	if size == 0 || by%size == 0 {
		return x
	}
	cut := shape.Const(size - (by%size+size)%size)
	return c.cat(dim, c.slice(x, dim, cut, std.End), c.slice(x, dim, shape.Const(0), cut))
}

// bordered repeats what is at the border; constants are a primitive.
func bordered(c *maker, a std.PadAttrs, in []op.Value) op.Value {
	if a.Mode == "" || a.Mode == "constant" {
		return nil
	}
	x, d := in[0], c.dims(in[0])
	for i := range a.Pad.Len() / 2 {
		lo, hi, dim := a.Pad.At(2*i), a.Pad.At(2*i+1), len(d)-1-i
		if lo.Is(0) && hi.Is(0) {
			continue
		}
		n := c.number(d[dim])
		at := c.iota(d[dim].Add(lo).Add(hi))
		if k, ok := lo.Int(); ok {
			at = c.addN(at, -k)
		} else {
			at = c.sub(at, c.integer(lo))
		}
		switch a.Mode {
		case "circular":
			at = c.modulo(at, n)
		case "replicate":
			at = c.min(c.maxN(at, 0), c.addN(n, -1))
		default: // of one element the period is 0, and so is what is left over
			period := c.mulN(c.addN(n, -1), 2)
			at = c.modulo(at, period)
			at = c.min(at, c.sub(period, at))
		}
		x = c.take(x, dim, at)
	}
	return x
}

// plane returns the two axes of a diagonal.
func plane(a std.DiagonalAttrs, rank int) (d1, d2 int) {
	if a.Dim1 == 0 && a.Dim2 == 0 {
		a.Dim2 = 1
	}
	return axis(a.Dim1, rank), axis(a.Dim2, rank)
}

// last permutes two axes to the end; back undoes it.
func last(d1, d2, rank int) (perm, back []int) {
	for i := range rank {
		if i != d1 && i != d2 {
			perm = append(perm, i)
		}
	}
	perm = append(perm, d1, d2)
	back = make([]int, rank)
	for i, p := range perm {
		back[p] = i
	}
	return perm, back
}

// diagonal counts through the elements of the matrices in steps of a row and one.
func diagonal(c *maker, a std.DiagonalAttrs, in []op.Value) op.Value {
	n := in[0].Type().Rank()
	d1, d2 := plane(a, n)
	perm, _ := last(d1, d2, n)
	x := c.permute(in[0], perm...)
	d, out := c.dims(x), c.outDims(0)
	cols := c.number(d[n-1])
	at := c.mul(c.iota(out[n-2]), c.addN(cols, 1))
	if a.Offset >= 0 {
		at = c.addN(at, a.Offset)
	} else {
		at = c.add(at, c.mulN(cols, -a.Offset))
	}
	flat := c.reshape(x, append(append([]shape.Dim{}, d[:n-2]...), d[n-2].Mul(d[n-1]))...)
	return c.take(flat, n-2, at)
}

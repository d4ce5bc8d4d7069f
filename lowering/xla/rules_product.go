package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// dot multiplies with result elements of the type of the operands.
func (c *call) dot(l, r *value, d stablehlo.Dot) *value {
	return c.Product("dot_general", l, r, "dot_dimension_numbers", d)
}

// matmul broadcasts batches and multiplies them; vectors are a row before and a column after.
func matmul(c *call) *value {
	l, r := c.in[0], c.in[1]
	if l.Type.Rank() == 1 {
		l = c.Reshape(l, 1, l.Type.Dims[0])
	}
	if r.Type.Rank() == 1 {
		r = c.Reshape(r, r.Type.Dims[0], 1)
	}
	nl, nr := l.Type.Rank()-2, r.Type.Rank()-2
	batch := make([]int, max(nl, nr))
	for i := range batch {
		batch[i] = 1
		for _, t := range []hlo{l.Type, r.Type} {
			if k := i - len(batch) + t.Rank() - 2; k >= 0 && t.Dims[k] != 1 {
				batch[i] = t.Dims[k]
			}
		}
	}
	if nr == 0 { // one matrix for all: a copy for each of the batch would be made else
		return c.Reshape(c.dot(l, r, stablehlo.Dot{LhsContract: []int{nl + 1}, RhsContract: []int{0}}), c.out[0].Dims...)
	}
	b := upto(len(batch))
	l = c.Trailing(l, append(slices.Clone(batch), l.Type.Dims[nl:]...))
	r = c.Trailing(r, append(slices.Clone(batch), r.Type.Dims[nr:]...))
	y := c.dot(l, r, stablehlo.Dot{LhsBatch: b, RhsBatch: b, LhsContract: []int{len(b) + 1}, RhsContract: []int{len(b)}})
	return c.Reshape(y, c.out[0].Dims...)
}

func linear(c *call) *value {
	x, w := c.in[0], c.in[1]
	y := c.dot(x, w, stablehlo.Dot{LhsContract: []int{x.Type.Rank() - 1}, RhsContract: []int{w.Type.Rank() - 1}})
	if b := c.operand(2); b != nil {
		y = c.Op("add", y, c.Trailing(b, y.Type.Dims))
	}
	return c.Reshape(y, c.out[0].Dims...)
}

// batched adds the batch that images may lack.
func (c *call) batched(x *value, rank int) *value {
	if x.Type.Rank() == rank {
		return x
	}
	return c.Reshape(x, append([]int{1}, x.Type.Dims...)...)
}

// convolved emits a convolution with dimensions in PyTorch's order and adds the bias.
func (c *call) convolved(x, w *value, groups int, more ...any) *value {
	order := upto(w.Type.Rank())
	all := append([]any{"dimension_numbers", stablehlo.Conv{Input: order, Kernel: order, Output: order},
		"feature_group_count", stablehlo.Int(groups), "batch_group_count", stablehlo.Int(1)}, more...)
	return c.shifted(c.Product("convolution", x, w, all...))
}

// shifted adds the bias to images, which may have a batch that the result lacks.
func (c *call) shifted(y *value) *value {
	if b := c.operand(2); b != nil {
		y = c.Op("add", y, c.Broadcast(b, y.Type.Dims, 1))
	}
	return c.Reshape(y, c.out[0].Dims...)
}

func convolve(c *call) *value {
	s, w := step[*kernel.Conv](c), c.in[1]
	return c.convolved(c.batched(c.in[0], w.Type.Rank()), w, max(s.Groups, 1), "window_strides", stablehlo.Ints(s.Stride),
		"padding", stablehlo.Pairs(s.PadLo, s.PadHi), "rhs_dilation", stablehlo.Ints(s.Dilation))
}

// convTranspose is a convolution of the image, spread by the stride, with the turned filters.
func convTranspose(c *call) *value {
	s, w := step[*kernel.ConvTranspose](c), c.in[1]
	g, k := max(s.Groups, 1), w.Type.Dims[2:]
	r := w.Type.Rank()
	x := c.batched(c.in[0], r)
	if out := c.out[0].Dims; x.Type.Len() == 0 { // the dialect counts no gaps around no elements
		return c.shifted(c.Const(c.out[0].With(append(repeated(1, r-len(out)), out...)...), 0))
	}
	var lo, hi []int
	for i := range k {
		reach := s.Dilation[i] * (k[i] - 1)
		lo = append(lo, reach-s.Padding[i])
		hi = append(hi, reach-s.Padding[i]+s.OutputPadding[i])
	}
	in, out := w.Type.Dims[0]/g, w.Type.Dims[1]
	f := c.Reshape(w, append([]int{g, in, out}, k...)...)
	f = c.Transpose(f, append([]int{0, 2, 1}, upto(r + 1)[3:]...)...)
	f = c.Reshape(f, append([]int{g * out, in}, k...)...)
	f = c.Add(c.With("reverse", []*value{f}, "dimensions", stablehlo.Ints(upto(r)[2:])))[0]
	return c.convolved(x, f, g, "lhs_dilation", stablehlo.Ints(s.Stride),
		"padding", stablehlo.Pairs(lo, hi), "rhs_dilation", stablehlo.Ints(s.Dilation))
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
		hit := c.Compare("EQ", c.Iota(col.Type.As(array.I64), 1), c.Broadcast(idx, col.Type.Dims, 0)) // [B, size]
		mask := c.Broadcast(hit, m.Type.Dims, 0, 1)
		pivot := c.total(c.Op("select", mask, m, c.Const(m.Type, 0)), 1) // the row, [B, size]
		top := c.Reshape(c.part(m, 1, 0, 1, 1), batch, size)
		rest := c.Op("select", mask, c.Broadcast(top, m.Type.Dims, 0, 2), m) // the first row goes where the pivot was
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

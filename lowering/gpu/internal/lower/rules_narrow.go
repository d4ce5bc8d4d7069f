package lower

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

// Operands of what reads a weight of 8 or 4 bits.
const (
	narrowWeight = 1
	narrowScale  = 2
	narrowZero   = 3
	narrowBias   = 4
)

// narrow is a weight that stays narrow on the device, and its operands in the order of source.Narrow's.
type narrow struct {
	*call
	source.Narrow
	rows int
	in   []*Operand
}

// narrowOf is the weight of a call: groups of so many elements of a row, of 4 bits, or 0 for 8 bits.
func (c *call) narrowOf(depth, group int, scaled bool) *narrow {
	w := c.dense(narrowWeight)
	n := &narrow{call: c, rows: w.Shape()[0], in: []*Operand{w}}
	n.Narrow = source.Narrow{DType: w.DType(), Half: group > 0, Depth: depth, Group: group}
	if group == 0 {
		n.Group = max(depth, 1)
	}
	n.Zero = n.param(narrowZero)
	if scaled {
		n.Scale = n.param(narrowScale)
	}
	return n
}

// param is a scale or a zero point of each row and group.
func (n *narrow) param(i int) source.View {
	v := n.dense(i)
	if v == nil {
		return source.View{}
	}
	n.in = append(n.in, v)
	d := v.view()
	if v.Header.Len() == 1 {
		return source.View{DType: d.DType, Shape: []int{n.rows, 1}, Strides: []int{0, 0}}
	}
	return source.Dense(d.DType, []int{n.rows, v.Header.Len() / max(n.rows, 1)})
}

// packed lays the weight and its parameters out for the tile, each element in the bits that it has.
func (n *narrow) packed(t source.Tile) []*Operand {
	lay := func(v *Operand, view source.View, k *source.Kernel) *Operand {
		out := source.Dense(view.DType, []int{t.Panels(n.rows) * view.Shape[0] * t.Lanes})
		return n.b.packed(n.n, k, out, v)
	}
	w := turned(n.in[0].view())
	all := []*Operand{lay(n.in[0], w, t.PackBytes(w))}
	if n.Zero.DType != array.Invalid {
		zero := turned(n.Zero)
		all = append(all, lay(n.in[1], zero, t.PackBytes(zero)))
	}
	if n.Scale.DType != array.Invalid {
		scale := turned(n.Scale)
		all = append(all, lay(n.in[len(n.in)-1], scale, t.Pack(scale)))
	}
	return all
}

// product is the sums of rows of x times rows of the weight.
func (n *narrow) product(x *Operand, rows int) *contraction {
	flat := reshaped(x, rows, n.Depth)
	if !n.b.info.Host {
		return &contraction{in: append([]*Operand{x}, n.in...), kernel: flattened(flat, x, true, func(o, x source.View, e source.Epilogue) *source.Kernel {
			return n.block(o.Shape).Narrow(o, x, n.Narrow, e)
		})}
	}
	t := source.TileFor(n.b.info.Vector, n.rows)
	return &contraction{in: append([]*Operand{x}, n.packed(t)...), kernel: flattened(flat, x, true, func(o, x source.View, e source.Epilogue) *source.Kernel {
		return t.Narrow(o, x, n.Narrow, e)
	})}
}

func int8Linear(c *call) ([]*Operand, error) {
	depth := len2(c.placed(narrowWeight))
	return c.narrowLinear(c.narrowOf(depth, 0, false))
}

func int4Linear(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Int4Linear](c)
	if err != nil {
		return nil, err
	}
	return c.narrowLinear(c.narrowOf(len2(c.placed(0)), k.Group, true))
}

// narrowLinear multiplies with a narrow weight in f32; scales that the weight has not go to the sums.
func (c *call) narrowLinear(n *narrow) ([]*Operand, error) {
	h := c.result(0).Header
	if h.Len() == 0 {
		return []*Operand{{Header: h, Buf: c.result(0).Buf}}, nil
	}
	x, rows := c.dense(0), h.Len()/n.rows
	k := n.product(x, rows)
	if w, ok := n.halves(x, rows); ok {
		k = w
	}
	k.node = c.n
	eb := expr.NewBuilder()
	p := &pending{node: c.n, from: k, acc: 0, in: []*Operand{{Header: Header(array.F32, h.Shape()), Buf: -1}}}
	read := func(v *Operand) expr.Value {
		if v.Header.Len() != 1 {
			v = reshaped(v, n.rows)
		}
		return eb.Cast(eb.Input(p.index(v), v.DType()), array.F32)
	}
	y := eb.Input(0, array.F32)
	if n.Scale.DType == array.Invalid && n.Depth > 0 { // sums of nothing are 0, whatever the scale is
		y = eb.Mul(y, read(c.dense(narrowScale)))
	}
	if bias := c.dense(narrowBias); bias != nil {
		y = eb.Add(y, read(bias))
	}
	p.g = eb.Graph(eb.Cast(y, h.DType()))
	return []*Operand{{Header: h, todo: p}}, nil
}

// halves is the product by tensor cores, where weights of 8 bits become numbers of 16 bits once: they are the same numbers.
func (n *narrow) halves(x *Operand, rows int) (*contraction, bool) {
	d := x.DType()
	if n.Half || !isHalf(d) || !n.b.Buffers[n.in[0].Buf].Setup || !n.b.tensorCores(d, rows, n.rows, n.Depth) {
		return nil, false
	}
	in := []*Operand{n.in[0]}
	for _, v := range n.in[1:] {
		in = append(in, reshaped(v, v.Header.Len(), 1))
	}
	w := n.shared(fmt.Sprint("halves ", d), in, func() *Operand {
		return n.formula(d, n.in[0].Shape(), in, func(eb *expr.Builder, v []expr.Value) expr.Value {
			q := eb.Cast(v[0], array.I32)
			if len(v) > 1 {
				q = eb.Sub(q, eb.Cast(v[1], array.I32))
			}
			return q
		})
	})
	right, flat := swapped(w), reshaped(x, rows, n.Depth)
	return &contraction{in: []*Operand{x, w}, kernel: flattened(flat, x, true, func(o, x source.View, e source.Epilogue) *source.Kernel {
		return n.warps(o.Shape).Product(o, x, right.view(), e)
	})}, true
}

// narrowRows takes rows of a weight of 8 or 4 bits.
func (c *call) narrowRows(n *narrow) ([]*Operand, error) {
	x := c.placed(0)
	return c.one(n.Rows(n.rows, x.view()), append([]*Operand{x}, n.in...)...)
}

func quantEmbedding(c *call) ([]*Operand, error) {
	return c.narrowRows(c.narrowOf(len2(c.placed(narrowWeight)), 0, true))
}

func int4Embedding(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Int4Embedding](c)
	if err != nil {
		return nil, err
	}
	return c.narrowRows(c.narrowOf(2*len2(c.placed(narrowWeight)), k.Group, true))
}

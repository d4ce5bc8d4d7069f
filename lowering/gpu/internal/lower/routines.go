package lower

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

type product device.Product

// Of implements Routine.
func (p product) Of(l device.Library) (device.Routine, string, error) {
	return l.Product(device.Product(p))
}

func (p product) sums() (Routine, array.DType) {
	p.Sums = true
	return p, array.F32
}

type convolution device.Convolution

// Of implements Routine.
func (c convolution) Of(l device.Library) (device.Routine, string, error) {
	return l.Convolution(device.Convolution(c))
}

// sums of halves are halves: the library rounds to the type of its operands.
func (c convolution) sums() (Routine, array.DType) {
	return c, map[string]array.DType{"": array.F32, "f16": array.F16, "bf16": array.BF16}[c.Half]
}

// leastWork is how many multiplications a product has that a library is asked for: smaller
// ones take less time than it takes to launch them.
const leastWork = 1 << 21

// halfOf is how libraries' operands of a type are called, not ok where there are none.
func halfOf(d array.DType) (name string, ok bool) {
	if d == array.F32 {
		return "", true
	}
	return d.String(), isHalf(d)
}

// convolutionOf describes a convolution of two dense views for a library; nil where it takes no such.
func (b *Builder) convolutionOf(out []int, win source.Window, groups int, x, w source.View) Routine {
	half, ok := halfOf(x.DType)
	if !b.library || !ok || w.DType != x.DType || len(win.Kernel) != 2 || !x.IsDense() || !w.IsDense() || count(out) < leastWork/max(count(w.Shape[1:]), 1) {
		return nil
	}
	return convolution{N: x.Shape[0], C: x.Shape[1], H: x.Shape[2], W: x.Shape[3], M: w.Shape[0], KernelH: win.Kernel[0], KernelW: win.Kernel[1],
		OutH: out[2], OutW: out[3], StrideH: win.Stride[0], StrideW: win.Stride[1], DilationH: win.Dilation[0], DilationW: win.Dilation[1],
		Groups: groups, Half: half}
}

// productOf describes a product of two views for a library; nil where it takes no such.
func (b *Builder) productOf(out array.DType, batch []int, av, bv source.View) Routine {
	rank := len(av.Shape)
	p := product{Batch: count(batch), M: av.Shape[rank-2], K: av.Shape[rank-1], N: bv.Shape[len(bv.Shape)-1]}
	var ok, okA, okB bool
	p.Half, ok = halfOf(out)
	p.TF32 = b.tf32 && out == array.F32
	p.A, okA = matrix(av, batch)
	p.B, okB = matrix(bv, batch)
	big := p.Batch*p.M*p.N >= leastWork/max(p.K, 1)
	if !b.library || !ok || !okA || !okB || !big || av.DType != out || bv.DType != out {
		return nil
	}
	return p
}

// matrix returns how the matrices of a view lie, one of which each of a batch has.
func matrix(v source.View, batch []int) (m device.Matrix, ok bool) {
	v = v.Expand(append(slices.Clone(batch), v.Shape[len(v.Shape)-2:]...))
	rank := len(v.Shape)
	rows, columns := v.Shape[rank-2], v.Shape[rank-1]
	down, along := v.Strides[rank-2], v.Strides[rank-1]
	if rows == 1 {
		down = max(down, columns)
	}
	if columns == 1 {
		along = max(along, rows)
	}
	switch {
	case (along == 1 || columns == 1) && down >= columns:
		m = device.Matrix{Offset: v.Offset, Lead: down}
	case (down == 1 || rows == 1) && along >= rows:
		m = device.Matrix{Offset: v.Offset, Lead: along, Turned: true}
	default:
		return m, false
	}
	step := -1 // from matrix to matrix, of the dimensions so far
	for i := rank - 3; i >= 0; i-- {
		n, s := v.Shape[i], v.Strides[i]
		switch {
		case n == 1:
		case step < 0:
			m.Batch, step = s, s*n
		case s != step:
			return m, false
		default:
			step *= n
		}
	}
	return m, true
}

// offer gives the newest step another way: the product by a library, then the epilogue.
func (b *Builder) offer(p *pending, out *Operand) {
	c := p.from
	if c.library == nil || len(b.Steps) == 0 { // none where the step was refused
		return
	}
	s := &b.Steps[len(b.Steps)-1]
	if s.Setup || s.Node != c.node {
		return
	}
	o := &Other{Routine: c.library, Out: out.Buf, A: c.in[0].Buf, B: c.in[1].Buf}
	if c.right != nil {
		o.B = c.right.Buf
	}
	if !plain(p.g, c.in[0].DType()) || !out.view().IsDense() || len(p.in) != 1 {
		r, d := c.library.sums()
		sums := b.temp(d, p.in[p.acc].Shape())
		o.Routine, o.Out = r, sums.Buf
		in := slices.Clone(p.in)
		g := p.g
		if d != in[p.acc].DType() {
			g = widened(g, in, p.acc, d)
		}
		in[p.acc] = sums
		views := make([]source.View, len(in))
		for i, v := range in {
			views[i] = v.view()
		}
		o.Then = &Step{Kernel: source.Elementwise(g, out.Shape(), []source.View{out.view()}, views), Args: []int{out.Buf}, Outs: 1, Node: c.node}
		for _, v := range in {
			o.Then.Args = append(o.Then.Args, v.Buf)
		}
	}
	s.Other = o
}

// widened is an expression that takes input acc in a narrower type.
func widened(g expr.Graph, in []*Operand, acc int, narrow array.DType) expr.Graph {
	eb := expr.NewBuilder()
	x := make([]expr.Value, len(in))
	for i, v := range in {
		if i == acc {
			x[i] = eb.Cast(eb.Input(i, narrow), v.DType())
		} else {
			x[i] = eb.Input(i, v.DType())
		}
	}
	return eb.Graph(eb.Inline(g, x)...)
}

// plain reports whether an epilogue only stores the sums, rounded to the type of the operands, which a library gives.
func plain(g expr.Graph, d array.DType) bool {
	casts := 0
	for _, n := range g.Nodes {
		if n.Code == kernel.OpCast {
			casts++
		} else if n.Code != kernel.OpInput {
			return false
		}
	}
	return len(g.Outs) == 1 && casts <= 1 && g.Nodes[g.Outs[0]].DType == d
}

package lower

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/op/expr"
)

// Bounds of one kernel's expression: beyond, it is computed in several.
const (
	mostInputs = 12
	mostNodes  = 200
)

// group returns the group of elementwise calls that a call is in, nil for none.
func (b *Builder) group(n *graph.Node) *join.Group { return b.groups[n.Graph()][n] }

// scalar makes of elementwise calls that are computed together, when it sees the last, an
// expression that waits for what follows: the others have no value. Operands that nothing else
// reads and that have the result's shape become part of it.
func (b *Builder) scalar(n *graph.Node, args []*Operand) ([]*Operand, error) {
	for i, a := range n.Args() {
		b.read[a] = args[i]
	}
	nodes, own := []*graph.Node{n}, b.group(n)
	if own != nil {
		nodes = own.Nodes
	}
	if n != nodes[len(nodes)-1] {
		return []*Operand{nil}, nil
	}
	e, err := join.Rules{}.Expression(nodes)
	if err != nil {
		return nil, err
	}
	operands, alone := make([]*Operand, len(e.Operands)), make([]bool, len(e.Operands))
	for i, a := range e.Operands {
		operands[i] = b.read[a]
		alone[i] = join.Only(a, func(u *graph.Node) bool { return u == n || own != nil && b.group(u) == own })
	}
	return b.elementwise(n, e.Graph(), operands, alone)
}

// solitary reports which operands of a call nothing else reads.
func solitary(n *graph.Node) []bool {
	alone := make([]bool, n.NumArgs())
	for i, a := range n.Args() {
		alone[i] = a != nil && a.NumUses() == 1
	}
	return alone
}

// elementwise is scalar for any expression over values; alone says which of them are read by
// nothing else.
func (b *Builder) elementwise(n *graph.Node, g expr.Graph, args []*Operand, alone []bool) ([]*Operand, error) {
	types := n.Type().Members()
	_, dims, _ := types[0].Concrete()
	p := b.inline(n, g, dims, args, alone)
	if len(types) == 1 {
		v := &Operand{Header: Header(types[0].DType(), dims), todo: p}
		return []*Operand{v}, nil
	}
	out := make([]*Operand, len(types))
	for i := range types {
		out[i] = b.result(n, i)
	}
	b.store(p, dims, out)
	return out, nil
}

// inline inlines the expressions of operands, where the kernel does not get too large.
func (b *Builder) inline(n *graph.Node, g expr.Graph, dims []int, args []*Operand, alone []bool) *pending {
	p := &pending{node: n, acc: -1}
	eb := expr.NewBuilder()
	in := make([]expr.Value, len(args))
	read := inputsOf(g)
	size, left := len(g.Nodes), len(read)
	for i, v := range args {
		if !slices.Contains(read, i) {
			continue
		}
		t := v.todo
		left--
		joins := t != nil && size+len(t.g.Nodes) <= mostNodes && len(p.in)+len(t.in)+left <= mostInputs &&
			(alone[i] && slices.Equal(v.Shape(), dims) || isConstant(t.g)) && (t.from == nil || p.from == nil && len(g.Outs) == 1)
		if !joins {
			b.place(v)
			in[i] = eb.Input(p.index(v), v.DType())
			continue
		}
		size += len(t.g.Nodes)
		inner := make([]expr.Value, len(t.in))
		for k, x := range t.in {
			if k == t.acc {
				p.in, p.from, p.acc = append(p.in, x), t.from, len(p.in)
				inner[k] = eb.Input(p.acc, x.DType())
				continue
			}
			inner[k] = eb.Input(p.index(x), x.DType())
		}
		in[i] = eb.Inline(t.g, inner)[0]
	}
	p.g = eb.Graph(eb.Inline(g, in)...)
	return p
}

// index returns the input that a value in a buffer is, a new one where it is none yet.
func (p *pending) index(v *Operand) int {
	if k := slices.IndexFunc(p.in, v.same); k >= 0 {
		return k
	}
	p.in = append(p.in, v)
	return len(p.in) - 1
}

func inputsOf(g expr.Graph) []int {
	var in []int
	for _, n := range g.Nodes {
		if n.Code == kernel.OpInput {
			in = append(in, int(n.Imm))
		}
	}
	return in
}

// isConstant reports whether the expression is the same for all elements.
func isConstant(g expr.Graph) bool {
	for _, n := range g.Nodes {
		if n.Code == kernel.OpInput || n.Code == kernel.OpIndex || n.Code == kernel.OpCoord {
			return false
		}
	}
	return true
}

// compute emits the step of a pending value. rowMajor has it in order; else channels lie side by side
// where a convolution gives them so, and where an operand has them so.
func (b *Builder) compute(v *Operand, rowMajor bool) {
	p := v.todo
	last := p.from != nil && p.from.last
	if p.from == nil {
		last = slices.ContainsFunc(p.in, func(x *Operand) bool { return slices.Equal(x.Shape(), v.Shape()) && b.channelsLast(x) })
	}
	out := b.tempOf(v.DType(), v.Shape(), last && !rowMajor)
	b.store(p, v.Shape(), []*Operand{out})
	v.todo, v.Header, v.Buf = nil, out.Header, out.Buf
}

// store emits the step that computes p into out.
func (b *Builder) store(p *pending, dims []int, out []*Operand) {
	if out[0].Header.Len() == 0 {
		return
	}
	views := make([]source.View, len(out))
	for i, v := range out {
		views[i] = v.view()
	}
	in := make([]source.View, len(p.in))
	for i, v := range p.in {
		in[i] = v.view()
	}
	if p.from == nil {
		b.emit(p.node, source.Elementwise(p.g, dims, views, in), out, p.in)
		return
	}
	e := source.Epilogue{G: p.g, Acc: p.acc, In: in}
	args := slices.Clone(p.from.in)
	for i, v := range p.in {
		if i != p.acc {
			args = append(args, v)
		}
	}
	b.emit(p.from.node, p.from.kernel(views[0], e), out, args)
	b.offer(p, out[0])
}

// dense returns the value in a buffer, in row-major order from its start.
func (b *Builder) dense(v *Operand) *Operand {
	if v.todo != nil {
		b.compute(v, true)
	}
	if v.view().IsDense() {
		return v
	}
	return b.copy(v)
}

// place makes sure that a value lies in a buffer.
func (b *Builder) place(v *Operand) {
	if v.todo != nil {
		b.compute(v, false)
	}
}

// copy returns a copy in order.
func (b *Builder) copy(v *Operand) *Operand {
	out := b.temp(v.DType(), v.Shape())
	b.emit(nil, source.Copy(out.view(), v.view()), []*Operand{out}, []*Operand{v})
	return out
}

// pack lays a matrix out by a kernel, once where several calls need it so, as the steps of a
// recurrent network do.
func (b *Builder) pack(n *graph.Node, k *source.Kernel, elements int, w *Operand) *Operand {
	return b.packed(n, k, source.Dense(array.F32, []int{elements}), w)
}

// packed is pack for a result of any type.
func (b *Builder) packed(n *graph.Node, k *source.Kernel, out source.View, w *Operand) *Operand {
	key := fmt.Sprint(k.Name, k.Numbers, w.Buf)
	if b.packs[key] == nil {
		b.packs[key] = b.temp(out.DType, out.Shape)
		b.emit(n, k, []*Operand{b.packs[key]}, []*Operand{w})
	}
	return b.packs[key]
}

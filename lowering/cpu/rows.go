package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/op"
)

// maxRow is the most elements of a row that is computed with what is before and after
// it: a longer one does not stay in a second cache from one to the other.
const maxRow = 1 << 18

// rows joins a softmax or a norm of f32 with the elementwise calls before it that it
// alone reads, and those after it that alone read it.
func (f *grouping) rows(n *graph.Node) {
	k := f.rowsOf(n)
	if k == nil {
		return
	}
	own := &group{rows: k, norm: n}
	x := n.Arg(0)
	if g := f.of[x]; g != nil && g.plain() && x == g.last() && x.NumUses() == 1 && f.Era[x] == f.Era[n] && f.computes(g) {
		own.nodes = append(own.nodes, g.nodes...)
	}
	own.nodes = append(own.nodes, n)
	if g := f.user(n); g != nil && g.plain() && f.computes(g) && f.Era[g.last()] == f.Era[n] && n.Type().Dims().Same(g.last().Type().Dims()) {
		own.nodes = append(own.nodes, g.nodes...)
	}
	for _, m := range own.nodes {
		if len(own.nodes) > 1 {
			f.of[m] = own
		}
	}
}

// plain reports whether a group is elementwise calls alone that give one value.
func (g *group) plain() bool {
	return g.results == nil && g.first == nil && g.reduce == nil && g.rows == nil && g.heads == nil
}

// computes reports whether a group does more than give what it reads.
func (f *grouping) computes(g *group) bool {
	return slices.ContainsFunc(g.nodes, func(n *graph.Node) bool { return !f.b.identity(n) })
}

// rowsOf returns what a call is that makes rows of the rows of its first operand, nil for
// others.
func (f *grouping) rowsOf(n *graph.Node) *kernel.ElementwiseRows {
	o := n.Op()
	if o == nil || o.Structural() || o.Effect != op.Pure || f.of[n] != nil || n.NumArgs() == 0 || !join.Plain(n) || n.Type().DType() != array.F32 {
		return nil
	}
	for a := range n.Inputs() {
		if !join.Plain(a) || a.Type().DType() != array.F32 {
			return nil
		}
	}
	if n.Arg(0) == nil || n.Arg(0).Type().Rank() == 0 {
		return nil
	}
	k, _, err := f.b.step(n, n.OperandTypes())
	if err != nil {
		return nil
	}
	last, row := n.Type().Rank()-1, n.Type().Dims()
	var s *kernel.ElementwiseRows
	switch k := k.(type) {
	case *kernel.Softmax:
		if k.Dim == last {
			s, row = &kernel.ElementwiseRows{Kind: "softmax"}, row.Sub(last, last+1)
		}
	case *kernel.LogSoftmax:
		if k.Dim == last {
			s, row = &kernel.ElementwiseRows{Kind: "log_softmax"}, row.Sub(last, last+1)
		}
	case *kernel.LayerNorm:
		s, row = &kernel.ElementwiseRows{Kind: "layer_norm", Axes: k.Axes, Eps: k.Eps}, row.Sub(last+1-k.Axes, last+1)
	case *kernel.RMSNorm:
		s, row = &kernel.ElementwiseRows{Kind: "rms_norm", Axes: k.Axes, Eps: k.Eps}, row.Sub(last+1-k.Axes, last+1)
	case *kernel.GroupNorm:
		s, row = &kernel.ElementwiseRows{Kind: "group_norm", Groups: k.Groups, Eps: k.Eps}, row.Sub(1, last+1)
		if k.Groups < 0 {
			row = row.Sub(1, row.Len())
		}
	}
	if size, known := row.Prod().Int(); s == nil || known && size > maxRow*max(1, s.Groups) {
		return nil
	}
	return s
}

// between makes the step of a softmax or a norm with the calls around it.
func (b *builder) between(g *group) (kernel.Step, []int, error) {
	k, at := g.rows, slices.Index(g.nodes, g.norm)
	before, after := g.nodes[:at], g.nodes[at+1:]
	in := []int{b.operand(g.norm.Arg(0))}
	if len(before) > 0 {
		e, err := b.rules().Expression(before)
		if err != nil {
			return nil, nil, err
		}
		p := e.Program()
		k.Before, in = &p, b.operands(e.Operands[:len(p.Inputs)])
	}
	for i := 1; i <= 2; i++ {
		var weight *graph.Node
		if i < g.norm.NumArgs() {
			weight = g.norm.Arg(i)
		}
		in = append(in, b.operand(weight))
	}
	if len(after) > 0 {
		e, err := b.rules().Expression(after, g.norm)
		if err != nil {
			return nil, nil, err
		}
		p := e.Program()
		// Operands after the last one that is read are none of the program's; the rows
		// are one, even if they are not read.
		if len(p.Inputs) == 0 {
			p.Inputs = make([]array.DType, 1)
		}
		p.Inputs[0] = array.F32
		k.After = &p
		return k, append(in, b.operands(e.Operands[1:len(p.Inputs)])...), nil
	}
	for len(in) > 0 && in[len(in)-1] < 0 {
		in = in[:len(in)-1]
	}
	return k, in, nil
}

func (b *builder) operands(nodes []*graph.Node) []int {
	in := make([]int, len(nodes))
	for i, n := range nodes {
		in[i] = b.operand(n)
	}
	return in
}

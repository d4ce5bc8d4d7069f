package gpu

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/std"
)

// attends takes the attention that a kernel computes without storing scores; what it refuses is
// expanded into products and a softmax: floats of 64 bits, which add up to more than registers hold,
// queries or values of no or of more than source.MostFeatures numbers, and operands of
// unknown rank, whose layout a kernel needs.
func attends(n *graph.Node, doubles bool) (bool, string) {
	if ok, why := floats(n, doubles); !ok {
		return false, why
	}
	in := n.OperandTypes()
	for _, t := range in {
		if t.DType() == array.F64 {
			return false, "there is no kernel for f64"
		}
	}
	for _, t := range in[:3] {
		if !t.Ranked() {
			return false, "the rank of an operand is not known"
		}
		if k, known := t.Dim(-1).Int(); known && (k == 0 || k > source.MostFeatures) {
			return false, "the kernel takes rows of other sizes"
		}
	}
	return true, ""
}

func attention(c *call) ([]*value, error) {
	attrs := c.n.Attrs().(std.AttentionAttrs)
	q, k, v, mask := c.placed(0), c.placed(1), c.placed(2), c.placed(3)
	out := c.result(0)
	if out.header.Len() == 0 {
		return []*value{out}, nil
	}
	if k.header.Len() == 0 { // no position: sums of nothing
		return c.one(source.Fill(out.view(), 0))
	}
	a := source.Attention{Out: out.view(), Q: q.view(), K: k.view(), V: v.view(), Causal: attrs.IsCausal}
	in := []*value{q, k, v}
	if mask != nil {
		m := mask.view()
		a.Mask = &m
		in = append(in, mask)
	}
	a.Scale = 1 / math.Sqrt(float64(q.header.Dim(-1)))
	if attrs.Scale.Present() {
		a.Scale = attrs.Scale.Float64()
	}
	if !c.b.info.Host {
		return c.one(a.InGroup(c.b.info.Local), in...)
	}
	t := source.AttentionTile(c.b.info.Vector, v.header.Dim(-1))
	in[1], in[2] = c.pack(t, k, a.Keys()), c.pack(t, v, a.V)
	return c.one(a.InTile(t), in...)
}

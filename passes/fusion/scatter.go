package fusion

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// ScatterAdd does without zeros that elements are added to, as gradients of embeddings and
// of losses by classes make them:
//
//   - x + scatter_add(zeros, index, src) is scatter_add(x, index, src), so that what few elements
//     change is not gone over twice more; in a difference the one that is taken away is negated;
//   - so it is for a tensor x of the state where the sum is multiplied by a number, as gradient descent
//     does: the elements of src are multiplied instead, and the update is as large as they are;
//   - the sum of scatter_add(zeros, index, src) over the dimension of the index is that of src.
//
// Sums are in another order: where several elements go to one place, rounding differs. A -0 of x
// that had zero added to it stays -0, and so does what had zero times a number added to it that is not
// finite. Halves, which round at every step, are left alone.
var ScatterAdd = passes.Pass{
	Name: "scatter-add",
	Doc:  "Adds elements to the value that their sum with zeros would be added to.",
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		s := scatters{c: c, sharing: simplify.NewSharing(g)}
		return c.Each(g, s.node)
	},
}

type scatters struct {
	c       *passes.Ctx
	sharing simplify.Sharing
}

// node rewrites n where it is a sum with, or of, what is added to zeros.
func (s *scatters) node(n *graph.Node) error {
	switch a := n.Attrs().(type) {
	case std.AddAttrs:
		if n.Op() == std.Add && a == (std.AddAttrs{}) {
			return s.either(n, -1)
		}
	case std.SubAttrs:
		if n.Op() == std.Sub && a == (std.SubAttrs{}) {
			return s.either(n, 1)
		}
	case std.ReduceAttrs:
		if n.Op() == std.Sum {
			return s.sum(n, a)
		}
	}
	return nil
}

// either tries both operands of n, of which one may be negative.
func (s *scatters) either(n *graph.Node, negative int) error {
	if n.NumArgs() != 2 || n.Bound() != nil {
		return nil
	}
	done, err := s.join(n, 1, negative)
	if !done && err == nil {
		_, err = s.join(n, 0, negative)
	}
	return err
}

// join adds to the other operand of n what its operand i adds to zeros.
func (s *scatters) join(n *graph.Node, i, negative int) (done bool, err error) {
	v, x := n.Arg(i), n.Arg(1-i)
	var times multiple
	if x.Opcode() == graph.GetAttr {
		v, times = multiplied(v)
	}
	if !s.addsToZeros(v) || v == x || v.NumUses() != 1 || !x.Type().Same(n.Type()) || !v.Type().Same(n.Type()) {
		return false, nil
	}
	// x is read where n reads it; the others were read before.
	if why := s.sharing.Written(append(times.others(), v.Arg(1), v.Arg(2))...); why != "" {
		s.c.Refuse(n, why)
		return true, nil
	}
	why := "adds " + v.Arg(2).String() + " to " + x.String() + " in the place of zeros"
	src := times.of(n, v.Arg(2))
	c := n.Graph().Before(n).From(v)
	switch negative {
	case i:
		src = c.Function(std.Neg, op.None{}, src)
	case 1 - i:
		x = c.Function(std.Neg, op.None{}, x)
	}
	return true, s.replace(n, c.Function(std.ScatterAdd, v.Attrs(), x, v.Arg(1), src), why)
}

// multiple is a product of a tensor and a number; the zero value is the tensor itself.
type multiple struct {
	call *graph.Node
	arg  int // the tensor
}

// multiplied returns what is multiplied by a number that is the same for all its elements.
func multiplied(v *graph.Node) (of *graph.Node, m multiple) {
	if v.Op() != std.Mul || v.Bound() != nil || v.NumUses() != 1 {
		return v, multiple{}
	}
	for i, a := range v.Args() {
		if v.NumArgs() == 1 || v.Arg(1-i).Type().Ranked() && v.Arg(1-i).Type().Rank() == 0 {
			return a, multiple{v, i}
		}
	}
	return v, multiple{}
}

// others are the operands of the product except the tensor.
func (m multiple) others() (list []*graph.Node) {
	if m.call == nil {
		return nil
	}
	return slices.Delete(m.call.Args(), m.arg, m.arg+1)
}

// of makes the product with another tensor, before n.
func (m multiple) of(n, x *graph.Node) *graph.Node {
	if m.call == nil {
		return x
	}
	args := m.call.Args()
	args[m.arg] = x
	return n.Graph().Before(n).From(m.call).Function(std.Mul, m.call.Attrs(), args...)
}

// sum adds up the elements that an operand adds to zeros, where these lie along the summed
// dimension.
func (s *scatters) sum(n *graph.Node, a std.ReduceAttrs) error {
	v := n.Arg(0)
	if n.Bound() != nil || !s.addsToZeros(v) {
		return nil
	}
	rank, dim := v.Type().Rank(), v.Attrs().(std.DimAttrs).Dim
	if dim < 0 {
		dim += rank
	}
	if rank == 0 || a.DType != array.Invalid || a.Dim.Len() != 1 || (a.Dim.At(0)+rank)%rank != dim {
		return nil
	}
	for i := range rank { // else a part of src, or rows that get nothing
		at, from, to := v.Arg(1).Type().Dim(i), v.Arg(2).Type().Dim(i), v.Type().Dim(i)
		if !at.Equal(from) || i != dim && !at.Equal(to) {
			return nil
		}
	}
	if why := s.sharing.Written(v.Arg(2)); why != "" {
		s.c.Refuse(n, why)
		return nil
	}
	by := n.Graph().Before(n).From(n).Function(std.Sum, a, v.Arg(2))
	return s.replace(n, by, "the sum of what "+v.String()+" adds to zeros")
}

func (s *scatters) replace(n, by *graph.Node, why string) error {
	args := n.Args()
	if err := s.c.Replace(n, by, why); err != nil {
		return err
	}
	passes.SweepUnused(args)
	return nil
}

// addsToZeros reports whether v adds elements of f32 or f64 up in a tensor of zeros.
func (s *scatters) addsToZeros(v *graph.Node) bool {
	if v == nil || v.Op() != std.ScatterAdd || v.Bound() != nil || v.NumArgs() != 3 || v.Type().Kind() != shape.Tensor {
		return false
	}
	for i := range 3 {
		if !v.Arg(i).Type().Ranked() {
			return false
		}
	}
	d := v.Type().DType()
	return (d == array.F32 || d == array.F64) && v.Arg(2).Type().DType() == d && zeros(v.Arg(0))
}

// zeros reports whether z is a call that makes zeros.
func zeros(z *graph.Node) bool {
	switch a := z.Attrs().(type) {
	case std.FullAttrs:
		return z.Op() == std.Full && a.Value.Present() && a.Value.Float64() == 0
	case std.FullLikeAttrs:
		return z.Op() == std.FullLike && a.Value.Present() && a.Value.Float64() == 0
	}
	return z.Op() == std.Zeros || z.Op() == std.ZerosLike
}

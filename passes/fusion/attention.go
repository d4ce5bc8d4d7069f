package fusion

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// The parameters and the numbers of attention's pattern.
const (
	attnQ = iota
	attnKT
	attnV
	attnBias   // is added to the scores
	attnMasked // is true where scores are replaced by the fill
	attnKept   // is false there
	attnFill   // the fill, when it is a tensor
	attnWindow // is added to the scores of windows
	attnKey    // of the dropout
)

const (
	attnScale = 0 // and 1, for times
	attnValue = 2 // the fill, when it is a number
)

// Attention makes scaled_dot_product_attention of softmax(scale·q@kᵀ + mask)@v. The
// scale may be missing and may be applied to q or k; kᵀ may be transposed, permuted
// or come as it is; heads of k and v may be repeated; the mask may be added, or fill
// scores with -inf or with a number that none reaches; a second mask may be added to
// the windows that make up a batch, as Swin does where they are shifted; casts to the
// type at hand and dropout outside of training are passed over. A mask that is seen to keep what is
// not after the query (tril, triu, comparisons of arange, constants) becomes
// is_causal.
//
// Scores differ by (E+2) roundings of scale·|q|·|k| for heads of E numbers, because q
// is scaled in their place, and by 2 roundings of what is added to them; the result by
// twice as much, in relation, and 8 roundings. Beyond that they differ where a product overflows before it is scaled,
// where a filled score is NaN or infinite, which an added -inf does not hide, and
// where all scores that are kept in a row are below -1e9. A row without any score
// would differ: a mask that may have one becomes an added -inf, which gives NaN as
// before, or is refused.
// Ref: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762
var Attention = passes.Rule(passes.Rewrite{
	Name: "attention", Doc: "Makes scaled_dot_product_attention of softmax(q @ kT * scale + mask) @ v.",
	Breaks: []passes.Fact{passes.Decomposed},
	Order:  []passes.Before{{First: "attention", Then: "decompose", Why: "scaled_dot_product_attention is composite"}},
	Pattern: func(q, kt, v, bias, masked, kept, fill, window, key tt) tt {
		scores := passes.AnyOf(q.Matmul(kt), q.Bmm(kt))
		scaled := passes.AnyOf(times(scores, attnScale), scores)
		value := passes.Number(attnValue)
		biased := sum(scaled, bias)
		s := passes.AnyOf(biased, scaled.MaskedFill(masked, value), kept.WhereScalar(scaled, value),
			kept.Where(scaled, fill), masked.Where(fill, scaled), reshaped(sum(reshaped(passes.AnyOf(biased, scaled)), window)), scaled)
		p := passes.Loose(passes.AnyOf(s, passes.Loose(s.Cast(array.F32))).Softmax(-1))
		p = passes.AnyOf(p, passes.Loose(p.Cast(array.F32)))
		p = passes.AnyOf(p, passes.Loose(tensor.Dropout(p, key, 0)), passes.Loose(tensor.Dropout(p, nil, 0)))
		return passes.AnyOf(p.Matmul(v), p.Bmm(v))
	},
	Where: func(m *passes.Match) string {
		a, why := newAttention(m)
		m.Data = a
		return why
	},
	Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node { return m.Data.(*attention).build(c) },
})

// reshaped is x in any other shape.
func reshaped(x tt) tt { return passes.AnyOf(passes.Loose(x.Reshape(1)), passes.Loose(x.View(1))) }

// attention is what a match says.
type attention struct {
	q, k, v    *graph.Node
	transposed bool // k is still kᵀ
	attrs      tensor.AttentionAttrs
	mask       *graph.Node
	inverted   bool // mask is true where nothing is kept
	infinite   bool // mask becomes an added -inf

	windows *graph.Node // the scores by windows, nil without
	shifted *graph.Node // what is added to them besides mask
}

func newAttention(m *passes.Match) (*attention, string) {
	in := m.Inputs
	if why := precise(m, in[attnQ], in[attnKT], in[attnV]); why != "" {
		return nil, why
	}
	for _, n := range in[:attnBias] {
		if n.Type().Rank() < 2 {
			return nil, n.String() + " is " + n.Type().String() + ", expected two dimensions or more"
		}
	}
	for _, n := range m.Nodes {
		switch a := n.Attrs().(type) {
		case tensor.DimAttrs:
			if a.Dim != -1 && a.Dim != n.Type().Rank()-1 {
				return nil, "at " + n.String() + ": it is taken over dimension " + strconv.Itoa(a.Dim) + " of " + strconv.Itoa(n.Type().Rank()) + ", expected the last one"
			}
		case tensor.DropoutAttrs:
			if a.Training {
				return nil, "at " + n.String() + ": it drops values in training"
			}
		}
	}
	a := &attention{q: in[attnQ], k: in[attnKT], v: in[attnV], transposed: true}
	if why := a.unscale(m); why != "" {
		return nil, why
	}
	a.ungroup()
	return a, a.masked(m)
}

// unscale finds q, k and the scale.
func (a *attention) unscale(m *passes.Match) string {
	scale := 1.0
	if !math.IsNaN(m.Numbers[attnScale]) || !math.IsNaN(m.Numbers[attnScale+1]) {
		scale = factor(m, attnScale)
	}
	peel := func(n *graph.Node) *graph.Node {
		x, f := unscaled(n)
		scale *= f
		return x
	}
	a.q, a.k = peel(a.q), peel(a.k)
	if x := untransposed(a.k); x != nil {
		a.k, a.transposed = peel(x), false
	}
	if scale == 0 || math.IsInf(scale, 0) || math.IsNaN(scale) {
		return "the scale is " + strconv.FormatFloat(scale, 'g', -1, 64)
	}
	a.attrs.Scale = op.Float(scale)
	return ""
}

// unscaled returns x and f for x·f and x/(1/f) of one element type.
func unscaled(n *graph.Node) (x *graph.Node, f float64) {
	if n.NumArgs() != 1 || n.Arg(0).Type().DType() != n.Type().DType() {
		return n, 1
	}
	switch attrs := n.Attrs().(type) {
	case tensor.BinaryAttrs:
		if n.Op() == std.Mul {
			return n.Arg(0), attrs.Other.Float64()
		}
	case tensor.DivAttrs:
		if n.Op() == std.Div && !attrs.Reverse && attrs.RoundingMode == "" {
			return n.Arg(0), 1 / attrs.Other.Float64()
		}
	}
	return n, 1
}

// untransposed returns x for xᵀ, nil for what is none.
func untransposed(n *graph.Node) *graph.Node {
	rank := n.Type().Rank()
	last := func(d int) bool { return d == -1 || d == rank-1 }
	second := func(d int) bool { return d == -2 || d == rank-2 }
	switch attrs := n.Attrs().(type) {
	case tensor.TransposeAttrs:
		if last(attrs.Dim0) && second(attrs.Dim1) || last(attrs.Dim1) && second(attrs.Dim0) {
			return n.Arg(0)
		}
	case tensor.PermuteAttrs:
		dims := attrs.Dims.Slice()
		for i := range dims {
			if dims[i] < 0 {
				dims[i] += rank
			}
			if i < rank-2 && dims[i] != i {
				return nil
			}
		}
		if dims[rank-1] == rank-2 {
			return n.Arg(0)
		}
	}
	return nil
}

// ungroup finds out whether k and v are repeated for groups of q's heads.
func (a *attention) ungroup() {
	k, times := ungrouped(a.k)
	v, also := ungrouped(a.v)
	heads, known := a.q.Type().Dim(-3).Int()
	fewer, fixed := k.Type().Dim(-3).Int()
	if times < 2 || times != also || a.transposed || !known || !fixed || heads != fewer*times || !v.Type().Dim(-3).Is(fewer) {
		return
	}
	a.k, a.v, a.attrs.EnableGqa = k, v, true
}

// ungrouped returns x [...,H,S,E] and n of which every head is repeated n times.
func ungrouped(n *graph.Node) (x *graph.Node, repeats int) {
	rank := n.Type().Rank()
	if rank < 3 {
		return n, 1
	}
	switch attrs := n.Attrs().(type) {
	case tensor.RepeatInterleaveAttrs:
		if attrs.Dim == -3 || attrs.Dim == rank-3 {
			return n.Arg(0), attrs.Repeats
		}
	case tensor.ReshapeAttrs:
		wide := n.Arg(0)
		if wide.Op() != std.Expand || wide.Arg(0).Op() != std.Unsqueeze {
			break
		}
		added, from := wide.Arg(0), wide.Arg(0).Arg(0)
		dim := added.Attrs().(tensor.DimAttrs).Dim
		if dim < 0 {
			dim += rank + 1
		}
		copies, ok := wide.Type().Dim(-3).Int()
		if !ok || dim != rank-2 || from.Type().Rank() != rank || wide.Type().Rank() != rank+1 ||
			!n.Type().Dims().Same(from.Type().Dims().With(-3, from.Type().Dim(-3).MulInt(copies))) {
			break
		}
		return from, copies
	}
	return n, 1
}

// build makes the call.
func (a *attention) build(c *graph.Cursor) []*graph.Node {
	k := a.k
	if a.transposed {
		k = c.Function(std.Transpose, tensor.TransposeAttrs{Dim0: -2, Dim1: -1}, k)
	}
	args := []*graph.Node{a.q, k, a.v}
	if a.windows != nil {
		return a.buildWindows(c, args)
	}
	switch inf := op.Float(math.Inf(-1)); {
	case a.infinite:
		zero := once(c, std.ZerosLike, tensor.LikeAttrs{DType: a.q.Type().DType()}, a.mask)
		if a.inverted {
			args = append(args, once(c, std.MaskedFill, tensor.MaskedFillAttrs{Value: inf}, zero, a.mask))
		} else {
			args = append(args, once(c, std.Where, tensor.WhereAttrs{Other: inf}, a.mask, zero))
		}
	case a.inverted:
		args = append(args, once(c, std.LogicalNot, op.None{}, a.mask))
	case a.mask != nil:
		args = append(args, a.mask)
	}
	return []*graph.Node{c.Function(std.ScaledDotProductAttention, a.attrs, args...)}
}

// buildWindows makes the call with a dimension for windows.
func (a *attention) buildWindows(c *graph.Cursor, args []*graph.Node) []*graph.Node {
	t := a.windows.Type()
	lead := t.Dims().Sub(0, t.Rank()-2)
	out := a.q.Type().Dims().With(-1, a.v.Type().Dim(-1))
	for i, n := range args {
		dims := lead.Append(n.Type().Dim(-2), n.Type().Dim(-1))
		args[i] = c.Function(std.Reshape, tensor.ReshapeAttrs{Shape: dims}, n)
	}
	mask := a.shifted
	if a.mask != nil {
		mask = once(c, std.Add, tensor.AddAttrs{}, a.mask, mask)
	}
	y := c.Function(std.ScaledDotProductAttention, a.attrs, append(args, mask)...)
	return []*graph.Node{c.Function(std.Reshape, tensor.ReshapeAttrs{Shape: out}, y)}
}

// once returns a call that is there already, or makes one: the layers of a network
// share their mask.
func once(c *graph.Cursor, o *op.Op, attrs any, args ...*graph.Node) *graph.Node {
	n := c.Function(o, attrs, args...)
	for u := range args[0].Users() {
		if u == n || u.Op() != o || u.Graph() != n.Graph() || !u.Precedes(n) || !o.Codec().Equal(u.Attrs(), attrs) || u.NumArgs() != len(args) {
			continue
		}
		same := true
		for i, x := range args {
			same = same && u.Arg(i) == x
		}
		if same {
			_ = n.Graph().Erase(n) // nothing uses it yet
			return u
		}
	}
	return n
}

package fusion

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// The numbers of the norms' formulas.
const (
	normEps     = 0 // added to the mean of the squares
	normOutside = 1 // added to their root
	normTwo     = 2 // what is squared
	normRoot    = 3 // the root, as a power
)

// LayerNorm makes layer_norm of a mean, a biased variance, whichever way it is
// computed, and a quotient, with the weight and the bias that follow. Results
// differ by 16 roundings of (|x|+|mean|)/deviation, times the weight, because the
// spelt out form rounds the mean before it subtracts it; the operator does not
// overflow where squares do.
// Ref: Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450
var LayerNorm = normRule("layer-norm", "Makes layer_norm of its mean, variance and quotient.", std.LayerNorm, func(x tt) tt {
	d := x.Sub(passes.Loose(x.Mean()))
	variance := passes.AnyOf(passes.Loose(square(d, normTwo).Mean()), passes.Loose(x.Var()))
	return passes.AnyOf(over(d, variance), d.Div(passes.Loose(x.Std()).AddScalar(passes.Number(normOutside))))
})

// RmsNorm makes rms_norm of the quotient by the root of a mean of squares, with the
// weight that follows. Results differ by 8 roundings; the operator does not overflow
// where squares do.
// Ref: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019, arXiv:1910.07467
var RmsNorm = normRule("rms-norm", "Makes rms_norm of its mean of squares and quotient.", std.RmsNorm, func(x tt) tt {
	return over(x, passes.Loose(square(x, normTwo).Mean()))
})

// over is x / sqrt(v + eps). The last spelling adds eps to the root, which is
// something else: it matches to be refused with a reason.
func over(x, v tt) tt {
	e := v.AddScalar(passes.Number(normEps))
	power := e.PowScalar(passes.Number(normRoot))
	return passes.AnyOf(x.Div(passes.AnyOf(e.Sqrt(), power)),
		product(x, passes.AnyOf(e.Rsqrt(), e.Sqrt().Reciprocal(), power)),
		x.Div(v.Sqrt().AddScalar(passes.Number(normOutside))))
}

func normRule(name, doc string, o *op.Op, core func(x tt) tt) passes.Pass {
	r := passes.Rewrite{Name: name, Doc: doc, Where: normRefused, Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		axes, _ := reduced(m)
		t := m.Inputs[0].Type()
		a := std.LayerNormAttrs{NormalizedShape: t.Dims().Sub(t.Rank()-axes, t.Rank()), Eps: m.Numbers[normEps]}
		return []*graph.Node{c.Function(o, a, m.Inputs...)}
	}}
	if o == std.RmsNorm {
		r.Pattern = func(x, w tt) tt { return product(core(x), w) }
		r.Or = []any{func(x, w tt) tt { return core(x) }}
	} else {
		r.Pattern = func(x, w, b tt) tt { return sum(product(core(x), w), b) }
		r.Or = []any{func(x, w, b tt) tt { return product(core(x), w) }, func(x, w, b tt) tt { return core(x) }}
	}
	return passes.Rule(r)
}

func normRefused(m *passes.Match) string {
	if why := precise(m, m.Inputs...); why != "" {
		return why
	}
	axes, why := reduced(m)
	if why != "" {
		return why
	}
	eps, root := m.Numbers[normEps], 0.5
	if call(m, std.Div) == nil {
		root = -0.5
	}
	switch {
	case math.IsNaN(eps):
		return "eps is added to the root, expected it below the root"
	case !(eps > 0):
		return "eps is " + strconv.FormatFloat(eps, 'g', -1, 64) + ", expected more than 0"
	}
	if why := numbers(wanted{"the power", m.Numbers[normTwo], 2}, wanted{"the power", m.Numbers[normRoot], root}); why != "" {
		return why
	}
	t := m.Inputs[0].Type()
	tail := t.Dims().Sub(t.Rank()-axes, t.Rank())
	if tail.Len() == 0 {
		return m.Inputs[0].String() + " has no dimensions"
	}
	for _, d := range tail.Slice() {
		if d.IsUnknown() {
			return "the sizes of " + t.String() + " are not known"
		}
	}
	for i, p := range m.Inputs[1:] {
		if p != nil && !p.Type().Same(shape.TensorType(t.DType(), tail)) {
			return []string{"the weight ", "the bias "}[i] + p.String() + " is " + p.Type().String() + ", expected " + tail.String()
		}
	}
	return ""
}

// reduced returns over how many of the last dimensions all means of a match are
// taken, or why that cannot be said.
func reduced(m *passes.Match) (axes int, why string) {
	rank := m.Inputs[0].Type().Rank()
	if !m.Inputs[0].Type().Ranked() {
		return 0, "the rank of " + m.Inputs[0].String() + " is not known"
	}
	for _, n := range m.Nodes {
		var dims op.Ints
		var keep bool
		switch a := n.Attrs().(type) {
		case std.ReduceAttrs:
			dims, keep = a.Dim, a.KeepDim
		case std.VarAttrs:
			if dims, keep = a.Dim, a.KeepDim; !a.Correction.Present() || a.Correction.Float64() != 0 {
				return 0, "at " + n.String() + ": the variance is divided by one less than the number of elements, expected a correction of 0"
			}
		default:
			continue
		}
		count, why := trailing(dims, rank)
		switch {
		case why != "":
			return 0, "at " + n.String() + ": " + why
		case !keep && count < rank:
			return 0, "at " + n.String() + ": the reduced dimensions are not kept"
		case axes > 0 && count != axes:
			return 0, "at " + n.String() + ": it is taken over other dimensions than before"
		}
		axes = count
	}
	return axes, ""
}

// trailing returns how many of the last dimensions dims are; no dims are all.
func trailing(dims op.Ints, rank int) (count int, why string) {
	list := dims.Slice()
	for i, d := range list {
		if d < 0 {
			list[i] = d + rank
		}
	}
	slices.Sort(list)
	for i, d := range list {
		if d != rank-len(list)+i {
			return 0, "it is taken over the dimensions " + dims.String() + " of " + strconv.Itoa(rank) + ", expected the last ones"
		}
	}
	if len(list) == 0 {
		return rank, ""
	}
	return len(list), ""
}

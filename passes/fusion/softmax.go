package fusion

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// Softmax makes softmax of exp(x-max(x))/sum(exp(x-max(x))). Results differ by 8
// roundings. Without the maximum it would overflow elsewhere: that is left alone.
var Softmax = passes.Rule(passes.Rewrite{
	Name: "softmax", Doc: "Makes softmax of exp(x - max) / sum.",
	Order: []passes.Before{{First: "softmax", Then: "attention", Why: "attention is recognised by its softmax"}},
	Pattern: func(x tt) tt {
		largest, _ := x.MaxDim(0)
		e := x.Sub(passes.AnyOf(passes.Loose(x.Amax()), passes.Loose(largest))).Exp()
		return e.Div(passes.Loose(e.Sum()))
	},
	Where: func(m *passes.Match) string {
		if why := precise(m, m.Inputs...); why != "" {
			return why
		}
		_, why := softmaxAxis(m)
		return why
	},
	Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		axis, _ := softmaxAxis(m)
		return calling(std.Softmax, std.DimAttrs{Dim: axis})(c, m)
	},
})

// softmaxAxis returns the one dimension of maximum and sum, -1 for the last one.
func softmaxAxis(m *passes.Match) (axis int, why string) {
	t := m.Inputs[0].Type()
	if !t.Ranked() {
		return 0, "the rank of " + m.Inputs[0].String() + " is not known"
	}
	first := true
	for _, n := range m.Nodes {
		var a std.ReduceAttrs
		switch attrs := n.Attrs().(type) {
		case std.ReduceAttrs:
			a = attrs
		case std.MinMaxAttrs:
			a = std.ReduceAttrs{Dim: op.IntList(attrs.Dim), KeepDim: attrs.KeepDim}
		default:
			continue
		}
		switch {
		case a.Dim.Len() != 1:
			return 0, "at " + n.String() + ": it is taken over the dimensions " + a.Dim.String() + ", expected one"
		case !a.KeepDim:
			return 0, "at " + n.String() + ": the reduced dimension is not kept"
		}
		d := a.Dim.At(0)
		if d >= 0 {
			d -= t.Rank()
		}
		if !first && d != axis {
			return 0, "at " + n.String() + ": the sum is taken over another dimension than the maximum"
		}
		axis, first = d, false
	}
	if axis < -1 {
		axis += t.Rank()
	}
	return axis, ""
}

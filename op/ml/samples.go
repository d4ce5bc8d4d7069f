package ml

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// grown makes trees of a depth that look at features: each leaf has a number for one
// column, and every other one for the next column too.
func grown(g *op.Gen, trees, depth, features, columns int, how ...int32) *Tables {
	t := &Tables{Starts: []int32{0}}
	pick := func(n int) int { return int(array.Data[int64](g.Int(n, 1))[0]) }
	number := func() float64 { return float64(array.Data[float32](g.Normal(1))[0]) }
	var grow func(depth int) int32
	grow = func(depth int) int32 {
		if depth == 0 {
			l := len(t.Starts) - 1
			for k := range 1 + l%2 {
				t.Columns = append(t.Columns, int32((l+k)%columns))
				t.Weights = append(t.Weights, number())
			}
			t.Starts = append(t.Starts, int32(len(t.Weights)))
			return int32(-1 - l)
		}
		n := len(t.Thresholds)
		t.Nodes = append(t.Nodes, int32(pick(features)), how[n%len(how)], 0, 0)
		t.Thresholds = append(t.Thresholds, number())
		yes := grow(depth - 1)
		no := grow(depth - 1 - pick(2)*(depth-1)) // some branches end at once
		t.Nodes[4*n+2], t.Nodes[4*n+3] = yes, no
		return int32(n)
	}
	for range trees {
		t.Roots = append(t.Roots, grow(depth))
	}
	return t
}

func treeSamples(g *op.Gen) []op.Sample {
	call := func(name string, a TreeEnsembleAttrs, x *array.Array, t *Tables, y array.DType) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: append([]*array.Array{x}, t.Arrays(x.DType(), y)...)}
	}
	missing := array.Cast(g.Normal(6, 3), array.F32)
	for _, i := range []int{0, 4, 5, 11} {
		array.Data[float32](missing)[i] = float32(math.NaN())
	}
	special := array.Reshape(g.Special(), 5, 3)
	wide := array.Cast(g.Normal(4, 3), array.F64)
	leaf := &Tables{Roots: []int32{-1, -2}, Starts: []int32{0, 1, 2}, Columns: []int32{0, 1}, Weights: []float64{2, 0.5}}
	equal := grown(g, 2, 3, 3, 1, kernel.TreeEqual)
	for i := range equal.Thresholds {
		equal.Thresholds[i] = float64(i % 3)
	}
	list := []op.Sample{
		call("sum", TreeEnsembleAttrs{Targets: 2}, g.Normal(5, 3), grown(g, 3, 3, 3, 2, 0), array.F32),
		call("average", TreeEnsembleAttrs{Targets: 2, Aggregate: "average"}, g.Normal(5, 3), grown(g, 3, 3, 3, 2, 0), array.F32),
		call("min", TreeEnsembleAttrs{Targets: 3, Aggregate: "min"}, g.Normal(5, 3), grown(g, 3, 2, 3, 2, 0), array.F32),
		call("max", TreeEnsembleAttrs{Targets: 3, Aggregate: "max"}, g.Normal(5, 3), grown(g, 3, 2, 3, 2, 1), array.F32),
		call("missing values", TreeEnsembleAttrs{Targets: 1}, missing, grown(g, 4, 3, 3, 1, 0, 4, 1, 5), array.F32),
		call("special values", TreeEnsembleAttrs{Targets: 1}, special, grown(g, 4, 3, 3, 1, 4, 1, 2), array.F32),
		call("equal", TreeEnsembleAttrs{Targets: 1}, array.Cast(g.Int(3, 6, 3), array.F32), equal, array.F32),
		call("f64", TreeEnsembleAttrs{Targets: 2}, wide, grown(g, 3, 3, 3, 2, 0), array.F64),
		call("f64 to f32", TreeEnsembleAttrs{Targets: 2}, wide, grown(g, 3, 3, 3, 2, 0, 1), array.F32),
		call("f32 to f64", TreeEnsembleAttrs{Targets: 2}, g.Normal(3, 3), grown(g, 3, 3, 3, 2, 0), array.F64),
		call("leaves alone", TreeEnsembleAttrs{Targets: 2}, g.Normal(2, 3), leaf, array.F32),
		call("no trees", TreeEnsembleAttrs{Targets: 2, Aggregate: "average"}, g.Normal(2, 3), &Tables{Starts: []int32{0}}, array.F32),
		call("no rows", TreeEnsembleAttrs{Targets: 2}, g.Normal(0, 3), grown(g, 2, 2, 3, 2, 0), array.F32),
		call("many rows", TreeEnsembleAttrs{Targets: 3}, g.Normal(150, 3), grown(g, 9, 4, 3, 3, 0), array.F32),
		call("many columns", TreeEnsembleAttrs{Targets: 1500}, g.Normal(2, 3), grown(g, 200, 3, 3, 1500, 0), array.F32),
		call("strided", TreeEnsembleAttrs{Targets: 2}, g.Strided(g.Normal(5, 3)), grown(g, 3, 3, 3, 2, 0), array.F32),
	}
	tables := &list[len(list)-1].In
	(*tables)[1] = g.Strided((*tables)[1])
	return list
}

func badTrees(g *op.Gen) []op.BadSample {
	one := TreeEnsembleAttrs{Targets: 1}
	in := func(change func(in []*array.Array)) []*array.Array {
		in := append([]*array.Array{g.Normal(2, 3)}, grown(g, 2, 2, 3, 1, 0).Arrays(array.F32, array.F32)...)
		change(in)
		return in
	}
	call := func(code diag.Code, name string, change func(in []*array.Array)) op.BadSample {
		return op.BadSample{Name: name, Attrs: one, In: in(change), Code: code}
	}
	return []op.BadSample{
		{Name: "no targets", Attrs: TreeEnsembleAttrs{}, In: in(func([]*array.Array) {}), Code: op.BadAttr},
		{Name: "aggregate", Attrs: TreeEnsembleAttrs{Targets: 1, Aggregate: "product"}, In: in(func([]*array.Array) {}), Code: op.BadAttr},
		call(op.RankMismatch, "vector", func(in []*array.Array) { in[0] = g.Normal(3) }),
		call(op.DTypeMismatch, "integers", func(in []*array.Array) { in[0] = g.Int(3, 2, 3) }),
		call(op.DTypeMismatch, "thresholds of another type", func(in []*array.Array) { in[2] = array.Cast(in[2], array.F64) }),
		call(op.DTypeMismatch, "wide references", func(in []*array.Array) { in[3] = array.Cast(in[3], array.I64) }),
		call(op.ShapeMismatch, "three numbers for a node", func(in []*array.Array) { in[1] = array.New(array.I32, in[2].Len(), 3) }),
		call(op.ShapeMismatch, "a threshold too many", func(in []*array.Array) { in[2] = g.Normal(in[2].Len() + 1) }),
		call(op.ShapeMismatch, "a weight too many", func(in []*array.Array) { in[6] = g.Normal(in[6].Len() + 1) }),
	}
}

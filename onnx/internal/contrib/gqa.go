package contrib

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/onnx/internal/standard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// groupedQuery is a GroupQueryAttention. Each sequence of the batch has its own number of
// past keys, and its new keys follow them.
type groupedQuery struct {
	c           *rule.Call
	heads, kv   int
	q, k, v     op.Value // [batch, head, position, element]
	total       shape.Dim
	count       op.Value // i64[batch,1]: keys, with the new ones
	past        op.Value // i64[batch,1]: keys before the first query
	rows        op.Value // i64[batch,position]: the place of each query among the keys
	window      int      // how many keys a query sees; -1 for all
	interleaved bool
}

// groupQuery reads the operands query, key, value, past_key, past_value, seqlens_k,
// total_sequence_length, cos_cache, sin_cache, position_ids and attention_bias.
func groupQuery(c *rule.Call) []op.Value {
	g := groupedOf(c)
	a := standard.Attend{Mode: -1, Softcap: c.Float("softcap", 0), Offset: shape.Const(0)}
	if s := c.Float("scale", 0); s != 0 {
		a.Scale = op.Float(s)
	}
	if c.Flag("do_rotary", false) {
		g.rotate()
	}
	g.cache()
	a.Mask = g.mask()
	if c.Has(10) {
		a.Mask = c.Do(std.Add, nil, standard.Added(c, a.Mask, g.q.Type().DType()), c.X(10))
	}
	y, _ := standard.Attended(c, g.q, g.k, g.v, a)
	out := []op.Value{standard.Merge(c, y), g.k, g.v}
	return out[:max(1, min(3, c.Outputs()))]
}

func groupedOf(c *rule.Call) *groupedQuery {
	g := &groupedQuery{c: c, heads: c.Int("num_heads", 0), kv: c.Int("kv_num_heads", 0), window: c.Int("local_window_size", -1),
		interleaved: c.Flag("rotary_interleaved", false)}
	if g.heads < 1 || g.kv < 1 || g.heads%g.kv != 0 {
		panic(diag.New(spec.CodeModel, strconv.Itoa(g.heads)+" heads of queries for "+strconv.Itoa(g.kv)+" of keys"))
	}
	if c.Flag("smooth_softmax", false) || c.Has(11) || c.Int("qk_output", 0) != 0 {
		panic(diag.New(spec.CodeAttribute, "smooth_softmax, head_sink and qk_output are not supported"))
	}
	if c.Has(3) != c.Has(4) || c.Has(1) != c.Has(2) {
		panic(diag.New(spec.CodeModel, "keys and values come together"))
	}
	if c.Rank(0) != 3 {
		panic(diag.New(spec.CodeModel, "query is "+c.Type(0).String()+", expected three dimensions"))
	}
	x := []op.Value{c.X(0), c.Opt(1), c.Opt(2)}
	if !c.Has(1) {
		width, ok := c.Type(0).Dim(2).Int()
		if n := g.heads + 2*g.kv; !ok || width%n != 0 {
			panic(diag.New(spec.CodeModel, "query is "+c.Type(0).String()+", which does not divide into "+strconv.Itoa(n)+" heads"))
		}
		e := width / (g.heads + 2*g.kv)
		x = c.Items(c.Do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(g.heads*e, g.kv*e, g.kv*e), Dim: 2}, x[0]), 3)
	}
	g.q, g.k, g.v = standard.SplitHeads(c, x[0], g.heads), standard.SplitHeads(c, x[1], g.kv), standard.SplitHeads(c, x[2], g.kv)
	g.total = c.Dim(6)
	batch, l := c.Type(0).Dim(0), c.Type(0).Dim(1)
	lengths := standard.Reshape(c, c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.X(5)), batch, shape.Const(1))
	// The first tokens may have padding after them, further ones not.
	g.count = c.Do(std.Add, std.AddAttrs{Other: op.Int(1)}, lengths)
	before := c.Do(std.Sub, nil, g.count, c.Size(l, array.I64))
	g.past = c.Do(std.Clamp, std.ClampAttrs{Min: op.Int(0)}, before)
	g.rows = c.Do(std.Add, nil, g.past, c.Do(std.Arange, std.ArangeAttrs{End: l}))
	return g
}

// rotate turns queries and new keys by their places.
func (g *groupedQuery) rotate() {
	c := g.c
	positions := g.rows
	if c.Has(9) {
		positions = c.X(9)
	}
	if !c.Has(7) || !c.Has(8) {
		panic(diag.New(spec.CodeModel, "do_rotary needs cos_cache and sin_cache"))
	}
	half, ok := c.Type(7).Dim(1).Int()
	if !ok {
		panic(diag.New(spec.CodeValue, "cos_cache is "+c.Type(7).String()+", expected a number of columns"))
	}
	t := standard.Turn{Interleaved: g.interleaved, Part: 2 * half, Cos: standard.Angles(c, 7, positions), Sin: standard.Angles(c, 8, positions)}
	g.q, g.k = standard.Rotated(c, g.q, t), standard.Rotated(c, g.k, t)
}

// cache appends the new keys and values of each sequence to its past ones. It has as many
// places as the longest sequence needs, or as the past has.
func (g *groupedQuery) cache() {
	c := g.c
	if !c.Has(3) {
		return
	}
	if most := c.Type(3).Dim(2).Max(g.total); !most.IsUnknown() {
		g.total = most
	}
	p := c.Size(c.Type(3).Dim(2), array.I64)
	at := standard.Reshape(c, c.Do(std.Arange, std.ArangeAttrs{End: g.total}), shape.Const(1), g.total)
	moved := c.Do(std.Add, nil, c.Do(std.Sub, nil, at, g.past), p)
	index := c.Do(std.Where, nil, c.Do(std.Lt, nil, at, g.past), at, moved)
	last := c.Size(c.Type(3).Dim(2).Add(g.k.Type().Dim(2)).AddInt(-1), array.I64)
	index = c.Do(std.Minimum, nil, index, last)
	t := g.k.Type()
	index = standard.Reshape(c, index, t.Dim(0), shape.Const(1), g.total, shape.Const(1))
	place := func(past int, x op.Value) op.Value {
		t := x.Type()
		x = c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.X(past), x)
		full := shape.Of(t.Dim(0), t.Dim(1), g.total, t.Dim(3))
		return c.Do(std.Gather, std.DimAttrs{Dim: 2}, x, c.Do(std.Expand, std.ExpandAttrs{Shape: full}, index))
	}
	g.k, g.v = place(3, g.k), place(4, g.v)
}

// mask says which keys a query sees: those up to its own place, within the window. A query
// after the last token of its sequence sees the same keys as that token.
func (g *groupedQuery) mask() op.Value {
	c := g.c
	at := c.Do(std.Arange, std.ArangeAttrs{End: g.k.Type().Dim(2)})
	t := g.rows.Type()
	rows := standard.Reshape(c, g.rows, t.Dim(0), shape.Const(1), t.Dim(1), shape.Const(1))
	count := standard.Reshape(c, g.count, t.Dim(0), shape.Const(1), shape.Const(1), shape.Const(1))
	keep := c.Do(std.LogicalAnd, nil, c.Do(std.Le, nil, at, rows), c.Do(std.Lt, nil, at, count))
	if g.window >= 0 {
		first := c.Do(std.Sub, std.SubAttrs{Other: op.Int(int64(g.window))}, rows)
		keep = c.Do(std.LogicalAnd, nil, keep, c.Do(std.Gt, nil, at, first))
	}
	return keep
}

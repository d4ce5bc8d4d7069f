package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// groupedQuery is a GroupQueryAttention. Each sequence of the batch has its own number of
// past keys, and its new keys follow them.
type groupedQuery struct {
	c           *call
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
func groupQuery(c *call) []op.Value {
	g := groupedOf(c)
	a := attend{mode: -1, softcap: c.float("softcap", 0), offset: shape.Const(0)}
	if s := c.float("scale", 0); s != 0 {
		a.scale = op.Float(s)
	}
	if c.flag("do_rotary", false) {
		g.rotate()
	}
	g.cache()
	a.mask = g.mask()
	if c.has(10) {
		a.mask = c.do(std.Add, nil, added(c, a.mask, g.q.Type().DType()), c.x(10))
	}
	y, _ := attended(c, g.q, g.k, g.v, a)
	out := []op.Value{merge(c, y), g.k, g.v}
	return out[:max(1, min(3, c.outputs()))]
}

func groupedOf(c *call) *groupedQuery {
	g := &groupedQuery{c: c, heads: c.int("num_heads", 0), kv: c.int("kv_num_heads", 0), window: c.int("local_window_size", -1),
		interleaved: c.flag("rotary_interleaved", false)}
	if g.heads < 1 || g.kv < 1 || g.heads%g.kv != 0 {
		panic(diag.New(CodeModel, strconv.Itoa(g.heads)+" heads of queries for "+strconv.Itoa(g.kv)+" of keys"))
	}
	if c.flag("smooth_softmax", false) || c.has(11) || c.int("qk_output", 0) != 0 {
		panic(diag.New(CodeAttribute, "smooth_softmax, head_sink and qk_output are not supported"))
	}
	if c.has(3) != c.has(4) || c.has(1) != c.has(2) {
		panic(diag.New(CodeModel, "keys and values come together"))
	}
	if c.rank(0) != 3 {
		panic(diag.New(CodeModel, "query is "+c.typ(0).String()+", expected three dimensions"))
	}
	x := []op.Value{c.x(0), c.opt(1), c.opt(2)}
	if !c.has(1) {
		width, ok := c.typ(0).Dim(2).Int()
		if n := g.heads + 2*g.kv; !ok || width%n != 0 {
			panic(diag.New(CodeModel, "query is "+c.typ(0).String()+", which does not divide into "+strconv.Itoa(n)+" heads"))
		}
		e := width / (g.heads + 2*g.kv)
		x = c.items(c.do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(g.heads*e, g.kv*e, g.kv*e), Dim: 2}, x[0]), 3)
	}
	g.q, g.k, g.v = splitHeads(c, x[0], g.heads), splitHeads(c, x[1], g.kv), splitHeads(c, x[2], g.kv)
	g.total = c.dim(6)
	batch, l := c.typ(0).Dim(0), c.typ(0).Dim(1)
	lengths := reshape(c, c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.x(5)), batch, shape.Const(1))
	// The first tokens may have padding after them, further ones not.
	g.count = c.do(std.Add, std.AddAttrs{Other: op.Int(1)}, lengths)
	before := c.do(std.Sub, nil, g.count, c.size(l, array.I64))
	g.past = c.do(std.Clamp, std.ClampAttrs{Min: op.Int(0)}, before)
	g.rows = c.do(std.Add, nil, g.past, c.do(std.Arange, std.ArangeAttrs{End: l}))
	return g
}

// rotate turns queries and new keys by their places.
func (g *groupedQuery) rotate() {
	c := g.c
	positions := g.rows
	if c.has(9) {
		positions = c.x(9)
	}
	if !c.has(7) || !c.has(8) {
		panic(diag.New(CodeModel, "do_rotary needs cos_cache and sin_cache"))
	}
	half, ok := c.typ(7).Dim(1).Int()
	if !ok {
		panic(diag.New(CodeValue, "cos_cache is "+c.typ(7).String()+", expected a number of columns"))
	}
	t := turn{interleaved: g.interleaved, part: 2 * half, cos: angles(c, 7, positions), sin: angles(c, 8, positions)}
	g.q, g.k = rotated(c, g.q, t), rotated(c, g.k, t)
}

// cache appends the new keys and values of each sequence to its past ones. It has as many
// places as the longest sequence needs, or as the past has.
func (g *groupedQuery) cache() {
	c := g.c
	if !c.has(3) {
		return
	}
	if most := c.typ(3).Dim(2).Max(g.total); !most.IsUnknown() {
		g.total = most
	}
	p := c.size(c.typ(3).Dim(2), array.I64)
	at := reshape(c, c.do(std.Arange, std.ArangeAttrs{End: g.total}), shape.Const(1), g.total)
	moved := c.do(std.Add, nil, c.do(std.Sub, nil, at, g.past), p)
	index := c.do(std.Where, nil, c.do(std.Lt, nil, at, g.past), at, moved)
	last := c.size(c.typ(3).Dim(2).Add(g.k.Type().Dim(2)).AddInt(-1), array.I64)
	index = c.do(std.Minimum, nil, index, last)
	t := g.k.Type()
	index = reshape(c, index, t.Dim(0), shape.Const(1), g.total, shape.Const(1))
	place := func(past int, x op.Value) op.Value {
		t := x.Type()
		x = c.do(std.Cat, std.DimAttrs{Dim: 2}, c.x(past), x)
		full := shape.Of(t.Dim(0), t.Dim(1), g.total, t.Dim(3))
		return c.do(std.Gather, std.DimAttrs{Dim: 2}, x, c.do(std.Expand, std.ExpandAttrs{Shape: full}, index))
	}
	g.k, g.v = place(3, g.k), place(4, g.v)
}

// mask says which keys a query sees: those up to its own place, within the window. A query
// after the last token of its sequence sees the same keys as that token.
func (g *groupedQuery) mask() op.Value {
	c := g.c
	at := c.do(std.Arange, std.ArangeAttrs{End: g.k.Type().Dim(2)})
	t := g.rows.Type()
	rows := reshape(c, g.rows, t.Dim(0), shape.Const(1), t.Dim(1), shape.Const(1))
	count := reshape(c, g.count, t.Dim(0), shape.Const(1), shape.Const(1), shape.Const(1))
	keep := c.do(std.LogicalAnd, nil, c.do(std.Le, nil, at, rows), c.do(std.Lt, nil, at, count))
	if g.window >= 0 {
		first := c.do(std.Sub, std.SubAttrs{Other: op.Int(int64(g.window))}, rows)
		keep = c.do(std.LogicalAnd, nil, keep, c.do(std.Gt, nil, at, first))
	}
	return keep
}

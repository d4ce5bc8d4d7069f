package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// contribAttentionRules are the attentions of ONNX Runtime. Its masks add a large
// negative number rather than infinity, so that rows of which nothing is left have
// means of everything.
var contribAttentionRules = map[string][]rule{
	"Attention":           from(1, contribAttention),
	"QAttention":          from(1, quantAttention),
	"MultiHeadAttention":  from(1, multiHead),
	"GroupQueryAttention": from(1, groupQuery),
	"RotaryEmbedding":     from(1, contribRotary),
}

// fusedAttention is the common part of the attentions.
type fusedAttention struct {
	attend
	heads  int
	filter float64 // added to products that a mask excludes
}

func fusedAttentionOf(c *call) fusedAttention {
	f := fusedAttention{heads: c.int("num_heads", 0), filter: c.float("mask_filter_value", -10000)}
	f.mode, f.offset, f.causal = -1, shape.Const(0), c.flag("unidirectional", false)
	if s := c.float("scale", 0); s != 0 {
		f.scale = op.Float(s)
	}
	if f.heads < 1 {
		panic(diag.New(CodeModel, "num_heads is "+strconv.Itoa(f.heads)))
	}
	return f
}

// contribAttention projects its input to queries, keys and values first.
func contribAttention(c *call) []op.Value {
	if c.has(6) {
		panic(diag.New(CodeAttribute, "past_sequence_length, of buffers that are shared, is not supported"))
	}
	v := c.do(std.Matmul, nil, c.x(0), c.x(1))
	if c.has(2) {
		v = c.do(std.Add, nil, v, c.x(2))
	}
	return projectedAttention(c, v, c.list("qkv_hidden_sizes"), 3, 4, 5)
}

// quantAttention is contribAttention on 8-bit values.
func quantAttention(c *call) []op.Value {
	x, w := c.x(0), c.x(1)
	v := c.do(std.QMatmul, std.QLinearAttrs{DType: array.F32}, x, c.x(3), c.opt(6), w, c.x(4), c.opt(7))
	v = c.do(std.Add, nil, v, c.x(2))
	return projectedAttention(c, v, nil, 5, 8, 9)
}

// projectedAttention computes attention on [queries | keys | values]; mask, past and bias
// are the places of operands.
func projectedAttention(c *call, v op.Value, sizes []int, mask, past, bias int) []op.Value {
	f := fusedAttentionOf(c)
	if c.flag("do_rotary", false) {
		panic(diag.New(CodeAttribute, "do_rotary is not supported"))
	}
	c.ignore("past_present_share_buffer")
	total, ok := v.Type().Dim(-1).Int()
	if sizes == nil {
		sizes = []int{total / 3, total / 3, total / 3}
	}
	if !ok || v.Type().Rank() != 3 || len(sizes) != 3 || sizes[0]+sizes[1]+sizes[2] != total {
		panic(diag.New(CodeModel, "the projection is "+v.Type().String()+", expected the sizes of queries, keys and values"))
	}
	parts := c.items(c.do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...), Dim: 2}, v), 3)
	q, k, v := splitHeads(c, parts[0], f.heads), splitHeads(c, parts[1], f.heads), splitHeads(c, parts[2], f.heads)
	if c.has(past) {
		if c.rank(past) != 5 {
			panic(diag.New(CodeModel, "past is "+c.typ(past).String()+", expected five dimensions"))
		}
		f.offset = c.typ(past).Dim(3)
		before := func(i int, x op.Value) op.Value {
			return c.do(std.Cat, std.DimAttrs{Dim: 2}, c.do(std.Select, std.SelectAttrs{Index: i}, c.x(past)), x)
		}
		k, v = before(0, k), before(1, v)
	}
	f.mask = filterMask(c, f, mask, q.Type(), k.Type().Dim(2))
	if c.has(bias) {
		f.mask = plus(c, f.mask, c.x(bias))
	}
	y, _ := attended(c, q, k, v, f.attend)
	out := []op.Value{merge(c, y)}
	if c.outputs() > 1 {
		out = append(out, c.do(std.Stack, std.DimAttrs{}, k, v))
	}
	return out
}

// plus adds values that may be absent.
func plus(c *call, x, y op.Value) op.Value {
	if x == nil {
		return y
	}
	return c.do(std.Add, nil, x, y)
}

// filterMask is operand i as numbers to add to products [batch, head, query, key]: lengths
// of the keys, their ends and starts, or the elements to keep.
func filterMask(c *call, f fusedAttention, i int, q shape.Type, keys shape.Dim) op.Value {
	if !c.has(i) {
		return nil
	}
	m, batch := c.x(i), q.Dim(0)
	one := shape.Const(1)
	var keep op.Value
	switch t := m.Type(); t.Rank() {
	case 1:
		at := c.do(std.Cast, std.CastAttrs{DType: t.DType()}, c.do(std.Arange, std.ArangeAttrs{End: keys}))
		ends := m
		if !t.Dim(0).Equal(batch) {
			if !t.Dim(0).Equal(batch.MulInt(2)) {
				panic(diag.New(CodeModel, "the mask is "+t.String()+" for a batch of "+batch.String()))
			}
			ends = c.do(std.Slice, std.SliceAttrs{Stop: batch}, m)
			starts := c.do(std.Slice, std.SliceAttrs{Start: batch, Stop: std.End}, m)
			keep = c.do(std.Ge, nil, at, reshape(c, starts, batch, one, one, one))
		}
		keep = conjunction(c, keep, c.do(std.Lt, nil, at, reshape(c, ends, batch, one, one, one)))
	case 2:
		keep = reshape(c, positive(c, m), t.Dim(0), one, one, t.Dim(1))
	case 3:
		keep = reshape(c, positive(c, m), t.Dim(0), one, t.Dim(1), t.Dim(2))
	default:
		panic(diag.New(CodeAttribute, "a mask "+t.String()+" is not supported"))
	}
	zero := c.do(std.Full, std.FullAttrs{Value: op.Float(0), DType: q.DType()})
	filter := c.do(std.Full, std.FullAttrs{Value: op.Float(f.filter), DType: q.DType()})
	return c.do(std.Where, nil, keep, zero, filter)
}

func positive(c *call, m op.Value) op.Value {
	return c.do(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, m)
}

// conjunction is both of two, of which the first may be absent.
func conjunction(c *call, x, y op.Value) op.Value {
	if x == nil {
		return y
	}
	return c.do(std.LogicalAnd, nil, x, y)
}

// multiHead takes queries, keys and values apart, together, or with the heads in place.
func multiHead(c *call) []op.Value {
	f := fusedAttentionOf(c)
	if c.has(8) || c.has(9) {
		panic(diag.New(CodeAttribute, "past_sequence_length and cache_indirection are not supported"))
	}
	if c.has(6) != c.has(7) {
		panic(diag.New(CodeModel, "past_key and past_value come together"))
	}
	q, k, v := headed(c, f.heads)
	if c.has(6) {
		f.offset = c.typ(6).Dim(2)
		k = c.do(std.Cat, std.DimAttrs{Dim: 2}, c.x(6), k)
		v = c.do(std.Cat, std.DimAttrs{Dim: 2}, c.x(7), v)
	}
	f.mask = filterMask(c, f, 4, q.Type(), k.Type().Dim(2))
	if c.has(5) {
		f.mask = plus(c, f.mask, c.x(5))
	}
	if c.outputs() > 3 {
		f.mode = 3
	}
	y, qk := attended(c, q, k, v, f.attend)
	out := []op.Value{merge(c, y), k, v, qk}
	return out[:max(1, min(4, c.outputs()))]
}

// headed are the operands of multiHead as [batch, head, position, element].
func headed(c *call, heads int) (q, k, v op.Value) {
	split := func(i, parts int) []op.Value { // [batch, position, head, part, element]
		out := make([]op.Value, parts)
		for p := range out {
			x := c.do(std.Select, std.SelectAttrs{Dim: 3, Index: p}, c.x(i))
			out[p] = c.do(std.Flatten, std.FlattenAttrs{StartDim: 2, EndDim: 3}, x)
		}
		return out
	}
	var x []op.Value
	switch {
	case c.rank(0) == 5:
		x = split(0, 3)
	case !c.has(1):
		panic(diag.New(CodeModel, "there are no keys, and the query is "+c.typ(0).String()))
	case c.rank(1) == 5:
		x = append([]op.Value{c.x(0)}, split(1, 2)...)
	default:
		x = []op.Value{c.x(0), c.x(1), c.x(2)}
	}
	from := shape.Const(0)
	for i := range x {
		if x[i].Type().Rank() == 4 { // keys and values of an encoder, with their heads, and without a bias
			continue
		}
		if c.has(3) {
			to := from.Add(x[i].Type().Dim(2))
			x[i] = c.do(std.Add, nil, x[i], c.do(std.Slice, std.SliceAttrs{Start: from, Stop: to}, c.x(3)))
			from = to
		}
		x[i] = splitHeads(c, x[i], heads)
	}
	return x[0], x[1], x[2]
}

// contribRotary has the positions in front of the angles: all of them, or the first.
func contribRotary(c *call) []op.Value {
	t := turn{interleaved: c.flag("interleaved", false), part: c.int("rotary_embedding_dim", 0)}
	heads := c.int("num_heads", 0)
	if s := c.float("scale", 1); s != 1 || c.flag("is_packed_batching", false) {
		panic(diag.New(CodeAttribute, "scale and is_packed_batching are not supported"))
	}
	half, ok := c.typ(2).Dim(1).Int()
	x := c.x(0)
	flat := c.rank(0) == 3
	if flat {
		if width, known := c.typ(0).Dim(2).Int(); heads == 0 && ok && known && half > 0 && t.part == 0 {
			heads = width / (2 * half)
		}
		x = splitHeads(c, x, heads)
	}
	positions := c.x(1)
	if c.rank(1) < 2 { // of the first one
		at := c.do(std.Arange, std.ArangeAttrs{End: x.Type().Dim(2)})
		positions = reshape(c, c.do(std.Add, nil, at, positions), shape.Const(1), x.Type().Dim(2))
	}
	t.cos, t.sin = angles(c, 2, positions), angles(c, 3, positions)
	y := rotated(c, x, t)
	if flat {
		y = merge(c, y)
	}
	return []op.Value{y}
}

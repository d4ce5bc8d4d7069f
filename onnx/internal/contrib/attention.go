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

// contribAttentionRules are the attentions of ONNX Runtime. Its masks add a large
// negative number rather than infinity, so that rows of which nothing is left have
// means of everything.
var contribAttentionRules = map[string][]rule.Rule{
	"Attention":           rule.From(1, contribAttention),
	"QAttention":          rule.From(1, quantAttention),
	"MultiHeadAttention":  rule.From(1, multiHead),
	"GroupQueryAttention": rule.From(1, groupQuery),
	"RotaryEmbedding":     rule.From(1, contribRotary),
}

// fusedAttention is the common part of the attentions.
type fusedAttention struct {
	standard.Attend
	heads  int
	filter float64 // added to products that a mask excludes
}

func fusedAttentionOf(c *rule.Call) fusedAttention {
	f := fusedAttention{heads: c.Int("num_heads", 0), filter: c.Float("mask_filter_value", -10000)}
	f.Mode, f.Offset, f.Causal = -1, shape.Const(0), c.Flag("unidirectional", false)
	if s := c.Float("scale", 0); s != 0 {
		f.Scale = op.Float(s)
	}
	if f.heads < 1 {
		panic(diag.New(spec.CodeModel, "num_heads is "+strconv.Itoa(f.heads)))
	}
	return f
}

// contribAttention projects its input to queries, keys and values first.
func contribAttention(c *rule.Call) []op.Value {
	if c.Has(6) {
		panic(diag.New(spec.CodeAttribute, "past_sequence_length, of buffers that are shared, is not supported"))
	}
	v := c.Do(std.Matmul, nil, c.X(0), c.X(1))
	if c.Has(2) {
		v = c.Do(std.Add, nil, v, c.X(2))
	}
	return projectedAttention(c, v, c.List("qkv_hidden_sizes"), 3, 4, 5)
}

// quantAttention is contribAttention on 8-bit values.
func quantAttention(c *rule.Call) []op.Value {
	x, w := c.X(0), c.X(1)
	v := c.Do(std.QMatmul, std.QLinearAttrs{DType: array.F32}, x, c.X(3), c.Opt(6), w, c.X(4), c.Opt(7))
	v = c.Do(std.Add, nil, v, c.X(2))
	return projectedAttention(c, v, nil, 5, 8, 9)
}

// projectedAttention computes attention on [queries | keys | values]; mask, past and bias
// are the places of operands.
func projectedAttention(c *rule.Call, v op.Value, sizes []int, mask, past, bias int) []op.Value {
	f := fusedAttentionOf(c)
	if c.Flag("do_rotary", false) {
		panic(diag.New(spec.CodeAttribute, "do_rotary is not supported"))
	}
	c.Ignore("past_present_share_buffer")
	total, ok := v.Type().Dim(-1).Int()
	if sizes == nil {
		sizes = []int{total / 3, total / 3, total / 3}
	}
	if !ok || v.Type().Rank() != 3 || len(sizes) != 3 || sizes[0]+sizes[1]+sizes[2] != total {
		panic(diag.New(spec.CodeModel, "the projection is "+v.Type().String()+", expected the sizes of queries, keys and values"))
	}
	parts := c.Items(c.Do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...), Dim: 2}, v), 3)
	q, k, v := standard.SplitHeads(c, parts[0], f.heads), standard.SplitHeads(c, parts[1], f.heads), standard.SplitHeads(c, parts[2], f.heads)
	if c.Has(past) {
		if c.Rank(past) != 5 {
			panic(diag.New(spec.CodeModel, "past is "+c.Type(past).String()+", expected five dimensions"))
		}
		f.Offset = c.Type(past).Dim(3)
		before := func(i int, x op.Value) op.Value {
			return c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.Do(std.Select, std.SelectAttrs{Index: i}, c.X(past)), x)
		}
		k, v = before(0, k), before(1, v)
	}
	f.Mask = filterMask(c, f, mask, q.Type(), k.Type().Dim(2))
	if c.Has(bias) {
		f.Mask = plus(c, f.Mask, c.X(bias))
	}
	y, _ := standard.Attended(c, q, k, v, f.Attend)
	out := []op.Value{standard.Merge(c, y)}
	if c.Outputs() > 1 {
		out = append(out, c.Do(std.Stack, std.DimAttrs{}, k, v))
	}
	return out
}

// plus adds values that may be absent.
func plus(c *rule.Call, x, y op.Value) op.Value {
	if x == nil {
		return y
	}
	return c.Do(std.Add, nil, x, y)
}

// filterMask is operand i as numbers to add to products [batch, head, query, key]: lengths
// of the keys, their ends and starts, or the elements to keep.
func filterMask(c *rule.Call, f fusedAttention, i int, q shape.Type, keys shape.Dim) op.Value {
	if !c.Has(i) {
		return nil
	}
	m, batch := c.X(i), q.Dim(0)
	one := shape.Const(1)
	var keep op.Value
	switch t := m.Type(); t.Rank() {
	case 1:
		at := c.Do(std.Cast, std.CastAttrs{DType: t.DType()}, c.Do(std.Arange, std.ArangeAttrs{End: keys}))
		ends := m
		if !t.Dim(0).Equal(batch) {
			if !t.Dim(0).Equal(batch.MulInt(2)) {
				panic(diag.New(spec.CodeModel, "the mask is "+t.String()+" for a batch of "+batch.String()))
			}
			ends = c.Do(std.Slice, std.SliceAttrs{Stop: batch}, m)
			starts := c.Do(std.Slice, std.SliceAttrs{Start: batch, Stop: std.End}, m)
			keep = c.Do(std.Ge, nil, at, standard.Reshape(c, starts, batch, one, one, one))
		}
		keep = conjunction(c, keep, c.Do(std.Lt, nil, at, standard.Reshape(c, ends, batch, one, one, one)))
	case 2:
		keep = standard.Reshape(c, positive(c, m), t.Dim(0), one, one, t.Dim(1))
	case 3:
		keep = standard.Reshape(c, positive(c, m), t.Dim(0), one, t.Dim(1), t.Dim(2))
	default:
		panic(diag.New(spec.CodeAttribute, "a mask "+t.String()+" is not supported"))
	}
	zero := c.Do(std.Full, std.FullAttrs{Value: op.Float(0), DType: q.DType()})
	filter := c.Do(std.Full, std.FullAttrs{Value: op.Float(f.filter), DType: q.DType()})
	return c.Do(std.Where, nil, keep, zero, filter)
}

func positive(c *rule.Call, m op.Value) op.Value {
	return c.Do(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, m)
}

// conjunction is both of two, of which the first may be absent.
func conjunction(c *rule.Call, x, y op.Value) op.Value {
	if x == nil {
		return y
	}
	return c.Do(std.LogicalAnd, nil, x, y)
}

// multiHead takes queries, keys and values apart, together, or with the heads in place.
func multiHead(c *rule.Call) []op.Value {
	f := fusedAttentionOf(c)
	if c.Has(8) || c.Has(9) {
		panic(diag.New(spec.CodeAttribute, "past_sequence_length and cache_indirection are not supported"))
	}
	if c.Has(6) != c.Has(7) {
		panic(diag.New(spec.CodeModel, "past_key and past_value come together"))
	}
	q, k, v := headed(c, f.heads)
	if c.Has(6) {
		f.Offset = c.Type(6).Dim(2)
		k = c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.X(6), k)
		v = c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.X(7), v)
	}
	f.Mask = filterMask(c, f, 4, q.Type(), k.Type().Dim(2))
	if c.Has(5) {
		f.Mask = plus(c, f.Mask, c.X(5))
	}
	if c.Outputs() > 3 {
		f.Mode = 3
	}
	y, qk := standard.Attended(c, q, k, v, f.Attend)
	out := []op.Value{standard.Merge(c, y), k, v, qk}
	return out[:max(1, min(4, c.Outputs()))]
}

// headed are the operands of multiHead as [batch, head, position, element].
func headed(c *rule.Call, heads int) (q, k, v op.Value) {
	split := func(i, parts int) []op.Value { // [batch, position, head, part, element]
		out := make([]op.Value, parts)
		for p := range out {
			x := c.Do(std.Select, std.SelectAttrs{Dim: 3, Index: p}, c.X(i))
			out[p] = c.Do(std.Flatten, std.FlattenAttrs{StartDim: 2, EndDim: 3}, x)
		}
		return out
	}
	var x []op.Value
	switch {
	case c.Rank(0) == 5:
		x = split(0, 3)
	case !c.Has(1):
		panic(diag.New(spec.CodeModel, "there are no keys, and the query is "+c.Type(0).String()))
	case c.Rank(1) == 5:
		x = append([]op.Value{c.X(0)}, split(1, 2)...)
	default:
		x = []op.Value{c.X(0), c.X(1), c.X(2)}
	}
	from := shape.Const(0)
	for i := range x {
		if x[i].Type().Rank() == 4 { // keys and values of an encoder, with their heads, and without a bias
			continue
		}
		if c.Has(3) {
			to := from.Add(x[i].Type().Dim(2))
			x[i] = c.Do(std.Add, nil, x[i], c.Do(std.Slice, std.SliceAttrs{Start: from, Stop: to}, c.X(3)))
			from = to
		}
		x[i] = standard.SplitHeads(c, x[i], heads)
	}
	return x[0], x[1], x[2]
}

// contribRotary has the positions in front of the angles: all of them, or the first.
func contribRotary(c *rule.Call) []op.Value {
	t := standard.Turn{Interleaved: c.Flag("interleaved", false), Part: c.Int("rotary_embedding_dim", 0)}
	heads := c.Int("num_heads", 0)
	if s := c.Float("scale", 1); s != 1 || c.Flag("is_packed_batching", false) {
		panic(diag.New(spec.CodeAttribute, "scale and is_packed_batching are not supported"))
	}
	half, ok := c.Type(2).Dim(1).Int()
	x := c.X(0)
	flat := c.Rank(0) == 3
	if flat {
		if width, known := c.Type(0).Dim(2).Int(); heads == 0 && ok && known && half > 0 && t.Part == 0 {
			heads = width / (2 * half)
		}
		x = standard.SplitHeads(c, x, heads)
	}
	positions := c.X(1)
	if c.Rank(1) < 2 { // of the first one
		at := c.Do(std.Arange, std.ArangeAttrs{End: x.Type().Dim(2)})
		positions = standard.Reshape(c, c.Do(std.Add, nil, at, positions), shape.Const(1), x.Type().Dim(2))
	}
	t.Cos, t.Sin = standard.Angles(c, 2, positions), standard.Angles(c, 3, positions)
	y := standard.Rotated(c, x, t)
	if flat {
		y = standard.Merge(c, y)
	}
	return []op.Value{y}
}

package onnx

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// attentionRules are the operators of transformers.
var attentionRules = map[string][]rule{
	"Attention":           from(23, attention),
	"RotaryEmbedding":     from(23, rotary),
	"CausalConvWithState": from(27, causalConv),
}

// splitHeads turns [N,L,H·E] into [N,H,L,E].
func splitHeads(c *call, x op.Value, n int) op.Value {
	t := x.Type()
	if n < 1 || t.Rank() != 3 {
		panic(diag.New(CodeModel, "heads of "+t.String()+" need a count of them, found "+strconv.Itoa(n)))
	}
	x = reshape(c, x, t.Dim(0), t.Dim(1), shape.Const(n), exact(c, t.Dim(2), shape.Const(n)))
	return c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 2, 1, 3)}, x)
}

// merge is the inverse of heads.
func merge(c *call, x op.Value) op.Value {
	t := x.Type()
	x = c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 2, 1, 3)}, x)
	return reshape(c, x, t.Dim(0), t.Dim(2), t.Dim(1).Mul(t.Dim(3)))
}

// attended holds the parameters of an attention besides its operands.
type attend struct {
	scale     op.Scalar // absent: 1/sqrt of the size of a head
	softcap   float64
	causal    bool
	offset    shape.Dim // of the first query among the keys
	offsets   op.Value  // the same where sequences have offsets of their own, [N,1,1,1]
	band      band
	mask      op.Value // bool, or added; nil for none
	finite    bool     // the mask is known to leave every query a key
	mode      int      // which products are a result as well; -1 for none
	precision array.DType
}

// band is how many keys a query sees to both sides, its own place included; 0 is without end.
type band struct{ left, right int }

// bandOf reads the attributes that operator set 25 has added.
func bandOf(c *call) band {
	left, right := c.int("left_window_size", -1), c.int("right_window_size", -1)
	if min(left, right) < -1 || max(left, right) == math.MaxInt {
		panic(diag.New(CodeAttribute, "the window is "+strconv.Itoa(left)+" to the left and "+strconv.Itoa(right)+" to the right, expected -1 or more"))
	}
	return band{left + 1, right + 1}
}

func attention(c *call) []op.Value {
	a := attend{causal: c.flag("is_causal", false), softcap: c.float("softcap", 0), mode: -1, precision: c.dtype("softmax_precision", array.Invalid), band: bandOf(c)}
	if c.given("scale") {
		a.scale = op.Float(c.float("scale", 1))
	}
	mode, qHeads, kvHeads := c.int("qk_matmul_output_mode", 0), c.int("q_num_heads", 0), c.int("kv_num_heads", 0)
	if len(c.n.Outputs) > 3 && c.n.Outputs[3] != "" {
		a.mode = mode
	}
	q, k, v := c.x(0), c.x(1), c.x(2)
	flat := c.rank(0) == 3
	if rank := c.rank(0); rank != 3 && rank != 4 || c.rank(1) != rank || c.rank(2) != rank {
		panic(diag.New(CodeModel, "query, key and value are "+c.typ(0).String()+", "+c.typ(1).String()+" and "+c.typ(2).String()+", expected three dimensions, or four, each"))
	}
	if c.has(3) && (c.rank(3) < 1 || c.rank(3) > 4) {
		panic(diag.New(CodeModel, "the mask is "+c.typ(3).String()+", expected one to four dimensions"))
	}
	if flat {
		q, k, v = splitHeads(c, q, qHeads), splitHeads(c, k, kvHeads), splitHeads(c, v, kvHeads)
	}
	a.offset = shape.Const(0)
	if c.has(4) != c.has(5) {
		panic(diag.New(CodeModel, "past_key and past_value come together"))
	}
	if c.has(4) {
		a.offset = c.typ(4).Dim(2)
		k = c.do(std.Cat, std.DimAttrs{Dim: 2}, c.x(4), k)
		v = c.do(std.Cat, std.DimAttrs{Dim: 2}, c.x(5), v)
	}
	a.mask = c.opt(3)
	if c.has(3) {
		a.mask = widen(c, a.mask, k.Type().Dim(2))
		a.finite = a.band == (band{}) && !c.has(6) && finite(c.in[3].arr)
	}
	if c.has(6) { // keys after the length of each sequence do not count
		at := c.do(std.Arange, std.ArangeAttrs{End: k.Type().Dim(2)})
		n := reshape(c, c.x(6), shape.Const(-1), shape.Const(1), shape.Const(1), shape.Const(1))
		a.mask = both(c, a.mask, c.do(std.Lt, nil, at, n), q.Type().DType())
		a.offsets = c.do(std.Sub, nil, n, c.size(q.Type().Dim(2), array.I64)) // the last query sees the last key
	}
	y, qk := attended(c, q, k, v, a)
	if flat {
		y = merge(c, y)
	}
	out := []op.Value{y, k, v, qk}
	return out[:max(c.outputs(), 1)]
}

// finite reports whether a mask is known, and adds no infinity.
func finite(mask *array.Array) bool {
	if mask == nil || !mask.DType().IsFloat() || mask.Len() == 0 {
		return false
	}
	for i := range mask.Len() {
		if math.IsInf(array.Float64At(mask, i), 0) {
			return false
		}
	}
	return true
}

// widen pads a mask that has fewer keys than exist: those after its end do not count.
func widen(c *call, mask op.Value, keys shape.Dim) op.Value {
	have := mask.Type().Dim(-1)
	n, ok1 := have.Int()
	total, ok2 := keys.Int()
	if !ok1 || !ok2 || n == 1 || n >= total {
		return mask
	}
	a := std.PadAttrs{Pad: shape.ConstDims(0, total-n)}
	if mask.Type().DType() != array.Bool {
		a.Value = math.Inf(-1)
	}
	return c.do(std.Pad, a, mask)
}

// both is the mask of two, of which the second is bool.
func both(c *call, a, b op.Value, d array.DType) op.Value {
	switch {
	case a == nil:
		return b
	case a.Type().DType() == array.Bool:
		return c.do(std.LogicalAnd, nil, a, b)
	}
	return c.do(std.Add, nil, a, added(c, b, d))
}

// added is a bool mask as numbers to add.
func added(c *call, mask op.Value, d array.DType) op.Value {
	zero := c.do(std.ZerosLike, std.LikeAttrs{DType: d}, mask)
	return c.do(std.Where, std.WhereAttrs{Other: op.Float(math.Inf(-1))}, mask, zero)
}

// attended computes attention on [N,H,L,E], as one operator where that computes it.
func attended(c *call, q, k, v op.Value, a attend) (y, qk op.Value) {
	qh, ok1 := q.Type().Dim(1).Int()
	kh, ok2 := k.Type().Dim(1).Int()
	group := 1
	if ok1 && ok2 && kh > 0 && qh != kh {
		if qh%kh != 0 {
			panic(diag.New(CodeModel, strconv.Itoa(qh)+" heads of queries for "+strconv.Itoa(kh)+" of keys"))
		}
		group = qh / kh
	}
	one := a.softcap == 0 && a.mode < 0
	if seen := seenMask(c, &a, q, k, one); seen != nil {
		a.mask = both(c, a.mask, seen, q.Type().DType())
	}
	if one {
		y := c.do(std.ScaledDotProductAttention, std.AttentionAttrs{IsCausal: a.causal, Scale: a.scale, EnableGqa: group > 1}, q, k, v, a.mask)
		if a.mask != nil && a.mask.Type().DType() != array.Bool && !a.finite {
			y = seeing(c, y, a.mask) // the operator sees to bool masks itself
		}
		return y, nil
	}
	repeat := func(x op.Value) op.Value {
		if group == 1 {
			return x
		}
		return c.do(std.RepeatInterleave, std.RepeatInterleaveAttrs{Repeats: group, Dim: 1}, x)
	}
	k, v = repeat(k), repeat(v)
	scale := a.scale
	if !scale.Present() {
		e, ok := q.Type().Dim(3).Int()
		if !ok {
			panic(diag.New(CodeValue, "the size of a head is "+q.Type().Dim(3).String()+", expected a number"))
		}
		scale = op.Float(1 / math.Sqrt(float64(e)))
	}
	w := c.do(std.Matmul, nil, q, c.do(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, k))
	w = c.do(std.Mul, std.BinaryAttrs{Other: scale}, w)
	stages := []op.Value{w}
	if a.softcap != 0 {
		w = c.do(std.Tanh, nil, c.do(std.Div, std.DivAttrs{Other: op.Float(a.softcap)}, w))
		w = c.do(std.Mul, std.BinaryAttrs{Other: op.Float(a.softcap)}, w)
	}
	capped := w
	if a.mask != nil {
		mask := a.mask
		if mask.Type().DType() == array.Bool {
			mask = added(c, mask, q.Type().DType())
		}
		w = c.do(std.Add, nil, w, mask)
	}
	d := w.Type().DType()
	soft := w
	if a.precision != array.Invalid && a.precision != d {
		soft = c.do(std.Cast, std.CastAttrs{DType: a.precision}, soft)
	}
	last := soft
	soft = c.do(std.Softmax, std.DimAttrs{Dim: -1}, soft)
	if a.mask != nil {
		soft = seeing(c, soft, last)
	}
	if soft.Type().DType() != d {
		soft = c.do(std.Cast, std.CastAttrs{DType: d}, soft)
	}
	stages = append(stages, capped, w, soft)
	if a.mode >= 0 {
		if a.mode >= len(stages) {
			panic(diag.New(CodeModel, "qk_matmul_output_mode is "+strconv.Itoa(a.mode)))
		}
		qk = stages[a.mode]
	}
	return c.do(std.Matmul, nil, soft, v), qk
}

// seeing is y with zeros for queries that see no key: all their scores are -Inf.
func seeing(c *call, y, scores op.Value) op.Value {
	most := c.do(std.Amax, std.ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, scores)
	none := c.do(std.Eq, std.BinaryAttrs{Other: op.Float(math.Inf(-1))}, most)
	return c.do(std.MaskedFill, std.MaskedFillAttrs{Value: op.Float(0)}, y, none)
}

// seenMask is which keys queries see by their positions, nil where that is all, or where the one
// operator sees to it.
func seenMask(c *call, a *attend, q, k op.Value, one bool) (seen op.Value) {
	placed := a.offsets == nil && a.offset.Is(0)
	if a.band == (band{}) && (!a.causal || one && a.mask == nil && placed) {
		return nil
	}
	row := c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, c.do(std.Arange, std.ArangeAttrs{End: q.Type().Dim(2)}))
	switch {
	case a.offsets != nil:
		row = c.do(std.Add, nil, row, a.offsets)
	case !placed:
		row = c.do(std.Add, nil, row, c.size(a.offset, array.I64))
	}
	at := c.do(std.Arange, std.ArangeAttrs{End: k.Type().Dim(2)})
	bound := func(o *op.Op, by int) {
		m := c.do(o, nil, at, c.do(std.Add, std.AddAttrs{Other: op.Int(int64(by))}, row))
		if seen != nil {
			m = c.do(std.LogicalAnd, nil, seen, m)
		}
		seen = m
	}
	if a.band.left > 0 {
		bound(std.Ge, 1-a.band.left)
	}
	switch {
	case a.causal:
		bound(std.Le, 0)
	case a.band.right > 0:
		bound(std.Le, a.band.right-1)
	}
	a.causal = false
	return seen
}

// rotary turns pairs of elements of each head by an angle that follows from the position.
func rotary(c *call) []op.Value {
	t := turn{interleaved: c.flag("interleaved", false), part: c.int("rotary_embedding_dim", 0)}
	heads := c.int("num_heads", 0)
	x := c.x(0)
	flat := c.rank(0) == 3
	if flat {
		x = splitHeads(c, x, heads)
	}
	c.rank(1)
	c.needDims(2, c.typ(1).Dims().Slice()...)
	t.cos, t.sin = angles(c, 1, c.opt(3)), angles(c, 2, c.opt(3))
	y := rotated(c, x, t)
	if flat {
		y = merge(c, y)
	}
	return []op.Value{y}
}

// turn is how heads are turned: cos and sin are [batch or 1, position, at least part/2].
type turn struct {
	interleaved bool
	part        int // of a head that is turned; 0 for the whole
	cos, sin    op.Value
}

// angles are operand i, or those of the positions in it.
func angles(c *call, i int, positions op.Value) op.Value {
	if positions == nil {
		return c.x(i)
	}
	return c.do(std.Embedding, nil, positions, c.x(i))
}

// rotated turns x [batch, head, position, element].
func rotated(c *call, x op.Value, t turn) op.Value {
	e, ok := x.Type().Dim(3).Int()
	if !ok {
		panic(diag.New(CodeValue, "the size of a head is "+x.Type().Dim(3).String()+", expected a number"))
	}
	part := t.part
	if part == 0 {
		part = e
	}
	if part < 0 || part > e || part%2 != 0 {
		panic(diag.New(CodeModel, "rotary_embedding_dim is "+strconv.Itoa(part)))
	}
	angles := func(v op.Value) op.Value {
		v = c.do(std.Slice, std.SliceAttrs{Dim: 2, Stop: shape.Const(part / 2)}, v)
		return c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, v)
	}
	cos, sin := angles(t.cos), angles(t.sin)
	turned := x
	if part < e {
		turned = c.do(std.Slice, std.SliceAttrs{Dim: 3, Stop: shape.Const(part)}, x)
	}
	var a, b op.Value
	if t.interleaved {
		a = c.do(std.Slice, std.SliceAttrs{Dim: 3, Stop: std.End, Step: 2}, turned)
		b = c.do(std.Slice, std.SliceAttrs{Dim: 3, Start: shape.Const(1), Stop: std.End, Step: 2}, turned)
	} else {
		h := c.do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(part/2, part/2), Dim: 3}, turned)
		a, b = c.b.Item(h, 0), c.b.Item(h, 1)
	}
	mul := func(p, q op.Value) op.Value { return c.do(std.Mul, nil, p, q) }
	re := c.do(std.Sub, nil, mul(cos, a), mul(sin, b))
	im := c.do(std.Add, nil, mul(sin, a), mul(cos, b))
	var y op.Value
	if t.interleaved {
		y = reshape(c, c.do(std.Stack, std.DimAttrs{Dim: -1}, re, im), turned.Type().Dims().Slice()...)
	} else {
		y = c.do(std.Cat, std.DimAttrs{Dim: 3}, re, im)
	}
	if part < e {
		y = c.do(std.Cat, std.DimAttrs{Dim: 3}, y, c.do(std.Slice, std.SliceAttrs{Dim: 3, Start: shape.Const(part), Stop: std.End}, x))
	}
	return y
}

// causalConv is a depthwise convolution along the sequence that starts with the
// last call's final elements.
func causalConv(c *call) []op.Value {
	act := c.oneOf("activation", "none", "silu", "swish")
	x, w := c.x(0), c.x(1)
	k, ok := c.typ(1).Dim(-1).Int()
	ch, known := c.typ(0).Dim(1).Int()
	if !ok || !known || k < 1 {
		panic(diag.New(CodeValue, "channels and kernel must be known"))
	}
	c.needDims(1, shape.Const(ch), shape.Const(1), shape.Const(k))
	if c.has(3) {
		c.needDims(3, c.typ(0).Dim(0), shape.Const(ch), shape.Const(k-1))
	}
	if c.has(3) {
		x = c.do(std.Cat, std.DimAttrs{Dim: 2}, c.x(3), x)
	} else {
		x = c.do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(k-1, 0)}, x)
	}
	y := c.do(std.Conv1d, std.ConvAttrs{Groups: ch}, x, w, c.opt(2))
	if act != "none" {
		y = c.do(std.Silu, nil, y)
	}
	state := c.do(std.Slice, std.SliceAttrs{Dim: 2, Start: x.Type().Dim(2).AddInt(1 - k), Stop: std.End}, x)
	return []op.Value{y, state}
}

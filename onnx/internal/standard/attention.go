package standard

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// attentionRules are the operators of transformers.
var attentionRules = map[string][]rule.Rule{
	"Attention":           rule.From(23, attention),
	"RotaryEmbedding":     rule.From(23, rotary),
	"CausalConvWithState": rule.From(27, causalConv),
}

// SplitHeads turns [N,L,H·E] into [N,H,L,E].
func SplitHeads(c *rule.Call, x op.Value, n int) op.Value {
	t := x.Type()
	if n < 1 || t.Rank() != 3 {
		panic(diag.New(spec.CodeModel, "heads of "+t.String()+" need a count of them, found "+strconv.Itoa(n)))
	}
	x = Reshape(c, x, t.Dim(0), t.Dim(1), shape.Const(n), exact(c, t.Dim(2), shape.Const(n)))
	return c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 2, 1, 3)}, x)
}

// Merge is the inverse of heads.
func Merge(c *rule.Call, x op.Value) op.Value {
	t := x.Type()
	x = c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 2, 1, 3)}, x)
	return Reshape(c, x, t.Dim(0), t.Dim(2), t.Dim(1).Mul(t.Dim(3)))
}

// Attend holds the parameters of an attention; its operands are apart.
type Attend struct {
	Scale     op.Scalar // absent: 1/sqrt of the size of a head
	Softcap   float64
	Causal    bool
	Offset    shape.Dim // of the first query among the keys
	offsets   op.Value  // the same where sequences have offsets of their own, [N,1,1,1]
	band      band
	Mask      op.Value // bool, or added; nil for none
	finite    bool     // the mask is known to leave every query a key
	Mode      int      // which products are a result as well; -1 for none
	precision array.DType
}

// band is how many keys a query sees to both sides, its own place included; 0 is without end.
type band struct{ left, right int }

// bandOf reads the attributes that operator set 25 has added.
func bandOf(c *rule.Call) band {
	left, right := c.Int("left_window_size", -1), c.Int("right_window_size", -1)
	if min(left, right) < -1 || max(left, right) == math.MaxInt {
		panic(diag.New(spec.CodeAttribute, "the window is "+strconv.Itoa(left)+" to the left and "+strconv.Itoa(right)+" to the right, expected -1 or more"))
	}
	return band{left + 1, right + 1}
}

func attention(c *rule.Call) []op.Value {
	a := Attend{Causal: c.Flag("is_causal", false), Softcap: c.Float("softcap", 0), Mode: -1, precision: c.DType("softmax_precision", array.Invalid), band: bandOf(c)}
	if c.Given("scale") {
		a.Scale = op.Float(c.Float("scale", 1))
	}
	mode, qHeads, kvHeads := c.Int("qk_matmul_output_mode", 0), c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	if len(c.Node.Outputs) > 3 && c.Node.Outputs[3] != "" {
		a.Mode = mode
	}
	q, k, v := c.X(0), c.X(1), c.X(2)
	flat := c.Rank(0) == 3
	if rank := c.Rank(0); rank != 3 && rank != 4 || c.Rank(1) != rank || c.Rank(2) != rank {
		panic(diag.New(spec.CodeModel, "query, key and value are "+c.Type(0).String()+", "+c.Type(1).String()+" and "+c.Type(2).String()+", expected three dimensions, or four, each"))
	}
	if c.Has(3) && (c.Rank(3) < 1 || c.Rank(3) > 4) {
		panic(diag.New(spec.CodeModel, "the mask is "+c.Type(3).String()+", expected one to four dimensions"))
	}
	if flat {
		q, k, v = SplitHeads(c, q, qHeads), SplitHeads(c, k, kvHeads), SplitHeads(c, v, kvHeads)
	}
	a.Offset = shape.Const(0)
	if c.Has(4) != c.Has(5) {
		panic(diag.New(spec.CodeModel, "past_key and past_value come together"))
	}
	if c.Has(4) {
		a.Offset = c.Type(4).Dim(2)
		k = c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.X(4), k)
		v = c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.X(5), v)
	}
	a.Mask = c.Opt(3)
	if c.Has(3) {
		a.Mask = widen(c, a.Mask, k.Type().Dim(2))
		a.finite = a.band == (band{}) && !c.Has(6) && finite(c.In[3].Arr)
	}
	if c.Has(6) { // keys after the length of each sequence do not count
		at := c.Do(std.Arange, std.ArangeAttrs{End: k.Type().Dim(2)})
		n := Reshape(c, c.X(6), shape.Const(-1), shape.Const(1), shape.Const(1), shape.Const(1))
		a.Mask = both(c, a.Mask, c.Do(std.Lt, nil, at, n), q.Type().DType())
		a.offsets = c.Do(std.Sub, nil, n, c.Size(q.Type().Dim(2), array.I64)) // the last query sees the last key
	}
	y, qk := Attended(c, q, k, v, a)
	if flat {
		y = Merge(c, y)
	}
	out := []op.Value{y, k, v, qk}
	return out[:max(c.Outputs(), 1)]
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
func widen(c *rule.Call, mask op.Value, keys shape.Dim) op.Value {
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
	return c.Do(std.Pad, a, mask)
}

// both is the mask of two, of which the second is bool.
func both(c *rule.Call, a, b op.Value, d array.DType) op.Value {
	switch {
	case a == nil:
		return b
	case a.Type().DType() == array.Bool:
		return c.Do(std.LogicalAnd, nil, a, b)
	}
	return c.Do(std.Add, nil, a, Added(c, b, d))
}

// Added is a bool mask as numbers to add.
func Added(c *rule.Call, mask op.Value, d array.DType) op.Value {
	zero := c.Do(std.ZerosLike, std.LikeAttrs{DType: d}, mask)
	return c.Do(std.Where, std.WhereAttrs{Other: op.Float(math.Inf(-1))}, mask, zero)
}

// Attended computes attention on [N,H,L,E], as one operator where that computes it.
func Attended(c *rule.Call, q, k, v op.Value, a Attend) (y, qk op.Value) {
	qh, ok1 := q.Type().Dim(1).Int()
	kh, ok2 := k.Type().Dim(1).Int()
	group := 1
	if ok1 && ok2 && kh > 0 && qh != kh {
		if qh%kh != 0 {
			panic(diag.New(spec.CodeModel, strconv.Itoa(qh)+" heads of queries for "+strconv.Itoa(kh)+" of keys"))
		}
		group = qh / kh
	}
	one := a.Softcap == 0 && a.Mode < 0
	if seen := seenMask(c, &a, q, k, one); seen != nil {
		a.Mask = both(c, a.Mask, seen, q.Type().DType())
	}
	if one {
		y := c.Do(std.ScaledDotProductAttention, std.AttentionAttrs{IsCausal: a.Causal, Scale: a.Scale, EnableGqa: group > 1}, q, k, v, a.Mask)
		if a.Mask != nil && a.Mask.Type().DType() != array.Bool && !a.finite {
			y = seeing(c, y, a.Mask) // the operator sees to bool masks itself
		}
		return y, nil
	}
	repeat := func(x op.Value) op.Value {
		if group == 1 {
			return x
		}
		return c.Do(std.RepeatInterleave, std.RepeatInterleaveAttrs{Repeats: group, Dim: 1}, x)
	}
	k, v = repeat(k), repeat(v)
	scale := a.Scale
	if !scale.Present() {
		e, ok := q.Type().Dim(3).Int()
		if !ok {
			panic(diag.New(spec.CodeValue, "the size of a head is "+q.Type().Dim(3).String()+", expected a number"))
		}
		scale = op.Float(1 / math.Sqrt(float64(e)))
	}
	w := c.Do(std.Matmul, nil, q, c.Do(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, k))
	w = c.Do(std.Mul, std.BinaryAttrs{Other: scale}, w)
	stages := []op.Value{w}
	if a.Softcap != 0 {
		w = c.Do(std.Tanh, nil, c.Do(std.Div, std.DivAttrs{Other: op.Float(a.Softcap)}, w))
		w = c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(a.Softcap)}, w)
	}
	capped := w
	if a.Mask != nil {
		mask := a.Mask
		if mask.Type().DType() == array.Bool {
			mask = Added(c, mask, q.Type().DType())
		}
		w = c.Do(std.Add, nil, w, mask)
	}
	d := w.Type().DType()
	soft := w
	if a.precision != array.Invalid && a.precision != d {
		soft = c.Do(std.Cast, std.CastAttrs{DType: a.precision}, soft)
	}
	last := soft
	soft = c.Do(std.Softmax, std.DimAttrs{Dim: -1}, soft)
	if a.Mask != nil {
		soft = seeing(c, soft, last)
	}
	if soft.Type().DType() != d {
		soft = c.Do(std.Cast, std.CastAttrs{DType: d}, soft)
	}
	stages = append(stages, capped, w, soft)
	if a.Mode >= 0 {
		if a.Mode >= len(stages) {
			panic(diag.New(spec.CodeModel, "qk_matmul_output_mode is "+strconv.Itoa(a.Mode)))
		}
		qk = stages[a.Mode]
	}
	return c.Do(std.Matmul, nil, soft, v), qk
}

// seeing is y with zeros for queries that see no key: all their scores are -Inf.
func seeing(c *rule.Call, y, scores op.Value) op.Value {
	most := c.Do(std.Amax, std.ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, scores)
	none := c.Do(std.Eq, std.BinaryAttrs{Other: op.Float(math.Inf(-1))}, most)
	return c.Do(std.MaskedFill, std.MaskedFillAttrs{Value: op.Float(0)}, y, none)
}

// seenMask is which keys queries see by their positions, nil where that is all, or where the one
// operator sees to it.
func seenMask(c *rule.Call, a *Attend, q, k op.Value, one bool) (seen op.Value) {
	placed := a.offsets == nil && a.Offset.Is(0)
	if a.band == (band{}) && (!a.Causal || one && a.Mask == nil && placed) {
		return nil
	}
	row := c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, c.Do(std.Arange, std.ArangeAttrs{End: q.Type().Dim(2)}))
	switch {
	case a.offsets != nil:
		row = c.Do(std.Add, nil, row, a.offsets)
	case !placed:
		row = c.Do(std.Add, nil, row, c.Size(a.Offset, array.I64))
	}
	at := c.Do(std.Arange, std.ArangeAttrs{End: k.Type().Dim(2)})
	bound := func(o *op.Op, by int) {
		m := c.Do(o, nil, at, c.Do(std.Add, std.AddAttrs{Other: op.Int(int64(by))}, row))
		if seen != nil {
			m = c.Do(std.LogicalAnd, nil, seen, m)
		}
		seen = m
	}
	if a.band.left > 0 {
		bound(std.Ge, 1-a.band.left)
	}
	switch {
	case a.Causal:
		bound(std.Le, 0)
	case a.band.right > 0:
		bound(std.Le, a.band.right-1)
	}
	a.Causal = false
	return seen
}

// rotary turns pairs of elements of each head by an angle that follows from the position.
func rotary(c *rule.Call) []op.Value {
	t := Turn{Interleaved: c.Flag("interleaved", false), Part: c.Int("rotary_embedding_dim", 0)}
	heads := c.Int("num_heads", 0)
	x := c.X(0)
	flat := c.Rank(0) == 3
	if flat {
		x = SplitHeads(c, x, heads)
	}
	c.Rank(1)
	c.NeedDims(2, c.Type(1).Dims().Slice()...)
	t.Cos, t.Sin = Angles(c, 1, c.Opt(3)), Angles(c, 2, c.Opt(3))
	y := Rotated(c, x, t)
	if flat {
		y = Merge(c, y)
	}
	return []op.Value{y}
}

// Turn is how heads are turned: cos and sin are [batch or 1, position, at least part/2].
type Turn struct {
	Interleaved bool
	Part        int // of a head that is turned; 0 for the whole
	Cos, Sin    op.Value
}

// Angles are operand i, or those of the positions in it.
func Angles(c *rule.Call, i int, positions op.Value) op.Value {
	if positions == nil {
		return c.X(i)
	}
	return c.Do(std.Embedding, nil, positions, c.X(i))
}

// Rotated turns x [batch, head, position, element].
func Rotated(c *rule.Call, x op.Value, t Turn) op.Value {
	e, ok := x.Type().Dim(3).Int()
	if !ok {
		panic(diag.New(spec.CodeValue, "the size of a head is "+x.Type().Dim(3).String()+", expected a number"))
	}
	part := t.Part
	if part == 0 {
		part = e
	}
	if part < 0 || part > e || part%2 != 0 {
		panic(diag.New(spec.CodeModel, "rotary_embedding_dim is "+strconv.Itoa(part)))
	}
	angles := func(v op.Value) op.Value {
		v = c.Do(std.Slice, std.SliceAttrs{Dim: 2, Stop: shape.Const(part / 2)}, v)
		return c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, v)
	}
	cos, sin := angles(t.Cos), angles(t.Sin)
	turned := x
	if part < e {
		turned = c.Do(std.Slice, std.SliceAttrs{Dim: 3, Stop: shape.Const(part)}, x)
	}
	var a, b op.Value
	if t.Interleaved {
		a = c.Do(std.Slice, std.SliceAttrs{Dim: 3, Stop: std.End, Step: 2}, turned)
		b = c.Do(std.Slice, std.SliceAttrs{Dim: 3, Start: shape.Const(1), Stop: std.End, Step: 2}, turned)
	} else {
		h := c.Do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(part/2, part/2), Dim: 3}, turned)
		a, b = c.Builder.Item(h, 0), c.Builder.Item(h, 1)
	}
	mul := func(p, q op.Value) op.Value { return c.Do(std.Mul, nil, p, q) }
	re := c.Do(std.Sub, nil, mul(cos, a), mul(sin, b))
	im := c.Do(std.Add, nil, mul(sin, a), mul(cos, b))
	var y op.Value
	if t.Interleaved {
		y = Reshape(c, c.Do(std.Stack, std.DimAttrs{Dim: -1}, re, im), turned.Type().Dims().Slice()...)
	} else {
		y = c.Do(std.Cat, std.DimAttrs{Dim: 3}, re, im)
	}
	if part < e {
		y = c.Do(std.Cat, std.DimAttrs{Dim: 3}, y, c.Do(std.Slice, std.SliceAttrs{Dim: 3, Start: shape.Const(part), Stop: std.End}, x))
	}
	return y
}

// causalConv is a depthwise convolution along the sequence that starts with the
// last call's final elements.
func causalConv(c *rule.Call) []op.Value {
	act := c.OneOf("activation", "none", "silu", "swish")
	x, w := c.X(0), c.X(1)
	k, ok := c.Type(1).Dim(-1).Int()
	ch, known := c.Type(0).Dim(1).Int()
	if !ok || !known || k < 1 {
		panic(diag.New(spec.CodeValue, "channels and kernel must be known"))
	}
	c.NeedDims(1, shape.Const(ch), shape.Const(1), shape.Const(k))
	if c.Has(3) {
		c.NeedDims(3, c.Type(0).Dim(0), shape.Const(ch), shape.Const(k-1))
	}
	if c.Has(3) {
		x = c.Do(std.Cat, std.DimAttrs{Dim: 2}, c.X(3), x)
	} else {
		x = c.Do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(k-1, 0)}, x)
	}
	y := c.Do(std.Conv1d, std.ConvAttrs{Groups: ch}, x, w, c.Opt(2))
	if act != "none" {
		y = c.Do(std.Silu, nil, y)
	}
	state := c.Do(std.Slice, std.SliceAttrs{Dim: 2, Start: x.Type().Dim(2).AddInt(1 - k), Stop: std.End}, x)
	return []op.Value{y, state}
}

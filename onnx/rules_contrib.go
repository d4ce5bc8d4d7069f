package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// ownRules are operators of the domain com.microsoft, into which ONNX Runtime and
// its optimiser fuse those of ONNX.
var ownRules = map[string][]rule{
	"Gelu":      from(1, func(c *call) []op.Value { return c.one(std.Gelu, nil, c.x(0)) }),
	"BiasGelu":  from(1, func(c *call) []op.Value { return c.one(std.Gelu, nil, c.do(std.Add, nil, c.x(0), c.x(1))) }),
	"FastGelu":  from(1, fastGelu),
	"QuickGelu": from(1, quickGelu),
	"BiasAdd": from(1, func(c *call) []op.Value {
		return c.one(std.Add, nil, c.do(std.Add, nil, c.x(0), c.x(1)), c.x(2))
	}),
	"BiasSplitGelu":         from(1, biasSplitGelu),
	"FusedMatMul":           from(1, fusedMatMul),
	"TransposeMatMul":       from(1, fusedMatMul),
	"FusedMatMulActivation": from(1, func(c *call) []op.Value { return activated(c, fusedMatMul(c)[0], fusedParams(c)) }),
	"FusedGemm":             from(1, func(c *call) []op.Value { return activated(c, gemm(c)[0], fusedParams(c)) }),
	"FusedConv":             from(1, fusedConv),
	"NhwcConv":              from(1, nhwcConv),
	"Trilu":                 from(1, trilu),
	"GatherND":              from(1, gatherND),
	"Pad":                   from(1, contribPad),
	"ExpandDims":            from(1, expandDims),
	"CDist":                 from(1, distances),
	"Unique":                from(1, firstUnique),
	"CropAndResize":         from(1, cropAndResize),

	"SkipLayerNormalization":           from(1, skipLayerNorm),
	"SkipSimplifiedLayerNormalization": from(1, skipSimplifiedNorm),
	"SimplifiedLayerNormalization":     from(1, simplifiedNorm),
	"EmbedLayerNormalization":          from(1, embedLayerNorm),
	"GroupNorm":                        from(1, contribGroupNorm),
	"SkipGroupNorm":                    from(1, skipGroupNorm),
}

// fastGelu approximates by tanh, of the sum with a bias.
func fastGelu(c *call) []op.Value {
	x := c.x(0)
	if c.has(1) {
		x = c.do(std.Add, nil, x, c.x(1))
	}
	return c.one(std.Gelu, std.GeluAttrs{Approximate: "tanh"}, x)
}

func quickGelu(c *call) []op.Value {
	v := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(c.float("alpha", 1.702))}, c.x(0))
	return c.one(std.Mul, nil, c.x(0), c.do(std.Sigmoid, nil, v))
}

// biasSplitGelu multiplies one half of the features by the gelu of the other.
func biasSplitGelu(c *call) []op.Value {
	v := c.do(std.Add, nil, c.x(0), c.x(1))
	h := c.items(c.do(std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: -1}, v), 2)
	return c.one(std.Mul, nil, h[0], c.do(std.Gelu, nil, h[1]))
}

// fusedMatMul multiplies transposed operands, by a factor. transBatch means that the first
// dimension is the rows, and the ones after it are the batch.
func fusedMatMul(c *call) []op.Value {
	alpha := c.float("alpha", 1)
	operand := func(i int, trans, batch string) op.Value {
		x := c.x(i)
		rank := c.rank(i)
		if c.flag(batch, false) && rank > 2 {
			x = c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(0), Destination: op.IntList(rank - 2)}, x)
		}
		if c.flag(trans, false) && rank > 1 {
			x = c.do(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, x)
		}
		return x
	}
	v := c.do(std.Matmul, nil, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB"))
	if alpha != 1 {
		v = c.do(std.Mul, std.BinaryAttrs{Other: factor(alpha, c.typ(0).DType())}, v)
	}
	return []op.Value{v}
}

// fusedParams are the numbers of a fused activation that are attributes of their own.
func fusedParams(c *call) (list []float64) {
	for _, name := range []string{"activation_alpha", "activation_beta", "activation_gamma"} {
		if c.given(name) {
			list = append(list, c.float(name, 0))
		}
	}
	return list
}

// activated applies the activation that is fused to an operator, if any.
func activated(c *call, x op.Value, params []float64) []op.Value {
	name := c.text("activation", "")
	p := func(i int, def float64) float64 {
		if i < len(params) {
			return params[i]
		}
		return def
	}
	switch name {
	case "":
		return []op.Value{x}
	case "Clip":
		return c.one(std.Clamp, std.ClampAttrs{Min: op.Float(p(0, -3.4028234663852886e38)), Max: op.Float(p(1, 3.4028234663852886e38))}, x)
	case "HardSwish":
		return c.one(std.Hardswish, nil, x)
	case "Gelu":
		return c.one(std.Gelu, nil, x)
	case "Softmax":
		return c.one(std.Softmax, std.DimAttrs{Dim: c.int("activation_axis", -1)}, x)
	}
	var alphas, betas []float64
	if len(params) > 0 {
		alphas = params[:1]
	}
	if len(params) > 1 {
		betas = params[1:2]
	}
	a := activationOf(name, &alphas, &betas)
	return []op.Value{a.apply(cellWriter{b: c.b}, x)}
}

// fusedConv is a convolution, a sum with a fourth operand, and an activation.
func fusedConv(c *call) []op.Value {
	v := conv(c)[0]
	if c.has(3) {
		v = c.do(std.Add, nil, v, c.x(3))
	}
	return activated(c, v, c.floats("activation_params"))
}

// channels moves the last dimension to the place of the channels, or back.
func channels(c *call, x op.Value, first bool) op.Value {
	a := std.MovedimAttrs{Source: op.IntList(-1), Destination: op.IntList(1)}
	if !first {
		a = std.MovedimAttrs{Source: op.IntList(1), Destination: op.IntList(-1)}
	}
	return c.do(std.Movedim, a, x)
}

// moved is the node on other operands.
func moved(c *call, in ...op.Value) *call {
	inner := *c
	inner.in = make([]*value, len(in))
	for i, v := range in {
		if v == nil {
			continue
		}
		switch v := v.(type) {
		case *graph.Node:
			inner.in[i] = &value{node: v}
		case spec.Constants:
			inner.in[i] = &value{arr: v.A[0]}
		}
	}
	return &inner
}

// nhwcConv has the channels last in the input, the weight and the result.
func nhwcConv(c *call) []op.Value {
	if c.rank(0) < 3 {
		panic(diag.New(CodeModel, "the input is "+c.typ(0).String()+", expected spatial dimensions"))
	}
	w := c.prepared(1, func(x op.Value) op.Value { return channels(c, x, true) })
	y := conv(moved(c, channels(c, c.x(0), true), w, c.opt(2)))[0]
	return []op.Value{channels(c, y, false)}
}

// contribPad has one more dimension around pads, sometimes.
func contribPad(c *call) []op.Value {
	if c.typ(1).Rank() != 2 {
		return padInputs(c)
	}
	inner := *c
	inner.in = append([]*value(nil), c.in...)
	switch v := c.value(1); {
	case v.arr != nil:
		inner.in[1] = &value{arr: array.Reshape(v.arr, v.arr.Len())}
	case v.sizes != nil:
		inner.in[1] = &value{sizes: &sizes{dims: v.sizes.dims, shape: []int{len(v.sizes.dims)}, dtype: v.sizes.dtype}}
	default:
		inner.in[1] = &value{name: v.name, node: reshape(c, c.x(1), shape.Const(-1)).(*graph.Node)}
	}
	return padInputs(&inner)
}

func expandDims(c *call) []op.Value {
	return c.one(std.Unsqueeze, std.DimAttrs{Dim: c.axis(c.index(1), c.rank(0)+1)}, c.x(0))
}

// distances are those of all pairs of rows.
func distances(c *call) []op.Value {
	metric := c.oneOf("metric", "sqeuclidean", "euclidean")
	squares := func(x op.Value) op.Value {
		return c.do(std.Sum, std.ReduceAttrs{Dim: op.IntList(1), KeepDim: true}, c.do(std.Mul, nil, x, x))
	}
	turned := func(x op.Value) op.Value { return c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x) }
	a, b := c.x(0), c.x(1)
	products := c.do(std.Mul, std.BinaryAttrs{Other: op.Int(2)}, c.do(std.Matmul, nil, a, turned(b)))
	v := c.do(std.Sub, nil, c.do(std.Add, nil, squares(a), turned(squares(b))), products)
	v = c.do(std.Clamp, std.ClampAttrs{Min: op.Float(0)}, v)
	if metric == "euclidean" {
		v = c.do(std.Sqrt, nil, v)
	}
	return []op.Value{v}
}

// firstUnique has the elements in the order in which they come first.
func firstUnique(c *call) []op.Value {
	v := c.items(c.do(std.Unique, std.UniqueAttrs{Flat: true, Unsorted: true}, c.x(0)), 4)
	return []op.Value{v[0], v[2], v[3]}
}

// cropAndResize samples boxes, whose corners are parts of the image; points outside of
// the image have a value of their own.
func cropAndResize(c *call) []op.Value {
	mode := c.oneOf("mode", "bilinear", "nearest")
	beyond := c.float("extrapolation_value", 0)
	n, _, h, w := image(c)
	size := c.ints(3)
	if len(size) != 2 || size[0] < 1 || size[1] < 1 {
		panic(diag.New(CodeModel, "crop_size is "+c.typ(3).String()+", expected two sizes"))
	}
	_ = n
	boxes := c.typ(1).Dim(0)
	at := func(axis int, d shape.Dim, count int) (place, outside op.Value) {
		limit := c.do(std.Cast, std.CastAttrs{DType: array.F32}, c.size(d.AddInt(-1), array.I64))
		side := func(k int) op.Value {
			s := c.do(std.Slice, std.SliceAttrs{Dim: 1, Start: shape.Const(axis + k), Stop: shape.Const(axis + k + 1)}, c.x(1))
			return c.do(std.Mul, nil, s, limit)
		}
		low, high := side(0), side(2)
		p := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(0.5)}, c.do(std.Add, nil, low, high))
		if count > 1 {
			i := c.do(std.Cast, std.CastAttrs{DType: array.F32}, c.do(std.Arange, std.ArangeAttrs{End: shape.Const(count)}))
			step := c.do(std.Div, std.DivAttrs{Other: op.Float(float64(count - 1))}, c.do(std.Sub, nil, high, low))
			p = c.do(std.Add, nil, low, c.do(std.Mul, nil, i, step))
		}
		out := c.do(std.LogicalOr, nil, c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, p), c.do(std.Gt, nil, p, limit))
		half := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(0.5)}, limit)
		return c.do(std.Sub, std.SubAttrs{Other: op.Float(1)}, c.do(std.Div, nil, p, half)), out
	}
	y, above := at(0, h, size[0])
	x, beside := at(1, w, size[1])
	full := shape.Of(boxes, shape.Const(size[0]), shape.Const(size[1]))
	rows := func(v op.Value) op.Value { return c.do(std.Unsqueeze, std.DimAttrs{Dim: 2}, v) }
	columns := func(v op.Value) op.Value { return c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, v) }
	spread := func(v op.Value) op.Value { return c.do(std.Expand, std.ExpandAttrs{Shape: full}, v) }
	grid := c.do(std.Stack, std.DimAttrs{Dim: -1}, spread(columns(x)), spread(rows(y)))
	images := c.do(std.IndexSelect, std.DimAttrs{}, c.x(0), c.x(2))
	v := c.do(std.GridSample, std.GridSampleAttrs{Mode: mode, PaddingMode: "border", AlignCorners: true}, images, grid)
	outside := columns(c.do(std.LogicalOr, nil, rows(above), columns(beside)))
	fill := c.do(std.Full, std.FullAttrs{Value: op.Float(beyond), DType: c.typ(0).DType()})
	return c.one(std.Where, nil, outside, fill, v)
}

// skipSum is the sum of input and skip, and of the bias at operand i. skip may lack the batch.
func skipSum(c *call, i int) op.Value {
	v := c.do(std.Add, nil, c.x(0), c.x(1))
	if c.has(i) {
		v = c.do(std.Add, nil, v, c.x(i))
	}
	return v
}

// summed are the results of a norm after a sum: neither mean nor deviation.
func summed(c *call, y, sum op.Value) []op.Value {
	out := []op.Value{y, nil, nil, sum}
	return out[:max(1, min(4, c.outputs()))]
}

func skipLayerNorm(c *call) []op.Value {
	sum := skipSum(c, 4)
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(sum.Type().Dim(-1)), Eps: c.float("epsilon", 1e-12)}
	return summed(c, c.do(std.LayerNorm, a, sum, c.x(2), c.opt(3)), sum)
}

func skipSimplifiedNorm(c *call) []op.Value {
	sum := skipSum(c, 3)
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(sum.Type().Dim(-1)), Eps: c.float("epsilon", 1e-12)}
	return summed(c, c.do(std.RmsNorm, a, sum, c.x(2)), sum)
}

// embedLayerNorm adds the embeddings of words, positions and segments; its second result
// is how many tokens the mask keeps.
func embedLayerNorm(c *call) []op.Value {
	eps, _ := c.float("epsilon", 1e-12), c.int("mask_index_type", 0)
	ids := c.x(0)
	t := ids.Type()
	if t.Rank() != 2 {
		panic(diag.New(CodeModel, "input_ids is "+t.String()+", expected two dimensions"))
	}
	v := c.do(std.Embedding, nil, ids, c.x(2))
	var places op.Value
	if c.has(8) {
		places = c.do(std.Embedding, nil, c.x(8), c.x(3))
	} else {
		places = c.do(std.Slice, std.SliceAttrs{Stop: t.Dim(1)}, c.x(3))
	}
	v = c.do(std.Add, nil, v, places)
	if c.has(1) {
		v = c.do(std.Add, nil, v, c.do(std.Embedding, nil, c.x(1), c.x(4)))
	}
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(v.Type().Dim(-1)), Eps: eps}
	out := []op.Value{c.do(std.LayerNorm, a, v, c.x(5), c.x(6))}
	if c.outputs() > 1 {
		var count op.Value
		if c.has(7) {
			kept := c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.do(std.Eq, std.BinaryAttrs{Other: op.Int(1)}, c.x(7)))
			count = c.do(std.Cast, std.CastAttrs{DType: array.I32}, c.do(std.Sum, std.ReduceAttrs{Dim: op.IntList(1)}, kept))
		} else {
			count = c.do(std.Zeros, std.SizeAttrs{Size: shape.Of(t.Dim(0)), DType: array.I32})
		}
		out = append(out, count)
	}
	if c.outputs() > 2 {
		out = append(out, v)
	}
	return out
}

// contribGroupNorm has the channels last, unless it says otherwise.
func contribGroupNorm(c *call) []op.Value { return []op.Value{groupNormOf(c, c.x(0))} }

func groupNormOf(c *call, x op.Value) op.Value {
	last := c.flag("channels_last", true)
	groups, silu := c.int("groups", 0), c.flag("activation", false)
	a := std.GroupNormAttrs{NumGroups: groups, Eps: c.float("epsilon", 1e-5)}
	if groups < 1 {
		panic(diag.New(CodeModel, "groups is "+strconv.Itoa(groups)))
	}
	if last {
		x = channels(c, x, true)
	}
	wide := func(i int) op.Value { return c.do(std.Cast, std.CastAttrs{DType: c.typ(0).DType()}, c.x(i)) }
	y := c.do(std.GroupNorm, a, x, wide(1), wide(2))
	if silu {
		y = c.do(std.Silu, nil, y)
	}
	if last {
		y = channels(c, y, false)
	}
	return y
}

// skipGroupNorm is a group norm of a sum, which is a result as well. skip may be one
// value for each image and channel.
func skipGroupNorm(c *call) []op.Value {
	if !c.flag("channels_last", true) {
		panic(diag.New(CodeAttribute, "SkipGroupNorm with channels_last of 0 is not supported"))
	}
	skip := c.x(3)
	for c.rank(3) == 2 && skip.Type().Rank() < c.rank(0) {
		skip = c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, skip)
	}
	sum := c.do(std.Add, nil, c.x(0), skip)
	if c.has(4) {
		sum = c.do(std.Add, nil, sum, c.x(4))
	}
	out := []op.Value{groupNormOf(c, sum), sum}
	return out[:max(1, min(2, c.outputs()))]
}

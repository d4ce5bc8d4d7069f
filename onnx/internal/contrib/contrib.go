package contrib

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/onnx/internal/standard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// ownRules are operators of the domain com.microsoft, into which ONNX Runtime and
// its optimiser fuse those of ONNX.
var ownRules = map[string][]rule.Rule{
	"Gelu":      rule.From(1, func(c *rule.Call) []op.Value { return c.One(std.Gelu, nil, c.X(0)) }),
	"BiasGelu":  rule.From(1, func(c *rule.Call) []op.Value { return c.One(std.Gelu, nil, c.Do(std.Add, nil, c.X(0), c.X(1))) }),
	"FastGelu":  rule.From(1, fastGelu),
	"QuickGelu": rule.From(1, quickGelu),
	"BiasAdd": rule.From(1, func(c *rule.Call) []op.Value {
		return c.One(std.Add, nil, c.Do(std.Add, nil, c.X(0), c.X(1)), c.X(2))
	}),
	"BiasSplitGelu":         rule.From(1, biasSplitGelu),
	"FusedMatMul":           rule.From(1, fusedMatMul),
	"TransposeMatMul":       rule.From(1, fusedMatMul),
	"FusedMatMulActivation": rule.From(1, func(c *rule.Call) []op.Value { return activated(c, fusedMatMul(c)[0], fusedParams(c)) }),
	"FusedGemm":             rule.From(1, func(c *rule.Call) []op.Value { return activated(c, standard.Gemm(c)[0], fusedParams(c)) }),
	"FusedConv":             rule.From(1, fusedConv),
	"NhwcConv":              rule.From(1, nhwcConv),
	"Trilu":                 rule.From(1, standard.Trilu),
	"GatherND":              rule.From(1, standard.GatherND),
	"Pad":                   rule.From(1, contribPad),
	"ExpandDims":            rule.From(1, expandDims),
	"CDist":                 rule.From(1, distances),
	"Unique":                rule.From(1, firstUnique),
	"CropAndResize":         rule.From(1, cropAndResize),

	"SkipLayerNormalization":           rule.From(1, skipLayerNorm),
	"SkipSimplifiedLayerNormalization": rule.From(1, skipSimplifiedNorm),
	"SimplifiedLayerNormalization":     rule.From(1, standard.SimplifiedNorm),
	"EmbedLayerNormalization":          rule.From(1, embedLayerNorm),
	"GroupNorm":                        rule.From(1, contribGroupNorm),
	"SkipGroupNorm":                    rule.From(1, skipGroupNorm),
}

// fastGelu approximates by tanh, of the sum with a bias.
func fastGelu(c *rule.Call) []op.Value {
	x := c.X(0)
	if c.Has(1) {
		x = c.Do(std.Add, nil, x, c.X(1))
	}
	return c.One(std.Gelu, std.GeluAttrs{Approximate: "tanh"}, x)
}

func quickGelu(c *rule.Call) []op.Value {
	v := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(c.Float("alpha", 1.702))}, c.X(0))
	return c.One(std.Mul, nil, c.X(0), c.Do(std.Sigmoid, nil, v))
}

// biasSplitGelu multiplies one half of the features by the gelu of the other.
func biasSplitGelu(c *rule.Call) []op.Value {
	v := c.Do(std.Add, nil, c.X(0), c.X(1))
	h := c.Items(c.Do(std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: -1}, v), 2)
	return c.One(std.Mul, nil, h[0], c.Do(std.Gelu, nil, h[1]))
}

// fusedMatMul multiplies transposed operands, by a factor. transBatch means that the first
// dimension is the rows, and the ones after it are the batch.
func fusedMatMul(c *rule.Call) []op.Value {
	alpha := c.Float("alpha", 1)
	operand := func(i int, trans, batch string) op.Value {
		x := c.X(i)
		rank := c.Rank(i)
		if c.Flag(batch, false) && rank > 2 {
			x = c.Do(std.Movedim, std.MovedimAttrs{Source: op.IntList(0), Destination: op.IntList(rank - 2)}, x)
		}
		if c.Flag(trans, false) && rank > 1 {
			x = c.Do(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, x)
		}
		return x
	}
	v := c.Do(std.Matmul, nil, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB"))
	if alpha != 1 {
		v = c.Do(std.Mul, std.BinaryAttrs{Other: standard.Factor(alpha, c.Type(0).DType())}, v)
	}
	return []op.Value{v}
}

// fusedParams are the numbers of a fused activation that are attributes of their own.
func fusedParams(c *rule.Call) (list []float64) {
	for _, name := range []string{"activation_alpha", "activation_beta", "activation_gamma"} {
		if c.Given(name) {
			list = append(list, c.Float(name, 0))
		}
	}
	return list
}

// activated applies the activation that is fused to an operator, if any.
func activated(c *rule.Call, x op.Value, params []float64) []op.Value {
	name := c.Text("activation", "")
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
		return c.One(std.Clamp, std.ClampAttrs{Min: op.Float(p(0, -3.4028234663852886e38)), Max: op.Float(p(1, 3.4028234663852886e38))}, x)
	case "HardSwish":
		return c.One(std.Hardswish, nil, x)
	case "Gelu":
		return c.One(std.Gelu, nil, x)
	case "Softmax":
		return c.One(std.Softmax, std.DimAttrs{Dim: c.Int("activation_axis", -1)}, x)
	}
	var alphas, betas []float64
	if len(params) > 0 {
		alphas = params[:1]
	}
	if len(params) > 1 {
		betas = params[1:2]
	}
	a := standard.ActivationOf(name, &alphas, &betas)
	return []op.Value{a.Apply(standard.CellWriter{Builder: c.Builder}, x)}
}

// fusedConv is a convolution, a sum with a fourth operand, and an activation.
func fusedConv(c *rule.Call) []op.Value {
	v := standard.Conv(c)[0]
	if c.Has(3) {
		v = c.Do(std.Add, nil, v, c.X(3))
	}
	return activated(c, v, c.Floats("activation_params"))
}

// channels moves the last dimension to the place of the channels, or back.
func channels(c *rule.Call, x op.Value, first bool) op.Value {
	a := std.MovedimAttrs{Source: op.IntList(-1), Destination: op.IntList(1)}
	if !first {
		a = std.MovedimAttrs{Source: op.IntList(1), Destination: op.IntList(-1)}
	}
	return c.Do(std.Movedim, a, x)
}

// moved is the node on other operands.
func moved(c *rule.Call, in ...op.Value) *rule.Call {
	inner := *c
	inner.In = make([]*rule.Datum, len(in))
	for i, v := range in {
		if v == nil {
			continue
		}
		switch v := v.(type) {
		case *graph.Node:
			inner.In[i] = &rule.Datum{Node: v}
		case spec.Constants:
			inner.In[i] = &rule.Datum{Arr: v.A[0]}
		}
	}
	return &inner
}

// nhwcConv has the channels last in the input, the weight and the result.
func nhwcConv(c *rule.Call) []op.Value {
	if c.Rank(0) < 3 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected spatial dimensions"))
	}
	w := c.Prepared(1, func(x op.Value) op.Value { return channels(c, x, true) })
	y := standard.Conv(moved(c, channels(c, c.X(0), true), w, c.Opt(2)))[0]
	return []op.Value{channels(c, y, false)}
}

// contribPad has one more dimension around pads, sometimes.
func contribPad(c *rule.Call) []op.Value {
	if c.Type(1).Rank() != 2 {
		return standard.PadInputs(c)
	}
	inner := *c
	inner.In = append([]*rule.Datum(nil), c.In...)
	switch v := c.Value(1); {
	case v.Arr != nil:
		inner.In[1] = &rule.Datum{Arr: array.Reshape(v.Arr, v.Arr.Len())}
	case v.Sizes != nil:
		inner.In[1] = &rule.Datum{Sizes: &rule.Sizes{Dims: v.Sizes.Dims, Shape: []int{len(v.Sizes.Dims)}, DType: v.Sizes.DType}}
	default:
		inner.In[1] = &rule.Datum{Name: v.Name, Node: standard.Reshape(c, c.X(1), shape.Const(-1)).(*graph.Node)}
	}
	return standard.PadInputs(&inner)
}

func expandDims(c *rule.Call) []op.Value {
	return c.One(std.Unsqueeze, std.DimAttrs{Dim: c.Axis(c.Index(1), c.Rank(0)+1)}, c.X(0))
}

// distances are those of all pairs of rows.
func distances(c *rule.Call) []op.Value {
	metric := c.OneOf("metric", "sqeuclidean", "euclidean")
	squares := func(x op.Value) op.Value {
		return c.Do(std.Sum, std.ReduceAttrs{Dim: op.IntList(1), KeepDim: true}, c.Do(std.Mul, nil, x, x))
	}
	turned := func(x op.Value) op.Value { return c.Do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x) }
	a, b := c.X(0), c.X(1)
	products := c.Do(std.Mul, std.BinaryAttrs{Other: op.Int(2)}, c.Do(std.Matmul, nil, a, turned(b)))
	v := c.Do(std.Sub, nil, c.Do(std.Add, nil, squares(a), turned(squares(b))), products)
	v = c.Do(std.Clamp, std.ClampAttrs{Min: op.Float(0)}, v)
	if metric == "euclidean" {
		v = c.Do(std.Sqrt, nil, v)
	}
	return []op.Value{v}
}

// firstUnique has the elements in the order in which they come first.
func firstUnique(c *rule.Call) []op.Value {
	v := c.Items(c.Do(std.Unique, std.UniqueAttrs{Flat: true, Unsorted: true}, c.X(0)), 4)
	return []op.Value{v[0], v[2], v[3]}
}

// cropAndResize samples boxes, whose corners are parts of the image; points outside of
// the image have a value of their own.
func cropAndResize(c *rule.Call) []op.Value {
	mode := c.OneOf("mode", "bilinear", "nearest")
	beyond := c.Float("extrapolation_value", 0)
	n, _, h, w := standard.Image(c)
	size := c.Ints(3)
	if len(size) != 2 || size[0] < 1 || size[1] < 1 {
		panic(diag.New(spec.CodeModel, "crop_size is "+c.Type(3).String()+", expected two sizes"))
	}
	_ = n
	boxes := c.Type(1).Dim(0)
	at := func(axis int, d shape.Dim, count int) (place, outside op.Value) {
		limit := c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.Size(d.AddInt(-1), array.I64))
		side := func(k int) op.Value {
			s := c.Do(std.Slice, std.SliceAttrs{Dim: 1, Start: shape.Const(axis + k), Stop: shape.Const(axis + k + 1)}, c.X(1))
			return c.Do(std.Mul, nil, s, limit)
		}
		low, high := side(0), side(2)
		p := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(0.5)}, c.Do(std.Add, nil, low, high))
		if count > 1 {
			i := c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.Do(std.Arange, std.ArangeAttrs{End: shape.Const(count)}))
			step := c.Do(std.Div, std.DivAttrs{Other: op.Float(float64(count - 1))}, c.Do(std.Sub, nil, high, low))
			p = c.Do(std.Add, nil, low, c.Do(std.Mul, nil, i, step))
		}
		out := c.Do(std.LogicalOr, nil, c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, p), c.Do(std.Gt, nil, p, limit))
		half := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(0.5)}, limit)
		return c.Do(std.Sub, std.SubAttrs{Other: op.Float(1)}, c.Do(std.Div, nil, p, half)), out
	}
	y, above := at(0, h, size[0])
	x, beside := at(1, w, size[1])
	full := shape.Of(boxes, shape.Const(size[0]), shape.Const(size[1]))
	rows := func(v op.Value) op.Value { return c.Do(std.Unsqueeze, std.DimAttrs{Dim: 2}, v) }
	columns := func(v op.Value) op.Value { return c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, v) }
	spread := func(v op.Value) op.Value { return c.Do(std.Expand, std.ExpandAttrs{Shape: full}, v) }
	grid := c.Do(std.Stack, std.DimAttrs{Dim: -1}, spread(columns(x)), spread(rows(y)))
	images := c.Do(std.IndexSelect, std.DimAttrs{}, c.X(0), c.X(2))
	v := c.Do(std.GridSample, std.GridSampleAttrs{Mode: mode, PaddingMode: "border", AlignCorners: true}, images, grid)
	outside := columns(c.Do(std.LogicalOr, nil, rows(above), columns(beside)))
	fill := c.Do(std.Full, std.FullAttrs{Value: op.Float(beyond), DType: c.Type(0).DType()})
	return c.One(std.Where, nil, outside, fill, v)
}

// skipSum is the sum of input and skip, and of the bias at operand i. skip may lack the batch.
func skipSum(c *rule.Call, i int) op.Value {
	v := c.Do(std.Add, nil, c.X(0), c.X(1))
	if c.Has(i) {
		v = c.Do(std.Add, nil, v, c.X(i))
	}
	return v
}

// summed are the results of a norm after a sum: neither mean nor deviation.
func summed(c *rule.Call, y, sum op.Value) []op.Value {
	out := []op.Value{y, nil, nil, sum}
	return out[:max(1, min(4, c.Outputs()))]
}

func skipLayerNorm(c *rule.Call) []op.Value {
	sum := skipSum(c, 4)
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(sum.Type().Dim(-1)), Eps: c.Float("epsilon", 1e-12)}
	return summed(c, c.Do(std.LayerNorm, a, sum, c.X(2), c.Opt(3)), sum)
}

func skipSimplifiedNorm(c *rule.Call) []op.Value {
	sum := skipSum(c, 3)
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(sum.Type().Dim(-1)), Eps: c.Float("epsilon", 1e-12)}
	return summed(c, c.Do(std.RmsNorm, a, sum, c.X(2)), sum)
}

// embedLayerNorm adds the embeddings of words, positions and segments; its second result
// is how many tokens the mask keeps.
func embedLayerNorm(c *rule.Call) []op.Value {
	eps, _ := c.Float("epsilon", 1e-12), c.Int("mask_index_type", 0)
	ids := c.X(0)
	t := ids.Type()
	if t.Rank() != 2 {
		panic(diag.New(spec.CodeModel, "input_ids is "+t.String()+", expected two dimensions"))
	}
	v := c.Do(std.Embedding, nil, ids, c.X(2))
	var places op.Value
	if c.Has(8) {
		places = c.Do(std.Embedding, nil, c.X(8), c.X(3))
	} else {
		places = c.Do(std.Slice, std.SliceAttrs{Stop: t.Dim(1)}, c.X(3))
	}
	v = c.Do(std.Add, nil, v, places)
	if c.Has(1) {
		v = c.Do(std.Add, nil, v, c.Do(std.Embedding, nil, c.X(1), c.X(4)))
	}
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(v.Type().Dim(-1)), Eps: eps}
	out := []op.Value{c.Do(std.LayerNorm, a, v, c.X(5), c.X(6))}
	if c.Outputs() > 1 {
		var count op.Value
		if c.Has(7) {
			kept := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(1)}, c.X(7)))
			count = c.Do(std.Cast, std.CastAttrs{DType: array.I32}, c.Do(std.Sum, std.ReduceAttrs{Dim: op.IntList(1)}, kept))
		} else {
			count = c.Do(std.Zeros, std.SizeAttrs{Size: shape.Of(t.Dim(0)), DType: array.I32})
		}
		out = append(out, count)
	}
	if c.Outputs() > 2 {
		out = append(out, v)
	}
	return out
}

// contribGroupNorm has the channels last, unless it says otherwise.
func contribGroupNorm(c *rule.Call) []op.Value { return []op.Value{groupNormOf(c, c.X(0))} }

func groupNormOf(c *rule.Call, x op.Value) op.Value {
	last := c.Flag("channels_last", true)
	groups, silu := c.Int("groups", 0), c.Flag("activation", false)
	a := std.GroupNormAttrs{NumGroups: groups, Eps: c.Float("epsilon", 1e-5)}
	if groups < 1 {
		panic(diag.New(spec.CodeModel, "groups is "+strconv.Itoa(groups)))
	}
	if last {
		x = channels(c, x, true)
	}
	wide := func(i int) op.Value { return c.Do(std.Cast, std.CastAttrs{DType: c.Type(0).DType()}, c.X(i)) }
	y := c.Do(std.GroupNorm, a, x, wide(1), wide(2))
	if silu {
		y = c.Do(std.Silu, nil, y)
	}
	if last {
		y = channels(c, y, false)
	}
	return y
}

// skipGroupNorm is a group norm of a sum, which is a result as well. skip may be one
// value for each image and channel.
func skipGroupNorm(c *rule.Call) []op.Value {
	if !c.Flag("channels_last", true) {
		panic(diag.New(spec.CodeAttribute, "SkipGroupNorm with channels_last of 0 is not supported"))
	}
	skip := c.X(3)
	for c.Rank(3) == 2 && skip.Type().Rank() < c.Rank(0) {
		skip = c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, skip)
	}
	sum := c.Do(std.Add, nil, c.X(0), skip)
	if c.Has(4) {
		sum = c.Do(std.Add, nil, sum, c.X(4))
	}
	out := []op.Value{groupNormOf(c, sum), sum}
	return out[:max(1, min(2, c.Outputs()))]
}

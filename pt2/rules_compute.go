package pt2

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// axes are those that a reduction names, none for all of them.
func axes(c *call, name string, x op.Value) op.Ints {
	list := c.ints(name)
	if x.Type().Rank() == 0 {
		return op.Ints{} // PyTorch takes 0 and -1
	}
	return op.IntList(list...)
}

// keepdim is an argument of most reductions.
func keepdim(c *call) bool {
	if _, ok := c.def["keepdim"]; !ok {
		return false
	}
	return c.bool("keepdim")
}

// reduction is an operator that reduces the dimensions of the argument dim, or all.
func reduction(o *op.Op, args string) rule {
	return rule{args: args, build: func(c *call) []op.Value {
		x := c.x("self")
		if _, ok := c.def["dtype"]; ok {
			x = c.cast(c.dtype("dtype", array.Invalid), x)
		}
		a := std.ReduceAttrs{KeepDim: keepdim(c)}
		if _, ok := c.def["dim"]; ok {
			a.Dim = axes(c, "dim", x)
		}
		return c.one(o, a, x)
	}}
}

const (
	overAll  = "self dtype=None"
	overDims = "self dim=None keepdim=False dtype=None"
	onDims   = "self dim=[] keepdim=False"
)

// reduceRules are reductions, running sums and operators that order elements.
var reduceRules = map[string]rule{
	"sum": reduction(std.Sum, overAll), "sum.dim_IntList": reduction(std.Sum, overDims),
	"prod": reduction(std.Prod, overAll), "prod.dim_int": reduction(std.Prod, "self dim keepdim=False dtype=None"),
	"mean": reduction(std.Mean, overAll), "mean.dim": reduction(std.Mean, overDims),
	"amax": reduction(std.Amax, onDims), "amin": reduction(std.Amin, onDims),
	"any": reduction(std.Any, "self"), "any.dim any.dims": reduction(std.Any, "self dim=None keepdim=False"),
	"all": reduction(std.All, "self"), "all.dim all.dims": reduction(std.All, "self dim=None keepdim=False"),
	"max": plain("self", std.Max), "min": plain("self", std.Min),
	"max.dim": extreme(std.MaxDim), "min.dim": extreme(std.MinDim),
	"argmax": position(std.Argmax), "argmin": position(std.Argmin),
	"var.correction": variance(std.Var, false), "std.correction": variance(std.Std, false),
	"var.dim var": variance(std.Var, false), "std.dim std": variance(std.Std, false),
	"var_mean.correction": variance(std.Var, true), "std_mean.correction": variance(std.Std, true),
	"logsumexp": {args: "self dim keepdim=False", build: func(c *call) []op.Value {
		return c.one(std.Logsumexp, std.LogsumexpAttrs{Dim: op.IntList(c.ints("dim")...), KeepDim: c.bool("keepdim")}, c.x("self"))
	}},
	"linalg_vector_norm": {args: "self ord=2 dim=None keepdim=False dtype=None", build: norm("ord")},
	"norm.ScalarOpt_dim norm.Scalar norm.ScalarOpt_dim_dtype": {args: "self p=2 dim=None keepdim=False dtype=None", build: norm("p")},
	"cumsum": running(std.Cumsum), "cumprod": running(std.Cumprod),
	"sort":           {args: "self dim=-1 descending=False", build: sorting},
	"sort.stable":    {args: "self stable=None dim=-1 descending=False", build: sorting},
	"argsort":        {args: "self dim=-1 descending=False", build: func(c *call) []op.Value { return sorting(c)[1:] }},
	"argsort.stable": {args: "self stable dim=-1 descending=False", build: func(c *call) []op.Value { return sorting(c)[1:] }},
	"topk": {args: "self k dim=-1 largest=True sorted=True", build: func(c *call) []op.Value {
		a := std.TopkAttrs{K: c.int("k"), Dim: c.int("dim"), Smallest: !c.bool("largest"), Unsorted: !c.bool("sorted")}
		return c.items(c.do(std.Topk, a, c.x("self")), 2)
	}},
	"count_nonzero": {args: "self dim=None", build: nonzeros}, "count_nonzero.dim_IntList": {args: "self dim", build: nonzeros},
	"softmax.int special_softmax": {args: "self dim dtype=None", build: softmax(std.Softmax)},
	"_softmax":                    {args: "self dim half_to_float", build: softmax(std.Softmax)},
	"log_softmax.int":             {args: "self dim dtype=None", build: softmax(std.LogSoftmax)},
	"_log_softmax":                {args: "self dim half_to_float", build: softmax(std.LogSoftmax)},
	"searchsorted.Tensor": {args: "sorted_sequence self out_int32=False right=False side=None sorter=None", build: func(c *call) []op.Value {
		if side := c.text("side", ""); side == "left" && c.bool("right") || side != "" && side != "left" && side != "right" || c.given("sorter") {
			panic(refuse(CodeArgument, "side="+quote(side)+" or sorter is not supported"))
		}
		v := c.do(std.Searchsorted, std.SearchsortedAttrs{Right: c.bool("right") || c.text("side", "") == "right"}, c.x("sorted_sequence"), c.x("self"))
		return []op.Value{asInt32(c, v)}
	}},
	"bucketize.Tensor": {args: "self boundaries out_int32=False right=False", build: func(c *call) []op.Value {
		v := c.do(std.Searchsorted, std.SearchsortedAttrs{Right: c.bool("right")}, c.x("boundaries"), c.x("self"))
		return []op.Value{asInt32(c, v)}
	}},
}

// asInt32 converts indices where the argument out_int32 asks for it.
func asInt32(c *call, v op.Value) op.Value {
	if c.bool("out_int32") {
		return c.cast(array.I32, v)
	}
	return v
}

func extreme(o *op.Op) rule {
	return rule{args: "self dim keepdim=False", build: func(c *call) []op.Value {
		return c.items(c.do(o, std.MinMaxAttrs{Dim: c.int("dim"), KeepDim: c.bool("keepdim")}, c.x("self")), 2)
	}}
}

func position(o *op.Op) rule {
	return rule{args: "self dim=None keepdim=False", build: func(c *call) []op.Value {
		x := c.x("self")
		return c.one(o, std.ArgAttrs{Dim: axes(c, "dim", x), KeepDim: c.bool("keepdim")}, x)
	}}
}

// variance has a correction of 1 where none is given; pairs have the mean, too.
func variance(o *op.Op, pair bool) rule {
	return rule{args: "self dim=None correction=None unbiased=True keepdim=False", build: func(c *call) []op.Value {
		x := c.x("self")
		a := std.VarAttrs{Dim: axes(c, "dim", x), KeepDim: c.bool("keepdim"), Correction: op.Float(1)}
		if c.given("correction") {
			a.Correction = op.Float(c.float("correction"))
		} else if !c.bool("unbiased") {
			a.Correction = op.Float(0)
		}
		out := c.one(o, a, x)
		if pair {
			out = append(out, c.do(std.Mean, std.ReduceAttrs{Dim: a.Dim, KeepDim: a.KeepDim}, x))
		}
		return out
	}}
}

func norm(order string) func(c *call) []op.Value {
	return func(c *call) []op.Value {
		x := c.cast(c.dtype("dtype", array.Invalid), c.x("self"))
		a := std.NormAttrs{Dim: axes(c, "dim", x), KeepDim: c.bool("keepdim")}
		if c.given(order) && c.float(order) != 2 {
			a.P = op.Float(c.float(order))
		}
		return c.one(std.Norm, a, x)
	}
}

func running(o *op.Op) rule {
	return rule{args: "self dim dtype=None", build: func(c *call) []op.Value {
		return c.one(o, std.ScanAttrs{Dim: c.int("dim")}, c.cast(c.dtype("dtype", array.Invalid), c.x("self")))
	}}
}

func sorting(c *call) []op.Value {
	a := std.SortAttrs{Dim: c.int("dim"), Descending: c.bool("descending"), Stable: true} // which is an order that PyTorch may give
	return c.items(c.do(std.Sort, a, c.x("self")), 2)
}

func nonzeros(c *call) []op.Value {
	x := c.do(std.Ne, std.BinaryAttrs{Other: op.Int(0)}, c.x("self"))
	return c.one(std.Sum, std.ReduceAttrs{Dim: axes(c, "dim", x)}, x)
}

func softmax(o *op.Op) func(c *call) []op.Value {
	return func(c *call) []op.Value {
		x := c.x("self")
		if _, ok := c.def["half_to_float"]; ok && c.bool("half_to_float") {
			x = c.cast(array.F32, x)
		} else if !ok {
			x = c.cast(c.dtype("dtype", array.Invalid), x)
		}
		return c.one(o, std.DimAttrs{Dim: c.int("dim")}, x)
	}
}

// linearRules are products of matrices, convolutions and attention.
var linearRules = map[string]rule{
	"linear": plain("input weight bias=None", std.Linear),
	"mm":     plain("self mat2", std.Matmul), "bmm": plain("self mat2", std.Bmm), "matmul": plain("self other", std.Matmul),
	"mv": plain("self vec", std.Matmul), "dot": plain("self tensor", std.Matmul), "outer ger": plain("self vec2", std.Outer),
	"addmm": {args: "self mat1 mat2 beta=1 alpha=1", build: func(c *call) []op.Value {
		a := std.AddmmAttrs{Beta: factor(c, "beta"), Alpha: factor(c, "alpha")}
		return c.one(std.Addmm, a, c.x("self"), c.x("mat1"), c.x("mat2"))
	}},
	"baddbmm": {args: "self batch1 batch2 beta=1 alpha=1", build: baddbmm},
	"einsum": {args: "equation tensors path=None", build: func(c *call) []op.Value {
		var in []op.Value
		for _, n := range c.tensors("tensors") {
			in = append(in, n)
		}
		return c.one(std.Einsum, std.EinsumAttrs{Equation: c.text("equation", "")}, in...)
	}},
	"convolution": {args: "input weight bias stride padding dilation transposed output_padding groups", build: convolution},
	"conv1d conv2d conv3d": {args: "input weight bias=None stride=1 padding=0 dilation=1 groups=1", build: func(c *call) []op.Value {
		return convolve(c, "", spatial(c))
	}},
	"conv1d.padding conv2d.padding conv3d.padding": {args: "input weight bias=None stride=1 padding=valid dilation=1 groups=1", build: func(c *call) []op.Value {
		return convolve(c, c.text("padding", "valid"), spatial(c))
	}},
	"conv_transpose1d conv_transpose2d.input conv_transpose3d.input": {args: "input weight bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1", build: func(c *call) []op.Value {
		return transposed(c, spatial(c))
	}},
	"scaled_dot_product_attention":                {args: "query key value attn_mask=None dropout_p=0.0 is_causal=False scale=None enable_gqa=False", build: attention},
	"_scaled_dot_product_flash_attention_for_cpu": {args: "query key value dropout_p=0.0 is_causal=False attn_mask=None scale=None", build: flashAttention},
	"_weight_norm": {args: "v g dim=0", build: weightNorm}, "_weight_norm_interface": {args: "v g dim=0", build: func(c *call) []op.Value { return append(weightNorm(c), nil) }},
}

// factor is a number that is absent where it is 1.
func factor(c *call, name string) op.Scalar {
	n, ok := c.number(name)
	if !ok {
		panic(refuse(CodeValue, "argument "+name+" is not known"))
	}
	if n.Float64() == 1 {
		return op.Scalar{}
	}
	return n
}

func baddbmm(c *call) []op.Value {
	v := c.do(std.Bmm, nil, c.x("batch1"), c.x("batch2"))
	if a := factor(c, "alpha"); a.Present() {
		v = c.do(std.Mul, std.BinaryAttrs{Other: a}, v)
	}
	b := factor(c, "beta")
	if b.Present() && b.Float64() == 0 {
		return []op.Value{v} // self is not looked at
	}
	x := c.x("self")
	if b.Present() {
		x = c.do(std.Mul, std.BinaryAttrs{Other: b}, x)
	}
	return c.one(std.Add, nil, x, v)
}

// spatial is the number of dimensions that a convolution runs along.
func spatial(c *call) int {
	n := c.rank("weight") - 2
	if n < 1 || n > 3 {
		panic(refuse(CodeProgram, "the weight is "+c.typ("weight").String()+", expected 3 to 5 dimensions"))
	}
	return n
}

var (
	convs      = []*op.Op{std.Conv1d, std.Conv2d, std.Conv3d}
	transposes = []*op.Op{std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d}
)

func convolution(c *call) []op.Value {
	if n := spatial(c); c.bool("transposed") {
		return transposed(c, n)
	}
	for _, p := range c.ints("output_padding") {
		if p != 0 {
			panic(refuse(CodeProgram, "output_padding of a convolution that is not transposed"))
		}
	}
	return convolve(c, "", spatial(c))
}

// groups must be positive: 0 would mean the default to operators.
func groups(c *call) int {
	n := c.int("groups")
	if n < 1 {
		panic(refuse(CodeProgram, "groups is not positive"))
	}
	return n
}

// convolve is a convolution along n dimensions; x without a batch gets one for it.
func convolve(c *call, mode string, n int) []op.Value {
	a := std.ConvAttrs{Stride: c.spread("stride", n), Dilation: c.spread("dilation", n), Groups: groups(c), PadMode: mode}
	if mode == "" {
		a.Padding = c.spread("padding", n)
	}
	return batched(c, n, convs[n-1], a)
}

func transposed(c *call, n int) []op.Value {
	a := std.ConvTransposeAttrs{Stride: c.spread("stride", n), Padding: c.spread("padding", n), OutputPadding: c.spread("output_padding", n),
		Dilation: c.spread("dilation", n), Groups: groups(c)}
	return batched(c, n, transposes[n-1], a)
}

// batched calls a convolution; one image without a batch becomes a batch of one.
func batched(c *call, n int, o *op.Op, attrs any) []op.Value {
	x := c.x("input")
	single := x.Type().Rank() == n+1
	if single {
		x = c.do(std.Unsqueeze, std.DimAttrs{}, x)
	}
	v := c.do(o, attrs, x, c.x("weight"), c.opt("bias"))
	if single {
		v = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(0)}, v)
	}
	return []op.Value{v}
}

func attention(c *call) []op.Value {
	if c.float("dropout_p") != 0 {
		panic(training)
	}
	a := std.AttentionAttrs{IsCausal: c.bool("is_causal")}
	if _, ok := c.def["enable_gqa"]; ok {
		a.EnableGqa = c.bool("enable_gqa")
	}
	if c.given("scale") {
		a.Scale = op.Float(c.float("scale"))
	}
	return c.one(std.ScaledDotProductAttention, a, c.x("query"), c.x("key"), c.x("value"), c.opt("attn_mask"))
}

func flashAttention(c *call) []op.Value { return append(attention(c), nil) }

// weightNorm is v * g / |v|, with the norm over all dimensions except one.
func weightNorm(c *call) []op.Value {
	v := c.x("v")
	keep := c.axisOf(c.int("dim"), c.rank("v"))
	var over []int
	for i := range c.rank("v") {
		if i != keep {
			over = append(over, i)
		}
	}
	n := c.do(std.Norm, std.NormAttrs{Dim: op.IntList(over...), KeepDim: true}, v)
	return c.one(std.Mul, nil, v, c.do(std.Div, nil, c.x("g"), n))
}

// normRules are normalisations.
var normRules = map[string]rule{
	"batch_norm": {args: "input weight bias running_mean running_var training momentum eps | cudnn_enabled", build: func(c *call) []op.Value {
		if c.bool("training") {
			return batchStatistics(c)[:1]
		}
		return runningNorm(c)
	}},
	"_native_batch_norm_legit_no_training": {args: "input weight bias running_mean running_var momentum eps", build: func(c *call) []op.Value {
		return append(runningNorm(c), nil, nil)
	}},
	"_native_batch_norm_legit.no_stats": {args: "input weight bias training momentum eps", build: batchStatistics},
	"layer_norm":                        {args: "input normalized_shape weight=None bias=None eps=1e-05 | cudnn_enable", build: layerNorm},
	"native_layer_norm": {args: "input normalized_shape weight bias eps", build: func(c *call) []op.Value {
		return append(layerNorm(c), nil, nil)
	}},
	"rms_norm":        {args: "input normalized_shape weight=None eps=None", build: rmsNorm},
	"_fused_rms_norm": {args: "input normalized_shape weight eps", build: func(c *call) []op.Value { return append(rmsNorm(c), nil) }},
	"group_norm": {args: "input num_groups weight=None bias=None eps=1e-05 | cudnn_enabled", build: func(c *call) []op.Value {
		return c.one(std.GroupNorm, std.GroupNormAttrs{NumGroups: c.int("num_groups"), Eps: c.float("eps")}, c.x("input"), c.opt("weight"), c.opt("bias"))
	}},
	"native_group_norm": {args: "input weight bias N C HxW group eps", build: func(c *call) []op.Value {
		v := c.do(std.GroupNorm, std.GroupNormAttrs{NumGroups: c.int("group"), Eps: c.float("eps")}, c.x("input"), c.opt("weight"), c.opt("bias"))
		return []op.Value{v, nil, nil}
	}},
	"instance_norm": {args: "input weight bias running_mean running_var use_input_stats momentum eps | cudnn_enabled", build: func(c *call) []op.Value {
		if c.bool("use_input_stats") && c.given("running_mean") {
			panic(refuse(CodeArgument, "the operator is that of training, which changes the running statistics").WithHint("export model.eval()"))
		}
		a := std.InstanceNormAttrs{Eps: c.float("eps"), UseRunningStats: !c.bool("use_input_stats")}
		return c.one(std.InstanceNorm, a, c.x("input"), c.opt("running_mean"), c.opt("running_var"), c.opt("weight"), c.opt("bias"))
	}},
}

func runningNorm(c *call) []op.Value {
	return c.one(std.BatchNormInference, std.EpsAttrs{Eps: c.float("eps")}, c.x("input"), c.x("running_mean"), c.x("running_var"), c.opt("weight"), c.opt("bias"))
}

// batchStatistics normalises by those of the batch, where none are kept.
func batchStatistics(c *call) []op.Value {
	if _, ok := c.def["running_mean"]; ok && (c.given("running_mean") || c.given("running_var")) {
		panic(refuse(CodeArgument, "the operator is that of training, which changes the running statistics").WithHint("export model.eval()"))
	}
	if !c.bool("training") {
		panic(refuse(CodeProgram, "running statistics are missing"))
	}
	v := c.do(std.BatchNorm, std.BatchNormAttrs{Eps: c.float("eps"), Training: true}, c.x("input"), nil, nil, c.opt("weight"), c.opt("bias"))
	return []op.Value{v, nil, nil}
}

func layerNorm(c *call) []op.Value {
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(c.dims("normalized_shape")...), Eps: c.float("eps")}
	return c.one(std.LayerNorm, a, c.x("input"), c.opt("weight"), c.opt("bias"))
}

// rmsNorm has the machine's epsilon where none is given.
func rmsNorm(c *call) []op.Value {
	a := std.LayerNormAttrs{NormalizedShape: shape.Of(c.dims("normalized_shape")...)}
	switch {
	case c.given("eps"):
		a.Eps = c.float("eps")
	case c.typ("input").DType() == array.F64:
		a.Eps = math.Nextafter(1, 2) - 1
	case c.typ("input").DType() == array.F32:
		a.Eps = float64(math.Nextafter32(1, 2) - 1)
	default: // PyTorch computes in f32 then
		a.Eps = float64(math.Nextafter32(1, 2) - 1)
	}
	return c.one(std.RmsNorm, a, c.x("input"), c.opt("weight"))
}

// recurrentRules are the recurrent layers.
var recurrentRules = map[string]rule{
	"lstm.input":     {args: "input hx params has_biases num_layers dropout train bidirectional batch_first", build: lstm},
	"gru.input":      {args: "input hx params has_biases num_layers dropout train bidirectional batch_first", build: gru},
	"rnn_tanh.input": {args: "input hx params has_biases num_layers dropout train bidirectional batch_first", build: rnn("")},
	"rnn_relu.input": {args: "input hx params has_biases num_layers dropout train bidirectional batch_first", build: rnn("relu")},
}

func lstmAttrs(c *call) std.LstmAttrs {
	if c.bool("train") && c.float("dropout") != 0 {
		panic(training)
	}
	return std.LstmAttrs{NumLayers: c.int("num_layers"), Bidirectional: c.bool("bidirectional"), BatchFirst: c.bool("batch_first"), NoBias: !c.bool("has_biases")}
}

// states are the operands of a recurrent layer: the sequence, the states it begins with, the weights.
func states(c *call, first ...op.Value) []op.Value {
	in := append([]op.Value{c.x("input")}, first...)
	for _, n := range c.tensors("params") {
		in = append(in, n)
	}
	return in
}

func lstm(c *call) []op.Value {
	h := c.tensors("hx")
	if len(h) != 2 {
		panic(refuse(CodeProgram, "hx has "+count(len(h), "tensor")+", expected 2"))
	}
	// PyTorch, too, tells by the sizes of the states that each step projects its result.
	results, known := h[0].Type().Dim(-1).Int()
	cells, fixed := h[1].Type().Dim(-1).Int()
	if known && fixed && results != cells {
		panic(refuse(CodeArgument, "the result of a step has "+count(results, "element")+", its cell "+strconv.Itoa(cells)+" (proj_size), expected as many").
			WithHint("export it step by step, as products and sums: torch.export.save(ep.run_decompositions(), F.pt2)"))
	}
	return c.items(c.do(std.Lstm, lstmAttrs(c), states(c, h[0], h[1])...), 3)
}

func gru(c *call) []op.Value {
	return c.items(c.do(std.Gru, lstmAttrs(c), states(c, c.x("hx"))...), 2)
}

func rnn(kind string) func(c *call) []op.Value {
	return func(c *call) []op.Value {
		l := lstmAttrs(c)
		a := std.RnnAttrs{Nonlinearity: kind, NumLayers: l.NumLayers, Bidirectional: l.Bidirectional, BatchFirst: l.BatchFirst, NoBias: l.NoBias}
		return c.items(c.do(std.Rnn, a, states(c, c.x("hx"))...), 2)
	}
}

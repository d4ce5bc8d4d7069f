package diag

// gradCodes explains the codes FX305x and FX309x: gradients, and what they compute again.
var gradCodes = []Info{
	{
		//gofx:code passes/recompute.NoBackward
		Code: "FX3050", Title: "graph without a backward half",
		Cause:   "the graph holds no gradient, or its backward half is no longer told apart, because the graph was optimised or read from a file",
		Cure:    "run the pass on the result of ValueAndGrad, before other passes",
		Example: "gm.Apply(ctx, []fx.Pass{recompute.Pass(recompute.Policy{})}, ...) of a graph without gradients",
	},
	{
		//gofx:code passes/recompute.BadPolicy
		Code: "FX3051", Title: "policy of what is computed again does not fit",
		Cause:   "a scope names no module of the graph, a budget lacks the size of a symbol, or scopes and a budget are both set",
		Cure:    "name modules as the graph's scopes do; give the sizes in Policy.Sizes",
		Example: `recompute.Policy{Scopes: []string{"layer9"}} for a network of four layers`,
	},
	{
		//gofx:code passes/recompute.OverBudget
		Code: "FX3052", Title: "budget of kept values cannot be met",
		Cause:   "what cannot be computed again takes more bytes than the budget",
		Cure:    "raise the budget to the least that the message says, or make the batch smaller",
		Example: "recompute.Policy{Budget: 1}",
	},
	{
		//gofx:code passes/grad.Unreached
		Code: "FX3090", Title: "the loss does not depend on a tensor whose gradient is asked for",
		Cause:   "the tensor is not used on the way to the loss, or only where steps, comparisons or integers lie between",
		Cure:    "leave the tensor out, or set AllowUnused for zeros",
		Example: `grad.ValueAndGrad of a graph that returns sum(x), by "x" and "y"`,
	},
	{
		//gofx:code passes/grad.NotFloat
		Code: "FX3091", Title: "gradient of a tensor that holds no floats",
		Cause:   "integers and bools have no gradient, and a type that is not known may be one",
		Cure:    "leave the tensor out, or give it a float type",
		Example: `grad.ValueAndGrad by an input of type i64[3]`,
	},
	{
		//gofx:code passes/grad.NotScalar
		Code: "FX3092", Title: "loss that is no single number",
		Cause:   "a gradient is that of one number; the result has dimensions, is no float, or does not exist",
		Cure:    "end the model with sum, mean or a loss, or use grad.VJP, which takes seeds",
		Example: `grad.ValueAndGrad of a graph that returns f32[3]`,
	},
	{
		//gofx:code passes/grad.EvaluationMode
		Code: "FX3093", Title: "gradient of a graph that was captured for evaluation",
		Cause:   "a call that differs in training computes what evaluation needs: batch_norm with running statistics, dropout that drops nothing",
		Cure:    "capture the model in training mode, or set AllowEvaluation to train with frozen statistics and without dropout",
		Example: `grad.ValueAndGrad of a graph with batch_norm {eps=1e-05}`,
	},
	{
		//gofx:code op.NoGradient
		Code: "FX3094", Title: "operator without a gradient",
		Cause:   "the operator has no rule for its gradient, is a wrapped Go function, or has none for these attributes",
		Cure:    "give the operator Spec.Grad, or use others; docs/grad.md lists which have one",
		Example: `grad.ValueAndGrad through unique`,
	},
	{
		//gofx:code passes/grad.ControlFlow
		Code: "FX3095", Title: "gradient through control flow",
		Cause:   "a while does not say how many trips it makes at most, or a body writes state or acts on the world, which the gradient would do again",
		Cure:    "loop with tensor.WhileAtMost or tensor.Scan; return what is to be written from the body, and write it after the loop",
		Example: `grad.ValueAndGrad through tensor.While`,
	},
	{
		//gofx:code passes/grad.NoSuchTensor
		Code: "FX3096", Title: "gradient by a tensor that the graph lacks",
		Cause:   "no input and no parameter has the name, or matches the pattern",
		Cure:    "use the names of inputs and the paths of parameters",
		Example: `grad.ValueAndGrad by "weigth"`,
	},
	{
		//gofx:code passes/grad.ReadAfterWrite
		Code: "FX3097", Title: "state that is read after it is written",
		Cause:   "a gradient moves writes of state after everything else, which such a read would notice",
		Cure:    "use the value that was written instead of reading the state again",
		Example: `grad.ValueAndGrad of a graph with get_attr after assign of the same path`,
	},
	{
		//gofx:code passes/grad.OpenSize
		Code: "FX3098", Title: "size that a gradient needs is not known",
		Cause:   "where a tensor was stretched must be known, to add up over it; types have sizes that are no expressions",
		Cure:    "give the inputs' types when the model is captured",
		Example: `grad.ValueAndGrad of sum(x + y) for y of type f32[?]`,
	},
	{
		//gofx:code passes/grad.Quantised
		Code: "FX3099", Title: "gradient of a graph that was quantised before",
		Cause:   "a call between the loss and what it is differentiated by is on quantised values: q_linear, int8_linear, quantize",
		Cure:    "differentiate the graph before it is quantised, or set AllowEvaluation to keep integer weights as they are",
		Example: `grad.ValueAndGrad of a graph that passes/quant has converted`,
	},
}

// compileCodes are the codes of compile mode.
var compileCodes = []Info{
	{
		//gofx:code compile/state.Stale
		Code: "FX1070", Title: "the table of a compiled function is not that of the code",
		Cause: "A type of the program has other fields than when fxgen compile was run.",
		Cure:  "Run fxgen compile again.",
		Example: `func staleTable() {
	t := state.Table{Func: "example.com/app.F", Fields: []state.Field{{Type: "example.com/app.Model", Name: "Gone", FieldType: "int"}}}
	compile.New(t, func(in *struct{ M *Model }, _ *struct{}) {})
}`,
	},
	{
		//gofx:code compile.NotRecorded
		Code: "FX1071", Title: "a call of a compiled function cannot be recorded, under Strict",
		Cause: "The call comes to code of which nothing is known, met memory that the table does not list, looked at data, or made what no record can make again.",
		Cure:  "Do what the message says at the line that it names, or leave Strict out: the results are the same.",
		Example: `func opaque(x *tensor.Tensor) {
	t := state.Table{Func: "example.com/app.F", Opaque: []state.Place{{Line: "f.go:9", What: "os.Getenv", Why: "reads the environment"}}}
	f := compile.New(t, func(in *struct{ X *tensor.Tensor }, out *struct{ R *tensor.Tensor }) { out.R = in.X.Relu() }, compile.Strict())
	f.Call(struct{ X *tensor.Tensor }{x})
}`,
	},
	{
		//gofx:code compile.Differs
		Code: "FX1072", Title: "a compiled function would have done another thing than its record says",
		Cause: "A call under Audit whose record fits has computed another graph, or has stored something else: the table does not list all that the function reads.",
		Cure:  "Run fxgen compile again; if the table is fresh, report the function.",
		Example: `func hidden(x *tensor.Tensor) {
	scale := 1.0
	f := compile.New(state.Table{Func: "example.com/app.F"}, func(in *struct{ X *tensor.Tensor }, out *struct{ R *tensor.Tensor }) {
		out.R, scale = in.X.MulScalar(scale), scale+1
	}, compile.Audit(1))
	for range 2 {
		f.Call(struct{ X *tensor.Tensor }{x})
	}
}`,
	},
}

package diag

// quantCodes explains the codes FX6xxx: quantisation.
var quantCodes = []Info{
	{
		//gofx:code passes/quant.BadConfig
		Code: "FX6001", Title: "quantisation is configured wrongly",
		Cause:   "the file is not JSON, has an unknown field or value, a setting contradicts itself, or a rule selects nothing in the graph",
		Cure:    "the position is the field or the rule; docs/quant.md describes them",
		Example: `quant.ParseConfig([]byte("{\"global\": {\"modes\": \"static\"}}"), "quant.json")`,
	},
	{
		//gofx:code passes/quant.Refused
		Code: "FX6002", Title: "request of a strict configuration is not granted",
		Cause:   "the backend has no quantised form of an operator, or not in the requested mode or scheme, or the model does not allow it; the message gives the reason with its code",
		Cure:    "exclude the operator, request a form that the backend has, or leave out strict",
		Example: `quant.Resolve(m, &quant.Config{Global: quant.Setting{Mode: quant.Static}, Strict: true}, &quant.Backend{Name: "bare"})`,
	},
	{
		//gofx:code passes/quant.NotPrepared
		Code: "FX6003", Title: "graph is not prepared for its quantisation",
		Cause:   "it has observers already, has none, or was prepared with another configuration or backend, or changed since",
		Cure:    "run quant-prepare once, after all other passes, and convert with the same configuration and backend",
		Example: `quant.Calibrate(ctx, m, batches, quant.CalibrateOptions{})`,
	},
	{
		//gofx:code passes/quant.NonFinite
		Code: "FX6004", Title: "observed value is NaN, or an input infinite",
		Cause:   "an input of the calibration is not finite, or the model makes a NaN of it; the layers are listed in the order of the graph",
		Cure:    "look at the first one: correct the input or the model, or exclude the layer",
		Example: `quant.Calibrate(ctx, prepared, batchOf(math.NaN()), quant.CalibrateOptions{})`,
	},
	{
		//gofx:code passes/quant.NoBatches
		Code: "FX6005", Title: "calibration has no data",
		Cause:   "the iterator of inputs is empty",
		Cure:    "give typical inputs",
		Example: `quant.Calibrate(ctx, prepared, nothing, quant.CalibrateOptions{})`,
	},
	{
		//gofx:code passes/quant.Uncalibrated
		Code: "FX6006", Title: "graph is not calibrated",
		Cause:   "the observers that the message names have seen no data: the prepared graph did not run, or not with elements there",
		Cure:    "run quant.Calibrate on the prepared graph",
		Example: `passes.Run(ctx, prepared, []passes.Pass{quant.Convert(config, backend)}, passes.Options{})`,
	},
	{
		//gofx:code passes/quant/tune.NotComparable
		Code: "FX6007", Title: "compared graphs do not correspond",
		Cause:   "the graphs have different inputs or results, or no result of f32",
		Cure:    "compare a graph with the result of quant-convert on it",
		Example: `tune.Compare(ctx, float, other, batches, nil)`,
	},
	{
		//gofx:code passes/quant/tune.BudgetMissed
		Code: "FX6008", Title: "float graph does not meet the budget of mixed precision",
		Cause:   "Accept refuses the graph with all operators in float, or the budget is infinite",
		Cure:    "lower the budget, or look for other differences from the reference",
		Example: `trials.Mixed(ctx, tune.MixedOptions{Accept: never})`,
	},
}

package diag

// quantCodes explains the codes FX6xxx: quantisation.
var quantCodes = []Info{
	{
		//gofx:code passes/quant.BadConfig
		Code: "FX6001", Title: "quantisation is configured wrongly",
		Cause:   "the file is no JSON, has a field or a value that there is not, a setting contradicts itself, or a rule selects what the graph does not have",
		Cure:    "the position is the field or the rule; docs/quant.md describes them",
		Example: `quant.ParseConfig([]byte("{\"global\": {\"modes\": \"static\"}}"), "quant.json")`,
	},
	{
		//gofx:code passes/quant.Refused
		Code: "FX6002", Title: "something that a strict configuration asks for is not granted",
		Cause:   "the backend has no quantised form of an operator, or not in the mode or scheme that is asked for, or the model does not allow it; the message gives the reason with its code",
		Cure:    "exclude the operator, ask for what the backend has, or leave out strict",
		Example: `quant.Resolve(m, &quant.Config{Global: quant.Setting{Mode: quant.Static}, Strict: true}, &quant.Backend{Name: "bare"})`,
	},
	{
		//gofx:code passes/quant.NotPrepared
		Code: "FX6003", Title: "graph is not prepared as its quantisation needs",
		Cause:   "it has observers already, has none, or was prepared with another configuration or backend, or changed since",
		Cure:    "run quant-prepare once, behind all other passes, and convert with the same configuration and backend",
		Example: `quant.Calibrate(ctx, m, batches, quant.CalibrateOptions{})`,
	},
	{
		//gofx:code passes/quant.NonFinite
		Code: "FX6004", Title: "value that is observed is NaN, or an input infinite",
		Cause:   "an input of the calibration is not finite, or the model makes a NaN of it; the layers are listed in the order of the graph",
		Cure:    "look at the first one: mend the input or the model, or exclude the layer",
		Example: `quant.Calibrate(ctx, prepared, batchOf(math.NaN()), quant.CalibrateOptions{})`,
	},
	{
		//gofx:code passes/quant.NoBatches
		Code: "FX6005", Title: "calibration has no data",
		Cause:   "the iterator of inputs is empty",
		Cure:    "give inputs that are like those of use",
		Example: `quant.Calibrate(ctx, prepared, nothing, quant.CalibrateOptions{})`,
	},
	{
		//gofx:code passes/quant.Uncalibrated
		Code: "FX6006", Title: "graph that is to be converted is not calibrated",
		Cause:   "observers, which the message names, have seen nothing: no run of the prepared graph, or none with elements there",
		Cure:    "run quant.Calibrate on the prepared graph",
		Example: `passes.Run(ctx, prepared, []passes.Pass{quant.Convert(config, backend)}, passes.Options{})`,
	},
	{
		//gofx:code passes/quant.NotComparable
		Code: "FX6007", Title: "graphs whose values are to be compared do not correspond",
		Cause:   "the graphs have different inputs or results, or no result of f32",
		Cure:    "compare a graph with what quant-convert has made of it",
		Example: `quant.Compare(ctx, float, other, batches, nil)`,
	},
	{
		//gofx:code passes/quant.BudgetMissed
		Code: "FX6008", Title: "budget of mixed precision is not met by the float graph",
		Cause:   "Accept refuses the graph with all operators in float, or the budget is infinite",
		Cure:    "ask for less, or look at what else differs from the reference",
		Example: `trials.Mixed(ctx, quant.MixedOptions{Accept: never})`,
	},
}

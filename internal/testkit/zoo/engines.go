package zoo

// built are the networks for which Go code is built and run on every change.
var built = []string{"mlp", "resnet18", "unet", "dlrm"}

// Engines are the ways to run networks, in the order of the page.
var Engines = []Engine{
	{Name: "eager", Doc: "Forward is called"},
	{Name: "interp", Doc: "the trace is interpreted"},
	{Name: "plan", Doc: "the trace is optimised and compiled in the process"},
	{Name: "module", Doc: "the trace is written as a Go module, built and run", Always: built},
	{Name: "gen", Doc: "the trace is written as Go code of kernels, built and run", Always: built},
	{Name: "lazy", Doc: "Forward is called four times in a lazy session", Always: quick},
	{Name: "compile", Doc: "the compiled function is called four times", Always: quick},
	{Name: "gpu", Doc: "the plan runs on an OpenCL or CUDA device, PoCL on every change",
		Always: []string{"mlp", "resnet18", "mobilenet_v3_large", "deep_recommender", "learning_to_paint"}},
	{Name: "xla", Doc: "XLA runs the program of the trace; all programs are verified on every change", Always: evaluated},
	{Name: "int8", Doc: "the plan of the network that is quantised statically, with bounds of its own",
		Always: []string{"mlp", "squeezenet1_1", "gru_bidir", "dlrm"},
		Bound:  0.05, Bounds: map[string]float64{"mobilenet_v2": 0.15, "mobilenet_v3_large": 0.12, "efficientnet_b1": 0.08, "lstm_10x256": 0.3, "align": 0.15, "bert_large": 0.1, "roberta_large": 0.1},
		Not: map[string]string{
			"quantized_resnet18": "the network rounds to 8 bits itself",
			"lstm_cells":         "a cell has no form in 8 bits, so nothing is quantised",
			"greedy_decoder":     "products in the body of a loop stay in f32, so nothing is quantised",
		}},
}

// quick are the networks that sessions and compiled functions run on every change.
var quick = []string{"mlp", "resnet18", "shufflenet_v2_x1_0", "blockdrop", "unet", "gru_bidir", "attn_decoder", "greedy_decoder", "wordseg", "dlrm"}

// evaluated are the networks small enough to be computed on every change by XLA and by the
// evaluator of its programs.
var evaluated = []string{"mlp", "attn_decoder", "greedy_decoder", "wordseg", "dlrm"}

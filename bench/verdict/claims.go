package verdict

// Names of ways in rows, and rows that several claims are about.
const (
	eager   = "eager"
	exact   = "plan exact"
	program = "program"
	session = "session"
	one     = "call by call"
)

var chains = []string{"lazy/8ops_n100", "lazy/16ops_n100", "lazy/32ops_n100", "lazy/8ops_n1000", "lazy/16ops_n1000", "lazy/32ops_n1000"}

// compiled are the networks of W32, whole those of them that W31 is about.
var (
	compiled = []string{"results/W20_align", "results/W21_bert_256", "results/W22_deberta_256", "results/W32_densenet121", "results/W24_monodepth", "results/W25_quantized", "results/W26_resnet101", "results/W27_tridentnet"}
	whole    = []string{"results/W21_bert_256", "results/W22_deberta_256", "results/W24_monodepth", "results/W25_quantized", "results/W27_tridentnet"}
)

// captured are the names of their graphs.
var captured = []string{"align", "bert_256", "deberta_256", "densenet121", "monodepth", "quantized", "resnet101", "tridentnet"}

// graphs are those of all of them in one way.
func graphs(way string) Figure {
	return Mean(Each(func(name string) Figure { return Counted("results/W34_counts", name+": "+way) }, captured...)...)
}

// network are the claims of one network: one record, as the paper has, and the speed of eager code, except for what measuring is off by.
func network(name, row, paper string) []Claim {
	return []Claim{{What: "records", Of: Counted("results/W34_counts", name+": records"), Paper: paper, Reached: Exactly(1)},
		{What: "eager by compiled", Of: Ratio(row, eager, ""), Reached: AtLeast(0.95)}}
}

func byOwn(way string) func(row string) Figure {
	return func(row string) Figure { return Ratio(row, way, "") }
}

func wordSeg(suffix string) (list []Figure) {
	for _, n := range []string{"4", "8", "14"} {
		list = append(list, Ratio("results/W13_"+n+"_letters_width_32"+suffix, "", eager))
	}
	return list
}

// traces are graphs that texts make, where the paper has so many traces.
func traces(id, paper string, most float64) []Claim {
	row := "results/" + id + "_counts"
	return []Claim{{What: "graphs, a size a number", Of: Counted(row, "fixed sizes: graphs"), Paper: paper, Reached: AtMost(most)},
		{What: "graphs, sizes as symbols", Of: Counted(row, "symbols: graphs"), Paper: paper, Reached: AtMost(most)}}
}

// Claims are the claims of all workloads. The ranges follow the papers: as good as its figure is reached, and a gain of
// whatever size is its direction. A claim without a figure of the paper is what gofx is held to.
var Claims = map[string][]Claim{
	"W1": {
		{What: "graphs of a chain", Of: LargestNamed("results/W1_counts", "graphs"), Reached: Exactly(1)},
		{What: "eager by a session, the largest of six", Of: Largest(Each(byOwn(eager), chains...)...), Paper: "12", Reached: AtLeast(12), Shape: AtLeast(1)},
	},
	"W2": {
		{What: "graphs", Of: Counted("results/W2_counts", "graphs"), Reached: Exactly(2)},
		{What: "a call by one of 32 without branches", Of: Per(Times("lazy/32ops_n1000_branches", "", "lazy/32ops_n1000", ""), 2), Reached: AtMost(1.05)},
	},
	"W3": traces("W3", "87", 87),
	"W4": traces("W4", "87", 87),
	"W5": traces("W5", "87", 87),
	"W6": traces("W6", "246", 246),
	"W7": {
		{What: "graphs after 1000 images", Of: Counted("results/W7_counts", "graphs after 1000 images"), Paper: "1048", Reached: AtMost(1048)},
		{What: "graphs from 10 images to 1000", Of: Less(Counted("results/W7_counts", "graphs after 1000 images"), Counted("results/W7_counts", "graphs after 10 images")), Reached: Exactly(0)},
	},
	"W8": {{What: "flushes that no code asked for", Of: SumOf("results/W8_counts", "flushes by ", "flushes by item"), Reached: Exactly(0)}},
	"W9": {{What: "TorchScript by a session, the largest of six", Of: Largest(Each(byOwn("torch-jit"), chains...)...), Paper: "5", Reached: AtLeast(5), Shape: AtLeast(1)}},

	"W10": {{What: "percent of the lines", Of: Counted("results/W10_counts", "percent"), Paper: "75", Reached: AtLeast(75), Shape: AtLeast(50)}},
	"W11": {
		{What: "compiled after step 3", Of: Counted("results/W11_counts", "compiled after step 3"), Reached: Exactly(0)},
		{What: "losses of 100 equal in bits", Of: Counted("results/W11_counts", "losses of 100 equal in bits"), Reached: Exactly(100)},
		{What: "eager by a session", Of: Ratio("results/W11_masked_lm_step", eager, ""), Reached: AtLeast(1)},
	},
	"W12": {
		{What: "graphs of each session", Of: LargestNamed("results/W12_counts", "graphs"), Reached: Exactly(1)},
		{What: "steps of one of two goroutines by those of one alone", Of: Counted("results/W12_counts", "steps of each by one alone"), Paper: "0.96", Reached: AtLeast(0.96), Shape: AtLeast(0.5)},
	},
	"W13": {
		{What: "score, a session by eager, mean of three lengths", Of: Mean(wordSeg("")...), Paper: "0.64", Reached: AtMost(0.64), Shape: AtMost(1)},
		{What: "with gradients", Of: Mean(wordSeg("_gradient")...), Paper: "0.65", Reached: AtMost(0.65), Shape: AtMost(1)},
	},
	"W14": {
		{What: "compilations for 300 sizes, as numbers", Of: Counted("results/W14_counts", "fixed sizes: graphs"), Reached: Exactly(300)},
		{What: "graphs for 300 sizes, as symbols", Of: Counted("results/W14_counts", "symbols: graphs"), Reached: AtMost(5)},
	},
	"W15": {
		{What: "graphs for 0 to 9 as a factor", Of: Counted("results/W15_counts", "numbers: graphs"), Reached: AtMost(4)},
		{What: "updates of 10 made in place, after the first", Of: Counted("results/W15_counts", "updates: donated"), Reached: AtLeast(7)},
		{What: "writes through views that wait", Of: Counted("results/W15_counts", "views: flushes"), Reached: Exactly(1)},
	},
	"W16": {{What: "n from which 8 calls are faster in a session", Of: Counted("results/W16_counts", "n from which 8 calls are faster in a session"), Reached: AtMost(100)}},
	"W17": {
		{What: "compiled by traced", Of: Ratio("results/W17_decoder_2_layers", program, exact), Paper: "1.00", Reached: Within(1, 0.03), Shape: AtMost(1.2)},
		{What: "eager by compiled", Of: Ratio("results/W17_decoder_2_layers", eager, program), Paper: "2.26", Reached: AtLeast(2.26), Shape: AtLeast(1)},
	},

	"W20": network("align", "results/W20_align", "1"),
	"W21": network("bert_256", "results/W21_bert_256", "1"),
	"W22": network("deberta_256", "results/W22_deberta_256", "1"),
	"W23": network("densenet121", "results/W32_densenet121", "1"),
	"W24": network("monodepth", "results/W24_monodepth", "1"),
	"W25": network("quantized", "results/W25_quantized", "1"),
	"W26": network("resnet101", "results/W26_resnet101", "1"),
	"W27": network("tridentnet", "results/W27_tridentnet", "1"),
	"W28": network("lstm_10x256", "results/W32_lstm_10x256", ""),
	"W29": network("blockdrop", "results/W29_blockdrop", ""),
	"W30": network("seq2seq_50", "results/W30_seq2seq_50", ""),
	"W31": {
		{What: "eager by the whole graph, mean", Of: Mean(Each(func(row string) Figure { return Ratio(row, eager, exact) }, whole...)...), Paper: "1.65", Reached: AtLeast(1.65), Shape: AtLeast(1)},
		{What: "a session by the whole graph, mean", Of: Mean(Each(func(row string) Figure { return Ratio(row, session, exact) }, whole...)...), Paper: "2.85", Reached: AtLeast(2.85), Shape: AtLeast(1)},
	},
	"W32": {
		{What: "eager by compiled, the largest", Of: Largest(Each(byOwn(eager), compiled...)...), Paper: "2.93", Reached: AtLeast(2.93), Shape: AtLeast(1)},
		{What: "mean", Of: Mean(Each(byOwn(eager), compiled...)...), Paper: "1.73", Reached: AtLeast(1.73), Shape: AtLeast(1)},
	},
	"W33": {{What: "eager by compiled", Of: Ratio("results/W32_densenet121", eager, ""), Paper: "1.92", Reached: AtLeast(1.92), Shape: AtLeast(1)}},
	"W34": {
		{What: "records, mean of eight", Of: graphs("records"), Paper: "1", Reached: Exactly(1)},
		{What: "graphs of a session, mean of eight", Of: graphs("session"), Paper: "1.75", Reached: AtMost(1.75)},
		{What: "graphs of a trace, mean of eight", Of: graphs("trace"), Paper: "20.54", Reached: AtMost(20.54)},
	},
	"W35": {
		{What: "percent of static programs captured", Of: Counted("results/W35_counts", "percent of static programs"), Paper: "93.4", Reached: AtLeast(93.4), Shape: AtLeast(50)},
		{What: "programs that change with data and have a record", Of: Counted("results/W35_counts", "dynamic: records"), Reached: Exactly(0)},
	},
	"W36": {{What: "percent of a call that is not the graph, the largest", Of: LargestNamed("results/W36_counts", "percent of the call"), Paper: "2", Reached: AtMost(2), Shape: AtMost(10)}},
	"W37": {
		{What: "records of 15 sizes, the most", Of: LargestNamed("results/W37_counts", "records"), Paper: "1", Reached: AtMost(1), Shape: AtMost(14)},
		{What: "the record of all sizes by one of each, the largest mean", Of: LargestNamed("results/W37_counts", "one of each, mean"), Reached: AtMost(1.1)},
	},
	"W38": {{What: "records of 8 lengths", Of: LargestNamed("results/W38_counts", "records"), Paper: "1", Reached: AtMost(1), Shape: AtMost(7)}},

	"W40": {
		{What: "nodes with a node for each parameter", Of: Counted("results/W40_counts", "nodes, flat"), Paper: "445", Reached: Within(445, 1)},
		{What: "nodes, modules as calls", Of: Counted("results/W40_counts", "nodes, modules"), Reached: Exactly(177)},
	},
	"W41": recommender(),
	"W42": {
		{What: "batch norms left", Of: Counted("results/W42_counts", "batch norms after"), Paper: "0", Reached: Exactly(0)},
		{What: "unfused by fused, call by call, one thread", Of: Ratio("fold/resnet50_interp_b1", "not folded", ""), Paper: "1.18", Reached: AtLeast(1.18), Shape: AtLeast(1)},
		{What: "two threads", Of: Ratio("fold/resnet50_interp_b1 2", "not folded", ""), Paper: "1.41", Reached: AtLeast(1.41), Shape: AtLeast(1)},
	},
	"W43": {
		{What: "ResNet-50, eager by compiled", Of: Ratio("model/resnet50_b1", eager, ""), Paper: "3.69", Reached: AtLeast(3.69), Shape: AtLeast(1)},
		{What: "LearningToPaint, eager by compiled", Of: Ratio("model/learning_to_paint_b1", eager, ""), Paper: "1.55", Reached: AtLeast(1.55), Shape: AtLeast(1)},
	},
}

// recommender are the ratios of floats to integers at the batches of the paper.
func recommender() (list []Claim) {
	for _, v := range []struct {
		batch, paper string
		least        float64
	}{{"1", "3.50", 3.5}, {"16", "3.10", 3.1}, {"64", "1.55", 1.55}, {"128", "1.25", 1.25}, {"256", "1.10", 1.1}} {
		list = append(list, Claim{What: "f32 by int8, batch " + v.batch, Of: Ratio("quant/deep_recommender_static_b"+v.batch, "float", ""), Paper: v.paper, Reached: AtLeast(v.least), Shape: AtLeast(1)})
	}
	return list
}

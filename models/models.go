package models

import (
	"regexp"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Model is an entry of the list of networks.
type Model struct {
	Name string
	Doc  string // one sentence
	// New returns a pointer to the module, its weights zero.
	New     func() any
	Inputs  []InputSpec
	Outputs []string // names of the results of Forward, in order
	// Multipliers keep deep networks with synthetic weights in range.
	Multipliers []Multiplier
	// Constants are parameters that have one value everywhere instead of a synthetic one.
	Constants []Constant
	// Dims are the sizes of symbols that the reference outputs were computed with.
	Dims map[string]int
}

// InputSpec describes one tensor argument of Forward and how a synthetic one is made.
type InputSpec struct {
	Name string
	Type string // text form with symbols: "f32[N,3,224,224]"
	Rule InputRule
}

// ShapeType returns the parsed Type.
func (s InputSpec) ShapeType() shape.Type {
	t, err := shape.ParseType(s.Type)
	if err != nil {
		panic(err)
	}
	return t
}

// DType returns the element type.
func (s InputSpec) DType() array.DType { return s.ShapeType().DType() }

// Multiplier scales the synthetic parameters whose name matches.
type Multiplier struct {
	Name   *regexp.Regexp
	Factor float64
}

// Constant gives the parameters whose name matches a value.
type Constant struct {
	Name  *regexp.Regexp
	Value float64
}

// All returns every network, in a fixed order.
func All() []*Model { return slices.Clone(all) }

// Lookup returns the network of that name, nil when there is none.
func Lookup(name string) *Model {
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func damp(pattern string, factor float64) Multiplier {
	return Multiplier{regexp.MustCompile(pattern), factor}
}

// classifier returns the entry of a network from images of 224 by 224 to scores.
func classifier(name, doc string, make func() any, multipliers ...Multiplier) *Model {
	return &Model{Name: name, Doc: doc, New: make,
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,3,224,224]", Rule: Uniform{}}},
		Outputs:     []string{"logits"},
		Multipliers: multipliers,
		Dims:        map[string]int{"N": 1}}
}

// lastNorms damps the last norm of every residual block of a ResNet.
func lastNorms(norm string, factor float64) Multiplier {
	return damp(`layer\d\.\d+\.`+norm+`\.weight$`, factor)
}

// batchOf changes the batch of an entry.
func batchOf(n int, m *Model) *Model {
	m.Dims["N"] = n
	return m
}

func constant(pattern string, value float64) Constant {
	return Constant{regexp.MustCompile(pattern), value}
}

// encoder returns the entry of a network from n texts of s tokens, the last of which are masked,
// to hidden states and a pooled one.
func encoder(name, doc string, make func() any, c BertConfig, n, s, masked int) *Model {
	mask := InputRule(Fixed{1})
	if masked > 0 {
		mask = Set{mask, []Slab{{Axis: 1, From: -masked}}}
	}
	return &Model{Name: name, Doc: doc, New: make,
		Inputs: []InputSpec{
			{Name: "input_ids", Type: "i64[N,S]", Rule: Integers{High: c.VocabSize}},
			{Name: "attention_mask", Type: "i64[N,S]", Rule: mask},
		},
		Outputs: []string{"last_hidden_state", "pooler_output"}, Dims: map[string]int{"N": n, "S": s}}
}

// unpooled takes the pooled state away.
func unpooled(m *Model) *Model {
	m.Outputs = m.Outputs[:1]
	return m
}

// padded makes the last tokens of each text RoBERTa's padding.
func padded(n int, m *Model) *Model {
	m.Inputs[0].Rule = Set{m.Inputs[0].Rule, []Slab{{Axis: 1, From: -n, Value: 1}}}
	return m
}

var all = slices.Concat(
	[]*Model{{Name: "mlp", Doc: "A perceptron with two hidden layers.", New: func() any { return NewMLP() },
		Inputs:  []InputSpec{{Name: "x", Type: "f32[N,784]", Rule: Uniform{}}},
		Outputs: []string{"y"}, Dims: map[string]int{"N": 8}}},
	vision, text, tables)

var vision = []*Model{
	classifier("resnet18", "ResNet-18, arXiv:1512.03385.", func() any { return NewResNet18() }, lastNorms("bn2", 0.35)),
	batchOf(3, classifier("resnet18_b3", "ResNet-18 with a batch of three images.", func() any { return NewResNet18() }, lastNorms("bn2", 0.35))),
	classifier("resnet34", "ResNet-34, arXiv:1512.03385.", func() any { return NewResNet34() }, lastNorms("bn2", 0.35)),
	classifier("resnet50", "ResNet-50, arXiv:1512.03385.", func() any { return NewResNet50() }, lastNorms("bn3", 0.35)),
	classifier("resnet101", "ResNet-101, arXiv:1512.03385.", func() any { return NewResNet101() }, lastNorms("bn3", 0.2)),
	classifier("resnext50_32x4d", "ResNeXt-50 (32x4d), arXiv:1611.05431.", func() any { return NewResNeXt50() }, lastNorms("bn3", 0.35)),
	classifier("alexnet", "AlexNet, arXiv:1404.5997.", func() any { return NewAlexNet() }),
	classifier("vgg11", "VGG-11, arXiv:1409.1556.", func() any { return NewVGG11() }),
	classifier("vgg16_bn", "VGG-16 with batch norms, arXiv:1409.1556.", func() any { return NewVGG16BN() }),
	classifier("squeezenet1_1", "SqueezeNet 1.1, arXiv:1602.07360.", func() any { return NewSqueezeNet11() }),
	classifier("googlenet", "GoogLeNet, arXiv:1409.4842.", func() any { return NewGoogLeNet() }),
	classifier("shufflenet_v2_x1_0", "ShuffleNet V2, arXiv:1807.11164.", func() any { return NewShuffleNetV2() },
		damp(`^stage\d\.\d+\.branch2\.[146]\.weight$`, 0.75)),
	classifier("regnet_y_400mf", "RegNetY of 400 million multiply-adds, arXiv:2003.13678.", func() any { return NewRegNetY400MF() },
		damp(`\.f\.c\.1\.weight$`, 0.5)),
	classifier("convnext_tiny", "ConvNeXt tiny, arXiv:2201.03545.", func() any { return NewConvNeXtTiny() }, damp(`layer_scale$`, 0.2)),
	classifier("densenet121", "DenseNet-121, arXiv:1608.06993.", func() any { return NewDenseNet121() }),
	classifier("mobilenet_v2", "MobileNet V2, arXiv:1801.04381.", func() any { return NewMobileNetV2() }),
	classifier("mobilenet_v3_large", "MobileNet V3 large, arXiv:1905.02244.", func() any { return NewMobileNetV3Large() },
		damp(`^features\.\d+\.block\.\d\.1\.weight$`, 0.88)),
	classifier("efficientnet_b0", "EfficientNet B0, arXiv:1905.11946.", func() any { return NewEfficientNetB0() },
		damp(`features\.\d\.\d+\.block\.\d\.1\.weight$`, 1.07)),
	classifier("efficientnet_b1", "EfficientNet B1, arXiv:1905.11946.", func() any { return NewEfficientNetB1() },
		damp(`features\.\d\.\d+\.block\.\d\.1\.weight$`, 1.03)),
	classifier("vit_b_16", "ViT base with patches of 16 by 16, arXiv:2010.11929.", func() any { return NewViT(ViTB16) }),
	classifier("swin_t", "Swin tiny, arXiv:2103.14030.", func() any { return NewSwinT() }),
	{Name: "quantized_resnet18", Doc: "ResNet-18 that simulates 8 bits.", New: func() any { return NewQuantizedResNet18() },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,3,224,224]", Rule: Uniform{}}},
		Outputs:     []string{"logits", "stem"},
		Multipliers: []Multiplier{lastNorms("bn2", 0.35)},
		Constants: []Constant{
			constant(`^conv1\.quantize_input\.running_min$`, -1), constant(`^conv1\.quantize_input\.running_max$`, 1),
			constant(`quantize_input\.running_min$`, 0), constant(`quantize_input\.running_max$`, 8)},
		Dims: map[string]int{"N": 1}},
	{Name: "tridentnet", Doc: "The backbone of TridentNet, arXiv:1901.01892.", New: func() any { return NewTridentNet() },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,3,224,224]", Rule: Uniform{}}},
		Outputs:     []string{"features"},
		Multipliers: []Multiplier{lastNorms("bn3", 0.35)},
		Dims:        map[string]int{"N": 1}},
	{Name: "blockdrop", Doc: "A residual network whose blocks a policy leaves out, arXiv:1711.08393.", New: func() any { return NewBlockDrop() },
		Inputs: []InputSpec{
			{Name: "x", Type: "f32[N,3,32,32]", Rule: Uniform{}},
			{Name: "policy", Type: "f32[N,15]", Rule: Set{Below{0.7}, []Slab{{Axis: 1, From: 6, To: 7}, {Axis: 1, From: 10, To: 11}}}},
		},
		Outputs:     []string{"logits", "blocks_run"},
		Multipliers: []Multiplier{damp(`blocks\.\d\.\d\.bn2\.weight$`, 0.5)},
		Dims:        map[string]int{"N": 4}},
	{Name: "fcn_resnet50", Doc: "FCN on ResNet-50, arXiv:1411.4038.", New: func() any { return NewFCNResNet50() },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,3,H,W]", Rule: Uniform{}}},
		Outputs:     []string{"out"},
		Multipliers: []Multiplier{lastNorms("bn3", 0.35)},
		Dims:        map[string]int{"N": 1, "H": 128, "W": 128}},
	{Name: "deeplabv3_mobilenet_v3_large", Doc: "DeepLab V3 on MobileNet V3, arXiv:1706.05587.", New: func() any { return NewDeepLabV3MobileNetV3Large() },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,3,H,W]", Rule: Uniform{}}},
		Outputs:     []string{"out"},
		Multipliers: []Multiplier{damp(`^backbone\.\d+\.block\.\d\.1\.weight$`, 0.88)},
		Dims:        map[string]int{"N": 1, "H": 128, "W": 128}},
	{Name: "monodepth_resnet18", Doc: "Depth from one image, arXiv:1609.03677.", New: func() any { return NewMonoDepth() },
		Inputs:  []InputSpec{{Name: "x", Type: "f32[N,3,256,256]", Rule: Uniform{}}},
		Outputs: []string{"disp1", "disp2", "disp3", "disp4"},
		Multipliers: []Multiplier{damp(`^conv[2-5]\.\d\.normalize\.weight$`, 0.5),
			damp(`^(upconv|iconv)\d\..*normalize\.weight$`, 0.7), damp(`^disp\d_layer\.normalize\.weight$`, 0.5)},
		Dims: map[string]int{"N": 1}},
	{Name: "unet", Doc: "A small U-Net, after arXiv:1505.04597.", New: func() any { return NewUNet() },
		Inputs:  []InputSpec{{Name: "x", Type: "f32[N,3,H,W]", Rule: Uniform{}}},
		Outputs: []string{"y"}, Dims: map[string]int{"N": 1, "H": 96, "W": 96}},
	{Name: "learning_to_paint", Doc: "The actor that learns to paint, arXiv:1903.04411.", New: func() any { return NewPainter() },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,9,128,128]", Rule: Uniform{}}},
		Outputs:     []string{"action"},
		Multipliers: []Multiplier{lastNorms("bn2", 0.35)},
		Dims:        map[string]int{"N": 1}},
}

var text = []*Model{
	encoder("bert_base", "BERT base, uncased, arXiv:1810.04805.", func() any { return NewBert(BertBase) }, BertBase, 1, 32, 5),
	encoder("bert_large", "BERT large, uncased, arXiv:1810.04805.", func() any { return NewBert(BertLarge) }, BertLarge, 1, 16, 0),
	padded(5, encoder("roberta_base", "RoBERTa base, arXiv:1907.11692.", func() any { return NewBert(RobertaBase) }, RobertaBase, 1, 32, 5)),
	encoder("roberta_large", "RoBERTa large, arXiv:1907.11692.", func() any { return NewBert(RobertaLarge) }, RobertaLarge, 1, 16, 0),
	unpooled(encoder("distilbert", "DistilBERT base, uncased, arXiv:1910.01108.", func() any { return NewDistilBert(DistilBertBase) }, DistilBertBase, 2, 20, 5)),
	unpooled(encoder("deberta_base", "DeBERTa base, arXiv:2006.03654.", func() any { return NewDeberta(DebertaBase) }, DebertaBase, 1, 24, 5)),
	{Name: "align", Doc: "ALIGN base, arXiv:2102.05918.", New: func() any { return NewAlign() },
		Inputs: []InputSpec{
			{Name: "input_ids", Type: "i64[T,S]", Rule: Integers{High: BertBase.VocabSize}},
			{Name: "attention_mask", Type: "i64[T,S]", Rule: Set{Fixed{1}, []Slab{{Axis: 1, From: -5}}}},
			{Name: "pixel_values", Type: "f32[N,3,224,224]", Rule: Uniform{}},
		},
		Outputs:     []string{"image_embeds", "text_embeds", "logits_per_text"},
		Multipliers: []Multiplier{damp(`features\.\d\.\d+\.block\.\d\.1\.weight$`, 1.07), damp(`^temperature$`, 0.05)},
		Dims:        map[string]int{"T": 2, "S": 64, "N": 1}},
	{Name: "gpt2", Doc: "GPT-2 small.", New: func() any { return NewGPT2(GPT2Small) },
		Inputs:  []InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: Integers{High: GPT2Small.VocabSize}}},
		Outputs: []string{"last_hidden_state", "logits"}, Dims: map[string]int{"N": 1, "S": 24}},
	{Name: "lstm_10x256", Doc: "An LSTM of ten layers.", New: func() any { return NewLSTM(256, 10) },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[T,N,256]", Rule: Uniform{}}},
		Outputs:     []string{"output", "h_n", "c_n"},
		Multipliers: []Multiplier{damp(`^weight_`, 2)},
		Dims:        map[string]int{"T": 64, "N": 1}},
	{Name: "lstm_cells", Doc: "Ten LSTM cells in a loop over time.", New: func() any { return NewLSTMCells(256, 10) },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[64,N,256]", Rule: Uniform{}}},
		Outputs:     []string{"output", "h_last", "c_last"},
		Multipliers: []Multiplier{damp(`\.weight_`, 2)},
		Dims:        map[string]int{"N": 1}},
	{Name: "gru_bidir", Doc: "A GRU of two layers in both directions.", New: func() any { return NewGRU(64, 96, 2) },
		Inputs:  []InputSpec{{Name: "x", Type: "f32[N,T,64]", Rule: Uniform{}}},
		Outputs: []string{"output", "h_n"}, Dims: map[string]int{"N": 2, "T": 20}},
	{Name: "attn_decoder", Doc: "A step of a translator with attention, arXiv:1409.0473.", New: func() any { return NewAttnDecoder(3797, 256, 50) },
		Inputs: []InputSpec{
			{Name: "token", Type: "i64[1,1]", Rule: Integers{High: 3797}},
			{Name: "hidden", Type: "f32[1,1,256]", Rule: Uniform{}},
			{Name: "encoder_outputs", Type: "f32[50,256]", Rule: Uniform{}},
		},
		Outputs:     []string{"log_probs", "hidden", "attn_weights"},
		Multipliers: []Multiplier{damp(`^embedding`, 10)}},
	{Name: "greedy_decoder", Doc: "A decoder that writes words until all texts have ended.", New: func() any { return NewGreedyDecoder(3797, 256, 50) },
		Inputs: []InputSpec{
			{Name: "std", Type: "f32[50,N,3797]", Rule: ForcedTokens{[][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {11, 12, 13, 14, 15}}}},
			{Name: "h", Type: "f32[N,256]", Rule: Uniform{}},
			{Name: "c", Type: "f32[N,256]", Rule: Uniform{}},
		},
		Outputs:     []string{"tokens", "h", "last_logits"},
		Multipliers: []Multiplier{damp(`_l0_t$`, 12), damp(`^embedding`, 10)},
		Dims:        map[string]int{"N": 2}},
	{Name: "wordseg", Doc: "A segmental language model, arXiv:1811.09353, without a lexicon.", New: func() any { return NewSegmentalLM(60, 32, 64, 4) },
		Inputs:      []InputSpec{{Name: "chars", Type: "i64[14]", Rule: Integers{High: 60}}},
		Outputs:     []string{"alpha", "nll"},
		Multipliers: []Multiplier{damp(`^embedding`, 10), damp(`^out\.weight$`, 4)}},
}

var tables = []*Model{
	{Name: "deep_recommender", Doc: "DeepRecommender, arXiv:1708.01715.", New: func() any { return NewDeepRecommender(17768) },
		Inputs:  []InputSpec{{Name: "x", Type: "f32[N,17768]", Rule: Ratings{}}},
		Outputs: []string{"y"}, Dims: map[string]int{"N": 4}},
	{Name: "dlrm", Doc: "DLRM, arXiv:1906.00091.", New: func() any { return NewDLRM(DLRMTables) },
		Inputs: []InputSpec{
			{Name: "dense", Type: "f32[N,13]", Rule: Uniform{}},
			{Name: "sparse", Type: "i64[N,8,3]", Rule: IntegersBy{Axis: 1, High: DLRMTables}},
		},
		Outputs:     []string{"prob"},
		Multipliers: []Multiplier{damp(`^emb_l`, 10), damp(`^(bot|top)_l\.\d\.weight$`, 1.6)},
		Dims:        map[string]int{"N": 5}},
}

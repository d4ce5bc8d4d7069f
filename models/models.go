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
	classifier("vgg16_bn", "VGG-16 with batch norms, arXiv:1409.1556.", func() any { return NewVGG16BN() }),
	classifier("squeezenet1_1", "SqueezeNet 1.1, arXiv:1602.07360.", func() any { return NewSqueezeNet11() }),
	classifier("densenet121", "DenseNet-121, arXiv:1608.06993.", func() any { return NewDenseNet121() }),
	classifier("mobilenet_v2", "MobileNet V2, arXiv:1801.04381.", func() any { return NewMobileNetV2() }),
	classifier("mobilenet_v3_large", "MobileNet V3 large, arXiv:1905.02244.", func() any { return NewMobileNetV3Large() },
		damp(`^features\.\d+\.block\.\d\.1\.weight$`, 0.88)),
	classifier("efficientnet_b0", "EfficientNet B0, arXiv:1905.11946.", func() any { return NewEfficientNetB0() },
		damp(`features\.\d\.\d+\.block\.\d\.1\.weight$`, 1.07)),
	classifier("efficientnet_b1", "EfficientNet B1, arXiv:1905.11946.", func() any { return NewEfficientNetB1() },
		damp(`features\.\d\.\d+\.block\.\d\.1\.weight$`, 1.03)),
	classifier("vit_b_16", "ViT base with patches of 16 by 16, arXiv:2010.11929.", func() any { return NewViT(ViTB16) }),
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
	{Name: "bert_base", Doc: "BERT base, uncased, arXiv:1810.04805.", New: func() any { return NewBert(BertBase) },
		Inputs: []InputSpec{
			{Name: "input_ids", Type: "i64[N,S]", Rule: Integers{High: BertBase.VocabSize}},
			{Name: "attention_mask", Type: "i64[N,S]", Rule: Set{Fixed{1}, []Slab{{Axis: 1, From: -5}}}},
		},
		Outputs: []string{"last_hidden_state", "pooler_output"}, Dims: map[string]int{"N": 1, "S": 32}},
	{Name: "gpt2", Doc: "GPT-2 small.", New: func() any { return NewGPT2(GPT2Small) },
		Inputs:  []InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: Integers{High: GPT2Small.VocabSize}}},
		Outputs: []string{"last_hidden_state", "logits"}, Dims: map[string]int{"N": 1, "S": 24}},
	{Name: "lstm_10x256", Doc: "An LSTM of ten layers.", New: func() any { return NewLSTM(256, 10) },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[T,N,256]", Rule: Uniform{}}},
		Outputs:     []string{"output", "h_n", "c_n"},
		Multipliers: []Multiplier{damp(`^weight_`, 2)},
		Dims:        map[string]int{"T": 64, "N": 1}},
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

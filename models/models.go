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

func damp(pattern string, factor float64) []Multiplier {
	return []Multiplier{{regexp.MustCompile(pattern), factor}}
}

// resnet returns the entry of a residual network.
func resnet(name, doc string, batch int, lastNorm string, factor float64, make func() *ResNet) *Model {
	return &Model{Name: name, Doc: doc, New: func() any { return make() },
		Inputs:      []InputSpec{{Name: "x", Type: "f32[N,3,224,224]", Rule: Uniform{}}},
		Outputs:     []string{"logits"},
		Multipliers: damp(`layer\d\.\d+\.`+lastNorm+`\.weight$`, factor),
		Dims:        map[string]int{"N": batch}}
}

var all = []*Model{
	{Name: "mlp", Doc: "A perceptron with two hidden layers.", New: func() any { return NewMLP() },
		Inputs:  []InputSpec{{Name: "x", Type: "f32[N,784]", Rule: Uniform{}}},
		Outputs: []string{"y"}, Dims: map[string]int{"N": 8}},
	resnet("resnet18", "ResNet-18, arXiv:1512.03385.", 1, "bn2", 0.35, NewResNet18),
	resnet("resnet18_b3", "ResNet-18 with a batch of three images.", 3, "bn2", 0.35, NewResNet18),
	resnet("resnet34", "ResNet-34, arXiv:1512.03385.", 1, "bn2", 0.35, NewResNet34),
	resnet("resnet50", "ResNet-50, arXiv:1512.03385.", 1, "bn3", 0.35, NewResNet50),
	resnet("resnet101", "ResNet-101, arXiv:1512.03385.", 1, "bn3", 0.2, NewResNet101),
	{Name: "bert_base", Doc: "BERT base, uncased, arXiv:1810.04805.", New: func() any { return NewBert(BertBase) },
		Inputs: []InputSpec{
			{Name: "input_ids", Type: "i64[N,S]", Rule: Integers{High: BertBase.VocabSize}},
			{Name: "attention_mask", Type: "i64[N,S]", Rule: Set{Fixed{1}, []Slab{{Axis: 1, From: -5}}}},
		},
		Outputs: []string{"last_hidden_state", "pooler_output"}, Dims: map[string]int{"N": 1, "S": 32}},
	{Name: "gpt2", Doc: "GPT-2 small.", New: func() any { return NewGPT2(GPT2Small) },
		Inputs:  []InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: Integers{High: GPT2Small.VocabSize}}},
		Outputs: []string{"last_hidden_state", "logits"}, Dims: map[string]int{"N": 1, "S": 24}},
}

package importer

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// refusedOps says why operators are refused for good, by domain and name; * stands for all
// others of a domain.
var refusedOps = map[string]map[string]string{
	"": {
		"RandomNormal": isRandom, "RandomNormalLike": isRandom, "RandomUniform": isRandom, "RandomUniformLike": isRandom, "Multinomial": isRandom,
		"Bernoulli":    isRandom,
		"StringConcat": isStrings, "StringNormalizer": isStrings, "StringSplit": isStrings, "RegexFullMatch": isStrings, "TfIdfVectorizer": isStrings,
		"ImageDecoder": "it decodes files; decode images with package image and give the model their pixels",
		"Adagrad":      isTraining, "Adam": isTraining, "Momentum": isTraining, "Gradient": isTraining, "GraphCall": isTraining,
	},
	"com.microsoft": {
		"Tokenizer": isStrings, "MurmurHash3": isStrings, "WordConvEmbedding": isStrings,
		"BeamSearch": isSearch, "GreedySearch": isSearch, "Sampling": isSearch, "WhisperBeamSearch": isSearch,
		"QMoE": isExperts, "MoE": isExperts,
		"Rfft": isFourier, "Irfft": isFourier,
		"BiasDropout": isTraining, "BitmaskDropout": isTraining, "BitmaskBiasDropout": isTraining,
	},
	"com.microsoft.nchwc": {"*": "its operators are for one processor; save the optimised model at a lower level of optimisation"},
	spec.MLDomain: {
		"ZipMap": isMaps, "CastMap": isMaps, "DictVectorizer": isMaps, "CategoryMapper": isStrings,
	},
}

// Reasons, each with an alternative.
const (
	isRandom   = "it draws from a generator whose numbers ONNX does not define; make the numbers outside and give them to the model as an input"
	isStrings  = "there are no tensors of strings; do this part outside of the model"
	isMaps     = "there are no maps; export the model without it (zipmap=False in onnxmltools, options={'zipmap': False} in skl2onnx): what goes into it is the tensor"
	isTraining = "it is one of training; export the model for inference"
	isSearch   = "it runs a model in a loop of its own; export the decoder, and write the loop in Go"
	isExperts  = "mixtures of experts are not supported; export the model without fusing them"
	isFourier  = "ONNX's DFT is supported; export the model with operator set 17 or newer"
)

// alternatives names replacements for an unknown operator.
func alternatives(d, name string) string {
	for _, key := range []string{name, "*"} {
		if why := refusedOps[d][key]; why != "" {
			return why
		}
	}
	for _, other := range slices.Sorted(maps.Keys(meanings)) {
		if other != d && meanings[other][name] != nil {
			return name + " is known in the domain " + diag.Quote(other)
		}
	}
	return "docs/onnx.md lists the operators that are; export the model without it, or define it as a function of the model"
}

package standard

import (
	"github.com/gofx-dev/gofx/onnx/internal/rule"
)

// Rules are the operators of ONNX's own domain by name, without those that have bodies.
var Rules = rule.Merge(elementwiseRules, shapeRules, linearRules, reduceRules, normRules, moveRules, rnnRules, quantRules, imageRules,
	poolRules, resizeRules, signalRules, visionRules, attentionRules, sequenceRules, byValueRules, linearAttentionRules, lossRules)

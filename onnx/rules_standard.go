package onnx

// standardRules are the operators of ONNX's own domain by name, without those that have bodies.
var standardRules = mergeRules(elementwiseRules, shapeRules, linearRules, reduceRules, normRules, moveRules, rnnRules, quantRules, imageRules,
	poolRules, resizeRules, signalRules, visionRules, attentionRules, sequenceRules, byValueRules, linearAttentionRules, lossRules)

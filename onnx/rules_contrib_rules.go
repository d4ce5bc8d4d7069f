package onnx

// contribRules are the operators by name.
var contribRules = mergeRules(ownRules, contribAttentionRules, contribQuantRules, inverseRules)

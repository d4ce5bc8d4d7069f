// Package tune measures what quantisation costs in accuracy, and reduces it. Compare measures
// the loss of each value, NewTrials keeps inputs and measures forms of one graph:
// Trials.Sensitivities operator by operator, and Trials.Mixed finds the operators to leave in
// float. The passes Equalise and Smooth change weights before quantisation, CorrectBias
// changes biases after it.
//
// It stands above passes/quant, whose configurations and forms it tries, and below the
// targets, which give it engines and costs. It does not decide how a value is
// quantised.
//
// Read quality.go first, then trials.go and mixed.go.
package tune

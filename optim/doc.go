// Package optim has optimisers: how the parameters of a model follow their gradients.
//
// An optimiser is ordinary Go over tensors. Package train captures its Update into the graph of
// a training step, once for each parameter, so that it is printed, optimised and compiled as the
// model is. The state of an optimiser is named tensors of the model's graph: a slot for each
// parameter, and the counters that a Rule shares. So learning rates, which schedules make of a
// counter, and everything else that changes from step to step are data, and one graph serves all steps.
//
// The package stands next to nn, above tensor, and knows no graphs. It does not compute
// gradients (passes/grad), run steps or keep state (train). An optimiser of your own is a type
// with the three methods of Optimiser.
//
// Read optim.go first, then rule.go.
package optim

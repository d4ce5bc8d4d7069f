// Package quant makes models compute with 8 and 4 bits. It resolves a configuration (Config), the
// user's request, against the abilities of a target (Backend) into a Plan. For every operator, weight
// and value the Plan names the rule that asked, the form that is granted, or the reason why none is. The
// pass Prepare adds observers, Calibrate runs them on data, and the pass Convert writes
// the reference form: quantize and dequantize, whose scales and zero points are
// operands, around operators on floats, which every engine runs.
//
// It runs after the passes that fold batch norms and recognise activations, so
// that observers see the final values, and before lowering. Plans treat operators by
// their records (op.Quant) and the backend. Room integer, below this one, makes operators
// on quantised values of the reference form; room tune, above it, measures and reduces
// the loss. The package knows nothing of targets, and does not run integers.
//
// Training for a quantisation (Train, Evaluate, ConvertTrained: train.go and on) makes its graphs of
// the same plan; package train runs them.
//
// Read scheme.go first, then config.go, plan.go, resolve.go and convert.go.
// docs/quant.md is the guide.
package quant

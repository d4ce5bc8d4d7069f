// Package quant makes models compute with 8 and 4 bits: a configuration (Config), what
// people ask for, is resolved against what a target can do (Backend) into a Plan that
// says of every operator, weight and value who asked, what is granted, and why not. The
// pass Prepare adds observers, Calibrate runs them on data, and the pass Convert writes
// the reference form: quantize and dequantize, whose scales and zero points are
// operands, around operators on floats, which every engine runs. The pass Lower rewrites
// it into operators on quantised values, where op/std has them (q_linear, q_conv2d, ...),
// and says of every other candidate why it stays in float. Compare and Trials measure
// what is lost, Equalise, Smooth and CorrectBias lose less.
//
// It comes behind the passes that fold batch norms and recognise activations, so that
// observers see what will be computed, and before lowering. Plans treat operators by
// their records (op.Quant) and the backend; Lower and Equalise name them. The package knows nothing
// of targets, and does not run integers.
//
// Read config.go first, then plan.go, resolve.go and convert.go; lower.go for the
// integer operators. docs/quant.md is the guide.
package quant

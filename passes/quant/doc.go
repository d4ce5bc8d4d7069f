// Package quant makes models compute with 8 and 4 bits: a configuration (Config), what
// people ask for, is resolved against what a target can do (Backend) into a Plan that
// says of every operator, weight and value who asked, what is granted, and why not. The
// pass Prepare adds observers, Calibrate runs them on data, and the pass Convert writes
// the quantised form: quantize and dequantize around operators that compute in floats
// still, which every engine runs and a target replaces by integer operators.
//
// It comes behind the passes that fold batch norms and recognise activations, so that
// observers see what will be computed, and before lowering. Operators are known to it
// by their records (op.Quant) and by the backend; it decides nothing by their names. It
// does not run integers: that is the target's.
//
// Read config.go first, then plan.go, resolve.go and convert.go; docs/quant.md is the
// guide.
package quant

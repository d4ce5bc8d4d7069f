// Package far has functions that programs of package flows give to Cond, While and Scan, and a loop whose functions are
// arguments.
//
// The room is for tests only. Read far.go.
package far

import "github.com/gofx-dev/gofx/tensor"

// Bias is added by Shift.
var Bias = 0.5

// Calls counts those of Counts.
var Calls int

// Shift is a branch.
func Shift(in []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{in[0].AddScalar(Bias)}
}

// Counts is a branch that stores.
func Counts(in []*tensor.Tensor) []*tensor.Tensor {
	Calls++
	return []*tensor.Tensor{in[0].AddScalar(1)}
}

// Until repeats a function until the sum is large.
func Until(x *tensor.Tensor, body func(in []*tensor.Tensor) []*tensor.Tensor) *tensor.Tensor {
	return tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(30) }, body, x)[0]
}

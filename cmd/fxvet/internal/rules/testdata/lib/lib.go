// Package lib has functions that other packages call: what they do is known by facts.
package lib

import "github.com/gofx-dev/gofx/tensor"

// Large reads its first argument.
func Large(x, limit *tensor.Tensor) bool { return x.Sum().Item() > 3 }

// Rows goes through another function.
func Rows(x *tensor.Tensor) int { return rows(x) }

func rows(x *tensor.Tensor) int { return x.Dim(0) }

// Bump writes to its argument.
func Bump(x *tensor.Tensor) { x.AddScalarInPlace(1) }

// Second returns its second argument.
func Second(x, y *tensor.Tensor) *tensor.Tensor { return y }

// Pair holds two tensors.
type Pair struct{ X, W *tensor.Tensor }

// Weight reads the weight of a pair.
func Weight(p Pair) float64 { return p.W.Item() }

// Put stores a tensor for its caller.
func Put(p *Pair, x *tensor.Tensor) { p.X = x }

package cases

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// numeric are models whose plan cannot look at sizes or values that decide the
// resulting numbers.
func numeric() []Case {
	half := func(x *tensor.Tensor) *tensor.Tensor { return x.Cast(array.F16) }
	return []Case{
		function("logsumexp of what may be empty", func(x *tensor.Tensor) *tensor.Tensor { return x.Logsumexp(0) },
			spec("f32[N,3]"), ramp(4, 3), ramp(0, 3)),
		function("logsumexp of all that may be empty", func(x *tensor.Tensor) *tensor.Tensor { return x.Logsumexp() },
			spec("f16[N,C]"), half(ramp(4, 3)), half(ramp(0, 3)), half(ramp(2, 0))),
		function("instance norm of symbolic channels in f16", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.InstanceNorm(x, nil, nil, x.Select(0, 0).Select(1, 0), x.Select(0, 0).Select(1, 1), 1e-5)
		}, spec("f16[N,C,L]"), half(ramp(2, 3, 7)), half(ramp(1, 5, 9))),
		function("attention of symbolic features in f16", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.ScaledDotProductAttention(x.MulScalar(3.1), x.MulScalar(0.7), x.AddScalar(0.1), nil)
		}, spec("f16[N,S,E]"), half(ramp(2, 50, 7)), half(ramp(1, 33, 11))),
		function("deviation beyond the range of the variance", func(x *tensor.Tensor) *tensor.Tensor {
			return x.MulScalar(1e25).Std(1)
		}, spec("f32[N,3]"), ramp(4, 3)),
		function("division by zeros", func(x *tensor.Tensor) *tensor.Tensor {
			n := x.Cast(array.I32)
			return n.FloorDivide(n.SubScalar(1)).Add(n.Remainder(n)).Add(n.Fmod(n.SubScalar(1)))
		}, spec("f32[N]"), ramp(40)),
		{Name: "einsum of symbolic sizes", Fn: outer, Opts: []fx.Option{fx.Input("x", "f32[A,B,3]"), fx.Input("y", "f32[3,C,D]")},
			Inputs: [][]*tensor.Tensor{{ramp(2, 4, 3), ramp(3, 5, 2)}, {ramp(1, 7, 3), ramp(3, 2, 6)}},
			Eager:  func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{outer(in[0], in[1])} }},
	}
}

// outer contracts tensors with two free dimensions each.
func outer(x, y *tensor.Tensor) *tensor.Tensor {
	return tensor.Einsum([]*tensor.Tensor{x, y}, "abi,icd->dacb")
}

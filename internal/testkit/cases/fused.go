package cases

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// fused are models of the values that plans pack, join and put into the memory of
// others, at the edges of where they may.
func fused() []Case {
	w, k := ramp(6, 3), ramp(4, 4, 3, 3).MulScalar(0.1)
	turned := ramp(3, 6).Transpose(0, 1) // has gaps where it is not contiguous
	bias, scale := ramp(4), ramp(4, 1, 1)
	image := []fx.Option{fx.Input("x", "f32[N,4,H,W]")}
	square := ramp(1, 4, 6, 6)
	conv := func(x *tensor.Tensor, stride int) *tensor.Tensor {
		return tensor.Conv2d(x, k, nil, tensor.ConvAttrs{Stride: tensor.Ints(stride), Padding: tensor.Ints(1)})
	}
	return []Case{
		function("one weight in three forms", func(x *tensor.Tensor) *tensor.Tensor {
			y := tensor.Linear(x, w, nil) // [N,6]
			return y.Matmul(w).Add(y.Mul(w.Sum()).Matmul(w))
		}, spec("f32[N,3]"), ramp(2, 3), ramp(5, 3)),
		function("one filter with two strides", func(x *tensor.Tensor) *tensor.Tensor {
			return conv(x, 1).Relu().Sum().Add(conv(x, 2).Relu().Sum())
		}, image, square, ramp(2, 4, 5, 7)),
		function("a residual of the operand itself", func(x *tensor.Tensor) *tensor.Tensor {
			y := conv(x, 1).Add(x)
			return y.Relu().Add(y)
		}, image, square),
		function("a residual that is another view", func(x *tensor.Tensor) *tensor.Tensor {
			return conv(x, 1).Add(x.Transpose(2, 3)).Relu()
		}, image, square),
		function("weights with gaps", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Linear(x, turned, ramp(12).Slice(0, 0, 12, tensor.SliceAttrs{Step: 2})).Relu()
		}, spec("f32[N,3]"), ramp(4, 3)),
		function("bias, scale and clamp in another order", func(x *tensor.Tensor) *tensor.Tensor {
			y := conv(x, 1).Relu().Mul(scale).Add(bias.Reshape(4, 1, 1))
			return y.Add(x).Mul(scale).Relu()
		}, image, square),
		function("a chain over what a view reads later", func(x *tensor.Tensor) *tensor.Tensor {
			a := x.Softmax(1)
			t := a.Transpose(0, 1)
			b := a.Exp().MulScalar(2)
			return b.Softmax(1).Add(t.Reshape(4, 4)).Add(a.Neg().Softmax(0))
		}, spec("f32[4,4]"), ramp(4, 4)),
		function("pieces that are joined, used and joined again", func(x *tensor.Tensor) *tensor.Tensor {
			a, b := x.Softmax(1), x.Neg().Softmax(1)
			one := tensor.Cat([]*tensor.Tensor{a, b}, 0)
			c := one.Softmax(0).Exp()
			two := tensor.Cat([]*tensor.Tensor{a, b, c, a}, 0)
			return two.Softmax(1).Sum(0).Add(a.Sum()).Add(c.Exp().Sum())
		}, spec("f32[N,3]"), ramp(2, 3), ramp(1, 3)),
		function("pieces of a batch of one", func(x *tensor.Tensor) *tensor.Tensor {
			y := conv(x, 1)
			z := tensor.Cat([]*tensor.Tensor{y, x, y.Tanh()}, 1)
			return z.Softmax(1).Mul(z)
		}, image, square, square, square, ramp(2, 4, 5, 7)),
		function("sums over some axes of a chain", func(x *tensor.Tensor) *tensor.Tensor {
			mean := func(x *tensor.Tensor) *tensor.Tensor { return x.MeanWith(1, tensor.ReduceAttrs{KeepDim: true}) }
			y := x.Sub(mean(x))
			return mean(y.Mul(y)).AddScalar(1e-5).Rsqrt().Mul(x.Exp().Amax(0))
		}, spec("f32[N,3]"), ramp(4, 3), ramp(1, 3)),
		function("a norm and relu before convolutions that share them", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(scale).Add(bias.Reshape(4, 1, 1))
			return conv(y.Relu(), 1).Mul(conv(conv(y, 1).Softmax(1).Mul(scale).Relu(), 1))
		}, image, square, ramp(2, 4, 5, 7)),
		function("squeeze and excite between convolutions", func(x *tensor.Tensor) *tensor.Tensor {
			y := conv(x, 1)
			y = y.Mul(y.Sigmoid())
			s := y.MeanWith([]int{2, 3}, tensor.ReduceAttrs{KeepDim: true})
			return conv(s.Sigmoid().Mul(y), 2)
		}, image, square, ramp(2, 4, 5, 7)),
		function("norms between elementwise calls", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(0.5).AddScalar(1).Softmax(-1).Cast(array.F16).Cast(array.F32)
			return y.Add(x.LayerNorm(nil, nil, 3, 1e-5).Silu().Sum(0)).LayerNorm(nil, nil, 3, 1e-3).Mul(x)
		}, spec("f32[N,3]"), ramp(4, 3), ramp(1, 3)),
	}
}

package cases

import (
	"slices"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// All returns every case, with modules of its own on each call.
func All() []Case {
	return slices.Concat(state(), results(), shapes(), control(), numeric(), fused())
}

// Everything returns those of All, Writes and Bodies.
func Everything() []Case { return slices.Concat(All(), Writes(), Bodies()) }

func module(name string, m interface {
	Forward(*tensor.Tensor) *tensor.Tensor
}, opts []fx.Option, in ...*tensor.Tensor) Case {
	return Case{Name: name, Fn: m, Opts: opts, Inputs: sets(in...), Eager: one(m.Forward)}
}

func function(name string, f func(*tensor.Tensor) *tensor.Tensor, opts []fx.Option, in ...*tensor.Tensor) Case {
	return Case{Name: name, Fn: f, Opts: opts, Inputs: sets(in...), Eager: one(f)}
}

func spec(typ string) []fx.Option { return []fx.Option{fx.Input("x", typ)} }

func state() []Case {
	w := ramp(4, 3)
	counter := &Counter{Calls: tensor.FromSlice([]float32{0}, 1)}
	closure := ramp(3)
	counting := module("assign to a buffer", counter, spec("f32[N,3]"), ramp(2, 3), ramp(2, 3))
	counting.Stateful = true
	return []Case{
		module("tied weights", &Tied{Embed: w, Head: w}, spec("f32[N,3]"), ramp(2, 3), ramp(5, 3)),
		module("weight norm", &WeightNorm{V: ramp(4, 3), G: ramp(4, 1)}, spec("f32[N,3]"), ramp(2, 3)),
		function("computed constant", func(x *tensor.Tensor) *tensor.Tensor {
			return x.Matmul(closure.Unsqueeze(1)).Add(tensor.Ones(1))
		}, spec("f32[N,3]"), ramp(4, 3)),
		counting,
	}
}

func results() []Case {
	split := func(x *tensor.Tensor) *tensor.Tensor {
		p := x.Split([]int{1, 2, 3}, 1)
		return p[2].Add(p[0]).Mul(p[1].Sum())
	}
	topk := func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) { return x.Topk(2, 1) }
	lstm := func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
		y, h, _ := tensor.Lstm(x, nil, nil, []*tensor.Tensor{ramp(16, 3), ramp(16, 4), ramp(16), ramp(16)})
		return y, h
	}
	pair := Pair{Left: fx.Meta("f32[2,3]"), Right: fx.Meta("f32[2,3]"), Scale: 0.5}
	wrapped := function("wrapped function", func(x *tensor.Tensor) *tensor.Tensor { return clip(x.MulScalar(2.0)).Neg() }, spec("f32[N,3]"), ramp(4, 3))
	wrapped.Opaque, wrapped.Untyped = true, true
	typed := function("wrapped function with a type rule", abovePeak, spec("f32[N,3]"), ramp(4, 3))
	typed.Opaque = true
	return []Case{
		function("split results", split, spec("f32[N,6]"), ramp(2, 6)),
		{Name: "topk results", Fn: topk, Opts: spec("f32[N,5]"), Inputs: sets(ramp(3, 5)), Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
			v, i := topk(in[0])
			return []*tensor.Tensor{v, i}
		}},
		{Name: "lstm results", Fn: lstm, Opts: spec("f32[5,2,3]"), Inputs: sets(ramp(5, 2, 3)), Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
			y, h := lstm(in[0])
			return []*tensor.Tensor{y, h}
		}},
		{Name: "structured arguments and results", Fn: swap, Opts: []fx.Option{fx.Args(pair)},
			Inputs: [][]*tensor.Tensor{{ramp(2, 3), ramp(2, 3)}}, Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
				p, m := swap(Pair{in[0], in[1], 0.5})
				return []*tensor.Tensor{p.Left, p.Right, m["sum"]}
			}},
		{Name: "variadic arguments", Fn: variadic, Opts: []fx.Option{fx.Args([]*tensor.Tensor{fx.Meta("f32[1,3]"), fx.Meta("f32[2,3]")})},
			Inputs: [][]*tensor.Tensor{{ramp(1, 3), ramp(2, 3)}}, Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{variadic(in...)}
			}},
		function("operator of a user's package", func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.CallOp(Swoosh, nil, x).AddScalar(1.0)
		}, spec("f32[N,3]"), ramp(4, 3)),
		wrapped,
		typed,
	}
}

func shapes() []Case {
	return []Case{
		function("size-dependent reshape without specs", heads, nil, ramp(2, 3, 4), ramp(1, 5, 6)),
		function("size-dependent reshape with symbols", heads, spec("f32[B,S,4]"), ramp(2, 3, 4), ramp(1, 5, 4)),
		function("positions", positions, spec("f32[B,S]"), ramp(2, 3), ramp(1, 7)),
		function("in-place on a proxy", inPlace, spec("f32[N]"), ramp(6)),
	}
}

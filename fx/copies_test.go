package fx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// twoStates has two tensors that keep what is written to them.
type twoStates struct {
	A, B *tensor.Tensor
	step func(p *twoStates, x *tensor.Tensor) *tensor.Tensor
}

func (p *twoStates) Forward(x *tensor.Tensor) []*tensor.Tensor {
	y := p.step(p, x)
	return []*tensor.Tensor{y, p.A, p.B}
}

// copies are programs in which one tensor of the state has the value of another.
var copies = map[string]func(p *twoStates, x *tensor.Tensor) *tensor.Tensor{
	"copied, then written": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.B.AssignInPlace(p.A)
		p.A.Narrow(0, 1, 1).AbsInPlace().Log1pInPlace()
		return x
	},
	"copied the other way": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.A.AssignInPlace(p.B)
		p.B.AddInPlace(x)
		return x
	},
	"swapped": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		was := p.A.Clone()
		p.A.AssignInPlace(p.B)
		p.B.AssignInPlace(was)
		return was
	},
	"a view": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.B.AssignInPlace(p.A.Flip(0))
		p.B.Narrow(0, 0, 1).AssignInPlace(p.A.Narrow(0, 2, 1))
		p.A.AddInPlace(x)
		return p.B.MulScalar(2)
	},
	"reversed in itself": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.A.Unsqueeze(0).AssignInPlace(p.A.Narrow(0, 0, 3).Unsqueeze(0))
		p.A.AddInPlace(x)
		p.B.AssignInPlace(p.A)
		p.A.MulInPlace(x)
		return p.B
	},
	"a local copy is returned": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(0)
		y.AssignInPlace(p.A)
		p.A.AddInPlace(x)
		return y
	},
	"a local copy goes on": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(0)
		y.AssignInPlace(p.B)
		p.B.AssignInPlace(p.A)
		p.A.AssignInPlace(y)
		return y.AddInPlace(x)
	},
	"copied in a branch": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		r := tensor.Cond(x.Sum().GtScalar(0), func(c []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c[0].MulScalar(1)} }, func(c []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c[0].Neg()} }, p.A)
		p.B.AssignInPlace(r[0])
		p.A.AddInPlace(x)
		return p.B.MulScalar(1)
	},
	"branch gives the state": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		r := tensor.Cond(x.Sum().GtScalar(0), func(c []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c[0]} }, func(c []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c[0].Neg()} }, p.A)
		p.B.AssignInPlace(r[0])
		p.A.AddInPlace(x)
		return x
	},
	"loop gives the state": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		r := tensor.While(func(c []*tensor.Tensor) *tensor.Tensor { return c[0].LtScalar(2) }, func(c []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c[0].AddScalar(1), c[1]} }, tensor.On(x, tensor.Scalar(int64(0))), p.A)
		p.B.AssignInPlace(r[1])
		p.A.AddInPlace(x)
		return x
	},
	"three in a ring": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(1)
		y.AssignInPlace(p.A)
		p.A.AssignInPlace(p.B)
		p.B.AssignInPlace(y)
		p.A.Narrow(0, 0, 2).AssignInPlace(p.B.Narrow(0, 1, 2))
		return y
	},
	"rows": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.B.Narrow(0, 0, 1).AssignInPlace(p.A.Narrow(0, 2, 1))
		p.A.Narrow(0, 2, 1).AssignInPlace(p.B.Narrow(0, 1, 1))
		return p.A.Sub(p.B)
	},
	"itself": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.A.AssignInPlace(p.A)
		p.A.AddInPlace(x)
		p.B.AssignInPlace(p.A.Flip(0))
		return p.A.Flip(0)
	},
	"expanded": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.B.AssignInPlace(p.A.Select(0, 1).Expand(3))
		p.A.MulScalarInPlace(2)
		return p.B.Add(p.A)
	},
	"twice": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.B.AssignInPlace(p.A)
		p.A.AddInPlace(x)
		p.B.AddInPlace(p.A)
		p.A.AssignInPlace(p.B)
		p.B.MulScalarInPlace(0.5)
		return p.A
	},
	"empty": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		p.B.Narrow(0, 1, 0).AssignInPlace(p.A.Narrow(0, 2, 0))
		p.A.AddInPlace(x)
		return p.B.Narrow(0, 1, 0)
	},
	"cast": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		y := p.A.Cast(array.F64)
		p.B.AssignInPlace(y.Cast(array.F32))
		p.A.AddInPlace(x)
		return y
	},
	"same dtype": func(p *twoStates, x *tensor.Tensor) *tensor.Tensor {
		y := p.A.Cast(array.F32)
		p.B.AssignInPlace(y)
		p.A.AddInPlace(x)
		return p.B.Clone()
	},
}

// What a tensor is assigned is a value, whatever happens to the memory that it came from: in
// results, in other tensors of the state, in any order of the writes.
func TestTrace_copiesOfState(t *testing.T) {
	for name, step := range copies {
		t.Run(name, func(t *testing.T) {
			fresh := func() *twoStates {
				return &twoStates{A: tensor.FromSlice([]float32{-0.5, 0.5, 1.75}), B: tensor.FromSlice([]float32{3, 4, -5}), step: step}
			}
			x := tensor.FromSlice([]float32{1, 2, 3})
			traced, err := fx.Trace(t.Context(), fresh(), fx.Input("x", "f32[3]"))
			require.NoError(t, err)
			optimised, err := fx.Trace(t.Context(), fresh(), fx.Input("x", "f32[3]"))
			require.NoError(t, err)
			_, err = optimised.Apply(t.Context(), fx.Optimise(), fx.PassOptions{})
			require.NoError(t, err)
			plan, err := cpu.Compile(optimised.Module, lowering.Options{})
			require.NoError(t, err)
			eager := fresh()
			for range 3 {
				var want []string
				for _, y := range eager.Forward(x) {
					want = append(want, y.String())
				}
				for _, gm := range []*fx.GraphModule{traced, optimised} {
					got, err := gm.Run(t.Context(), x)
					require.NoError(t, err)
					require.Equal(t, want, texts(got))
				}
				out, err := plan.Run(t.Context(), []*array.Array{x.Array()})
				require.NoError(t, err)
				var got []*tensor.Tensor
				for _, a := range out {
					got = append(got, tensor.New(a))
				}
				require.Equal(t, want, texts(got))
			}
		})
	}
}

func texts(list []*tensor.Tensor) (all []string) {
	for _, y := range list {
		all = append(all, y.String())
	}
	return all
}

package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// RowEnds is opaque to traces.
func RowEnds(x, scale *tensor.Tensor) (first, last *tensor.Tensor) {
	n := x.Dim(1)
	return x.Narrow(1, 0, 1).Mul(scale).Clone(), x.Narrow(1, n-1, 1).Mul(scale).Clone()
}

var rowEnds = tensor.WrapPure(RowEnds, tensor.Signature("f32[N,K], f32[1] -> f32[N,1], f32[N,1]"))

// typedGate is a leaf of the user's own that says what it returns; plainGate says nothing.
type (
	typedGate struct{ Weight *tensor.Tensor }
	plainGate struct{ Weight *tensor.Tensor }
	gated     struct {
		Typed *typedGate
		Plain *plainGate
	}
)

func (m *typedGate) TypeRule() tensor.TypeRule { return tensor.Signature("f32[N,K] -> f32[N,K]") }

func (m *typedGate) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.Weight).Sigmoid() }

func (m *plainGate) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(m.Weight).Sigmoid() }

func TestOpaqueFunctionsWithTypeRules(t *testing.T) {
	w := &gated{&typedGate{tensor.FromSlice([]float32{1, 2, 3})}, &plainGate{tensor.FromSlice([]float32{1, 2, 3})}}
	typed := func(x *tensor.Tensor) *tensor.Tensor {
		first, last := rowEnds(nn.Run(w.Typed, x.Neg()), tensor.FromSlice([]float32{2}))
		return first.Sub(last).Relu()
	}
	leaf := fx.Leaf(func(_ any, path string, library bool) bool { return library || path == "typed" || path == "plain" })
	gm, err := fx.Trace(ctx, typed, fx.Root(w), fx.Input("x", "f32[N,3]"), leaf)
	require.NoError(t, err)
	require.Equal(t, "f32[N,1]", gm.Graph.Output().Arg(0).Type().String())
	for _, o := range []lowering.Options{{}, {Shapes: map[string]int{"N": 2}}} {
		e := compile(t, gm.Module, o)
		var g op.Gen
		for _, n := range []int{2, 5} {
			if len(o.Shapes) > 0 && n != 2 {
				continue
			}
			x := g.Normal(n, 3)
			want := []*array.Array{typed(tensor.New(x)).Array()}
			same(t, want, interpret(t, gm.Module, x))
			out, err := e.Run(ctx, []*array.Array{x})
			require.NoError(t, err)
			same(t, want, out)
		}
	}

	plain, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return nn.Run(w.Plain, x) }, fx.Root(w), fx.Input("x", "f32[N,3]"), leaf)
	require.NoError(t, err)
	_, err = cpu.Compile(plain.Module, lowering.Options{})
	require.ErrorIs(t, err, lowering.UnknownSize)
	require.ErrorContains(t, err, "a TypeRule method of the module")
}
